//! The content of a document: definitions and paths.

use std::collections::BTreeSet;
use std::sync::Arc;

use krm::kind::{Kind, Origin};
use serde_json::{Map, Value};

use super::definitions::{self, LIST_META, OBJECT_META};
use super::form::Form;
use super::operation::{self, Operation};
use super::{names, paths};

/// Definitions and paths.
#[derive(Default)]
pub struct Content {
    /// Definitions by name.
    pub definitions: Map<String, Value>,
    /// Paths by where they are.
    pub paths: Map<String, Value>,
    /// What the paths and definitions refer to.
    pub needed: BTreeSet<String>,
    /// The version of a group of Kubernetes' own that it is all about, where it is about one.
    pub of_group: Option<(String, String)>,
}

/// What one version of a group has.
pub fn of_version(group: &str, version: &str, kinds: &[Arc<Kind>], form: Form) -> Content {
    let mut content = Content::default();
    for kind in kinds {
        let Some(version) = kind.served(version) else { continue };
        content.definitions.extend(definitions::of_kind(kind, version, form));
        content.needed.extend(definitions::needed_by(version).into_iter().map(str::to_owned));
        for (path, operations) in paths::of_kind(kind, version) {
            content.add_path(path, operations, form);
        }
    }
    if ship(kinds) {
        let id = names::operation("get", group, version, "APIResources");
        let tag = names::tag(group, version);
        let root = format!("{}/", names::root(group, version));
        content.add_path(root, vec![front("get available resources", id, tag, "APIResourceList")], form);
    }
    content.needed.insert(OBJECT_META.to_owned());
    if kinds.iter().any(|kind| kind.takes("list")) {
        content.needed.insert(LIST_META.to_owned());
    }
    content
}

/// What the documents above the versions have: the version of the server, the groups, one group.
pub fn of_front(page: &str, form: Form) -> Option<Content> {
    let versions = "get available API versions";
    let operation = match page.split('/').collect::<Vec<&str>>()[..] {
        ["version"] => {
            let id = "getCodeVersion".to_owned();
            front("get the version information for this server", id, "version".to_owned(), "Info")
        }
        ["api"] => front(versions, "getCoreAPIVersions".to_owned(), "core".to_owned(), "APIVersions"),
        ["apis"] => front(versions, "getAPIVersions".to_owned(), "apis".to_owned(), "APIGroupList"),
        ["apis", group] => {
            let id = names::operation("get", group, "", "APIGroup");
            front("get information of a group", id, names::tag(group, ""), "APIGroup")
        }
        _ => return None,
    };
    let mut content = Content::default();
    content.add_path(format!("/{page}/"), vec![operation], form);
    Some(content)
}

/// Whether a version of a group is there from the start, and not only by what users defined.
pub fn ship(kinds: &[Arc<Kind>]) -> bool {
    kinds.iter().any(|kind| kind.origin == Origin::BuiltIn)
}

/// A path that tells what the server has.
fn front(about: &str, id: String, tag: String, returns: &str) -> Operation {
    let package = if returns == "Info" { "version" } else { "apis.meta.v1" };
    Operation {
        method: "get",
        id,
        tag,
        about: about.to_owned(),
        action: None,
        parameters: Vec::new(),
        body: None,
        returns: (format!("io.k8s.apimachinery.pkg.{package}.{returns}"), &[200]),
    }
}

impl Content {
    fn add_path(&mut self, path: String, operations: Vec<Operation>, form: Form) {
        for operation in &operations {
            self.needed.extend(operation.body.as_ref().map(|body| body.definition.clone()));
            self.needed.insert(operation.returns.0.clone());
        }
        self.paths.insert(path, operation::path(operations, form));
    }
}
