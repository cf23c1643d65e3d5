//! Arithmetic, comparisons, and what stands at an index.

use std::cmp::Ordering;
use std::rc::Rc;

use super::time::Stamp;
use super::{DeepRun, Run};
use crate::cel::value::{Effort, Fault, List, Map, Outcome, Text, Value, compare, equal, join};
use crate::time::Moment;

pub(super) fn find(name: &str) -> Option<Run> {
    Some(match name {
        "_+_" => add,
        "_-_" => subtract,
        "_*_" => multiply,
        "_/_" => divide,
        "_%_" => modulo,
        "-_" => negate,
        "!_" => not,
        "_<_" => |args| ordered(args, Ordering::is_lt),
        "_<=_" => |args| ordered(args, Ordering::is_le),
        "_>_" => |args| ordered(args, Ordering::is_gt),
        "_>=_" => |args| ordered(args, Ordering::is_ge),
        "size" => size,
        "cel.@mapInsert" => insert,
        _ => return None,
    })
}

/// Those that may have to look at all of their arguments.
pub(super) fn find_deep(name: &str) -> Option<DeepRun> {
    Some(match name {
        "_==_" => |args, effort| equal(&args[0], &args[1], effort).map(Value::Bool),
        "_!=_" => |args, effort| equal(&args[0], &args[1], effort).map(|same| Value::Bool(!same)),
        "@in" => contained,
        _ => return None,
    })
}

/// What stands at an index of a list or at a key of a map; the inner `None` when nothing does.
pub(in crate::cel) fn at<'a>(of: &Value<'a>, index: &Value<'a>) -> Result<Option<Value<'a>>, Fault> {
    match of {
        Value::List(list) => {
            let place = match index {
                Value::Int(number) => usize::try_from(*number).ok(),
                Value::Uint(number) => usize::try_from(*number).ok(),
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole")]
                Value::Double(number) if number.fract() == 0.0 && *number >= 0.0 => Some(*number as usize),
                _ => return Err(Fault::NoOverload),
            };
            place.and_then(|place| list.get(place)).transpose()
        }
        Value::Map(map) => map.get(index).transpose(),
        Value::Object(object) => match index {
            Value::String(name) => object.get(name).transpose(),
            _ => Err(Fault::NoOverload),
        },
        _ => Err(Fault::NoOverload),
    }
}

fn ordered<'a>(args: &[Value<'a>], holds: fn(Ordering) -> bool) -> Outcome<'a> {
    compare(&args[0], &args[1]).map(|order| Value::Bool(holds(order)))
}

fn overflow<'a>(result: Option<i64>) -> Outcome<'a> {
    result.map(Value::Int).ok_or_else(|| Fault::error("integer overflow"))
}

fn unsigned_overflow<'a>(result: Option<u64>) -> Outcome<'a> {
    result.map(Value::Uint).ok_or_else(|| Fault::error("unsigned integer overflow"))
}

fn duration_overflow<'a>(result: Option<i64>) -> Outcome<'a> {
    result.map(Value::Duration).ok_or_else(|| Fault::error("duration overflow"))
}

fn add<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match (&args[0], &args[1]) {
        (Value::Int(a), Value::Int(b)) => overflow(a.checked_add(*b)),
        (Value::Uint(a), Value::Uint(b)) => unsigned_overflow(a.checked_add(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a + b)),
        (Value::String(a), Value::String(b)) => Ok(Value::text([&**a, &**b].concat())),
        (Value::Bytes(a), Value::Bytes(b)) => Ok(Value::Bytes([&**a, &**b].concat().into())),
        (Value::Duration(a), Value::Duration(b)) => duration_overflow(a.checked_add(*b)),
        (Value::Timestamp(moment), Value::Duration(duration))
        | (Value::Duration(duration), Value::Timestamp(moment)) => later(*moment, *duration),
        (Value::List(a), Value::List(b)) => join(a, b),
        _ => Err(Fault::NoOverload),
    }
}

fn subtract<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match (&args[0], &args[1]) {
        (Value::Int(a), Value::Int(b)) => overflow(a.checked_sub(*b)),
        (Value::Uint(a), Value::Uint(b)) => unsigned_overflow(a.checked_sub(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a - b)),
        (Value::Duration(a), Value::Duration(b)) => duration_overflow(a.checked_sub(*b)),
        (Value::Timestamp(moment), Value::Duration(duration)) => {
            let back = duration.checked_neg().ok_or_else(|| Fault::error("timestamp overflow"))?;
            later(*moment, back)
        }
        (Value::Timestamp(a), Value::Timestamp(b)) => {
            let nanos = nanoseconds(a.moment) - nanoseconds(b.moment);
            duration_overflow(i64::try_from(nanos).ok())
        }
        _ => Err(Fault::NoOverload),
    }
}

