//! Values written into a text: `'%s has %d'.format([name, count])`.

use std::fmt::Write as _;

use super::convert;
use crate::cel::types::Type;
use crate::cel::value::{Effort, Fault, List, Map, Value};

/// One place of a format, and what it makes of its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::cel) enum Clause {
    Text,
    Decimal,
    Fixed(usize),
    Scientific(usize),
    Binary,
    Octal,
    Hex { upper: bool },
}

const DIGITS: usize = 6;
/// No number is written with more digits than this.
const MOST_DIGITS: usize = 1000;

/// The places of a format.
pub(in crate::cel) fn clauses(format: &str) -> Result<Vec<Clause>, String> {
    let mut found = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            rest = after;
            continue;
        }
        let (clause, after) = clause(rest)?;
        found.push(clause);
        rest = after;
    }
    Ok(found)
}

/// A format with values in its places.
pub(in crate::cel) fn apply(format: &str, values: &List<'_>, effort: &mut Effort) -> Result<String, Fault> {
    let mut out = String::new();
    let mut rest = format;
    let mut index = 0;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let value =
            values.get(index).ok_or_else(|| Fault::Error(format!("index {index} out of range")))??;
        let (clause, after) = clause(rest).map_err(Fault::Error)?;
        let text = clause.write(&value, effort).map_err(|fault| match fault {
            Fault::Error(why) => Fault::Error(format!("error during formatting: {why}")),
            other => other,
        })?;
        effort.spend(text.len() as u64)?;
        out.push_str(&text);
        rest = after;
        index += 1;
    }
    out.push_str(rest);
    Ok(out)
}

/// The clause at the start of what follows a percent sign, and what comes after it.
fn clause(rest: &str) -> Result<(Clause, &str), String> {
    let fault = |why: &str| format!("could not parse formatting clause: {why}");
    let mut precision = DIGITS;
    let mut after = rest;
    if let Some(digits) = rest.strip_prefix('.') {
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        if length == digits.len() {
            return Err(fault("error while parsing precision: could not find end of precision specifier"));
        }
        let number: Option<usize> = digits[..length].parse().ok();
        precision = number.filter(|number| *number <= MOST_DIGITS).ok_or_else(|| {
            fault("error while parsing precision: error while converting precision to integer")
        })?;
        after = &digits[length..];
    }
    let Some(c) = after.chars().next() else { return Err("unexpected end of string".to_owned()) };
    let clause = match c {
        's' => Clause::Text,
        'd' => Clause::Decimal,
        'f' => Clause::Fixed(precision),
        'e' => Clause::Scientific(precision),
        'b' => Clause::Binary,
        'x' => Clause::Hex { upper: false },
        'X' => Clause::Hex { upper: true },
        'o' => Clause::Octal,
        other => return Err(fault(&format!("unrecognized formatting clause \"{other}\""))),
    };
    Ok((clause, &after[c.len_utf8()..]))
}

