//! What a server serves: groups, versions, resources and their names.

mod ask;
mod resolve;

use crate::client::segment;

pub use resolve::{ResolvedType, distance};

/// Everything a server serves, in its own order.
#[derive(Debug, Default)]
pub struct Discovery {
    /// Groups with their versions, the preferred one first.
    pub groups: Vec<Group>,
    /// All resources of all versions.
    pub resources: Vec<Resource>,
}

/// A group and its versions.
#[derive(Debug, Clone)]
pub struct Group {
    pub name: String,
    pub versions: Vec<String>,
}

/// A resource in one version.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    pub group: String,
    pub version: String,
    pub kind: String,
    pub plural: String,
    pub singular: String,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub is_namespaced: bool,
    pub verbs: Vec<String>,
    /// Names of subresources, such as `status`.
    pub subresources: Vec<String>,
}

impl Resource {
    /// Group and version as `apiVersion` has them.
    pub fn api_version(&self) -> String {
        match self.group.is_empty() {
            true => self.version.clone(),
            false => format!("{}/{}", self.group, self.version),
        }
    }

    /// `widgets.example.com`, or `configmaps`.
    pub fn full_name(&self) -> String {
        match self.group.is_empty() {
            true => self.plural.clone(),
            false => format!("{}.{}", self.plural, self.group),
        }
    }

    /// The path of the collection: all namespaces when none is named.
    pub fn collection(&self, namespace: Option<&str>) -> String {
        let root = match self.group.is_empty() {
            true => format!("/api/{}", self.version),
            false => format!("/apis/{}/{}", self.group, self.version),
        };
        match namespace.filter(|_| self.is_namespaced) {
            Some(namespace) => format!("{root}/namespaces/{}/{}", segment(namespace), self.plural),
            None => format!("{root}/{}", self.plural),
        }
    }

    /// The path of one object.
    pub fn object(&self, namespace: Option<&str>, name: &str) -> String {
        format!("{}/{}", self.collection(namespace), segment(name))
    }

    /// Whether it can do that.
    pub fn can(&self, verb: &str) -> bool {
        self.verbs.iter().any(|known| known == verb)
    }
}
