//! What was found wrong, gathered without saying the same thing twice.

use std::collections::HashSet;

use serde_json::Value;

use crate::field::{Fault, FieldError, Path};
use crate::schema::report::{MOST_BYTES, MOST_ERRORS};

/// One thing that is wrong.
pub struct Finding {
    /// What the validator says; the same words are not repeated.
    said: String,
    error: FieldError,
}

impl Finding {
    /// Something about a value.
    pub fn value(fault: Fault, path: &Path<'_>, value: &Value, said: String) -> Finding {
        let error = FieldError::with(fault, path, value, said.clone());
        Finding { said, error }
    }

    /// Something that is attributed to no field.
    pub fn nowhere(said: String) -> Finding {
        Finding::value(Fault::Invalid, &Path::ROOT, &Value::from(""), said)
    }

    /// A missing field.
    pub fn required(path: &Path<'_>, said: String) -> Finding {
        Finding { said, error: FieldError::required(path, "") }
    }

    /// A text that is too long.
    pub fn too_long(path: &Path<'_>, most: i64, said: String) -> Finding {
        Finding { said, error: FieldError::too_long(path, usize::try_from(most).unwrap_or(0)) }
    }

    /// A list or an object with too many entries.
    pub fn too_many(path: &Path<'_>, size: i64, most: i64, said: String) -> Finding {
        let count = |count| usize::try_from(count).unwrap_or(0);
        Finding { said, error: FieldError::too_many(path, count(size), count(most)) }
    }

    /// A value that is none of those allowed.
    pub fn not_supported(path: &Path<'_>, value: &Value, allowed: &[String], said: String) -> Finding {
        let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
        Finding { said, error: FieldError::not_supported(path, value, &allowed) }
    }
}

/// All that was found so far, up to what anybody reads.
pub struct Findings {
    inside: Option<&'static str>,
    list: Vec<Finding>,
    bytes: usize,
}

impl Findings {
    /// Nothing yet, about a value that stands in the field `inside`.
    pub fn new(inside: Option<&'static str>) -> Findings {
        Findings { inside, list: Vec::new(), bytes: 0 }
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether looking further would not tell anybody more.
    pub fn is_full(&self) -> bool {
        self.list.len() >= MOST_ERRORS || self.bytes >= MOST_BYTES
    }

    /// Notes a finding, which is a check that was not passed.
    pub fn add(&mut self, finding: Finding) -> usize {
        if !self.is_full() {
            self.bytes += finding.said.len();
            self.list.push(finding);
        }
        0
    }

    /// Takes away all but the first `length`.
    pub fn take_after(&mut self, length: usize) -> Vec<Finding> {
        let taken = self.list.split_off(length);
        self.bytes -= taken.iter().map(|finding| finding.said.len()).sum::<usize>();
        taken
    }

    /// Puts back what was taken.
    pub fn put_back(&mut self, findings: Vec<Finding>) {
        for finding in findings {
            self.add(finding);
        }
    }

    pub fn into_errors(self) -> Vec<FieldError> {
        let mut said = HashSet::with_capacity(self.list.len());
        let mut errors = Vec::with_capacity(self.list.len());
        for finding in self.list {
            if said.insert(finding.said) {
                let mut error = finding.error;
                error.field = self::field(self.inside, &error.field);
                errors.push(error);
            }
        }
        errors
    }
}

/// The name of a field, from the object on.
fn field(inside: Option<&str>, path: &str) -> String {
    let path = path.strip_prefix('.').unwrap_or(path);
    match inside {
        Some(inside) if path.is_empty() => inside.to_owned(),
        Some(inside) => format!("{inside}.{path}"),
        None => path.to_owned(),
    }
}
