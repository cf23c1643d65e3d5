//! The attributes of a request that authorization decides on.

use std::borrow::Cow;

use krm::Status;
use krm::field::quote;
use krm::status::Subject;

use crate::identity::Identity;

/// What a request wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attributes<'a> {
    /// `get`, `list`, `watch`, `create`, …; the method in small letters for a path.
    pub verb: &'a str,
    /// The API group; empty for the core one.
    pub group: &'a str,
    /// The version; empty or `*` when it does not matter.
    pub version: &'a str,
    /// The plural of the kind.
    pub resource: &'a str,
    /// The subresource; often empty.
    pub subresource: &'a str,
    /// The object's name; empty for collections.
    pub name: &'a str,
    /// The namespace; empty at the cluster's scope.
    pub namespace: &'a str,
    /// The path, when the request is not about a resource.
    pub path: Option<&'a str>,
}

/// The same, kept for longer than the request that it was made from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OwnedAttributes {
    /// `get`, `list`, `watch`, `create`, …; the method in small letters for a path.
    pub verb: String,
    /// The API group; empty for the core one.
    pub group: String,
    /// The version; empty or `*` when it does not matter.
    pub version: String,
    /// The plural of the kind.
    pub resource: String,
    /// The subresource; often empty.
    pub subresource: String,
    /// The object's name; empty for collections.
    pub name: String,
    /// The namespace; empty at the cluster's scope.
    pub namespace: String,
    /// The path, when the request is not about a resource.
    pub path: Option<String>,
}

impl OwnedAttributes {
    /// What authorization decides on.
    pub fn borrowed(&self) -> Attributes<'_> {
        Attributes {
            verb: &self.verb,
            group: &self.group,
            version: &self.version,
            resource: &self.resource,
            subresource: &self.subresource,
            name: &self.name,
            namespace: &self.namespace,
            path: self.path.as_deref(),
        }
    }
}

impl From<Attributes<'_>> for OwnedAttributes {
    fn from(of: Attributes<'_>) -> OwnedAttributes {
        OwnedAttributes {
            verb: of.verb.to_owned(),
            group: of.group.to_owned(),
            version: of.version.to_owned(),
            resource: of.resource.to_owned(),
            subresource: of.subresource.to_owned(),
            name: of.name.to_owned(),
            namespace: of.namespace.to_owned(),
            path: of.path.map(str::to_owned),
        }
    }
}

impl<'a> Attributes<'a> {
    /// A verb on a resource of a group, at the cluster's scope.
    pub fn resource(verb: &'a str, group: &'a str, resource: &'a str) -> Attributes<'a> {
        Attributes { verb, group, version: "*", resource, ..Attributes::default() }
    }

    /// A verb on a path that is no resource.
    pub fn path(verb: &'a str, path: &'a str) -> Attributes<'a> {
        Attributes { verb, path: Some(path), ..Attributes::default() }
    }

    /// The same on one object.
    pub fn named(self, name: &'a str) -> Attributes<'a> {
        Attributes { name, ..self }
    }

    /// The same in a namespace.
    pub fn in_namespace(self, namespace: &'a str) -> Attributes<'a> {
        Attributes { namespace, ..self }
    }

    /// The same on a subresource.
    pub fn on_subresource(self, subresource: &'a str) -> Attributes<'a> {
        Attributes { subresource, ..self }
    }

    /// Whether it is about a resource.
    pub fn is_resource(&self) -> bool {
        self.path.is_none()
    }

    /// `resource` or `resource/subresource`.
    pub fn combined_resource(&self) -> Cow<'a, str> {
        match self.subresource.is_empty() {
            true => Cow::Borrowed(self.resource),
            false => Cow::Owned(format!("{}/{}", self.resource, self.subresource)),
        }
    }

    /// The 403 for this, with `reason` when there is one.
    pub fn forbidden(&self, who: &Identity, reason: &str) -> Status {
        let what = without_markup(&self.refusal(who));
        let why = if reason.is_empty() { what } else { format!("{what}: {reason}") };
        Status::forbidden(&Subject::new(self.group, self.resource), self.name, why)
    }

    fn refusal(&self, who: &Identity) -> String {
        let (user, verb) = (quote(&who.user), self.verb);
        if let Some(path) = self.path {
            return format!("User {user} cannot {verb} path {}", quote(path));
        }
        let resource = quote(&self.combined_resource());
        let place = match self.namespace {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace {}", quote(namespace)),
        };
        format!("User {user} cannot {verb} resource {resource} in API group {} {place}", quote(self.group))
    }
}

/// Nothing that a browser would take for HTML.
fn without_markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
