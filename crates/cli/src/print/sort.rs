//! The order that `--sort-by` asks for.

use std::cmp::Ordering;

use krm::jsonpath::JsonPath;
use krm::quantity::amount;
use serde_json::Value;

use super::path;
use crate::failure::Failure;

/// A path by whose value objects are put in order.
pub struct SortBy {
    path: JsonPath,
    text: String,
}

impl SortBy {
    /// Reads the path.
    pub fn parse(text: &str) -> Result<SortBy, Failure> {
        Ok(SortBy { path: path(text)?, text: format!("{{{}}}", relaxed_path(text)?) })
    }

    /// Sorts things by the value in the object of each; those without one come first.
    pub fn sort<T>(&self, things: &mut [T], object: impl Fn(&T) -> &Value) -> Result<(), Failure> {
        let value = |thing: &T| self.path.first(object(thing)).map(std::borrow::Cow::into_owned);
        if !things.is_empty() && things.iter().all(|thing| value(thing).is_none()) {
            return Err(Failure::other(format!(
                "couldn't find any field with path {} in the list of objects",
                krm::field::quote(&self.text)
            )));
        }
        things.sort_by(|a, b| match (value(a), value(b)) {
            (None, None) => Ordering::Equal,
            (None, _) => Ordering::Less,
            (_, None) => Ordering::Greater,
            (Some(a), Some(b)) => compare(&a, &b),
        });
        Ok(())
    }
}

fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a.as_f64().partial_cmp(&b.as_f64()).unwrap_or(Ordering::Equal)
        }
        (Value::String(a), Value::String(b)) => match (amount(a), amount(b)) {
            (Some(a), Some(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
            _ => a.cmp(b),
        },
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (a, b) => super::go::shown(a).cmp(&super::go::shown(b)),
    }
}

/// The inner part of a path that may be written `{.a.b}`, `.a.b` or `a.b`.
pub fn relaxed_path(text: &str) -> Result<String, Failure> {
    let unexpected = || {
        Failure::usage(format!(
            "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{{name1.name2}}' or '{{.name1.name2}}': {text}"
        ))
    };
    let inner = match (text.strip_prefix('{'), text.ends_with('}')) {
        (Some(inner), true) => &inner[..inner.len() - 1],
        (None, false) => text,
        _ => return Err(unexpected()),
    };
    match inner {
        inner if inner.starts_with(['.', '[', '$', '@']) => Ok(inner.to_owned()),
        inner => Ok(format!(".{inner}")),
    }
}
