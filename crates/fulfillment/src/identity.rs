//! Identifiers of the fulfillment API and the names of objects that stand for them.
//!
//! An identifier that is a DNS name is the name of its object. Any other, such as `ocp_4_17_small`, is kept in the field
//! `id`, and the name of the object is derived from it. So an object is found by its identifier without a search, and two
//! objects can't have the same one.

use krm::field::{FieldError, Path};
use krm::kind::Metadata;
use krm::names::{dns1123_label, dns1123_subdomain};
use ring::digest::{SHA256, digest};

/// Characters of an identifier that a derived name keeps.
const KEPT: usize = 40;
/// Hexadecimal digits that tell derived names apart.
const DIGITS: usize = 16;

/// The name of the object with an identifier.
pub fn name_of(id: &str) -> String {
    if is_name(id) {
        return id.to_owned();
    }
    let plain = id.chars().map(|letter| match letter.to_ascii_lowercase() {
        letter @ ('a'..='z' | '0'..='9') => letter,
        _ => '-',
    });
    let plain: String = plain.take(KEPT).collect();
    let hash = digest(&SHA256, id.as_bytes());
    let digits: String = hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    match plain.trim_matches('-') {
        "" => format!("id-{}", &digits[..DIGITS]),
        plain => format!("{plain}-{}", &digits[..DIGITS]),
    }
}

/// Whether an identifier is the name of its object.
pub fn is_name(id: &str) -> bool {
    dns1123_subdomain(id).is_empty()
}

/// What is wrong with the identity of an object of the root: its identifier fits its name, and its display name is one of
/// the fulfillment API.
pub fn faults(metadata: &Metadata, id: Option<&str>, display_name: Option<&str>) -> Vec<FieldError> {
    let mut faults = display_name_faults(display_name);
    let Some(id) = id else { return faults };
    let path = Path::of("id");
    if is_name(id) {
        let why = "is a DNS name: name the object so, and leave this field out";
        faults.push(FieldError::invalid_text(&path, id, why));
    } else if name_of(id) != metadata.name {
        let why = format!("the object must be named {}", name_of(id));
        faults.push(FieldError::invalid_text(&path, id, why));
    }
    faults
}

/// What is wrong with a display name.
pub fn display_name_faults(display_name: Option<&str>) -> Vec<FieldError> {
    let faults = display_name.map(dns1123_label).unwrap_or_default();
    let path = Path::of("displayName");
    let named = display_name.unwrap_or_default();
    faults.into_iter().map(|why| FieldError::invalid_text(&path, named, why)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dns_name_is_its_own_name_and_anything_else_gets_one() {
        assert_eq!(name_of("285fc71d-c0f7-421e-bc31-870545943987"), "285fc71d-c0f7-421e-bc31-870545943987");
        let derived = name_of("ocp_4_17_small");
        assert!(derived.starts_with("ocp-4-17-small-"), "{derived}");
        for id in ["ocp_4_17_small", "UPPER", "", "---", "ü", "a/b", &"x".repeat(500), "..", "a b\n"] {
            let name = name_of(id);
            assert!(is_name(&name), "{id:?} became {name:?}");
            assert!(name.len() <= 63, "{name}");
        }
        assert_ne!(name_of("A_b"), name_of("a_B"), "letters that look alike are not the same identifier");
    }
}
