//! Parts of objects with paths of their own.

use krm::kind::{History, Kind, Subresource, Version};

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
        ("", "namespaces") => {
            parts.push(Part { name: "finalize", verbs: &["update"], of: None, takes: None })
        }
        ("", "serviceaccounts") => {
            let kind = ("authentication.k8s.io", "v1", "TokenRequest");
            let of = Of { definition: "io.k8s.api.authentication.v1.TokenRequest", kind };
            parts.push(Part { name: "token", verbs: &["create"], of: Some(of), takes: None });
        }
        _ => {}
    }
    parts.extend(version.subresources.iter().map(|part| match part {
        Subresource::Status => Part { name: "status", verbs: READ_WRITE, of: None, takes: None },
        Subresource::Scale(_) => {
            let kind = ("autoscaling", "v1", "Scale");
            let of = Of { definition: "io.k8s.api.autoscaling.v1.Scale", kind };
            Part { name: "scale", verbs: READ_WRITE, of: Some(of), takes: None }
        }
    }));
    if !kind.strategic && kind.takes("get") {
        let kind = ("groundplane.dev", "v1alpha1", "ReferrerList");
        let of = Of { definition: "dev.groundplane.v1alpha1.ReferrerList", kind };
        parts.push(Part { name: "referrers", verbs: &["get"], of: Some(of), takes: None });
    }
    if !kind.strategic && kind.takes("get") && kind.history != History::None {
        let revisions = ("groundplane.dev", "v1alpha1", "RevisionList");
        let of = Of { definition: "dev.groundplane.v1alpha1.RevisionList", kind: revisions };
        parts.push(Part { name: "history", verbs: &["get"], of: Some(of), takes: None });
        let takes = Some("dev.groundplane.v1alpha1.RestoreOptions");
        parts.push(Part { name: "restore", verbs: &["create"], of: None, takes });
        let takes = Some("dev.groundplane.v1alpha1.UndoOptions");
        parts.push(Part { name: "undo", verbs: &["create"], of: None, takes });
    }
    if kind.group == crate::transaction::GROUP && kind.names.plural == "plans" {
        parts.push(Part { name: "apply", verbs: &["create"], of: None, takes: None });
    }
    parts
}
