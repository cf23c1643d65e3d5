//! Groups that belong to the Kubernetes community take definitions only with its approval.

use crate::Object;
use crate::field::{FieldError, Path};

const ANNOTATION: &str = "api-approved.kubernetes.io";

/// Whether the community approved of a definition in one of its groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// There is a link to the approval.
    Approved,
    /// It says that there is none.
    Bypassed,
    /// It says something else.
    Invalid,
    /// It says nothing.
    Missing,
}

/// The approval of a definition, and the message of the condition that tells it; `None` where none is needed.
pub fn approval(object: &Object) -> Option<(Approval, String)> {
    let group = object.at("spec.group").and_then(serde_json::Value::as_str).unwrap_or("");
    is_protected(group).then(|| state(object))
}

pub(super) fn validate(new: &Object, old: Option<&Object>, group: &str) -> Option<FieldError> {
    if !is_protected(group) {
        return None;
    }
    let (now, reason) = state(new);
    if old.is_some_and(|old| state(old).0 == now) {
        return None;
    }
    let metadata = Path::of("metadata");
    let annotations = metadata.field("annotations");
    let path = annotations.key(ANNOTATION);
    match now {
        Approval::Approved | Approval::Bypassed => None,
        Approval::Missing => Some(FieldError::required(&path, reason)),
        Approval::Invalid => {
            Some(FieldError::invalid_text(&path, new.annotation(ANNOTATION).unwrap_or(""), reason))
        }
    }
}

fn is_protected(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"]
        .into_iter()
        .any(|root| group.strip_suffix(root).is_some_and(|before| before.is_empty() || before.ends_with('.')))
}

fn state(object: &Object) -> (Approval, String) {
    let see = "see https://github.com/kubernetes/enhancements/pull/1111";
    let must = format!("protected groups must have approval annotation \"{ANNOTATION}\"");
    match object.annotation(ANNOTATION).unwrap_or("") {
        "" => (Approval::Missing, format!("{must}, {see}")),
        text if text.starts_with("unapproved") => {
            (Approval::Bypassed, format!("not approved: {}", crate::field::quote(text)))
        }
        text if is_link(text) => (Approval::Approved, format!("approved in {text}")),
        _ => {
            let detail = "with either a URL or a reason starting with \"unapproved\"";
            (Approval::Invalid, format!("{must} {detail}, {see}"))
        }
    }
}

/// A URL with a scheme and a host.
fn is_link(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let mut letters = scheme.chars();
    let scheme_holds = letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    let host = rest.split(['/', '?', '#']).next().unwrap_or("");
    scheme_holds && !host.is_empty() && !text.chars().any(|c| c.is_ascii_control() || c == ' ')
}
