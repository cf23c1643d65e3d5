//! Repositories of Airship sites: which directories make a site, as Pegleg collects them.

use std::path::{Path, PathBuf};

use super::{LoadError, load};
use crate::yaml::Node;

/// A repository with the directory `site`, and mostly `global` and `type`.
#[derive(Clone, Debug)]
pub struct Repository {
    root: PathBuf,
    /// The site, where a path led to one.
    site: Option<String>,
}

/// The directories that make a site, and the repositories they are in.
#[derive(Clone, Debug)]
pub struct SiteFolders {
    /// The directories, the most general first.
    pub folders: Vec<PathBuf>,
    /// Other repositories that the site definition names, with the revision that it asks for.
    pub repositories: Vec<OtherRepository>,
}

/// Another repository of a site.
#[derive(Clone, Debug)]
pub struct OtherRepository {
    /// Its name in the site definition.
    pub name: String,
    /// The directory that is read.
    pub path: PathBuf,
    /// The branch, tag or commit that the site definition asks for.
    pub revision: Option<String>,
}

impl OtherRepository {
    /// Whether the directory is checked out at another revision than the site definition asks for, as far as that can be
    /// told without git.
    pub fn is_elsewhere(&self) -> bool {
        let Some(revision) = &self.revision else { return false };
        let read = |file: &str| std::fs::read_to_string(self.path.join(".git").join(file)).ok();
        let Some(head) = read("HEAD") else { return false };
        let head = head.trim();
        let (branch, commit) = match head.strip_prefix("ref: ") {
            Some(branch) => (Some(branch), read(branch).map(|commit| commit.trim().to_owned())),
            None => (None, Some(head.to_owned())),
        };
        let tag = read(&format!("refs/tags/{revision}")).map(|commit| commit.trim().to_owned());
        let is_branch = branch.is_some_and(|branch| branch.strip_prefix("refs/heads/") == Some(revision));
        let is_commit = commit.as_ref().is_some_and(|commit| commit.starts_with(revision.as_str()));
        !is_branch && !is_commit && (tag.is_none() || tag != commit)
    }
}

impl Repository {
    /// The repository that a path is the root of: it has sites, or what sites share beside them.
    pub fn at(path: &Path) -> Option<Self> {
        let sites = path.join("site");
        let has_definition = || {
            let entries = sites.read_dir().into_iter().flatten().flatten();
            entries.into_iter().any(|entry| entry.path().join(DEFINITION).is_file())
        };
        let is_root = sites.is_dir() && (path.join("global").is_dir() || has_definition());
        is_root.then(|| Self { root: path.to_owned(), site: None })
    }

    /// The repository that a path is the root of, if it has a site of this name.
    pub fn having(path: &Path, site: &str) -> Option<Self> {
        path.join("site").join(site).is_dir().then(|| Self { root: path.to_owned(), site: None })
    }

