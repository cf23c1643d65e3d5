//! Keys and values of labels, and what is named like them.

use std::borrow::Cow;

use super::dns::subdomain_of_key;
use super::{Faults, pattern_fault};

const MOST_IN_NAME: usize = 63;
const MOST_IN_CONFIG_KEY: usize = 253;

const NOT_A_NAME: &str = pattern_fault!(
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]",
    "MyName",
    "my.name",
    "123-abc"
);

const NOT_A_KEY: &str = concat!(
    pattern_fault!(
        "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]",
        "MyName",
        "my.name",
        "123-abc"
    ),
    " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
);

const NOT_A_VALUE: &str = pattern_fault!(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?",
    "MyValue",
    "my_value",
    "12345"
);

const NOT_A_CONFIG_KEY: &str = pattern_fault!(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    "[-._a-zA-Z0-9]+",
    "key.name",
    "KEY_NAME",
    "key-name"
);

/// The key of a label: a name, with or without a domain before it: `app`, `example.com/app`.
pub fn label_key(text: &str) -> Faults {
    let mut faults = Faults::new();
    let name = match text.split_once('/') {
        None => text,
        Some((_, rest)) if rest.contains('/') => return vec![Cow::Borrowed(NOT_A_KEY)],
        Some(("", name)) => {
            faults.push(Cow::Borrowed("prefix part must be non-empty"));
            name
        }
        Some((prefix, name)) => {
            let of_prefix = subdomain_of_key(prefix).into_iter();
            faults.extend(of_prefix.map(|fault| Cow::Owned(format!("prefix part {fault}"))));
            name
        }
    };
    if name.is_empty() {
        faults.push(Cow::Borrowed("name part must be non-empty"));
    } else if name.len() > MOST_IN_NAME {
        faults.push(Cow::Borrowed("name part must be no more than 63 bytes"));
    }
    if !is_name(name) {
        faults.push(Cow::Borrowed(NOT_A_NAME));
    }
    faults
}

/// What finalizers, conditions and the like are called: the same as the key of a label.
pub fn qualified_name(text: &str) -> Faults {
    label_key(text)
}

/// The value of a label, which may be empty.
pub fn label_value(text: &str) -> Faults {
    let mut faults = Faults::new();
    if text.len() > MOST_IN_NAME {
        faults.push(Cow::Borrowed("must be no more than 63 bytes"));
    }
    if !text.is_empty() && !is_name(text) {
        faults.push(Cow::Borrowed(NOT_A_VALUE));
    }
    faults
}

/// A key in the data of a ConfigMap or Secret, which may become the name of a file.
pub fn config_map_key(text: &str) -> Faults {
    let mut faults = Faults::new();
    if text.len() > MOST_IN_CONFIG_KEY {
        faults.push(Cow::Borrowed("must be no more than 253 characters"));
    }
    if text.is_empty() || !text.bytes().all(is_in_name) {
        faults.push(Cow::Borrowed(NOT_A_CONFIG_KEY));
    }
    match text {
        "." => faults.push(Cow::Borrowed("must not be '.'")),
        ".." => faults.push(Cow::Borrowed("must not be '..'")),
        _ if text.starts_with("..") => faults.push(Cow::Borrowed("must not start with '..'")),
        _ => {}
    }
    faults
}

fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    match (bytes.first(), bytes.last()) {
        (Some(first), Some(last)) => {
            first.is_ascii_alphanumeric()
                && last.is_ascii_alphanumeric()
                && bytes.iter().copied().all(is_in_name)
        }
        _ => false,
    }
}

fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}
