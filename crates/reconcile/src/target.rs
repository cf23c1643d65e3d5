//! Where an object is: its plane and its address in it.

use std::fmt;

use krm::Object;
use krm::kind::{Address, Kind, Resource};

/// An object of any plane.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// Name of the project; empty for the root plane.
    pub plane: String,
    /// Address in the plane.
    pub at: Address,
}

impl Target {
    /// An object of a plane.
    pub fn new(plane: impl Into<String>, at: Address) -> Target {
        Target { plane: plane.into(), at }
    }

    /// An object of a Rust kind.
    pub fn of<T: Resource>(plane: impl Into<String>, namespace: &str, name: &str) -> Target {
        Target::new(plane, T::address(namespace, name))
    }

    /// The place of an object of this kind.
    pub fn of_object(plane: impl Into<String>, kind: &Kind, object: &Object) -> Target {
        let at = Address {
            group: kind.group.clone(),
            plural: kind.names.plural.clone(),
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
        };
        Target::new(plane, at)
    }

    /// Whether it is an object of this resource.
    pub fn is(&self, group: &str, plural: &str) -> bool {
        self.at.group == group && self.at.plural == plural
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Address { group, plural, namespace, name } = &self.at;
        write!(out, "{}/{group}/{plural}/{namespace}/{name}", self.plane)
    }
}
