//! Which of two values comes first.

use std::cmp::Ordering;

use super::{Fault, Value};

/// The order of two values of which one can come before the other.
pub(in crate::cel) fn compare(a: &Value<'_>, b: &Value<'_>) -> Result<Ordering, Fault> {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => Ok(a.cmp(b)),
        (Value::String(a), Value::String(b)) => Ok((**a).cmp(&**b)),
        (Value::Bytes(a), Value::Bytes(b)) => Ok(a.cmp(b)),
        (Value::Duration(a), Value::Duration(b)) => Ok(a.cmp(b)),
        (Value::Timestamp(a), Value::Timestamp(b)) => Ok(a.moment.cmp(&b.moment)),
        (a, b) => match numbers(a, b) {
            Some(Some(order)) => Ok(order),
            Some(None) => Err(Fault::error("NaN values cannot be ordered")),
            None => Err(Fault::NoOverload),
        },
    }
}

/// The order of two numbers of any types; the inner `None` when one of them is none.
pub(in crate::cel) fn numbers(a: &Value<'_>, b: &Value<'_>) -> Option<Option<Ordering>> {
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => return Some(Some(a.cmp(&b))),
        (Some(a), None) => {
            let Value::Double(b) = b else { return None };
            return Some(with_fraction(a, *b));
        }
        (None, Some(b)) => {
            let Value::Double(a) = a else { return None };
            return Some(with_fraction(b, *a).map(Ordering::reverse));
        }
        (None, None) => {}
    }
    match (a, b) {
        (Value::Double(a), Value::Double(b)) => Some(a.partial_cmp(b)),
        _ => None,
    }
}

fn whole(value: &Value<'_>) -> Option<i128> {
    match value {
        Value::Int(number) => Some(i128::from(*number)),
        Value::Uint(number) => Some(i128::from(*number)),
        _ => None,
    }
}

/// A whole number against one that may have a fraction, without losing digits of either.
fn with_fraction(whole: i128, other: f64) -> Option<Ordering> {
    if other.is_nan() {
        return None;
    }
    // Beyond this, all whole numbers that there are come before.
    if other >= 2e19 {
        return Some(Ordering::Less);
    }
    if other <= -2e19 {
        return Some(Ordering::Greater);
    }
    #[expect(clippy::cast_possible_truncation, reason = "it was just found to be small enough")]
    let floor = other.floor() as i128;
    Some(whole.cmp(&floor).then(if other.fract() == 0.0 { Ordering::Equal } else { Ordering::Less }))
}
