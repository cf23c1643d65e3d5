//! Lists sorted, cut, counted and flattened.

use std::cmp::Ordering;

use super::operators;
use super::{DeepRun, Run};
use crate::cel::value::{Effort, Fault, List, Outcome, Value, compare, equal};

/// How deep lists are flattened at most.
const DEEPEST: i64 = 64;
/// How long a list may be made.
const LONGEST: i64 = 1_000_000;

pub(super) fn find(name: &str) -> Option<Run> {
    Some(match name {
        "isSorted" => is_sorted,
        "sum" => sum_of(""),
        "max" => |args| extreme(args, Ordering::is_lt, "max"),
        "min" => |args| extreme(args, Ordering::is_gt, "min"),
        "slice" => slice,
        "sort" => |args| sort(list(&args[0])?, list(&args[0])?),
        "@sortByAssociatedKeys" => |args| sort(list(&args[0])?, list(&args[1])?),
        "lists.range" => range,
        "reverse" => |args| {
            let mut items = list(&args[0])?.values()?;
            items.reverse();
            Ok(Value::list(items))
        },
        "first" => |args| optional(list(&args[0])?, 0),
        "last" => |args| {
            let list = list(&args[0])?;
            optional(list, list.len().wrapping_sub(1))
        },
        _ => return None,
    })
}

/// Those that look at more than the items.
pub(super) fn find_deep(name: &str) -> Option<DeepRun> {
    Some(match name {
        "distinct" => distinct,
        "flatten" => flatten,
        _ => return None,
    })
}

/// The sum of a list that may be empty: then it is the zero of its type.
pub(super) fn sum_of(overload: &str) -> Run {
    match overload {
        "list_duration_sum_duration" => |args| sum(args, Value::Duration(0)),
        "list_double_sum_double" => |args| sum(args, Value::Double(0.0)),
        "list_uint_sum_uint" => |args| sum(args, Value::Uint(0)),
        _ => |args| sum(args, Value::Int(0)),
    }
}

pub(super) fn list<'v, 'a>(value: &'v Value<'a>) -> Result<&'v List<'a>, Fault> {
    match value {
        Value::List(list) => Ok(list),
        _ => Err(Fault::NoOverload),
    }
}

fn optional<'a>(list: &List<'a>, index: usize) -> Outcome<'a> {
    Ok(list.get(index).transpose()?.map_or(Value::none(), Value::some))
}

fn is_sorted<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let items = list(&args[0])?.values()?;
    for pair in items.windows(2) {
        if compare(&pair[0], &pair[1])?.is_gt() {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn sum<'a>(args: &[Value<'a>], zero: Value<'a>) -> Outcome<'a> {
    let add = operators::find("_+_").ok_or(Fault::NoOverload)?;
    let mut total: Option<Value<'a>> = None;
    for item in list(&args[0])?.iter() {
        let item = item?;
        total = Some(match total {
            None => item,
            Some(total) => add(&[total, item])?,
        });
    }
    Ok(total.unwrap_or(zero))
}

fn extreme<'a>(args: &[Value<'a>], yields: fn(Ordering) -> bool, name: &str) -> Outcome<'a> {
    let mut best: Option<Value<'a>> = None;
    for item in list(&args[0])?.iter() {
        let item = item?;
        best = Some(match best {
            None => item,
            Some(best) if yields(compare(&best, &item)?) => item,
            Some(best) => best,
        });
    }
    best.ok_or_else(|| Fault::Error(format!("{name} called on empty list")))
}

fn slice<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let (Value::Int(start), Value::Int(end)) = (&args[1], &args[2]) else { return Err(Fault::NoOverload) };
    let items = list(&args[0])?;
    let refused = |why: String| Err(Fault::Error(format!("cannot slice({start}, {end}), {why}")));
    let (Ok(from), Ok(to)) = (usize::try_from(*start), usize::try_from(*end)) else {
        return refused("negative indexes not supported".to_owned());
    };
    if from > to {
        return refused("start index must be less than or equal to end index".to_owned());
    }
    if to > items.len() {
        return refused(format!("list is length {}", items.len()));
    }
    let cut: Result<Vec<Value<'a>>, Fault> = (from..to).filter_map(|index| items.get(index)).collect();
    Ok(Value::list(cut?))
}

fn flatten<'a>(args: &[Value<'a>], effort: &mut Effort) -> Outcome<'a> {
    let depth = match args.get(1) {
        None => 1,
        Some(Value::Int(depth)) if *depth < 0 => return Err(Fault::error("level must be non-negative")),
        Some(Value::Int(depth)) => (*depth).min(DEEPEST),
        Some(_) => return Err(Fault::NoOverload),
    };
    let mut out = Vec::new();
    flatten_into(list(&args[0])?, depth, &mut out, effort)?;
    Ok(Value::list(out))
}

fn flatten_into<'a>(
    list: &List<'a>,
    depth: i64,
    out: &mut Vec<Value<'a>>,
    effort: &mut Effort,
) -> Result<(), Fault> {
    for item in list.iter() {
        effort.spend(1)?;
        match item? {
            Value::List(inner) if depth > 0 => flatten_into(&inner, depth - 1, out, effort)?,
            item => out.push(item),
        }
    }
    Ok(())
}

/// Items in the order of their keys.
fn sort<'a>(items: &List<'a>, keys: &List<'a>) -> Outcome<'a> {
    let (items, keys) = (items.values()?, keys.values()?);
    if items.len() != keys.len() {
        return Err(Fault::Error(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} and {} \
             elements respectively",
            items.len(),
            keys.len()
        )));
    }
    let same_type = |pair: &[Value<'a>]| pair[0].type_name() == pair[1].type_name();
    if !keys.windows(2).all(same_type) {
        return Err(Fault::error("list elements must have the same type"));
    }
    // What is in order with itself is in order with all of its type.
    for key in &keys {
        compare(key, key)?;
    }
    let mut places: Vec<usize> = (0..keys.len()).collect();
    places.sort_by(|a, b| compare(&keys[*a], &keys[*b]).unwrap_or(Ordering::Equal));
    Ok(Value::list(places.into_iter().map(|place| items[place].clone()).collect()))
}

fn range<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match &args[0] {
        Value::Int(count) if *count > LONGEST => Err(Fault::TooExpensive),
        Value::Int(count) => Ok(Value::list((0..*count).map(Value::Int).collect())),
        _ => Err(Fault::NoOverload),
    }
}

fn distinct<'a>(args: &[Value<'a>], effort: &mut Effort) -> Outcome<'a> {
    let mut found: Vec<Value<'a>> = Vec::new();
    for item in list(&args[0])?.iter() {
        let item = item?;
        let mut seen = false;
        for other in &found {
            if equal(&item, other, effort)? {
                seen = true;
                break;
            }
        }
        if !seen {
            found.push(item);
        }
    }
    Ok(Value::list(found))
}
