//! The text of a scalar as Python's `str()` gives it, which the original stored and compared.

use std::fmt;

use super::{Key, Value};

impl Value {
    /// The text Python's `str()` gives for a scalar (`True`, `None`, `1.0`); nothing for lists and maps.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Null => Some("None".to_owned()),
            Self::Bool(flag) => Some(if *flag { "True" } else { "False" }.to_owned()),
            Self::Int(number) => Some(number.to_string()),
            Self::Float(number) => Some(float(*number)),
            Self::String(text) => Some(text.clone()),
            Self::List(_) | Self::Map(_) => None,
        }
    }
}

impl fmt::Display for Key {
    /// As Python's `str()` of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("None"),
            Self::Bool(flag) => f.write_str(if *flag { "True" } else { "False" }),
            Self::Int(number) => write!(f, "{number}"),
            Self::Float(text) | Self::String(text) => f.write_str(text),
        }
    }
}

/// The shortest text that reads back as the same number; with an exponent from 1e16 on and below 1e-4, as
/// Python does.
pub(super) fn float(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let magnitude = number.abs();
    if magnitude != 0.0 && !(1e-4..1e16).contains(&magnitude) {
        let text = format!("{number:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return match exponent.strip_prefix('-') {
            Some(digits) => format!("{mantissa}e-{digits:0>2}"),
            None => format!("{mantissa}e+{exponent:0>2}"),
        };
    }
    format!("{number:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_read_as_python_prints_them() {
        let cases: [(Value, &str); 10] = [
            (true.into(), "True"),
            (Value::Null, "None"),
            (5.into(), "5"),
            (1.0.into(), "1.0"),
            (0.1.into(), "0.1"),
            (1e16.into(), "1e+16"),
            (1.5e-5.into(), "1.5e-05"),
            (1e15.into(), "1000000000000000.0"),
            (f64::NEG_INFINITY.into(), "-inf"),
            ((-0.0).into(), "-0.0"),
        ];
        for (value, text) in cases {
            assert_eq!(value.text().as_deref(), Some(text));
        }
    }
}
