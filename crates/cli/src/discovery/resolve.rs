//! From what a person types to the resource that is meant.

use super::{Discovery, Resource};
use crate::failure::Failure;

/// What is meant by a word in the place of a type.
#[derive(Debug)]
pub enum ResolvedType<'a> {
    /// One resource.
    One(&'a Resource),
    /// All resources of a category, such as `all`.
    Category(Vec<&'a Resource>),
}

impl Discovery {
    /// The resource that a word such as `cm`, `kettle`, `kettles.example.com` or `kettles.v1.example.com` means.
    pub fn resource(&self, word: &str) -> Result<&Resource, Failure> {
        match self.wanted(word)? {
            ResolvedType::One(resource) => Ok(resource),
            ResolvedType::Category(_) => {
                Err(Failure::usage(format!("\"{word}\" is a category; name one resource type")))
            }
        }
    }

    /// The same, with categories.
    pub fn wanted(&self, word: &str) -> Result<ResolvedType<'_>, Failure> {
        let lower = word.to_lowercase();
        if let Some((name, rest)) = lower.split_once('.') {
            let (version, group) = rest.split_once('.').unwrap_or((rest, ""));
            let exact =
                self.named(name).find(|resource| resource.version == version && resource.group == group);
            if let Some(exact) = exact {
                return Ok(ResolvedType::One(exact));
            }
            let in_group =
                self.named(name).find(|resource| resource.group == rest && self.is_preferred(resource));
            let in_group = in_group.or_else(|| self.named(name).find(|resource| resource.group == rest));
            // `ingress.networking` is enough where one group begins so.
            let in_group = in_group.or_else(|| {
                self.named(name)
                    .find(|resource| resource.group.starts_with(rest) && self.is_preferred(resource))
            });
            return in_group.map(ResolvedType::One).ok_or_else(|| self.unknown(word));
        }
        let mut found: Vec<&Resource> =
            self.named(&lower).filter(|resource| self.is_preferred(resource)).collect();
        if found.is_empty() {
            found = self.resources.iter().filter(|resource| self.is_preferred(resource)).collect();
            found.retain(|resource| resource.short_names.contains(&lower));
        }
        if let Some(first) = self.first(&found) {
            return Ok(ResolvedType::One(first));
        }
        let members: Vec<&Resource> = self
            .resources
            .iter()
            .filter(|resource| self.is_preferred(resource) && resource.categories.contains(&lower))
            .collect();
        match members.is_empty() {
            false => Ok(ResolvedType::Category(members)),
            true => Err(self.unknown(word)),
        }
    }

    /// Whether the server takes many objects in one commit.
    pub fn has_transactions(&self) -> bool {
        self.resources
            .iter()
            .any(|resource| resource.group == "groundplane.dev" && resource.plural == "transactions")
    }

    /// The resource of a kind in a group and version.
    pub fn of_kind(&self, api_version: &str, kind: &str) -> Option<&Resource> {
        let (group, version) = krm::names::group_version(api_version)?;
        self.resources
            .iter()
            .find(|resource| resource.group == group && resource.version == version && resource.kind == kind)
    }

    /// Whether a resource stands in the version that its group prefers among those that have it.
    pub fn is_preferred(&self, resource: &Resource) -> bool {
        let group = self.groups.iter().find(|group| group.name == resource.group);
        let has = |version: &&String| {
            self.resources.iter().any(|other| {
                other.group == resource.group && other.plural == resource.plural && other.version == **version
            })
        };
        group
            .and_then(|group| group.versions.iter().find(has))
            .is_none_or(|version| *version == resource.version)
    }

    fn named<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Resource> {
        self.resources.iter().filter(move |resource| {
            let singular = match resource.singular.is_empty() {
                true => resource.kind.to_lowercase(),
                false => resource.singular.clone(),
            };
            resource.plural == name || singular == name || resource.kind.to_lowercase() == name
        })
    }

    /// Of several groups that have the name: the one that the server lists first, as kubectl has it.
    fn first<'a>(&self, several: &[&'a Resource]) -> Option<&'a Resource> {
        let place = |resource: &&&Resource| self.groups.iter().position(|group| group.name == resource.group);
        several.iter().min_by_key(place).copied()
    }

    fn unknown(&self, word: &str) -> Failure {
        let failure =
            Failure::Other(format!("the server doesn't have a resource type {}", krm::field::quote(word)));
        match self.nearest(word) {
            Some(resource) => failure.hint(format!("did you mean \"{}\"?", resource.plural)),
            None => failure,
        }
    }

    /// The type whose name is nearly this word.
    pub fn nearest(&self, word: &str) -> Option<&Resource> {
        let lower = word.to_lowercase();
        let far = |resource: &&Resource| {
            distance(&lower, &resource.plural).min(distance(&lower, &resource.singular))
        };
        let all = self.resources.iter().filter(|_| lower.len() > 3);
        all.min_by_key(far).filter(|nearest| far(nearest) <= 2)
    }
}

/// How many typing mistakes lie between two words: a letter added, left out or wrong, or two neighbours swapped.
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let wrong = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = wrong.min(row[j - 1] + 1).min(rows[i - 1][j] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::super::Group;
    use super::*;

    fn resource(group: &str, version: &str, kind: &str, plural: &str, short: &str) -> Resource {
        Resource {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
            plural: plural.into(),
            singular: kind.to_lowercase(),
            short_names: vec![short.into()],
            categories: vec!["all".into()],
            is_namespaced: true,
            verbs: vec![],
            subresources: vec![],
        }
    }

    fn discovery() -> Discovery {
        let group = |name: &str, versions: &[&str]| Group {
            name: name.into(),
            versions: versions.iter().map(|version| (*version).into()).collect(),
        };
        Discovery {
            groups: vec![
                group("", &["v1"]),
                group("events.k8s.io", &["v1"]),
                group("a.dev", &["v2", "v1"]),
                group("b.dev", &["v1"]),
            ],
            resources: vec![
                resource("", "v1", "Event", "events", "ev"),
                resource("events.k8s.io", "v1", "Event", "events", "ev"),
                resource("a.dev", "v1", "Rack", "racks", "rk"),
                resource("a.dev", "v2", "Rack", "racks", "rk"),
                resource("a.dev", "v1", "Node", "nodes", "no"),
                resource("b.dev", "v1", "Node", "nodes", "no"),
            ],
        }
    }

    #[test]
    fn every_name_of_a_resource_leads_to_it() {
        let discovery = discovery();
        for word in ["racks", "rack", "Rack", "rk", "racks.a.dev", "rack.v2.a.dev"] {
            let found = discovery.resource(word).unwrap();
            assert_eq!((found.plural.as_str(), found.version.as_str()), ("racks", "v2"), "{word}");
        }
        assert_eq!(discovery.resource("racks.v1.a.dev").unwrap().version, "v1");
        assert_eq!(discovery.resource("events").unwrap().group, "");
        assert!(matches!(discovery.wanted("all"), Ok(ResolvedType::Category(members)) if members.len() == 5));
    }

    #[test]
    fn of_several_groups_the_one_is_meant_that_the_server_lists_first() {
        let mut discovery = discovery();
        assert_eq!(discovery.resource("nodes").unwrap().group, "a.dev");
        discovery.groups.reverse();
        assert_eq!(discovery.resource("nodes").unwrap().group, "b.dev");
    }

    #[test]
    fn a_word_that_is_nearly_right_is_put_right() {
        let text = discovery().resource("rakcs").unwrap_err().text();
        assert_eq!(
            text,
            "error: the server doesn't have a resource type \"rakcs\"\nhint: did you mean \"racks\"?\n"
        );
    }
}
