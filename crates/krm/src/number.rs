//! Numbers as Go writes them.

use serde_json::{Number, Value};

/// A fraction as a value that was written by Go and read again: a whole number where its text is one.
pub fn from_float(number: f64) -> Value {
    match whole(number) {
        Some(number) => Value::from(number),
        None => Number::from_f64(number).map_or(Value::Null, Value::Number),
    }
}

/// The same number without a fraction of nothing: 5 for 5.0, as it comes back from Go's JSON.
pub fn plain(number: &Number) -> Number {
    let float = number.as_f64().filter(|_| number.is_f64());
    float.and_then(whole).map_or_else(|| number.clone(), Number::from)
}

/// All numbers of a value as they come back from Go's JSON.
pub fn reread(value: &mut Value) {
    match value {
        Value::Number(number) => *number = plain(number),
        Value::Array(items) => items.iter_mut().for_each(reread),
        Value::Object(fields) => fields.values_mut().for_each(reread),
        _ => {}
    }
}

/// Fractions of nothing in a value become whole numbers, as far as every JSON reader holds those exactly. Beyond that, a
/// number that was written with a point or an exponent is none to Kubernetes.
pub fn settle(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().filter(|float| float.abs() <= MOST_EXACT);
            if let Some(whole) = float.and_then(whole) {
                *number = whole.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(settle),
        Value::Object(fields) => fields.values_mut().for_each(settle),
        _ => {}
    }
}

/// Whole numbers in a value become fractions where only those that every JSON reader holds exactly survive being one. That is
/// what Kubernetes makes of what is applied.
pub fn loosen(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let float = number.as_i64().map(|number| number as f64);
            if let Some(float) = float.filter(|float| float.abs() > MOST_EXACT).and_then(Number::from_f64) {
                *number = float;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(loosen),
        Value::Object(fields) => fields.values_mut().for_each(loosen),
        _ => {}
    }
}

/// 2^53 - 1: from there on, fractions have gaps between whole numbers.
const MOST_EXACT: f64 = 9_007_199_254_740_991.0;

/// The whole number that Go writes a fraction as, if it does and 64 bits hold it. Its last digits may be rounded.
fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0).then(|| float_text(number).parse().ok()).flatten()
}

/// A number as Go prints it among text.
pub fn in_text(number: &Number) -> String {
    match (number.is_f64(), number.as_f64()) {
        (true, Some(float)) => float_in_text(float),
        _ => number.to_string(),
    }
}

/// A number as Go's JSON writes it.
pub fn text(number: &Number) -> String {
    match (number.is_f64(), number.as_f64()) {
        (true, Some(float)) => float_text(float),
        _ => number.to_string(),
    }
}

/// A fraction as Go's JSON writes it: plain digits, with an exponent only below 1e-6 and from 1e21 on.
pub fn float_text(number: f64) -> String {
    let Digits { sign, digits, exponent } = Digits::of(number);
    if number != 0.0 && !(-6..21).contains(&exponent) {
        // One digit of a negative exponent stands alone; a positive one has its sign.
        let sign_of_exponent = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{}e{sign_of_exponent}{}", pointed(&digits, 0), exponent.unsigned_abs());
    }
    format!("{sign}{}", pointed(&digits, exponent))
}

/// A fraction as Go prints it among text: with an exponent below 1e-4 and from 1e6 on.
pub fn float_in_text(number: f64) -> String {
    let Digits { sign, digits, exponent } = Digits::of(number);
    if number != 0.0 && !(-4..6).contains(&exponent) {
        let sign_of_exponent = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{}e{sign_of_exponent}{:02}", pointed(&digits, 0), exponent.unsigned_abs());
    }
    format!("{sign}{}", pointed(&digits, exponent))
}

/// The fewest digits that tell a number from its neighbours; the point stands after the first of them, and the
/// exponent says by how much it is moved.
struct Digits {
    sign: &'static str,
    digits: String,
    exponent: i32,
}

