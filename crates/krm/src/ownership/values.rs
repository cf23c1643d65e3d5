//! Equality and order of values where 2 and 2.0 are the same number.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Whether two values say the same.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare_numbers(left, right) == Ordering::Equal,
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| left.0 == right.0 && equal(left.1, right.1))
        }
        _ => left == right,
    }
}

/// A total order: numbers, texts, booleans, lists, maps, null.
pub(super) fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare_numbers(left, right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Array(left), Value::Array(right)) => {
            let unequal = left.iter().zip(right).map(|(left, right)| compare(left, right));
            first_unequal(unequal).unwrap_or_else(|| left.len().cmp(&right.len()))
        }
        (Value::Object(left), Value::Object(right)) => {
            let unequal = left
                .iter()
                .zip(right)
                .map(|(left, right)| left.0.cmp(right.0).then_with(|| compare(left.1, right.1)));
            first_unequal(unequal).unwrap_or_else(|| left.len().cmp(&right.len()))
        }
        _ => rank(left).cmp(&rank(right)),
    }
}

fn first_unequal(mut orders: impl Iterator<Item = Ordering>) -> Option<Ordering> {
    orders.find(|order| *order != Ordering::Equal)
}

fn compare_numbers(left: &Number, right: &Number) -> Ordering {
    match (left.as_i64(), right.as_i64()) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ => {
            let (left, right) = (left.as_f64().unwrap_or(0.0), right.as_f64().unwrap_or(0.0));
            left.partial_cmp(&right).unwrap_or(Ordering::Equal)
        }
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whole_and_broken_numbers_of_one_value_are_equal() {
        assert!(equal(&json!({"a": [2]}), &json!({"a": [2.0]})));
        assert!(!equal(&json!(2), &json!("2")));
        assert!(!equal(&json!({"a": 1}), &json!({"b": 1})));
        assert!(!equal(&json!([1]), &json!([1, 2])));
    }

    #[test]
    fn values_of_different_types_have_an_order() {
        let sorted = [
            json!(1),
            json!(1.5),
            json!(10),
            json!("1"),
            json!("a"),
            json!(false),
            json!(true),
            json!([1]),
            json!([1, 1]),
            json!([2]),
            json!({"a": 1}),
            json!({"a": 2}),
            json!({"b": 0}),
            json!(null),
        ];
        for pair in sorted.windows(2) {
            assert_eq!(compare(&pair[0], &pair[1]), Ordering::Less, "{pair:?}");
        }
    }
}
