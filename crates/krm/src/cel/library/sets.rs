//! Lists taken as sets.

use super::DeepRun;
use super::lists::list;
use super::operators::contains;
use crate::cel::value::{Effort, Fault, List, Value};

pub(super) fn find_deep(name: &str) -> Option<DeepRun> {
    Some(match name {
        "sets.contains" => {
            |args, effort| contains_all(list(&args[0])?, list(&args[1])?, effort).map(Value::Bool)
        }
        "sets.equivalent" => |args, effort| {
            let (a, b) = (list(&args[0])?, list(&args[1])?);
            Ok(Value::Bool(contains_all(a, b, effort)? && contains_all(b, a, effort)?))
        },
        "sets.intersects" => {
            |args, effort| intersects(list(&args[0])?, list(&args[1])?, effort).map(Value::Bool)
        }
        _ => return None,
    })
}

fn contains_all(list: &List<'_>, wanted: &List<'_>, effort: &mut Effort) -> Result<bool, Fault> {
    for item in wanted.iter() {
        if !contains(list, &item?, effort)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn intersects(a: &List<'_>, b: &List<'_>, effort: &mut Effort) -> Result<bool, Fault> {
    for item in a.iter() {
        match contains(b, &item?, effort) {
            Ok(true) => return Ok(true),
            Err(Fault::TooExpensive) => return Err(Fault::TooExpensive),
            // What cannot be compared is in neither.
            Ok(false) | Err(_) => {}
        }
    }
    Ok(false)
}
