//! Amounts compared and added.

use super::Run;
use super::operators::text;
use super::quantity::Quantity;
use super::semvers;
use crate::cel::value::{Fault, Outcome, Value};

pub(super) fn find(name: &str) -> Option<Run> {
    Some(match name {
        "quantity" => |args| Quantity::parse(text(&args[0])?).map(Value::Quantity).map_err(Fault::error),
        "isQuantity" => |args| Ok(Value::Bool(Quantity::parse(text(&args[0])?).is_ok())),
        "sign" => |args| Ok(Value::Int(amount(&args[0])?.sign())),
        "isGreaterThan" => |args| Ok(Value::Bool(order(args)?.is_gt())),
        "isLessThan" => |args| Ok(Value::Bool(order(args)?.is_lt())),
        "compareTo" => |args| Ok(Value::Int(order(args)? as i64)),
        "asApproximateFloat" => |args| Ok(Value::Double(amount(&args[0])?.float())),
        "asInteger" => |args| {
            let whole = amount(&args[0])?.whole();
            whole.map(Value::Int).ok_or_else(|| Fault::error("cannot convert value to integer"))
        },
        "isInteger" => |args| Ok(Value::Bool(amount(&args[0])?.whole().is_some())),
        "add" => |args| combined(args, Quantity::plus),
        "sub" => |args| combined(args, Quantity::minus),
        _ => return None,
    })
}

fn amount(value: &Value<'_>) -> Result<Quantity, Fault> {
    match value {
        Value::Quantity(quantity) => Ok(*quantity),
        _ => Err(Fault::NoOverload),
    }
}

/// Versions are compared by functions of the same names.
fn order(args: &[Value<'_>]) -> Result<std::cmp::Ordering, Fault> {
    match (&args[0], &args[1]) {
        (Value::Quantity(a), Value::Quantity(b)) => Ok(a.cmp(b)),
        (a, b) => semvers::order(a, b),
    }
}

fn combined<'a>(args: &[Value<'a>], with: fn(Quantity, Quantity) -> Quantity) -> Outcome<'a> {
    let other = match &args[1] {
        Value::Int(number) => Quantity::of(*number),
        other => amount(other)?,
    };
    Ok(Value::Quantity(with(amount(&args[0])?, other)))
}
