//! Validation of names, label keys and annotation keys.

mod dns;
mod generate;
mod label;

use std::borrow::Cow;

pub use dns::{dns1035_label, dns1123_label, dns1123_subdomain, path_segment, path_segment_prefix};
pub use generate::{SUFFIX_LENGTH, generate_name};
pub use label::{config_map_key, label_key, label_value, qualified_name};

/// Everything that is wrong with one text; empty, and not allocated, when nothing is.
pub type Faults = Vec<Cow<'static, str>>;

/// The rule for the names of a kind. The flag says that the text is a `generateName`, to which more is appended.
pub type NameRule = fn(name: &str, is_prefix: bool) -> Faults;

/// Names that are a DNS subdomain: most kinds, and all custom resources.
pub fn name_is_dns_subdomain(name: &str, is_prefix: bool) -> Faults {
    dns1123_subdomain(&before_suffix(name, is_prefix))
}

/// Names that are a DNS label: namespaces.
pub fn name_is_dns_label(name: &str, is_prefix: bool) -> Faults {
    dns1123_label(&before_suffix(name, is_prefix))
}

/// Names that are an RFC 1035 label: services.
pub fn name_is_dns1035_label(name: &str, is_prefix: bool) -> Faults {
    dns1035_label(&before_suffix(name, is_prefix))
}

/// Names that only have to fit into a path: roles and bindings, and the least that is asked of every kind.
pub fn name_is_path_segment(name: &str, is_prefix: bool) -> Faults {
    if is_prefix { path_segment_prefix(name) } else { path_segment(name) }
}

/// Group and version of an `apiVersion` such as `apps/v1`; the core's group is empty. `None` when it has more than two parts.
pub fn group_version(api_version: &str) -> Option<(&str, &str)> {
    match api_version.split_once('/') {
        None => Some(("", api_version)),
        Some((_, version)) if version.contains('/') => None,
        Some((group, version)) => Some((group, version)),
    }
}

/// A `generateName` may end in a dash, because a suffix follows. Kubernetes checks it with the last two characters
/// replaced by one letter, so that it is one shorter; lengths are judged on that.
fn before_suffix(name: &str, is_prefix: bool) -> Cow<'_, str> {
    if !is_prefix || name.len() < 2 || !name.ends_with('-') {
        return Cow::Borrowed(name);
    }
    match name.get(..name.len() - 2) {
        Some(start) => Cow::Owned(format!("{start}a")),
        // A character of several bytes stands before the dash; no rule that masks allows one.
        None => Cow::Borrowed(name),
    }
}

/// The head, the pattern and the examples of a message about a pattern that did not match.
macro_rules! pattern_fault {
    ($says:expr, $pattern:expr, $($examples:literal),+) => {
        concat!($says, " (e.g. ", $crate::names::pattern_fault!(@ $($examples),+), "regex used for validation is '", $pattern, "')")
    };
    (@ $last:literal) => { concat!("'", $last, "', ") };
    (@ $first:literal, $($rest:literal),+) => {
        concat!("'", $first, "',  or ", $crate::names::pattern_fault!(@ $($rest),+))
    };
}
use pattern_fault;

#[cfg(test)]
mod tests;
