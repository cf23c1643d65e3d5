//! Which values are equal, and which come first.

use std::cmp::Ordering;

use super::formats;
use super::items::{Item, Sort};

/// Whether two values are the same; values of different types are an error.
pub fn is_equal<'a>(first: Item<'a>, second: Item<'a>) -> Result<bool, String> {
    let (first, second) = (first.open(), second.open());
    if first.sort() == Sort::Other && second.sort() == Sort::Other {
        return match (&first, &second) {
            (Item::Nothing, Item::Nothing) => Ok(true),
            (Item::Nothing, _) | (_, Item::Nothing) => Ok(false),
            (Item::Map(_), Item::Map(_)) | (Item::List(_), Item::List(_)) => {
                Err(format!("non-comparable type {}: {}", text(&second), second.type_name()))
            }
            _ => Err(format!(
                "non-comparable types {}: {}, {}: {}",
                text(&first),
                first.type_name(),
                second.type_name(),
                text(&second)
            )),
        };
    }
    if first.sort() != second.sort() {
        return match matches!(first, Item::Nothing) || matches!(second, Item::Nothing) {
            true => Ok(false),
            false => Err(incompatible(&first, &second)),
        };
    }
    Ok(match (first, second) {
        (Item::Bool(a), Item::Bool(b)) => a == b,
        (Item::Int(a, _), Item::Int(b, _)) => a == b,
        (Item::Float(a), Item::Float(b)) => a == b,
        (Item::Text(a), Item::Text(b)) => a == b,
        _ => false,
    })
}

/// Which of two values comes first.
pub fn order<'a>(first: Item<'a>, second: Item<'a>) -> Result<Ordering, String> {
    let invalid = || "invalid type for comparison".to_owned();
    let (first, second) = (first.open(), second.open());
    if first.sort() == Sort::Other || second.sort() == Sort::Other {
        return Err(invalid());
    }
    match (&first, &second) {
        (Item::Int(a, _), Item::Int(b, _)) => Ok(a.cmp(b)),
        (Item::Float(a), Item::Float(b)) => Ok(a.total_cmp(b)),
        (Item::Text(a), Item::Text(b)) => Ok(a.cmp(b)),
        (Item::Bool(_), Item::Bool(_)) => Err(invalid()),
        _ => Err(incompatible(&first, &second)),
    }
}

fn incompatible(first: &Item<'_>, second: &Item<'_>) -> String {
    format!("incompatible types for comparison: {} and {}", first.type_name(), second.type_name())
}

fn text(item: &Item<'_>) -> String {
    String::from_utf8_lossy(&formats::sprint(std::slice::from_ref(item))).into_owned()
}
