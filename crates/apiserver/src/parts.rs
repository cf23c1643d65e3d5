//! Subresources of objects, for discovery and OpenAPI.

use krm::kind::{History, Kind, Origin, Subresource, Version};

/// A part of an object.
pub struct Part {
    /// Its name in the path.
    pub name: &'static str,
    /// What can be done with it.
    pub verbs: &'static [&'static str],
    /// What goes in and out there, where it is not the object itself.
    pub of: Option<Of>,
    /// The definition of what goes in, where it is not what comes out; it may be left out.
    pub takes: Option<&'static str>,
    /// The kind of ours that discovery names, where it is not what comes out.
    pub asks: Option<&'static str>,
    /// Whether discovery lists it: kinds that users define are listed as Kubernetes lists them.
    pub is_listed: bool,
}

impl Part {
    fn new(name: &'static str, verbs: &'static [&'static str]) -> Part {
        Part { name, verbs, of: None, takes: None, asks: None, is_listed: true }
    }

    fn of(self, definition: &'static str, kind: (&'static str, &'static str, &'static str)) -> Part {
        Part { of: Some(Of { definition, kind }), ..self }
    }

    /// The group, version and name of the kind that discovery names, where it is not the object's.
    pub fn listed_kind(&self) -> Option<(&'static str, &'static str, &'static str)> {
        let asked = self.asks.map(|kind| ("groundplane.dev", "v1alpha1", kind));
        asked.or(self.of.as_ref().map(|of| of.kind))
    }
}

/// A kind that has no objects of its own.
pub struct Of {
    /// Its definition.
    pub definition: &'static str,
    /// Its group, version and name.
    pub kind: (&'static str, &'static str, &'static str),
}

const READ_WRITE: &[&str] = &["get", "patch", "update"];

/// The parts that objects of a kind have.
pub fn of(kind: &Kind, version: &Version) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    match (kind.group.as_str(), kind.names.plural.as_str()) {
        ("", "namespaces") => parts.push(Part::new("finalize", &["update"])),
        ("", "serviceaccounts") => {
            let kind = ("authentication.k8s.io", "v1", "TokenRequest");
            let part = Part::new("token", &["create"]);
            parts.push(part.of("io.k8s.api.authentication.v1.TokenRequest", kind));
        }
        _ => {}
    }
    parts.extend(version.subresources.iter().map(|part| match part {
        Subresource::Status => Part::new("status", READ_WRITE),
        Subresource::Scale(_) => {
            let kind = ("autoscaling", "v1", "Scale");
            Part::new("scale", READ_WRITE).of("io.k8s.api.autoscaling.v1.Scale", kind)
        }
    }));
    if !kind.strategic && kind.takes("get") {
        parts.extend(beyond(kind));
    }
    if kind.group == crate::transaction::GROUP && kind.names.plural == "plans" {
        parts.push(Part { asks: Some("Transaction"), ..Part::new("apply", &["create"]) });
    }
    if kind.group == crate::transaction::GROUP && kind.names.plural == "controllers" {
        parts.push(Part::new("operations", &["get"]));
        // Its lease is in no list: roles for all of a group must not grant to take it.
    }
    parts
}

/// All that are served, those too that are told of nowhere because Kubernetes' own kinds have none of them.
pub fn served(kind: &Kind, version: &Version) -> Vec<Part> {
    let mut parts = of(kind, version);
    if kind.strategic && kind.takes("get") {
        parts.extend(beyond(kind));
    }
    parts
}

/// What objects of every kind have besides; of Kubernetes' own it is told nowhere.
fn beyond(kind: &Kind) -> Vec<Part> {
    let ours = |name| ("groundplane.dev", "v1alpha1", name);
    let referrers = Part::new("referrers", &["get"]);
    let mut parts = vec![referrers.of("dev.groundplane.v1alpha1.ReferrerList", ours("ReferrerList"))];
    if kind.history != History::None {
        let history = Part::new("history", &["get"]);
        parts.push(history.of("dev.groundplane.v1alpha1.RevisionList", ours("RevisionList")));
        if kind.rollout.is_some() {
            let rollouts = Part::new("rollout-history", &["get"]);
            parts.push(
                rollouts.of("dev.groundplane.v1alpha1.RolloutRevisionList", ours("RolloutRevisionList")),
            );
        }
        parts.push(Part {
            takes: Some("dev.groundplane.v1alpha1.RestoreOptions"),
            asks: Some("RestoreOptions"),
            ..Part::new("restore", &["create"])
        });
        parts.push(Part {
            takes: Some("dev.groundplane.v1alpha1.UndoOptions"),
            asks: Some("UndoOptions"),
            ..Part::new("undo", &["create"])
        });
    }
    let is_listed = kind.origin == Origin::BuiltIn;
    parts.into_iter().map(|part| Part { is_listed, ..part }).collect()
}
