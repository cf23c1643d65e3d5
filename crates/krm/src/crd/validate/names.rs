//! The names of a kind: its plural, its singular, its kind, what it is called for short.

use super::joined;
use crate::crd::spec::Names;
use crate::field::{FieldError, Path};
use crate::names::dns1035_label;

/// What is wrong with names that are given. Which have to be given, the spec says.
pub(super) fn validate(names: &Names<'_>, path: &Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (field, name) in [("plural", names.plural), ("singular", names.singular)] {
        if let Some(detail) = label_faults(name) {
            errors.push(FieldError::invalid_text(&path.field(field), name, detail));
        }
    }
    for (field, name) in [("kind", names.kind), ("listKind", names.list_kind)] {
        if let Some(detail) = label_faults(&name.to_lowercase()) {
            let detail = format!("may have mixed case, but should otherwise match: {detail}");
            errors.push(FieldError::invalid_text(&path.field(field), name, detail));
        }
    }
    let short_names = path.field("shortNames");
    errors.extend(each(&names.short_names, &short_names));
    if !names.kind.is_empty() && names.kind == names.list_kind {
        let detail = "kind and listKind may not be the same";
        errors.push(FieldError::invalid_text(&path.field("listKind"), names.list_kind, detail));
    }
    errors.extend(each(&names.categories, &path.field("categories")));
    errors
}

fn label_faults(name: &str) -> Option<String> {
    if name.is_empty() { None } else { joined(dns1035_label(name)) }
}

fn each(names: &[&str], path: &Path<'_>) -> Vec<FieldError> {
    let faulty = |(index, name): (usize, &&str)| {
        let detail = joined(dns1035_label(name))?;
        Some(FieldError::invalid_text(&path.index(index), name, detail))
    };
    names.iter().enumerate().filter_map(faulty).collect()
}
