//! Lists taken as sets.

use super::Run;
use super::lists::list;
use super::operators::contains;
use crate::cel::value::{Fault, List, Value};

pub(super) fn find(name: &str) -> Option<Run> {
    Some(match name {
        "sets.contains" => |args| contains_all(list(&args[0])?, list(&args[1])?).map(Value::Bool),
        "sets.equivalent" => |args| {
            let (a, b) = (list(&args[0])?, list(&args[1])?);
            Ok(Value::Bool(contains_all(a, b)? && contains_all(b, a)?))
        },
        "sets.intersects" => |args| intersects(list(&args[0])?, list(&args[1])?).map(Value::Bool),
        _ => return None,
    })
}

fn contains_all(list: &List<'_>, wanted: &List<'_>) -> Result<bool, Fault> {
    for item in wanted.iter() {
        if !contains(list, &item?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn intersects(a: &List<'_>, b: &List<'_>) -> Result<bool, Fault> {
    for item in a.iter() {
        // What cannot be compared is in neither.
        if contains(b, &item?).unwrap_or(false) {
            return Ok(true);
        }
    }
    Ok(false)
}
