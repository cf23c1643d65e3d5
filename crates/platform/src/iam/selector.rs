//! Resource selectors of bindings in normalized form, for lookups.

use super::directory::{Directory, organization_of_namespace};
use crate::tenancy::{GROUP as TENANCY, ORGANIZATION, PROJECT};

/// An object, or all of a kind where the name is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ResourceLocation<'a> {
    /// The plane; empty for the root.
    pub plane: &'a str,
    /// The group.
    pub group: &'a str,
    /// The kind.
    pub kind: &'a str,
    /// The namespace.
    pub namespace: &'a str,
    /// The name.
    pub name: &'a str,
}

/// All objects of a kind, in all planes.
pub fn everywhere(group: &str, kind: &str) -> String {
    format!("k|{group}|{kind}")
}

/// All objects of a kind in one project.
pub fn in_project(project: &str, group: &str, kind: &str) -> String {
    format!("p|{project}|{group}|{kind}")
}

/// One object.
pub fn object(place: &ResourceLocation<'_>) -> String {
    let ResourceLocation { plane, group, kind, namespace, name } = place;
    format!("o|{plane}|{group}|{kind}|{namespace}|{name}")
}

/// The beginning of the selectors of single objects of a kind.
pub fn objects_of(plane: &str, group: &str, kind: &str) -> String {
    format!("o|{plane}|{group}|{kind}|")
}

/// The beginning of the selectors of whatever is in one project.
pub fn within_project(project: &str) -> [String; 2] {
    [format!("o|{project}|"), format!("p|{project}|")]
}

/// One project.
pub fn project(name: &str) -> String {
    object(&ResourceLocation { group: TENANCY, kind: PROJECT, name, ..ResourceLocation::default() })
}

/// One organization.
pub fn organization(name: &str) -> String {
    object(&ResourceLocation { group: TENANCY, kind: ORGANIZATION, name, ..ResourceLocation::default() })
}

/// The namespace and the name in the selector of a single object.
pub fn named(selector: &str) -> Option<(&str, &str)> {
    let mut parts = selector.rsplitn(3, '|');
    let (name, namespace) = (parts.next()?, parts.next()?);
    Some((namespace, name))
}

impl<'a> ResourceLocation<'a> {
    /// Everything that covers this: the place itself, its kind, and whatever it is in. A grant on any of those counts.
    pub fn covered_by(&self, directory: &Directory) -> Vec<String> {
        let mut all = vec![everywhere(self.group, self.kind)];
        if !self.plane.is_empty() {
            all.push(in_project(self.plane, self.group, self.kind));
        }
        if !self.name.is_empty() {
            all.push(object(self));
        }
        all.extend(self.ancestors(directory));
        all
    }

    /// The projects and organizations it is in.
    fn ancestors(&self, directory: &Directory) -> Vec<String> {
        let mut all = Vec::new();
        let project_name = match (self.plane.is_empty(), self.group == TENANCY && self.kind == PROJECT) {
            (false, _) => self.plane,
            (true, true) => self.name,
            (true, false) => "",
        };
        if !self.plane.is_empty() {
            all.extend([project(self.plane), everywhere(TENANCY, PROJECT)]);
        }
        let of_project = directory.organization_of(project_name).map(|organization| &**organization);
        let of_namespace = || match (self.group, self.kind) {
            ("", "Namespace") => organization_of_namespace(self.name),
            _ => organization_of_namespace(self.namespace),
        };
        let found = of_project.or_else(|| self.plane.is_empty().then(of_namespace).flatten());
        if let Some(name) = found {
            all.extend([organization(name), everywhere(TENANCY, ORGANIZATION)]);
        } else if self.group == TENANCY && self.kind == PROJECT {
            all.push(everywhere(TENANCY, ORGANIZATION));
        }
        all
    }
}

/// The names of a place, as its selector is told to people.
pub fn told(selector: &str) -> String {
    let mut parts = selector.split('|');
    let kind = parts.next().unwrap_or_default();
    let parts: Vec<&str> = parts.collect();
    match (kind, parts.as_slice()) {
        ("k", [_, kind]) => format!("every {kind}"),
        ("p", [project, _, kind]) => format!("every {kind} of project {project:?}"),
        ("o", [_, _, kind, "", name]) => format!("{kind} {name:?}"),
        ("o", [_, _, kind, namespace, name]) => format!("{kind} {:?}", format!("{namespace}/{name}")),
        _ => selector.to_owned(),
    }
}
