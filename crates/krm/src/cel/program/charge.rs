//! What calls really cost, by the sizes of what they were given.

use super::Call;
use crate::cel::value::{Effort, Fault, List, Map, Value};

/// So much for each; what is broken is rounded up.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "costs are reckoned in floats there, so they are here"
)]
fn each(size: u64, factor: f64) -> u64 {
    (size as f64 * factor).ceil() as u64
}

const PER_CHARACTER: f64 = 0.1;
const PER_PATTERN_CHARACTER: f64 = 0.25;

/// What a call costs before it is made.
pub(super) fn before(call: &Call, args: &[Value<'_>], effort: &mut Effort) -> Result<u64, Fault> {
    let size = |index: usize| args.get(index).map_or(1, Value::size);
    let characters = |index: usize| each(size(index), PER_CHARACTER);
    let matching = |pattern: u64| {
        let text = each(size(0).saturating_add(1), PER_CHARACTER);
        text.saturating_mul(each(pattern, PER_PATTERN_CHARACTER))
    };
    Ok(match call.function {
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => match args.first() {
            Some(first) => traversal(first, effort)?,
            None => 0,
        },
        "url" | "lowerAscii" | "upperAscii" | "substring" | "trim" | "cidr" | "isIP" | "isCIDR"
        | "quantity" | "isQuantity" | "semver" | "isSemver" | "startsWith" | "endsWith" | "strings.quote"
        | "format" => characters(0),
        "ip" if call.overload != "cidr_ip" => characters(0),
        "bytes" | "string" if matches!(args.first(), Some(Value::String(_) | Value::Bytes(_))) => {
            characters(0)
        }
        "replace" | "split" | "ip.isCanonical" => each(size(0), 2.0 * PER_CHARACTER),
        "matches" | "find" | "findAll" => matching(size(1)),
        "validate" => match args.first() {
            Some(Value::Format(format)) => {
                let text = each(size(1).saturating_add(1), PER_CHARACTER);
                text.saturating_mul(each(format.pattern_length, PER_PATTERN_CHARACTER))
            }
            _ => 1,
        },
        "contains" => characters(0).saturating_mul(characters(1)),
        "containsIP" | "containsCIDR" => {
            let mut cost = each(size(0) * 2, PER_CHARACTER);
            if call.function == "containsCIDR" {
                cost += characters(0) + 1;
            }
            if matches!(args.get(1), Some(Value::String(_))) {
                cost += characters(1);
            }
            cost
        }
        "@in" => match args.get(1) {
            Some(Value::List(_)) => size(1),
            _ => 1,
        },
        "_==_" | "_!=_" => each(size(0).min(size(1)), PER_CHARACTER),
        "_<_" | "_<=_" | "_>_" | "_>=_" => match args.first() {
            Some(Value::String(_) | Value::Bytes(_)) => each(size(0).min(size(1)), PER_CHARACTER),
            _ => 1,
        },
        "_+_" => match args.first() {
            Some(Value::String(_) | Value::Bytes(_)) => each(size(0) + size(1), PER_CHARACTER),
            Some(Value::List(_)) => {
                effort.spend(size(0) + size(1))?;
                1
            }
            _ => 1,
        },
        "join" => match args.first() {
            Some(Value::List(list)) => {
                each(joined(list, args.get(1).map_or(0, Value::size), effort)?, 2.0 * PER_CHARACTER)
            }
            _ => 1,
        },
        "sets.contains" | "sets.intersects" => 1 + size(0).saturating_mul(size(1)),
        "sets.equivalent" => 1 + size(0).saturating_mul(size(1)).saturating_mul(2),
        "slice" => match (args.get(1), args.get(2)) {
            (Some(Value::Int(start)), Some(Value::Int(end))) => {
                11_u64.saturating_add(u64::try_from(end.saturating_sub(*start)).unwrap_or(0))
            }
            _ => 11,
        },
        "reverse" => 11 + size(0),
        "lists.range" => match args.first() {
            Some(Value::Int(count)) => 11_u64.saturating_add(u64::try_from(*count).unwrap_or(0)),
            _ => 11,
        },
        "flatten" => {
            let depth = match args.get(1) {
                Some(Value::Int(depth)) => u64::try_from(*depth).unwrap_or(0),
                _ => 1,
            };
            11_u64.saturating_add(size(0).saturating_mul(depth))
        }
        "distinct" | "sort" => compared(args.first()),
        "@sortByAssociatedKeys" => compared(args.get(1)),
        _ => 1,
    })
}

fn joined(list: &List<'_>, separator: u64, effort: &mut Effort) -> Result<u64, Fault> {
    let mut size = separator.saturating_mul((list.len() as u64).saturating_sub(1));
    for item in list.iter() {
        effort.spend(1)?;
        if let Ok(item) = item {
            effort.read(&item)?;
            size = size.saturating_add(item.size());
        }
    }
    Ok(size)
}

/// For all items of a list compared with each other.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "costs are reckoned in floats there, so they are here"
)]
fn compared(list: Option<&Value<'_>>) -> u64 {
    let Some(Value::List(list)) = list else { return 11 };
    let each = match list.get(0) {
        Some(Ok(Value::String(_) | Value::Bytes(_))) => 2.0 + PER_CHARACTER,
        _ => 2.0,
    };
    let count = list.len() as u64;
    11_u64.saturating_add((count.saturating_mul(count) as f64 * each) as u64)
}

/// What looking at all of a value costs.
fn traversal(value: &Value<'_>, effort: &mut Effort) -> Result<u64, Fault> {
    effort.spend(1)?;
    Ok(match value {
        Value::String(text) => text.len() as u64 / 10,
        Value::Bytes(bytes) => bytes.len() as u64 / 10,
        Value::List(list) => {
            let mut cost: u64 = 0;
            for item in list.iter() {
                cost = cost.saturating_add(item.map_or(Ok(1), |item| traversal(&item, effort))?);
            }
            cost
        }
        Value::Map(map) => of_map(map, effort)?,
        _ => 1,
    })
}

fn of_map(map: &Map<'_>, effort: &mut Effort) -> Result<u64, Fault> {
    let mut cost = map.len() as u64;
    for key in map.keys() {
        cost = cost.saturating_add(traversal(&key, effort)?);
    }
    Ok(cost)
}
