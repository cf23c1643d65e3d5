//! Region: site-wide settings. A design has one; the last one wins.

use std::sync::Arc;

use super::{
    DocumentRef, Field, Set, Texts,
    section::{Reading, Section},
};

/// The site: tags, keys and package repositories that hold for all of it.
#[derive(Clone, Debug)]
pub struct Region {
    /// The document.
    pub document: Arc<DocumentRef>,
    /// Tags assigned by a query over the hardware.
    pub tag_definitions: Vec<TagDefinition>,
    /// SSH public keys that are authorized on every host.
    pub authorized_keys: Vec<Set<String>>,
    /// Where packages come from; `None` leaves it to the provisioner.
    pub repositories: Option<Repositories>,
}

/// A tag and the question that earns it.
#[derive(Clone, Debug)]
pub struct TagDefinition {
    /// The tag.
    pub tag: Field<String>,
    /// How the definition is asked; `lshw_xpath`.
    pub definition_type: Field<String>,
    /// The question.
    pub definition: Field<String>,
}

/// The package repositories of a site.
#[derive(Clone, Debug)]
pub struct Repositories {
    /// Whether repositories not named here are taken away.
    pub remove_unlisted: bool,
    /// Those named, in order.
    pub list: Vec<Repository>,
}

/// One package repository.
#[derive(Clone, Debug)]
pub struct Repository {
    /// Its name.
    pub name: Set<String>,
    /// `apt` or `rpm`.
    pub repo_type: Field<String>,
    /// Where it is.
    pub url: Field<String>,
    /// The distributions it serves.
    pub distributions: Option<Vec<Set<String>>>,
    /// Pockets such as `security`.
    pub subrepos: Option<Vec<Set<String>>>,
    /// Components such as `main`.
    pub components: Option<Vec<Set<String>>>,
    /// The key its packages are signed with.
    pub gpgkey: Field<String>,
    /// Architectures it serves.
    pub arches: Option<Vec<Set<String>>>,
    /// Anything else the package tool takes.
    pub options: Option<Texts>,
}

impl Region {
    pub(super) fn read(reading: &mut Reading, data: &Section) -> Self {
        data.only(reading, &["tag_definitions", "authorized_keys", "repositories"]);
        let tags = data.sections(reading, "tag_definitions").unwrap_or_default();
        Self {
            document: reading.document(),
            tag_definitions: tags.iter().map(|tag| TagDefinition::read(reading, tag)).collect(),
            authorized_keys: data.texts(reading, "authorized_keys").unwrap_or_default(),
            // The legacy reader of the original knew none.
            repositories: if reading.is_strict() { Repositories::read(reading, data) } else { None },
        }
    }
}

impl TagDefinition {
    fn read(reading: &mut Reading, tag: &Section) -> Self {
        tag.only(reading, &["tag", "definition_type", "definition"]);
        if !tag.has("definition_type") {
            reading.invalid(&tag.at, &tag.path, "`definition_type` is required".to_owned());
        }
        let empty = reading.set(String::new(), &tag.at);
        Self {
            tag: tag.text(reading, "tag").or_else(|| Some(empty.clone())),
            definition_type: tag.one_of(reading, "definition_type", &["lshw_xpath"]),
            definition: tag.text(reading, "definition").or(Some(empty)),
        }
    }
}

impl Repositories {
    fn read(reading: &mut Reading, data: &Section) -> Option<Self> {
        let section = data.section(reading, "repositories").filter(|section| !section.is_empty())?;
        let remove_unlisted = section.flag(reading, "remove_unlisted").is_some_and(|flag| flag.value);
        let mut list = Vec::new();
        for (name, node) in section.things(reading) {
            if name.value == "remove_unlisted" {
                continue;
            }
            let path = section.path_of(&name.value);
            if let Some(repository) = Section::loose(reading, node, path) {
                list.push(Repository::read(reading, name, &repository));
            }
        }
        Some(Self { remove_unlisted, list })
    }
}

const REPOSITORY_FIELDS: [&str; 8] =
    ["repo_type", "url", "distributions", "subrepos", "components", "gpgkey", "arches", "options"];

impl Repository {
    fn read(reading: &mut Reading, name: Set<String>, repository: &Section) -> Self {
        // The schema of the original never reaches repositories; its model refuses unknown fields all the same.
        for (key, at, _) in repository.entries() {
            if !key.as_str().is_some_and(|key| REPOSITORY_FIELDS.contains(&key)) {
                reading.invalid(at, &repository.path, format!("unknown field `{key}` of a repository"));
            }
        }
        Self {
            name,
            repo_type: repository.loose_text(reading, "repo_type"),
            url: repository.loose_text(reading, "url"),
            distributions: repository.loose_texts(reading, "distributions"),
            subrepos: repository.loose_texts(reading, "subrepos"),
            components: repository.loose_texts(reading, "components"),
            gpgkey: repository.loose_text(reading, "gpgkey"),
            arches: repository.loose_texts(reading, "arches"),
            options: options(reading, repository),
        }
    }
}

/// Options are a map of texts; anything else is a mistake of value, as no schema looks here.
fn options(reading: &mut Reading, repository: &Section) -> Option<Texts> {
    let node = repository.raw("options").filter(|node| !node.value.is_null())?;
    Section::loose(reading, node, repository.path_of("options"))?;
    repository.loose_text_map(reading, "options")
}