impl Digits {
    fn of(number: f64) -> Digits {
        let sign = if number.is_sign_negative() { "-" } else { "" };
        let scientific = format!("{:e}", number.abs());
        let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        Digits { sign, digits: digits.replace('.', ""), exponent: exponent.parse().unwrap_or(0) }
    }
}

/// Digits with the point `exponent` places after the first.
fn pointed(digits: &str, exponent: i32) -> String {
    let whole = usize::try_from(exponent).map_or(0, |exponent| exponent + 1);
    if exponent < 0 {
        return format!("0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1));
    }
    if digits.len() <= whole {
        return format!("{digits}{}", "0".repeat(whole - digits.len()));
    }
    format!("{}.{}", &digits[..whole], &digits[whole..])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fraction_without_decimals_is_a_whole_number() {
        assert_eq!(from_float(1.0), json!(1));
        assert_eq!(from_float(-1000.0), json!(-1000));
        assert_eq!(from_float(-0.0), json!(0));
        assert_eq!(from_float(1.5), json!(1.5));
        // Go writes the fewest digits that tell it from its neighbours, and they are beyond what 64 bits hold.
        assert_eq!(from_float(i64::MIN as f64), json!(-9_223_372_036_854_775_808.0));
        assert_eq!(from_float(9_223_372_036_854_774_784.0), json!(9_223_372_036_854_775_000_i64));
        assert_eq!(from_float(i64::MAX as f64), json!(9_223_372_036_854_775_808.0));
        assert_eq!(from_float(1e30), json!(1e30));
        assert_eq!(from_float(f64::NAN), Value::Null);
        assert_eq!(plain(&Number::from_f64(5.0).unwrap()), Number::from(5));
        assert_eq!(plain(&Number::from_f64(5.5).unwrap()), Number::from_f64(5.5).unwrap());
    }

    #[test]
    fn fractions_of_nothing_are_whole_as_far_as_they_are_exact() {
        let settled = |mut value: Value| {
            settle(&mut value);
            value
        };
        assert_eq!(settled(json!([1.0, -0.0, {"a": 1e2}])), json!([1, 0, {"a": 100}]));
        assert_eq!(settled(json!(9_007_199_254_740_991.0)), json!(9_007_199_254_740_991_i64));
        assert_eq!(settled(json!(9_007_199_254_740_992.0)), json!(9_007_199_254_740_992.0));
        assert_eq!(settled(json!(9_007_199_254_740_993_i64)), json!(9_007_199_254_740_993_i64));
        let mut applied = json!([9_007_199_254_740_991_i64, -9_007_199_254_740_993_i64, 1.5]);
        loosen(&mut applied);
        assert_eq!(applied, json!([9_007_199_254_740_991_i64, -9_007_199_254_740_992.0, 1.5]));
    }

    #[test]
    fn numbers_are_written_as_go_writes_them() {
        for (number, in_json, in_text) in [
            (0.0, "0", "0"),
            (1.5, "1.5", "1.5"),
            (-2.25, "-2.25", "-2.25"),
            (1e20, "100000000000000000000", "1e+20"),
            (1e21, "1e+21", "1e+21"),
            (12_345_678_901_234_567_890.0, "12345678901234567000", "1.2345678901234567e+19"),
            (1_000_000.0, "1000000", "1e+06"),
            (123_456_789.5, "123456789.5", "1.234567895e+08"),
            (100_000.0, "100000", "100000"),
            (0.000001, "0.000001", "1e-06"),
            (0.0000001, "1e-7", "1e-07"),
            (0.0001, "0.0001", "0.0001"),
            (f64::MAX, "1.7976931348623157e+308", "1.7976931348623157e+308"),
        ] {
            assert_eq!((float_text(number).as_str(), float_in_text(number).as_str()), (in_json, in_text));
        }
        assert_eq!(text(&Number::from(-7)), "-7");
    }
}
