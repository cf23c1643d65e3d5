//! The paths of a kind: collections, objects and subresources, with their operations.

use krm::kind::{Kind, Version};
use serde_json::{Value, json};

use super::definitions::{DELETE_OPTIONS, PATCH, STATUS};
use super::names;
use super::operation::{Body, Operation};
use super::parameters::{self, Parameter};
use crate::parts::{self, Part};

const JSON_OR_YAML: &[&str] = &["application/json", "application/yaml"];
const ANY: &[&str] = &["*/*"];
const PATCHES: &[&str] =
    &["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];
const STRATEGIC_PATCHES: &[&str] = &[
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

/// All paths of a version of a kind, with what can be done there.
pub fn of_kind(kind: &Kind, version: &Version) -> Vec<(String, Vec<Operation>)> {
    let (root, plural) = (names::root(&kind.group, &version.name), &kind.names.plural);
    let place = |at, everywhere| PathTarget { kind, version, at, everywhere };
    let mut paths = Vec::new();
    let collection = match kind.is_namespaced() {
        true => {
            let all = place(Where::Collection, true);
            paths.push((format!("{root}/{plural}"), all.operations(&["list"])));
            format!("{root}/namespaces/{{namespace}}/{plural}")
        }
        false => format!("{root}/{plural}"),
    };
    let item = format!("{collection}/{{name}}");
    let of_parts = parts::of(kind, version);
    for part in &of_parts {
        let operations = place(Where::Part(part), false).operations(part.verbs);
        paths.push((format!("{item}/{}", part.name), operations));
    }
    let verbs = ["list", "create", "deletecollection"];
    paths.push((collection, place(Where::Collection, false).operations(&verbs)));
    paths.push((item, place(Where::Item, false).operations(&["get", "update", "patch", "delete"])));
    paths.retain(|(_, operations)| !operations.is_empty());
    paths
}

#[derive(Clone, Copy)]
enum Where<'a> {
    Collection,
    Item,
    Part(&'a Part),
}

/// What a path leads to.
struct PathTarget<'a> {
    kind: &'a Kind,
    version: &'a Version,
    at: Where<'a>,
    /// The objects of all namespaces.
    everywhere: bool,
}

/// A verb as HTTP and clients have it.
struct Action {
    method: &'static str,
    name: &'static str,
    /// What the name of the operation begins with.
    verb: &'static str,
    takes: &'static [&'static str],
    codes: &'static [u16],
}

fn action(verb: &str) -> Action {
    let action = |method, name, verb, takes, codes| Action { method, name, verb, takes, codes };
    match verb {
        "list" => action("get", "list", "list", parameters::LIST, &[200]),
        "create" => action("post", "post", "create", parameters::WRITE, &[200, 201, 202]),
        "deletecollection" => action("delete", "deletecollection", "delete", parameters::LIST, &[200]),
        "update" => action("put", "put", "replace", parameters::WRITE, &[200, 201]),
        "patch" => action("patch", "patch", "patch", parameters::PATCH, &[200]),
        "delete" => action("delete", "delete", "delete", parameters::DELETE, &[200, 202]),
        _ => action("get", "get", "read", &["resourceVersion"], &[200]),
    }
}

