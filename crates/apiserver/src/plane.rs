//! Planes: the root, and the control planes that the objects of one kind have. A plane is a key prefix.

mod plain_kind;

use std::fmt;
use std::sync::Arc;

use krm::kind::Address;
use krm::status::Subject;

/// The last segment of the path of a plane.
const CONTROL_PLANE: &str = "control-plane";

/// The root, or a project's control plane, by the project's name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Plane(Arc<str>);

impl Plane {
    /// The root plane.
    pub fn root() -> Plane {
        Plane("".into())
    }

    /// The control plane of a project; the name was checked when the project was made.
    pub fn project(name: &str) -> Plane {
        Plane(name.into())
    }

    /// Whether it is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Its part of a key: the project's name, nothing for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Plane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_root() { "root" } else { &self.0 })
    }
}

/// The kind whose objects have control planes: what the server calls projects. A module declares it; its objects are in the
/// root, without a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaneKind {
    /// Its group.
    pub group: &'static str,
    /// The version in the paths of the planes.
    pub version: &'static str,
    /// Its name.
    pub kind: &'static str,
    /// Its plural.
    pub plural: &'static str,
    /// Keys under which an identity says in whose plane it acts: by the group, the kind and the name of the object.
    pub context: [&'static str; 3],
}

impl PlaneKind {
    /// What all paths of a plane begin with; nothing for the root.
    pub fn path(&self, plane: &Plane) -> String {
        match plane.is_root() {
            true => String::new(),
            false => format!("/apis/{}/{}/{}/{plane}/{CONTROL_PLANE}", self.group, self.version, self.plural),
        }
    }

    /// The plane that the segments of a path lead to, and what follows in it.
    pub fn of_path<'a>(&self, segments: &'a [String]) -> Option<(Plane, &'a [String])> {
        let [apis, group, version, plural, name, mark, rest @ ..] = segments else { return None };
        let is_one = [apis, group, version, plural, mark].map(String::as_str)
            == ["apis", self.group, self.version, self.plural, CONTROL_PLANE];
        is_one.then(|| (Plane::project(name), rest))
    }

    /// Where the object of a plane is.
    pub fn address(&self, plane: &Plane) -> Address {
        Address {
            group: self.group.to_owned(),
            plural: self.plural.to_owned(),
            namespace: String::new(),
            name: plane.as_str().to_owned(),
        }
    }

    /// The kind in messages.
    pub fn subject(&self) -> Subject {
        Subject::new(self.group, self.plural)
    }
}
