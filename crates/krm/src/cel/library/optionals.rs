//! Values that may not be there.

use super::Run;
use super::lists::list;
use crate::cel::value::{Fault, Outcome, Value};

pub(super) fn find(name: &str) -> Option<Run> {
    Some(match name {
        "optional.of" => |args| Ok(Value::some(args[0].clone())),
        "optional.ofNonZeroValue" => {
            |args| Ok(if args[0].is_zero() { Value::none() } else { Value::some(args[0].clone()) })
        }
        "optional.none" => |_| Ok(Value::none()),
        "value" => |args| match &args[0] {
            Value::Optional(Some(value)) => Ok((**value).clone()),
            Value::Optional(None) => Err(Fault::error("optional.none() dereference")),
            _ => Err(Fault::NoOverload),
        },
        "hasValue" => |args| match &args[0] {
            Value::Optional(value) => Ok(Value::Bool(value.is_some())),
            _ => Err(Fault::NoOverload),
        },
        "optional.unwrap" | "unwrapOpt" => unwrap,
        _ => return None,
    })
}

fn unwrap<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let mut found = Vec::new();
    for item in list(&args[0])?.iter() {
        match item? {
            Value::Optional(Some(value)) => found.push((*value).clone()),
            Value::Optional(None) => {}
            other => return Err(Fault::Error(format!("value {} is not optional", other.type_name()))),
        }
    }
    Ok(Value::list(found))
}
