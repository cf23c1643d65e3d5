//! Whether a value is of a type, in the words Kubernetes has for it.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use super::DEEPEST;
use super::element::Element;
use super::items::element_of;
use super::types::{Case, Fields, Items, List, Scalar, Shape, Type};
use crate::golang;
use crate::object::Object;

/// Whether lists that are sets or maps may have an item twice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Duplicates {
    /// They may: what is stored may have them, from before the list became a set.
    Allowed,
    Refused,
}

/// Everything about a value that is not of its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TypeErrors(Vec<TypeError>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct TypeError {
    path: String,
    message: String,
}

/// Checks that an object is of a type.
pub(super) fn validate(ty: &Type, object: &Object, duplicates: Duplicates) -> Result<(), TypeErrors> {
    let mut validator = Validator { duplicates, errors: Vec::new() };
    validator.entries(ty.root(), ty.fields(), &object.0, DEEPEST);
    if validator.errors.is_empty() { Ok(()) } else { Err(TypeErrors(validator.errors)) }
}

struct Validator {
    duplicates: Duplicates,
    /// Paths are put together on the way back up, so that they cost nothing while nothing is wrong.
    errors: Vec<TypeError>,
}

impl Validator {
    fn value(&mut self, shape: Shape<'_>, value: &Value, depth: usize) {
        if shape.is_opaque() {
            return;
        }
        let Some(depth) = depth.checked_sub(1) else { return self.wrong("nested too deeply".to_owned()) };
        match shape.case(value) {
            Case::Map(fields) => self.map(shape, fields, value, depth),
            Case::Scalar(scalar) => self.errors.extend(scalar_error(scalar, value)),
            Case::List(list) => self.list(shape, list, value, depth),
        }
    }

    fn map(&mut self, shape: Shape<'_>, fields: &Fields, value: &Value, depth: usize) {
        match value {
            Value::Object(map) => self.entries(shape, fields, map, depth),
            Value::Null => {}
            other => self.wrong(format!("expected map, got &{{{}}}", golang::plain(other))),
        }
    }

    fn entries(&mut self, shape: Shape<'_>, fields: &Fields, map: &Map<String, Value>, depth: usize) {
        for (name, value) in map {
            let before = self.errors.len();
            let known = shape.entry(fields, name);
            match known {
                Some(entry) => self.value(entry, value, depth),
                None => self.wrong("field not declared in schema".to_owned()),
            }
            self.prefix(before, || format!(".{name}"));
            if known.is_none() {
                return;
            }
        }
    }

    fn list(&mut self, shape: Shape<'_>, list: &List, value: &Value, depth: usize) {
        let items = match value {
            Value::Array(items) => items,
            Value::Null => return,
            other => return self.wrong(format!("expected list, got &{{{}}}", golang::plain(other))),
        };
        let shape = shape.item(list);
        if matches!(list.items, Items::Atomic) {
            for (at, item) in items.iter().enumerate() {
                let before = self.errors.len();
                self.value(shape, item, depth);
                self.prefix(before, || format!("[{at}]"));
            }
            return;
        }
        let mut seen: BTreeSet<Element> = BTreeSet::new();
        for (at, item) in items.iter().enumerate() {
            let element = match element_of(list, item) {
                Ok(element) => element,
                // Without its key nothing can be said about what is in an item, nor in those after it.
                Err(why) => return self.wrong(format!("element {at}: {why}")),
            };
            if self.duplicates == Duplicates::Refused && seen.contains(&element) {
                self.wrong(format!("duplicate entries for key {element}"));
            }
            let before = self.errors.len();
            self.value(shape, item, depth);
            self.prefix(before, || element.to_string());
            if self.duplicates == Duplicates::Refused {
                seen.insert(element);
            }
        }
    }

    fn wrong(&mut self, message: String) {
        self.errors.push(TypeError { path: String::new(), message });
    }

    fn prefix(&mut self, from: usize, step: impl Fn() -> String) {
        for error in self.errors.iter_mut().skip(from) {
            error.path.insert_str(0, &step());
        }
    }
}

fn scalar_error(scalar: Scalar, value: &Value) -> Option<TypeError> {
    let message = match (scalar, value) {
        (_, Value::Null)
        | (Scalar::Numeric, Value::Number(_))
        | (Scalar::Text, Value::String(_))
        | (Scalar::Boolean, Value::Bool(_))
        | (Scalar::Any, Value::Number(_) | Value::String(_) | Value::Bool(_)) => return None,
        (Scalar::Numeric, _) => {
            format!("expected numeric (int or float), got {}", golang::type_name(value))
        }
        (Scalar::Text, _) => {
            format!("expected string, got &value.valueUnstructured{{Value:{}}}", golang::source(value))
        }
        (Scalar::Boolean, _) => format!("expected boolean, got &{{{}}}", golang::plain(value)),
        (Scalar::Any, _) => format!("expected any scalar, got &{{{}}}", golang::plain(value)),
    };
    Some(TypeError { path: String::new(), message })
}

impl fmt::Display for TypeErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [only] => only.fmt(f),
            many => {
                f.write_str("errors:")?;
                many.iter().try_for_each(|error| write!(f, "\n  {error}"))
            }
        }
    }
}

impl std::error::Error for TypeErrors {}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.is_empty() {
            true => f.write_str(&self.message),
            false => write!(f, "{}: {}", self.path, self.message),
        }
    }
}
