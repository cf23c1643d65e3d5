//! The subresources a kind has, and where scale finds its numbers.

use crate::crd::go_text;
use crate::crd::spec::Subresources;
use crate::field::{FieldError, Path};

pub(super) fn validate(subresources: Option<&Subresources<'_>>, path: &Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let Some(scale) = subresources.and_then(|subresources| subresources.scale.as_ref()) else {
        return errors;
    };
    let required = [
        ("scale.specReplicasPath", scale.spec_replicas, ".spec.", "should be a json path under .spec"),
        (
            "scale.statusReplicasPath",
            scale.status_replicas,
            ".status.",
            "should be a json path under .status",
        ),
    ];
    for (field, json_path, prefix, detail) in required {
        let path = path.field(field);
        if json_path.is_empty() {
            errors.push(FieldError::required(&path, ""));
        } else if let Some(error) = simple_json_path(json_path, &path) {
            errors.push(error);
        } else if !json_path.starts_with(prefix) {
            errors.push(FieldError::invalid_text(&path, json_path, detail));
        }
    }
    if let Some(json_path) = scale.label_selector.filter(|json_path| !json_path.is_empty()) {
        let path = path.field("scale.labelSelectorPath");
        if let Some(error) = simple_json_path(json_path, &path) {
            errors.push(error);
        } else if !json_path.starts_with(".spec.") && !json_path.starts_with(".status.") {
            let detail = "should be a json path under either .spec or .status";
            errors.push(FieldError::invalid_shown(&path, go_text::text(json_path), detail));
        }
    }
    errors
}

/// Kubernetes asks no more of a path than its first dot.
pub(super) fn simple_json_path(json_path: &str, path: &Path<'_>) -> Option<FieldError> {
    let detail = "must be a simple json path starting with .";
    (!json_path.starts_with('.')).then(|| FieldError::invalid_text(path, json_path, detail))
}
