//! One step of a JSON patch.

use serde_json::{Map, Value};

use super::Budget;
use super::pointer::{count, find, place, steps};
use crate::patch::written::Reached;

/// One step of a JSON patch.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operation {
    Add { path: String, value: Value },
    Remove { path: String },
    Replace { path: String, value: Value },
    Move { from: String, path: String },
    Copy { from: String, path: String },
    Test { path: String, value: Value },
}

impl Operation {
    pub(super) fn from_value(operation: Value) -> Result<Operation, String> {
        let mut fields = match operation {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        let kind = match fields.remove("op") {
            Some(Value::String(kind)) => kind,
            _ => "unknown".to_owned(),
        };
        let value = fields.remove("value").unwrap_or_default();
        let mut text = |field: &str| match fields.remove(field) {
            Some(Value::String(text)) => Ok(text),
            _ => Err(format!("{kind} operation failed to decode {field}: missing value")),
        };
        Ok(match kind.as_str() {
            "add" => Operation::Add { path: text("path")?, value },
            "remove" => Operation::Remove { path: text("path")? },
            "replace" => Operation::Replace { path: text("path")?, value },
            "move" => Operation::Move { from: text("from")?, path: text("path")? },
            "copy" => Operation::Copy { from: text("from")?, path: text("path")? },
            "test" => Operation::Test { path: text("path")?, value },
            other => return Err(format!("Unexpected kind: {other}")),
        })
    }

    /// Adds what it reaches in an object.
    pub(super) fn reach(&self, reached: &mut Reached) {
        match self {
            Operation::Add { path, .. } | Operation::Replace { path, .. } | Operation::Test { path, .. } => {
                reached.add(steps(path), true);
            }
            Operation::Remove { path } => reached.add(steps(path), false),
            Operation::Move { from, path } | Operation::Copy { from, path } => {
                reached.add(steps(from), false);
                reached.add(steps(path), true);
            }
        }
    }

    pub(super) fn apply(&self, object: &mut Value, budget: &mut Budget) -> Result<(), String> {
        match self {
            Operation::Add { path, value } => {
                budget.fits(value, count(path))?;
                add(object, path, value.clone(), budget)
            }
            Operation::Remove { path } => take(object, path, budget).map(drop),
            Operation::Replace { path, value } => {
                budget.fits(value, count(path))?;
                replace(object, path, value)
            }
            Operation::Move { from, path } => {
                let value = take(object, from, budget)?;
                budget.fits(&value, count(path))?;
                add(object, path, value, budget)
            }
            Operation::Copy { from, path } => copy(object, from, path, budget),
            Operation::Test { path, value } => test(object, path, value),
        }
    }
}

fn add(object: &mut Value, path: &str, value: Value, budget: &mut Budget) -> Result<(), String> {
    match find(object, path) {
        Some((Value::Object(fields), step)) => {
            fields.insert(step.into_owned(), value);
        }
        Some((Value::Array(items), step)) => {
            // One may add behind the last item, and -1 is that place.
            let at = match &*step {
                "-" => items.len(),
                step => place(step, items.len() + 1)?,
            };
            budget.work(items.len() - at)?;
            items.insert(at, value);
        }
        _ => return Err(missing("add", path)),
    }
    Ok(())
}

fn take(object: &mut Value, path: &str, budget: &mut Budget) -> Result<Value, String> {
    match find(object, path) {
        Some((Value::Object(fields), step)) => fields
            .remove(&*step)
            .ok_or_else(|| format!("Unable to remove nonexistent key: {step}: missing value")),
        Some((Value::Array(items), step)) => {
            let at = place(&step, items.len())?;
            budget.work(items.len() - at)?;
            Ok(items.remove(at))
        }
        _ => Err(missing("remove", path)),
    }
}

fn replace(object: &mut Value, path: &str, value: &Value) -> Result<(), String> {
    if path.is_empty() {
        if !value.is_object() && !value.is_array() {
            return Err("replace operation value must be object or array".to_owned());
        }
        *object = value.clone();
        return Ok(());
    }
    match find(object, path) {
        Some((Value::Object(fields), step)) => {
            fields.insert(step.into_owned(), value.clone());
        }
        Some((Value::Array(items), step)) => {
            let at = place(&step, items.len())?;
            items[at] = value.clone();
        }
        _ => return Err(missing("replace", path)),
    }
    Ok(())
}

fn copy(object: &mut Value, from: &str, path: &str, budget: &mut Budget) -> Result<(), String> {
    let value = read("copy", object, from)?;
    if let Some(value) = value {
        let mut counted = Counted(0);
        serde_json::to_writer(&mut counted, value).map_err(|error| error.to_string())?;
        budget.copy(counted.0)?;
        budget.fits(value, count(path))?;
    }
    let value = value.cloned().unwrap_or_default();
    add(object, path, value, budget)
}

fn test(object: &mut Value, path: &str, wanted: &Value) -> Result<(), String> {
    let found = match path {
        "" => Some(&*object),
        path => read("test", object, path)?,
    };
    match found.unwrap_or(&Value::Null) == wanted {
        true => Ok(()),
        false => Err(format!("testing value {path} failed: test failed")),
    }
}

/// What a pointer points at; none when it is a field that is not there.
fn read<'v>(operation: &str, object: &'v mut Value, path: &str) -> Result<Option<&'v Value>, String> {
    match find(object, path) {
        Some((Value::Object(fields), step)) => Ok(fields.get(&*step)),
        Some((Value::Array(items), step)) => {
            let at = place(&step, items.len())?;
            Ok(items.get(at))
        }
        _ => Err(missing(operation, path)),
    }
}

fn missing(operation: &str, path: &str) -> String {
    format!("{operation} operation does not apply: doc is missing path: {path:?}: missing value")
}

/// Counts what is written to it.
struct Counted(usize);

impl std::io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
