//! Values that expressions come to.

use std::cmp::Ordering;
use std::sync::Arc;

/// A value. Enums are their numbers, times and durations are in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(Arc<str>),
    Time(i128),
    Duration(i128),
}

impl Value {
    /// How two values of one type, or two numbers, are ordered. `None` for NaN and for values of different types.
    pub fn order(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
            (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
            (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
            (Value::Int(a), Value::Double(b)) => int_and_double(*a, *b),
            (Value::Double(a), Value::Int(b)) => int_and_double(*b, *a).map(Ordering::reverse),
            (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
            (Value::Time(a), Value::Time(b)) => Some(a.cmp(b)),
            (Value::Duration(a), Value::Duration(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }
}

/// Compares without rounding: an integer beyond 2^53 has no equal among the doubles beside it.
fn int_and_double(int: i64, double: f64) -> Option<Ordering> {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if double.is_nan() {
        return None;
    }
    if double >= BEYOND {
        return Some(Ordering::Less);
    }
    if double < -BEYOND {
        return Some(Ordering::Greater);
    }
    let whole = double.trunc();
    let fraction = double - whole;
    let order = int.cmp(&(whole as i64));
    Some(order.then(0.0_f64.partial_cmp(&fraction)?))
}
