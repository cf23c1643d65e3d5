//! Names by the rules of DNS, and path segment names.

use std::borrow::Cow;

use super::{Faults, pattern_fault};

const MOST_IN_LABEL: usize = 63;
const MOST_IN_SUBDOMAIN: usize = 253;

const NOT_A_LABEL: &str = pattern_fault!(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?",
    "my-name",
    "123-abc"
);

const NOT_A_SUBDOMAIN: &str = pattern_fault!(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
    "example.com"
);

const NOT_A_1035_LABEL: &str = pattern_fault!(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    "my-name",
    "abc-123"
);

/// A label as in RFC 1123: `my-name`, `123-abc`.
pub fn dns1123_label(text: &str) -> Faults {
    let mut faults = Faults::new();
    if text.len() > MOST_IN_LABEL {
        faults.push(Cow::Borrowed("must be no more than 63 characters"));
    }
    if !is_label(text) {
        let only_dots = is_subdomain(text);
        faults.push(Cow::Borrowed(if only_dots { "must not contain dots" } else { NOT_A_LABEL }));
    }
    faults
}

/// Labels as in RFC 1123, joined by dots: `example.com`.
pub fn dns1123_subdomain(text: &str) -> Faults {
    subdomain(text, "must be no more than 253 characters")
}

/// The same, with the length called bytes as messages about label keys do.
pub(super) fn subdomain_of_key(text: &str) -> Faults {
    subdomain(text, "must be no more than 253 bytes")
}

fn subdomain(text: &str, too_long: &'static str) -> Faults {
    let mut faults = Faults::new();
    if text.len() > MOST_IN_SUBDOMAIN {
        faults.push(Cow::Borrowed(too_long));
    }
    if !is_subdomain(text) {
        faults.push(Cow::Borrowed(NOT_A_SUBDOMAIN));
    }
    faults
}

/// A label as in RFC 1035, which begins with a letter: `my-name`.
pub fn dns1035_label(text: &str) -> Faults {
    let mut faults = Faults::new();
    if text.len() > MOST_IN_LABEL {
        faults.push(Cow::Borrowed("must be no more than 63 characters"));
    }
    if !is_label(text) || !text.starts_with(|first: char| first.is_ascii_lowercase()) {
        faults.push(Cow::Borrowed(NOT_A_1035_LABEL));
    }
    faults
}

/// A text that can stand between two slashes of a path. Whether it is empty or long is not asked.
pub fn path_segment(text: &str) -> Faults {
    match text {
        "." => vec![Cow::Borrowed("may not be '.'")],
        ".." => vec![Cow::Borrowed("may not be '..'")],
        _ => path_segment_prefix(text),
    }
}

/// The beginning of a text that can stand between two slashes of a path.
pub fn path_segment_prefix(text: &str) -> Faults {
    let mut faults = Faults::new();
    if text.contains('/') {
        faults.push(Cow::Borrowed("may not contain '/'"));
    }
    if text.contains('%') {
        faults.push(Cow::Borrowed("may not contain '%'"));
    }
    faults
}

fn is_label(text: &str) -> bool {
    let is_letter_or_digit = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    match (bytes.first(), bytes.last()) {
        (Some(&first), Some(&last)) => {
            is_letter_or_digit(first)
                && is_letter_or_digit(last)
                && bytes.iter().all(|&byte| byte == b'-' || is_letter_or_digit(byte))
        }
        _ => false,
    }
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}
