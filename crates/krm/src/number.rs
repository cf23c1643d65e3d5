//! Numbers as Go writes them.

use serde_json::{Number, Value};

/// A fraction as a value, a whole number where it is one.
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

/// A fraction without decimals that 64 bits hold is a whole number: Go writes it without a point and reads it back as one.
fn whole(number: f64) -> Option<i64> {
    // 2^63 itself is one too many.
    let bounds = -9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0;
    (number.fract() == 0.0 && bounds.contains(&number)).then_some(number as i64)
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
        assert_eq!(from_float(i64::MIN as f64), json!(i64::MIN));
        assert_eq!(from_float(i64::MAX as f64), json!(9_223_372_036_854_775_808.0));
        assert_eq!(from_float(1e30), json!(1e30));
        assert_eq!(from_float(f64::NAN), Value::Null);
        assert_eq!(plain(&Number::from_f64(5.0).unwrap()), Number::from(5));
        assert_eq!(plain(&Number::from_f64(5.5).unwrap()), Number::from_f64(5.5).unwrap());
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
