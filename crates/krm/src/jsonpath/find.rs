//! Follows a path into a value.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Value;

use super::{Comparison, Filter, Slice, Step};

type Found<'a> = Vec<Cow<'a, Value>>;

pub(super) fn walk<'a>(mut values: Found<'a>, steps: &[Step], most: usize) -> Result<Found<'a>, String> {
    for step in steps {
        values = take(values, step, most)?;
        if values.len() > most {
            return Err("the path leads to too many values".to_owned());
        }
    }
    Ok(values)
}

fn take<'a>(values: Found<'a>, step: &Step, most: usize) -> Result<Found<'a>, String> {
    match step {
        Step::Field(name) => {
            let entry = |value| match value {
                Cow::Borrowed(Value::Object(entries)) => entries.get(name).map(Cow::Borrowed),
                Cow::Owned(Value::Object(mut entries)) => entries.remove(name).map(Cow::Owned),
                _ => None,
            };
            Ok(values.into_iter().filter_map(entry).collect())
        }
        Step::All => Ok(values.into_iter().flat_map(within).take(most.saturating_add(1)).collect()),
        Step::Descend => Ok(descend(values, most)),
        Step::Slice(bounds) => slice(values, bounds),
        Step::Union(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(walk(values.clone(), part, most)?);
                if all.len() > most {
                    break;
                }
            }
            Ok(all)
        }
        Step::Filter(filter) => filtered(values, filter, most),
        Step::Constant(value) => Ok(values.iter().map(|_| Cow::Owned(value.clone())).collect()),
        Step::Word(word) => Err(format!("unrecognized identifier {word}")),
    }
}

/// What stands directly in a value.
fn within(value: Cow<'_, Value>) -> Found<'_> {
    match value {
        Cow::Borrowed(Value::Object(entries)) => entries.values().map(Cow::Borrowed).collect(),
        Cow::Borrowed(Value::Array(items)) => items.iter().map(Cow::Borrowed).collect(),
        // Constants hold nothing.
        _ => Vec::new(),
    }
}

/// Every list and map, each before what it holds.
fn descend(values: Found<'_>, most: usize) -> Found<'_> {
    let mut found = Vec::new();
    let mut pending: Found<'_> = values.into_iter().rev().collect();
    while let Some(value) = pending.pop() {
        let inner = within(value.clone());
        if inner.is_empty() {
            continue;
        }
        found.push(value);
        if found.len() > most {
            break;
        }
        pending.extend(inner.into_iter().rev());
    }
    found
}

fn slice<'a>(values: Found<'a>, bounds: &Slice) -> Result<Found<'a>, String> {
    let mut found = Vec::new();
    for value in values {
        let items = match value {
            Cow::Borrowed(Value::Array(items)) => items,
            Cow::Borrowed(Value::Null) => continue,
            _ => return Err("it is not array or slice".to_owned()),
        };
        let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
        let from_end = |bound: i64| if bound < 0 { bound.saturating_add(length) } else { bound };
        let start = from_end(bounds.start.unwrap_or(0));
        let end = match (bounds.is_single, bounds.end) {
            (true, _) => start.saturating_add(1),
            (false, None) => length,
            (false, Some(end)) => from_end(end),
        };
        if start == end {
            return Ok(found);
        }
        let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let Some(part) = range.and_then(|(start, end)| items.get(start..end)).filter(|part| !part.is_empty())
        else {
            return Err(format!("array index out of bounds: index {start}, length {length}"));
        };
        let step = match bounds.step {
            None => 1,
            Some(step) => usize::try_from(step).ok().filter(|step| *step > 0).ok_or("step must be > 0")?,
        };
        found.extend(part.iter().step_by(step).map(Cow::Borrowed));
    }
    Ok(found)
}

fn filtered<'a>(values: Found<'a>, filter: &Filter, most: usize) -> Result<Found<'a>, String> {
    let mut found = Vec::new();
    for value in values {
        let Cow::Borrowed(Value::Array(items)) = value else {
            return Err("it is not array or slice and cannot be filtered".to_owned());
        };
        for item in items {
            if holds(item, filter, most)? {
                found.push(Cow::Borrowed(item));
            }
        }
    }
    Ok(found)
}

fn holds(item: &Value, filter: &Filter, most: usize) -> Result<bool, String> {
    let left = walk(vec![Cow::Borrowed(item)], &filter.left, most);
    let Some((comparison, right)) = &filter.comparison else {
        return Ok(left.is_ok_and(|left| !left.is_empty()));
    };
    let right = walk(vec![Cow::Borrowed(item)], right, most)?;
    match (left?.as_slice(), right.as_slice()) {
        ([], _) | (_, []) => Ok(false),
        ([left], [right]) => compare(left, *comparison, right),
        _ => Err("can only compare one element at a time".to_owned()),
    }
}

/// Only values of one type compare; a whole number and a fraction are two.
fn compare(left: &Value, comparison: Comparison, right: &Value) -> Result<bool, String> {
    let order = match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Number(left), Value::Number(right)) if left.is_f64() == right.is_f64() => {
            match (left.as_i64(), right.as_i64()) {
                (Some(left), Some(right)) => Some(left.cmp(&right)),
                _ => left.as_f64().partial_cmp(&right.as_f64()),
            }
        }
        (Value::Bool(left), Value::Bool(right))
            if matches!(comparison, Comparison::Equal | Comparison::NotEqual) =>
        {
            Some(left.cmp(right))
        }
        _ => None,
    };
    let order = order.ok_or("incompatible types for comparison")?;
    Ok(match comparison {
        Comparison::Equal => order == Ordering::Equal,
        Comparison::NotEqual => order != Ordering::Equal,
        Comparison::Less => order == Ordering::Less,
        Comparison::LessOrEqual => order != Ordering::Greater,
        Comparison::Greater => order == Ordering::Greater,
        Comparison::GreaterOrEqual => order != Ordering::Less,
        Comparison::Unknown => return Err("unrecognized filter operator".to_owned()),
    })
}