impl PathTarget<'_> {
    fn operations(&self, verbs: &[&str]) -> Vec<Operation> {
        let is_part = matches!(self.at, Where::Part(_));
        let taken = verbs.iter().filter(|verb| is_part || self.kind.takes(verb));
        taken.map(|verb| self.operation(verb)).collect()
    }

    fn operation(&self, verb: &str) -> Operation {
        let (kind, version) = (self.kind, self.version.name.as_str());
        let action = action(verb);
        Operation {
            method: action.method,
            id: names::operation(action.verb, &kind.group, version, &self.subject(verb)),
            tag: names::tag(&kind.group, version),
            about: self.about(verb, action.verb),
            action: Some((action.name, self.group_version_kind())),
            parameters: self.parameters(verb, action.takes),
            body: self.body(verb),
            returns: (self.returns(verb), self.codes(verb, action.codes)),
        }
    }

    /// What the name of an operation ends with: `NamespacedWidgetStatus`.
    fn subject(&self, verb: &str) -> String {
        let kind = &self.kind.names.kind;
        if self.everywhere {
            return format!("{kind}ForAllNamespaces");
        }
        let collection = if verb == "deletecollection" { "Collection" } else { "" };
        let namespaced = if self.kind.is_namespaced() { "Namespaced" } else { "" };
        format!(
            "{collection}{namespaced}{kind}{}",
            self.part().map_or_else(String::new, |part| names::title(part.name))
        )
    }

    fn about(&self, verb: &str, does: &str) -> String {
        let kind = &self.kind.names.kind;
        let part = self.part().map_or_else(String::new, |part| format!(" {} of", part.name));
        match verb {
            "list" if self.kind.strategic => format!("list or watch objects of kind {kind}"),
            "list" => format!("list objects of kind {kind}"),
            "deletecollection" => format!("delete collection of {kind}"),
            "patch" => format!("partially update{part} the specified {kind}"),
            "create" | "delete" => format!("{does}{part}{}", names::with_article(kind)),
            _ => format!("{does}{part} the specified {kind}"),
        }
    }

    fn part(&self) -> Option<&Part> {
        match self.at {
            Where::Part(part) => Some(part),
            Where::Collection | Where::Item => None,
        }
    }

    /// The kind that an operation is found by.
    fn group_version_kind(&self) -> Value {
        let own = (self.kind.group.as_str(), self.version.name.as_str(), self.kind.names.kind.as_str());
        let other = self.part().and_then(|part| part.of.as_ref()).filter(|_| self.kind.strategic);
        let (group, version, kind) = other.map_or(own, |of| of.kind);
        json!({ "group": group, "version": version, "kind": kind })
    }

    fn parameters(&self, verb: &str, takes: &[&str]) -> Vec<Parameter> {
        let mut keys = takes.to_vec();
        match verb {
            // Kubernetes' own kinds list fewer parameters of a get than they take, and more of this one.
            "get" if self.kind.strategic => keys.clear(),
            "deletecollection" if self.kind.strategic => {
                keys.retain(|key| !matches!(*key, "allowWatchBookmarks" | "watch"));
                keys.extend(parameters::DELETE);
            }
            _ => {}
        }
        keys.push("pretty");
        if self.kind.is_namespaced() && !self.everywhere {
            keys.push("namespace");
        }
        let mut parameters: Vec<Parameter> = keys.into_iter().filter_map(Parameter::known).collect();
        if !matches!(self.at, Where::Collection) {
            parameters.push(Parameter::name_of(&self.kind.names.kind));
        }
        parameters
    }

    fn body(&self, verb: &str) -> Option<Body> {
        let media = if self.kind.strategic { ANY } else { JSON_OR_YAML };
        let body = |definition: String, required, media| Some(Body { definition, required, media });
        if let Some(takes) = self.part().and_then(|part| part.takes) {
            return body(takes.to_owned(), false, media);
        }
        match verb {
            "create" | "update" => body(self.object(), true, media),
            "patch" if self.kind.strategic => body(PATCH.to_owned(), true, STRATEGIC_PATCHES),
            "patch" => body(PATCH.to_owned(), true, PATCHES),
            "delete" => body(DELETE_OPTIONS.to_owned(), false, media),
            "deletecollection" if self.kind.strategic => body(DELETE_OPTIONS.to_owned(), false, media),
            _ => None,
        }
    }

    fn returns(&self, verb: &str) -> String {
        match verb {
            "list" => names::definition(self.kind, &self.version.name, &self.kind.names.list_kind),
            "delete" if self.kind.shows_deleted && self.kind.takes("deletecollection") => self.object(),
            "delete" | "deletecollection" => STATUS.to_owned(),
            _ => self.object(),
        }
    }

    fn codes(&self, verb: &str, codes: &'static [u16]) -> &'static [u16] {
        match verb {
            // An apply makes what is not there.
            "patch" if self.kind.strategic => &[200, 201],
            _ => codes,
        }
    }

    /// The definition of what goes in and out here.
    fn object(&self) -> String {
        match self.part().and_then(|part| part.of.as_ref()) {
            Some(of) => of.definition.to_owned(),
            None => names::definition(self.kind, &self.version.name, &self.kind.names.kind),
        }
    }
}