impl Clause {
    fn wants(self) -> &'static str {
        match self {
            Clause::Text => {
                "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, \
                 durations, and timestamps"
            }
            Clause::Decimal => "decimal clause can only be used on integers",
            Clause::Fixed(_) => "fixed-point clause can only be used on doubles",
            Clause::Scientific(_) => "scientific clause can only be used on doubles",
            Clause::Binary => "only integers and bools can be formatted as binary",
            Clause::Hex { .. } => "only integers, byte buffers, and strings can be formatted as hex",
            Clause::Octal => "octal clause can only be used on integers",
        }
    }

    /// Whether values of this type can be written so.
    pub fn takes(self, of: &Type) -> Result<(), String> {
        let fits = match (self, of) {
            (_, Type::Dyn) => true,
            (Clause::Text, of) => {
                !matches!(of, Type::Object(_) | Type::Library(_) | Type::Opaque(_) | Type::Optional(_))
            }
            (Clause::Decimal | Clause::Octal, of) => matches!(of, Type::Int | Type::Uint),
            (Clause::Fixed(_) | Clause::Scientific(_), of) => matches!(of, Type::Double | Type::String),
            (Clause::Binary, of) => matches!(of, Type::Int | Type::Uint | Type::Bool),
            (Clause::Hex { .. }, of) => matches!(of, Type::Int | Type::Uint | Type::String | Type::Bytes),
        };
        if fits { Ok(()) } else { Err(format!("{}, was given {of}", self.wants())) }
    }

    fn write(self, value: &Value<'_>, effort: &mut Effort) -> Result<String, Fault> {
        let refused = || Fault::Error(format!("{}, was given {}", self.wants(), value.type_name()));
        match (self, value) {
            (Clause::Text, value) => text(value, effort),
            (Clause::Decimal, Value::Int(number)) => Ok(number.to_string()),
            (Clause::Decimal, Value::Uint(number)) => Ok(number.to_string()),
            (Clause::Fixed(_) | Clause::Scientific(_), value) => {
                let number = match value {
                    Value::Double(number) => *number,
                    Value::String(text) => match &**text {
                        "NaN" => f64::NAN,
                        "Infinity" => f64::INFINITY,
                        "-Infinity" => f64::NEG_INFINITY,
                        _ => return Err(refused()),
                    },
                    _ => return Err(refused()),
                };
                Ok(self.float(number))
            }
            (Clause::Binary, Value::Int(number)) => Ok(signed(*number, |digits| format!("{digits:b}"))),
            (Clause::Binary, Value::Uint(number)) => Ok(format!("{number:b}")),
            (Clause::Binary, Value::Bool(flag)) => Ok(u8::from(*flag).to_string()),
            (Clause::Octal, Value::Int(number)) => Ok(signed(*number, |digits| format!("{digits:o}"))),
            (Clause::Octal, Value::Uint(number)) => Ok(format!("{number:o}")),
            (Clause::Hex { upper }, Value::Int(number)) => Ok(signed(*number, |digits| hex(digits, upper))),
            (Clause::Hex { upper }, Value::Uint(number)) => Ok(hex(*number, upper)),
            (Clause::Hex { upper }, Value::String(text)) => Ok(hex_bytes(text.as_bytes(), upper)),
            (Clause::Hex { upper }, Value::Bytes(bytes)) => Ok(hex_bytes(bytes, upper)),
            _ => Err(refused()),
        }
    }

    fn float(self, number: f64) -> String {
        if number.is_nan() {
            return "NaN".to_owned();
        }
        if number.is_infinite() {
            return if number > 0.0 { "∞" } else { "-∞" }.to_owned();
        }
        match self {
            Clause::Scientific(width) => {
                // There is always the same number of digits: what is asked for is taken for the width.
                let text = format!("{number:.DIGITS$e}");
                let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
                let (sign, power) = exponent.strip_prefix('-').map_or(("", exponent), |power| ("-", power));
                let power = superscript(&format!("{sign}{power:0>2}"));
                let text = format!("{digits}×10{power}");
                format!("{text:>width$}")
            }
            Clause::Fixed(precision) => grouped(&format!("{number:.precision$}")),
            _ => number.to_string(),
        }
    }
}

fn signed(number: i64, write: impl Fn(u64) -> String) -> String {
    let digits = write(number.unsigned_abs());
    if number < 0 { format!("-{digits}") } else { digits }
}

fn hex(number: u64, upper: bool) -> String {
    if upper { format!("{number:X}") } else { format!("{number:x}") }
}

fn hex_bytes(bytes: &[u8], upper: bool) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = if upper { write!(out, "{byte:02X}") } else { write!(out, "{byte:02x}") };
    }
    out
}

/// Thousands apart from each other, as the English write them.
fn grouped(number: &str) -> String {
    let (sign, digits) = match number.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", number),
    };
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut out = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out.push_str(fraction);
    out
}

fn superscript(digits: &str) -> String {
    let small = |c| match c {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        _ => '⁹',
    };
    digits.chars().map(small).collect()
}

fn text(value: &Value<'_>, effort: &mut Effort) -> Result<String, Fault> {
    effort.spend(1)?;
    effort.read(value)?;
    match value {
        Value::Null => Ok("null".to_owned()),
        Value::List(list) => {
            let mut parts = Vec::new();
            for item in list.iter() {
                parts.push(nested(&item?, effort)?);
            }
            Ok(format!("[{}]", parts.join(", ")))
        }
        Value::Map(map) => of_map(map, effort),
        other => convert::string(other)
            .map_err(|_| Fault::Error(format!("{}, was given {}", Clause::Text.wants(), other.type_name()))),
    }
}

fn of_map(map: &Map<'_>, effort: &mut Effort) -> Result<String, Fault> {
    let mut parts = Vec::new();
    for key in map.keys() {
        let value = map.get(&key).transpose()?.unwrap_or(Value::Null);
        parts.push((nested(&key, effort)?, nested(&value, effort)?));
    }
    parts.sort();
    let parts: Vec<String> = parts.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
    Ok(format!("{{{}}}", parts.join(", ")))
}

/// A value inside of another, as one would write it in an expression.
fn nested(value: &Value<'_>, effort: &mut Effort) -> Result<String, Fault> {
    Ok(match value {
        Value::String(text) => crate::field::quote(text),
        Value::Bytes(_) => format!("b{}", crate::field::quote(&text(value, effort)?)),
        Value::Timestamp(_) => format!("timestamp({})", crate::field::quote(&text(value, effort)?)),
        Value::Duration(_) => format!("duration({})", crate::field::quote(&text(value, effort)?)),
        Value::Double(number) if number.is_finite() => format!("{number:.6}"),
        other => text(other, effort)?,
    })
}
