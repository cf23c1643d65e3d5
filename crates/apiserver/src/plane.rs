//! Planes: the root, and the control planes of projects. A plane is a key prefix.

use std::fmt;
use std::sync::Arc;

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
