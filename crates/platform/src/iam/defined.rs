//! Roles of custom resources, in effect while those are served.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use krm::kind::Kind;

use super::roles::{At, Roles, SYSTEM_NAMESPACE};
use super::shipped;

/// The kinds that users defined, by plane and the name of the definition.
#[derive(Default)]
pub struct Defined {
    kinds: HashMap<Arc<str>, BTreeMap<Arc<str>, Kind>>,
}

impl Defined {
    /// Takes in what a definition makes now, and puts the roles of its group right.
    pub fn take_in(&mut self, plane: &str, definition: &str, kind: Option<Kind>, roles: &mut Roles) {
        let of_plane = self.kinds.entry(plane.into()).or_default();
        let mut groups: BTreeSet<String> = BTreeSet::new();
        groups.extend(kind.as_ref().map(|kind| kind.group.clone()));
        let before = match kind {
            Some(kind) => of_plane.insert(definition.into(), kind),
            None => of_plane.remove(definition),
        };
        groups.extend(before.map(|kind| kind.group));
        if of_plane.is_empty() {
            self.kinds.remove(plane);
        }
        for group in groups {
            let kinds: Vec<&Kind> = self.of_group(plane, &group).collect();
            for role in shipped::roles_of(&group, &kinds) {
                let at = At::new(plane, SYSTEM_NAMESPACE, role.name());
                match kinds.is_empty() {
                    true => roles.underive(&at),
                    false => roles.derive(&at, &role),
                }
            }
        }
    }

    /// The kinds of a group that are defined in a plane.
    pub fn of_group<'a>(&'a self, plane: &str, group: &'a str) -> impl Iterator<Item = &'a Kind> {
        self.kinds.get(plane).into_iter().flat_map(BTreeMap::values).filter(move |kind| kind.group == group)
    }

    /// The groups that are defined in a plane.
    pub fn groups(&self, plane: &str) -> BTreeSet<&str> {
        self.kinds.get(plane).into_iter().flat_map(BTreeMap::values).map(|kind| kind.group.as_str()).collect()
    }

    /// Whether anything is defined in a plane.
    pub fn has_any(&self, plane: &str) -> bool {
        self.kinds.contains_key(plane)
    }
}

impl std::fmt::Debug for Defined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.kinds.iter().map(|(plane, kinds)| (plane, kinds.keys().collect::<Vec<_>>()));
        f.debug_map().entries(names).finish()
    }
}

/// The role of a project's own that a role of the system means there as well: what looks at a project looks at the kinds
/// that are defined in it too.
pub fn own_role(role: &At, plane: &str, group: &str) -> Option<At> {
    if plane.is_empty() || !role.plane.is_empty() || &*role.namespace != SYSTEM_NAMESPACE {
        return None;
    }
    let name = match &*role.name {
        "project-viewer" | "organization-viewer" => format!("{group}-viewer"),
        "project-editor" | "organization-editor" => format!("{group}-editor"),
        same => same.to_owned(),
    };
    Some(At::new(plane, SYSTEM_NAMESPACE, &name))
}