    /// The repository that a path leads into, to one of its sites.
    pub fn of_site(path: &Path) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        let site = path.file_name()?.to_str()?.to_owned();
        let root = path.parent().filter(|parent| parent.ends_with("site"))?.parent()?;
        path.join(DEFINITION).is_file().then(|| Self { root: root.to_owned(), site: Some(site) })
    }

    /// The directories that make a site. Without a name the only site is meant. `given` are directories of other
    /// repositories by name, which take precedence over what the site definition says.
    pub fn folders_of(
        &self,
        site: Option<&str>,
        given: &[(String, PathBuf)],
    ) -> Result<SiteFolders, LoadError> {
        let sites = self.sites();
        let site = match (site.or(self.site.as_deref()), &sites[..]) {
            (Some(named), all) if all.iter().any(|one| one == named) => named,
            (None, [only]) => only.as_str(),
            (named, _) => {
                return Err(LoadError::NoSite {
                    root: self.root.clone(),
                    asked: named.map(str::to_owned),
                    sites,
                });
            }
        };
        let definition = Definition::read(&self.root.join("site").join(site))?;
        let repositories = self.others(&definition, given)?;
        let roots = || repositories.iter().map(|one| one.path.as_path()).chain([self.root.as_path()]);
        let mut folders: Vec<PathBuf> =
            roots().flat_map(|root| definition.library(&root.join("global"))).collect();
        if let Some(kind) = &definition.site_type {
            folders.extend(roots().flat_map(|root| definition.library(&root.join("type").join(kind))));
        }
        folders.extend(roots().map(|root| root.join("site").join(site)));
        folders.retain(|folder| folder.is_dir());
        Ok(SiteFolders { folders, repositories })
    }

    /// The other repositories: those that are given, and those that the definition names, each where it is checked out.
    fn others(
        &self,
        definition: &Definition,
        given: &[(String, PathBuf)],
    ) -> Result<Vec<OtherRepository>, LoadError> {
        let mut others = Vec::new();
        // A site names its own repository for those who look for it.
        for named in definition.repositories.iter().filter(|named| named.name != "site") {
            let path = match given.iter().find(|(name, _)| *name == named.name) {
                Some((_, path)) => Some(path.clone()),
                None => self.checkout_of(named),
            };
            let path = path.ok_or_else(|| LoadError::NoRepository {
                site: self.root.clone(),
                name: named.name.clone(),
                url: without_credentials(&named.url),
            })?;
            others.push(OtherRepository { name: named.name.clone(), path, revision: named.revision.clone() });
        }
        for (name, path) in given {
            if !others.iter().any(|other| other.name == *name) {
                others.push(OtherRepository { name: name.clone(), path: path.clone(), revision: None });
            }
        }
        Ok(others)
    }

    /// A local path as it is, or from the root of the repository; of a URL the checkout beside the repository, by the name
    /// of the URL's repository or by its name in the definition.
    fn checkout_of(&self, named: &Named) -> Option<PathBuf> {
        let own = self.root.canonicalize().ok()?;
        let beside = own.parent();
        let base = named.url.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
        let base = base.strip_suffix(".git").unwrap_or(base);
        let is_remote = named.url.contains("://") || named.url.contains('@');
        let candidates = match is_remote {
            false => vec![PathBuf::from(&named.url), self.root.join(&named.url)],
            true => {
                beside.into_iter().flat_map(|beside| [beside.join(base), beside.join(&named.name)]).collect()
            }
        };
        let is_another = |path: &PathBuf| path.is_dir() && path.canonicalize().is_ok_and(|path| path != own);
        candidates.into_iter().find(is_another)
    }

    fn sites(&self) -> Vec<String> {
        let Ok(entries) = self.root.join("site").read_dir() else { return Vec::new() };
        let folders = entries.flatten().filter(|entry| entry.path().is_dir());
        let mut sites: Vec<String> =
            folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        sites.sort();
        sites
    }
}

/// The file that makes a directory a site.
const DEFINITION: &str = "site-definition.yaml";

/// What `site-definition.yaml` says.
#[derive(Default)]
struct Definition {
    site_type: Option<String>,
    /// Older repositories keep several states of the shared folders beside one another.
    revision: Option<String>,
    repositories: Vec<Named>,
}

/// A repository that a site definition names.
struct Named {
    name: String,
    url: String,
    revision: Option<String>,
}

impl Definition {
    fn read(site: &Path) -> Result<Self, LoadError> {
        let file = site.join(DEFINITION);
        if !file.is_file() {
            return Ok(Self::default());
        }
        let documents = load([file])?.documents;
        let definition = documents.iter().find(|document| document.schema() == "pegleg/SiteDefinition/v1");
        let text = |node: Option<&Node>| node.and_then(|node| node.value.text());
        let field = |key: &str| text(definition?.data.get(key)).filter(|text| !text.is_empty());
        let repositories = definition.and_then(|one| one.data.get("repositories")?.value.as_map());
        let named = repositories.into_iter().flat_map(|map| map.iter()).filter_map(|(name, one)| {
            let (url, revision) = split_revision(&text(one.get("url"))?);
            Some(Named { name: name.to_string(), url, revision: text(one.get("revision")).or(revision) })
        });
        Ok(Self { site_type: field("site_type"), revision: field("revision"), repositories: named.collect() })
    }

    /// The directories of a library: all of it, or in repositories with revisions what is common to them and the one that
    /// the site uses.
    fn library(&self, root: &Path) -> Vec<PathBuf> {
        match &self.revision {
            Some(revision) if root.join(revision).is_dir() => vec![root.join("common"), root.join(revision)],
            _ => vec![root.to_owned()],
        }
    }
}

/// `url@revision`; an `@` before the host belongs to the user.
fn split_revision(url: &str) -> (String, Option<String>) {
    let path_at =
        url.find("://").map_or(0, |at| url[at + 3..].find('/').map_or(url.len(), |slash| at + 3 + slash));
    match url[path_at..].rsplit_once('@') {
        Some((path, revision)) if !revision.is_empty() => {
            (format!("{}{path}", &url[..path_at]), Some(revision.trim_end_matches('/').to_owned()))
        }
        _ => (url.to_owned(), None),
    }
}

/// A URL for a message.
fn without_credentials(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => match rest.split_once('@') {
            Some((user, host)) if !user.contains('/') => format!("{scheme}://{host}"),
            _ => url.to_owned(),
        },
        None => url.to_owned(),
    }
}
