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
    let float = |number: &Number| number.as_f64().unwrap_or(0.0);
    match (left.as_i64(), right.as_i64()) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(whole), None) => compare_whole(whole, float(right)),
        (None, Some(whole)) => compare_whole(whole, float(left)).reverse(),
        (None, None) => float(left).partial_cmp(&float(right)).unwrap_or(Ordering::Equal),
    }
}

/// Compares without rounding, which would make different whole numbers equal to the same float, and the order none.
fn compare_whole(whole: i64, float: f64) -> Ordering {
    const TWO_TO_THE_63: f64 = 9_223_372_036_854_775_808.0;
    if float >= TWO_TO_THE_63 {
        return Ordering::Less;
    }
    if float < -TWO_TO_THE_63 {
        return Ordering::Greater;
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and within bounds")]
    let floor = float.floor() as i64;
    let has_fraction = float.floor() < float;
    whole.cmp(&floor).then(if has_fraction { Ordering::Less } else { Ordering::Equal })
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
    fn large_numbers_are_compared_without_rounding() {
        let whole = 9_007_199_254_740_993_i64;
        assert!(!equal(&json!(whole), &json!(9_007_199_254_740_992.0)));
        assert!(!equal(&json!(whole), &json!(whole - 1)));
        assert!(equal(&json!(whole - 1), &json!(9_007_199_254_740_992.0)));
        let sorted = [
            json!(-1e300),
            json!(i64::MIN),
            json!(-1.5),
            json!(-1),
            json!(-0.5),
            json!(0),
            json!(0.5),
            json!(whole - 1),
            json!(whole),
            json!(9_007_199_254_740_994.0),
            json!(i64::MAX),
            json!(u64::MAX),
            json!(1e300),
        ];
        for (at, left) in sorted.iter().enumerate() {
            for (other, right) in sorted.iter().enumerate() {
                assert_eq!(compare(left, right), at.cmp(&other), "{left} {right}");
            }
        }
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
