//! What a scalar means by the rules of YAML 1.1, as go-yaml has them.

use serde_json::Value;

use super::YamlError;
use crate::number;

/// The types that a tag such as `!!int` can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tagged {
    Null,
    Bool,
    Int,
    Float,
}

impl Tagged {
    /// The type that a tag of YAML's own names.
    pub(super) fn of(suffix: &str) -> Option<Tagged> {
        match suffix {
            "null" => Some(Tagged::Null),
            "bool" => Some(Tagged::Bool),
            "int" => Some(Tagged::Int),
            "float" => Some(Tagged::Float),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Tagged::Null => "!!null",
            Tagged::Bool => "!!bool",
            Tagged::Int => "!!int",
            Tagged::Float => "!!float",
        }
    }
}

/// The value of a scalar written without quotes and without a tag.
pub(super) fn plain(text: &str) -> Result<Value, YamlError> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Ok(Value::Bool(true));
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Ok(Value::Bool(false));
        }
        ".nan" | ".NaN" | ".NAN" => return Err(beyond_json("NaN")),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Err(beyond_json("+Inf")),
        "-.inf" | "-.Inf" | "-.INF" => return Err(beyond_json("-Inf")),
        _ => {}
    }
    // Every number begins with one of these; most text does not.
    let is_number =
        text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.'));
    Ok(is_number.then(|| number(text)).flatten().unwrap_or_else(|| Value::String(text.to_owned())))
}

/// The value of a scalar whose tag asks for a type.
pub(super) fn tagged(text: &str, wanted: Tagged) -> Result<Value, YamlError> {
    let value = plain(text)?;
    let found = match &value {
        Value::Null => Some(Tagged::Null),
        Value::Bool(_) => Some(Tagged::Bool),
        Value::Number(number) if number.is_f64() => Some(Tagged::Float),
        // A whole number will do where a fraction is asked for.
        Value::Number(_) if wanted == Tagged::Float => Some(Tagged::Float),
        Value::Number(_) => Some(Tagged::Int),
        _ => None,
    };
    match found {
        Some(found) if found == wanted => Ok(value),
        other => {
            let found = other.map_or("!!str", Tagged::name);
            Err(YamlError(format!("yaml: cannot decode {found} `{text}` as a {}", wanted.name())))
        }
    }
}

fn beyond_json(what: &str) -> YamlError {
    YamlError(format!("json: unsupported value: {what}"))
}

fn number(text: &str) -> Option<Value> {
    if text.starts_with('.') {
        return float(text);
    }
    let plain: String = text.chars().filter(|c| *c != '_').collect();
    integer(&plain).or_else(|| float(&plain))
}

/// A whole number, decimal or with a prefix for its base; one that 64 bits with a sign can't hold is a fraction.
fn integer(text: &str) -> Option<Value> {
    let (sign, magnitude) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let (base, digits) = match magnitude.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &magnitude[2..]),
        [b'0', b'o' | b'O', ..] => (8, &magnitude[2..]),
        [b'0', b'b' | b'B', ..] => (2, &magnitude[2..]),
        [b'0', _, ..] => (8, &magnitude[1..]),
        _ => (10, magnitude),
    };
    if !digits.bytes().all(|byte| char::from(byte).is_digit(base)) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, base).ok()?;
    match i64::try_from(i128::from(sign) * i128::from(magnitude)) {
        Ok(number) => Some(Value::from(number)),
        Err(_) if sign > 0 => Some(number::from_float(magnitude as f64)),
        Err(_) => None,
    }
}

/// A fraction: digits with or without a point and an exponent.
fn float(text: &str) -> Option<Value> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_in_fraction = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
    if !digits.bytes().all(is_in_fraction)
        || !digits.starts_with(|first: char| first == '.' || first.is_ascii_digit())
    {
        return None;
    }
    let number: f64 = text.parse().ok()?;
    number.is_finite().then(|| number::from_float(number))
}
