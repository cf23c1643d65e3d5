//! What calls really cost, by the sizes of what they were given.

use super::Call;
use crate::cel::value::{List, Map, Value};

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
pub(super) fn before(call: &Call, args: &[Value<'_>]) -> u64 {
    let size = |index: usize| args.get(index).map_or(1, Value::size);
    let characters = |index: usize| each(size(index), PER_CHARACTER);
    let matching = |pattern: u64| {
        let text = each(size(0).saturating_add(1), PER_CHARACTER);
        text.saturating_mul(each(pattern, PER_PATTERN_CHARACTER))
    };
    match call.function {
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => args.first().map_or(0, traversal),
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
            // Lists are copied here, so they cost what a copy costs.
            Some(Value::List(_)) => 1 + each(size(0) + size(1), PER_CHARACTER),
            _ => 1,
        },
        "join" => match args.first() {
            Some(Value::List(list)) => each(joined(list, size(1)), 2.0 * PER_CHARACTER),
            _ => 1,
        },
        "sets.contains" | "sets.intersects" => 1 + size(0).saturating_mul(size(1)),
        "sets.equivalent" => 1 + size(0).saturating_mul(size(1)).saturating_mul(2),
        "slice" | "reverse" => 11 + size(0),
        "lists.range" => match args.first() {
            Some(Value::Int(count)) => 11_u64.saturating_add(u64::try_from(*count).unwrap_or(0)),
            _ => 11,
        },
        "flatten" => {
            let depth = match args.get(1) {
                Some(Value::Int(depth)) => u64::try_from(*depth).unwrap_or(0),
                _ => 1,
            };
            11_u64.saturating_add(args.first().map_or(0, |list| flat_size(list, depth.min(64))))
        }
        "distinct" | "sort" => 11_u64.saturating_add(size(0).saturating_mul(size(0)).saturating_mul(2)),
        "@sortByAssociatedKeys" => 11_u64.saturating_add(size(1).saturating_mul(size(1)).saturating_mul(2)),
        _ => 1,
    }
}

fn joined(list: &List<'_>, separator: u64) -> u64 {
    let texts: u64 = list.iter().map(|item| item.map_or(0, |item| item.size())).sum();
    texts.saturating_add(separator.saturating_mul(list.len() as u64))
}

/// How many items a list has when it is flat.
fn flat_size(value: &Value<'_>, depth: u64) -> u64 {
    match value {
        Value::List(list) if depth > 0 => {
            let inner = list.iter().map(|item| item.map_or(1, |item| 1 + flat_size(&item, depth - 1)));
            inner.fold(0, u64::saturating_add)
        }
        _ => 0,
    }
}

/// What looking at all of a value costs.
fn traversal(value: &Value<'_>) -> u64 {
    match value {
        Value::String(text) => text.len() as u64 / 10,
        Value::Bytes(bytes) => bytes.len() as u64 / 10,
        Value::List(list) => {
            list.iter().map(|item| item.map_or(1, |item| traversal(&item))).fold(0, u64::saturating_add)
        }
        Value::Map(map) => of_map(map),
        _ => 1,
    }
}

fn of_map(map: &Map<'_>) -> u64 {
    let entry = |key: Value<'_>| traversal(&key);
    map.keys().into_iter().map(entry).fold(map.len() as u64, u64::saturating_add)
}