fn nanoseconds(moment: Moment) -> i128 {
    i128::from(moment.seconds) * 1_000_000_000 + i128::from(moment.nanoseconds)
}

/// The moment so many nanoseconds later, within the years that there are.
fn later<'a>(from: Stamp, duration: i64) -> Outcome<'a> {
    let total = nanoseconds(from.moment) + i128::from(duration);
    let seconds = i64::try_from(total.div_euclid(1_000_000_000)).ok();
    let nanos = u32::try_from(total.rem_euclid(1_000_000_000)).unwrap_or_default();
    seconds
        .filter(|seconds| super::time::YEARS.contains(seconds))
        .map(|seconds| Value::Timestamp(Stamp { moment: Moment { seconds, nanoseconds: nanos }, ..from }))
        .ok_or_else(|| Fault::error("timestamp overflow"))
}

fn multiply<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match (&args[0], &args[1]) {
        (Value::Int(a), Value::Int(b)) => overflow(a.checked_mul(*b)),
        (Value::Uint(a), Value::Uint(b)) => unsigned_overflow(a.checked_mul(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a * b)),
        _ => Err(Fault::NoOverload),
    }
}

fn divide<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match (&args[0], &args[1]) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => {
            Err(Fault::error("division by zero"))
        }
        (Value::Int(a), Value::Int(b)) => overflow(a.checked_div(*b)),
        (Value::Uint(a), Value::Uint(b)) => unsigned_overflow(a.checked_div(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a / b)),
        _ => Err(Fault::NoOverload),
    }
}

fn modulo<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match (&args[0], &args[1]) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => {
            Err(Fault::error("modulus by zero"))
        }
        (Value::Int(a), Value::Int(b)) => overflow(a.checked_rem(*b)),
        (Value::Uint(a), Value::Uint(b)) => unsigned_overflow(a.checked_rem(*b)),
        _ => Err(Fault::NoOverload),
    }
}

fn negate<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match &args[0] {
        Value::Int(number) => overflow(number.checked_neg()),
        Value::Double(number) => Ok(Value::Double(-number)),
        Value::Duration(nanos) => duration_overflow(nanos.checked_neg()),
        _ => Err(Fault::NoOverload),
    }
}

fn not<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match &args[0] {
        Value::Bool(flag) => Ok(Value::Bool(!flag)),
        _ => Err(Fault::NoOverload),
    }
}

fn contained<'a>(args: &[Value<'a>], effort: &mut Effort) -> Outcome<'a> {
    match &args[1] {
        Value::List(list) => contains(list, &args[0], effort).map(Value::Bool),
        Value::Map(map) => Ok(Value::Bool(map.get(&args[0]).transpose()?.is_some())),
        _ => Err(Fault::NoOverload),
    }
}

/// Whether a list holds a value.
pub(super) fn contains(list: &List<'_>, value: &Value<'_>, effort: &mut Effort) -> Result<bool, Fault> {
    let mut fault = None;
    for item in list.iter() {
        match item.and_then(|item| equal(&item, value, effort)) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(Fault::TooExpensive) => return Err(Fault::TooExpensive),
            Err(why) => fault = fault.or(Some(why)),
        }
    }
    fault.map_or(Ok(false), Err)
}

/// What is said when nothing stands at an index or a key.
pub(in crate::cel) fn missing(of: &Value<'_>, index: &Value<'_>) -> Fault {
    let what = if matches!(of, Value::List(_)) { "index out of bounds" } else { "no such key" };
    let index = match index {
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Double(number) => crate::number::float_in_text(*number),
        Value::String(text) => text.to_string(),
        other => other.type_name().to_owned(),
    };
    Fault::Error(format!("{what}: {index}"))
}

#[expect(clippy::cast_possible_wrap, reason = "nothing has so many parts")]
fn size<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let size = match &args[0] {
        Value::String(text) => text.chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        _ => return Err(Fault::NoOverload),
    };
    Ok(Value::Int(size as i64))
}

fn insert<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let Value::Map(Map::Made(map)) = &args[0] else { return Err(Fault::NoOverload) };
    let mut map = (**map).clone();
    match &args[1..] {
        [key, value] => map.insert(key.clone(), value.clone())?,
        [Value::Map(more)] => {
            for key in more.keys() {
                if let Some(value) = more.get(&key) {
                    map.insert(key, value?)?;
                }
            }
        }
        _ => return Err(Fault::NoOverload),
    }
    Ok(Value::Map(Map::Made(Rc::new(map))))
}

/// A text that is one of the arguments.
pub(super) fn text<'t, 'a>(value: &'t Value<'a>) -> Result<&'t Text<'a>, Fault> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err(Fault::NoOverload),
    }
}
