//! Maps HTTP methods to verbs.

use http::Method;

use crate::request::path::Target;

/// What is done to objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    /// One object.
    Get,
    /// Many.
    List,
    /// Changes of many, as they happen.
    Watch,
    /// A new one.
    Create,
    /// One instead of another.
    Update,
    /// Changes to one.
    Patch,
    /// One goes.
    Delete,
    /// Many go.
    DeleteCollection,
}

impl Verb {
    /// The verb of a method on a target; `None` for methods that mean nothing here.
    pub fn of(method: &Method, target: &Target, watches: bool) -> Option<Verb> {
        let is_collection = target.name.is_empty();
        match method.as_str() {
            "GET" | "HEAD" if target.is_watch || (is_collection && watches) => Some(Verb::Watch),
            "GET" | "HEAD" if is_collection => Some(Verb::List),
            "GET" | "HEAD" => Some(Verb::Get),
            "POST" => Some(Verb::Create),
            "PUT" => Some(Verb::Update),
            "PATCH" => Some(Verb::Patch),
            "DELETE" if is_collection => Some(Verb::DeleteCollection),
            "DELETE" => Some(Verb::Delete),
            _ => None,
        }
    }

    /// As roles and messages name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Verb::Get => "get",
            Verb::List => "list",
            Verb::Watch => "watch",
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Patch => "patch",
            Verb::Delete => "delete",
            Verb::DeleteCollection => "deletecollection",
        }
    }

    /// Whether it changes nothing.
    pub fn is_read(self) -> bool {
        matches!(self, Verb::Get | Verb::List | Verb::Watch)
    }
}
