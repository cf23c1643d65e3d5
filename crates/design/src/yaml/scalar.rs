//! What a plain scalar means by the rules of YAML 1.1, as PyYAML resolves them.

use std::sync::LazyLock;

use regex::Regex;

use super::Value;

/// The value of a scalar written without quotes and without a tag.
pub(super) fn plain(text: &str) -> Value {
    if null(text) {
        return Value::Null;
    }
    if let Some(flag) = boolean(text) {
        return Value::Bool(flag);
    }
    // Every number begins with one of these; most text does not, and is spared the patterns.
    if text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) {
        if let Some(number) = float(text) {
            return Value::Float(number);
        }
        if let Some(value) = integer(text) {
            return value;
        }
    }
    Value::String(text.to_owned())
}

pub(super) fn null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

pub(super) fn boolean(text: &str) -> Option<bool> {
    match text {
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

/// PyYAML's pattern: an exponent needs its sign, a point is required.
static FLOAT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)^(?:
              [-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?
            | \.[0-9][0-9_]*(?:[eE][-+][0-9]+)?
            | [-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*
            | [-+]?\.(?:inf|Inf|INF)
            | \.(?:nan|NaN|NAN)
        )$",
    )
    .expect("a constant pattern")
});

static INTEGER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)^[-+]?(?:
              0b[0-1_]+
            | 0[0-7_]+
            | 0
            | [1-9][0-9_]*
            | 0x[0-9a-fA-F_]+
            | [1-9][0-9_]*(?::[0-5]?[0-9])+
        )$",
    )
    .expect("a constant pattern")
});

pub(super) fn float(text: &str) -> Option<f64> {
    if !FLOAT.is_match(text) {
        return None;
    }
    let text = text.replace('_', "").to_ascii_lowercase();
    let (sign, digits) = split_sign(&text);
    let magnitude = match digits {
        ".inf" => f64::INFINITY,
        ".nan" => f64::NAN,
        _ => sexagesimal_float(digits)?,
    };
    Some(if sign < 0 { -magnitude } else { magnitude })
}

/// An integer; one that 64 bits can't hold is text, in decimal where 128 bits can.
pub(super) fn integer(text: &str) -> Option<Value> {
    if !INTEGER.is_match(text) {
        return None;
    }
    let plain = text.replace('_', "");
    let (sign, digits) = split_sign(&plain);
    let magnitude = if let Some(bits) = digits.strip_prefix("0b") {
        i128::from_str_radix(bits, 2)
    } else if let Some(hex) = digits.strip_prefix("0x") {
        i128::from_str_radix(hex, 16)
    } else if digits.len() > 1 && digits.starts_with('0') {
        i128::from_str_radix(digits, 8)
    } else if digits.contains(':') {
        return Some(wide(sign * sexagesimal_integer(digits)?));
    } else {
        digits.parse()
    };
    Some(magnitude.map_or_else(|_| Value::from(text), |magnitude| wide(sign * magnitude)))
}

fn wide(number: i128) -> Value {
    i64::try_from(number).map_or_else(|_| Value::String(number.to_string()), Value::Int)
}

fn split_sign(text: &str) -> (i128, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn sexagesimal_float(digits: &str) -> Option<f64> {
    digits.split(':').try_fold(0.0, |sum, part| Some(sum * 60.0 + part.parse::<f64>().ok()?))
}

fn sexagesimal_integer(digits: &str) -> Option<i128> {
    digits.split(':').try_fold(0i128, |sum, part| sum.checked_mul(60)?.checked_add(part.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_mean_what_pyyaml_makes_of_them() {
        let cases: [(&str, Value); 33] = [
            ("", Value::Null),
            ("~", Value::Null),
            ("Null", Value::Null),
            ("nULL", "nULL".into()),
            ("yes", true.into()),
            ("OFF", false.into()),
            ("y", "y".into()),
            ("010", 8.into()),
            ("08", "08".into()),
            ("0o10", "0o10".into()),
            ("0x1F", 31.into()),
            ("-0b101", (-5).into()),
            ("1_000", 1000.into()),
            ("+12", 12.into()),
            ("0", 0.into()),
            ("-0", 0.into()),
            ("1:30", 90.into()),
            ("52:54:00", 190_440.into()),
            ("52:54:00:a4", "52:54:00:a4".into()),
            ("1:30.5", 90.5.into()),
            ("1.", 1.0.into()),
            (".5", 0.5.into()),
            ("-.5", "-.5".into()),
            ("1e3", "1e3".into()),
            ("1.0e3", "1.0e3".into()),
            ("1.0e+3", 1000.0.into()),
            ("-.INF", f64::NEG_INFINITY.into()),
            (".NaN", f64::NAN.into()),
            ("0b_", "0b_".into()),
            ("10.0.0.1", "10.0.0.1".into()),
            ("2018-01-01", "2018-01-01".into()),
            ("9223372036854775808", "9223372036854775808".into()),
            ("0xffffffffffffffff", "18446744073709551615".into()),
        ];
        for (text, value) in cases {
            assert_eq!(plain(text), value, "{text}");
        }
    }
}
