//! JSON patches (RFC 6902), as Kubernetes applies them.
//!
//! It is more lenient than the RFC: a negative index counts from the end, `replace` puts in what was not there, `add` without a
//! value adds null, `copy` of nothing copies null, and `test` takes a missing field for null.

mod operation;
mod pointer;

use serde_json::Value;

use super::PatchError;
use super::written::{Reached, written};
use crate::body::{self, FieldValidation, MOST_DEPTH, complain};
use crate::field::quote;
use operation::Operation;

/// How many operations one patch may have.
pub const MOST_OPERATIONS: usize = 10_000;

/// How many bytes the copies of one patch may add up to.
const MOST_COPIED: usize = 3 * 1024 * 1024;

/// How many values one patch may shift or look at on the way: far beyond use, short of a burden.
const MOST_WORK: usize = 50_000_000;

/// A JSON patch that was read from a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Patch {
    operations: Vec<Operation>,
    complaints: Vec<String>,
}

impl Patch {
    /// Reads a patch from the body of a request.
    pub fn read(text: &[u8], validation: FieldValidation) -> Result<Patch, PatchError> {
        let lenient = validation == FieldValidation::Ignore;
        let body = body::read(text).map_err(|error| match lenient {
            true => PatchError::Malformed(error.to_string()),
            false => PatchError::Malformed(format!("error decoding patch: {error}")),
        })?;
        let mut complaints: Vec<String> = body.duplicates;
        if lenient {
            check_shape(&body.value, "jsonpatch.Patch", "jsonpatch.Operation")
                .map_err(PatchError::Malformed)?;
        } else {
            check_types(&body.value, &mut complaints)
                .map_err(|why| PatchError::Malformed(format!("error decoding patch: {why}")))?;
        }
        for complaint in &mut complaints {
            complaint.insert_str(0, "json patch ");
        }
        Ok(Patch { complaints, ..Patch::from_value(body.value)? })
    }

    /// Takes a value for a patch.
    pub fn from_value(patch: Value) -> Result<Patch, PatchError> {
        check_shape(&patch, "jsonpatch.Patch", "jsonpatch.Operation").map_err(PatchError::Malformed)?;
        let operations = match patch {
            Value::Array(operations) => operations,
            _ => Vec::new(),
        };
        if operations.len() > MOST_OPERATIONS {
            let (most, found) = (MOST_OPERATIONS, operations.len());
            return Err(PatchError::TooManyOperations { most, found });
        }
        let operations: Result<Vec<_>, _> = operations.into_iter().map(Operation::from_value).collect();
        Ok(Patch { operations: operations.map_err(PatchError::Inapplicable)?, complaints: Vec::new() })
    }

    /// What a strict reader holds against it.
    pub fn complaints(&self) -> &[String] {
        &self.complaints
    }

    /// What came out of it, as a [`PatchError::BadResult`] shows it.
    pub fn shown(&self, result: &Value, api_version: &str, kind: &str) -> String {
        let mut reached = Reached::default();
        self.operations.iter().for_each(|operation| operation.reach(&mut reached));
        written(result, &reached, api_version, kind)
    }

    /// Does the operations in turn. When one fails, the object is left half changed: apply to a copy.
    pub fn apply(&self, object: &mut Value) -> Result<(), PatchError> {
        let mut budget = Budget { copies: MOST_COPIED, work: MOST_WORK };
        for operation in &self.operations {
            operation.apply(object, &mut budget).map_err(PatchError::Inapplicable)?;
        }
        Ok(())
    }
}

/// Does the operations of a patch in turn. When one fails, the object is left half changed: apply to a copy.
pub fn apply(patch: &Value, object: &mut Value) -> Result<(), PatchError> {
    Patch::from_value(patch.clone())?.apply(object)
}

/// What one patch may still cost.
struct Budget {
    copies: usize,
    work: usize,
}

impl Budget {
    fn copy(&mut self, bytes: usize) -> Result<(), String> {
        match self.copies.checked_sub(bytes) {
            Some(left) => self.copies = left,
            None => {
                let sum = MOST_COPIED - self.copies + bytes;
                return Err(format!(
                    "Unable to complete the copy, the accumulated size increase of copy is {sum}, exceeding the limit {MOST_COPIED}"
                ));
            }
        }
        Ok(())
    }

    fn work(&mut self, values: usize) -> Result<(), String> {
        self.work = self.work.checked_sub(values).ok_or("the patch takes too much work")?;
        Ok(())
    }

    /// Checks that a value fits that many steps below the top of an object.
    fn fits(&mut self, value: &Value, steps: usize) -> Result<(), String> {
        let room = MOST_DEPTH.checked_sub(steps).ok_or("the result is nested too deep")?;
        self.fits_in(value, room)
    }

    fn fits_in(&mut self, value: &Value, room: usize) -> Result<(), String> {
        let inside = || room.checked_sub(1).ok_or("the result is nested too deep");
        match value {
            Value::Array(items) => {
                let inside = inside()?;
                self.work(items.len())?;
                items.iter().try_for_each(|item| self.fits_in(item, inside))
            }
            Value::Object(fields) => {
                let inside = inside()?;
                self.work(fields.len())?;
                fields.values().try_for_each(|field| self.fits_in(field, inside))
            }
            _ => Ok(()),
        }
    }
}

/// Checks that a patch is a list of objects; nulls stand for nothing. The names are those of the Go types it is read into.
fn check_shape(patch: &Value, list: &str, operation: &str) -> Result<(), String> {
    let wrong = |value, wanted| {
        Err(format!("json: cannot unmarshal {} into Go value of type {wanted}", body::kind_of(value)))
    };
    match patch {
        Value::Null => Ok(()),
        Value::Array(items) => match items.iter().find(|item| !item.is_object() && !item.is_null()) {
            Some(item) => wrong(item, operation),
            None => Ok(()),
        },
        other => wrong(other, list),
    }
}

/// Checks what only the strict reader checks: that texts are texts, and that there is nothing else.
fn check_types(patch: &Value, complaints: &mut Vec<String>) -> Result<(), String> {
    check_shape(patch, "[]handlers.jsonPatchOp", "handlers.jsonPatchOp")?;
    let operations = patch.as_array().into_iter().flatten().enumerate();
    for (at, operation) in operations.filter_map(|(at, item)| Some((at, item.as_object()?))) {
        for (field, value) in operation {
            match field.as_str() {
                "op" | "path" | "from" if !value.is_string() && !value.is_null() => {
                    return Err(format!(
                        "json: cannot unmarshal {} into Go struct field jsonPatchOp.{field} of type string",
                        body::kind_of(value)
                    ));
                }
                "op" | "path" | "from" | "value" => {}
                unknown => {
                    complain(complaints, format!("unknown field {}", quote(&format!("[{at}].{unknown}"))))
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
