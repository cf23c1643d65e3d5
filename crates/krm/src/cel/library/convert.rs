//! Values of one type made of those of another.

use super::Run;
use super::time::{self, Stamp};
use crate::cel::value::{Fault, Outcome, Value};
use crate::number::float_in_text;
use crate::time::Moment;

pub(super) fn find(name: &str) -> Option<Run> {
    Some(match name {
        "bool" => bool,
        "bytes" => bytes,
        "double" => double,
        "duration" => duration,
        "dyn" => |args| Ok(args[0].clone()),
        "int" => int,
        "string" => |args| string(&args[0]).map(Value::text),
        "timestamp" => timestamp,
        "type" => |args| Ok(Value::Type(args[0].type_name())),
        "uint" => uint,
        _ => return None,
    })
}

/// A value as a text.
pub(super) fn string(value: &Value<'_>) -> Result<String, Fault> {
    Ok(match value {
        Value::String(text) => text.to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Double(number) => float(*number),
        Value::Bytes(bytes) => String::from_utf8(bytes.to_vec())
            .map_err(|_| Fault::error("invalid UTF-8 in bytes, cannot convert to string"))?,
        Value::Duration(nanos) => time::duration_text(*nanos),
        Value::Timestamp(stamp) => stamp.to_string(),
        Value::Type(name) => (*name).to_owned(),
        Value::Ip(address) => address.to_string(),
        Value::Cidr(cidr) => cidr.to_string(),
        _ => return Err(Fault::NoOverload),
    })
}

/// A number with a fraction as Go prints it.
pub(super) fn float(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned()
    } else {
        float_in_text(number)
    }
}

fn cannot(from: &str, to: &str) -> Fault {
    Fault::Error(format!("type conversion error from '{from}' to '{to}'"))
}

fn bool<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match &args[0] {
        Value::Bool(flag) => Ok(Value::Bool(*flag)),
        Value::String(text) => match &**text {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => Err(cannot("string", "bool")),
        },
        _ => Err(Fault::NoOverload),
    }
}

fn bytes<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match &args[0] {
        Value::Bytes(bytes) => Ok(Value::Bytes(bytes.clone())),
        Value::String(text) => Ok(Value::Bytes(text.as_bytes().into())),
        _ => Err(Fault::NoOverload),
    }
}

#[expect(clippy::cast_precision_loss, reason = "that is what the conversion does")]
fn double<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match &args[0] {
        Value::Double(number) => Ok(Value::Double(*number)),
        Value::Int(number) => Ok(Value::Double(*number as f64)),
        Value::Uint(number) => Ok(Value::Double(*number as f64)),
        Value::String(text) => text.parse().map(Value::Double).map_err(|_| cannot("string", "double")),
        _ => Err(Fault::NoOverload),
    }
}

fn duration<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match &args[0] {
        Value::Duration(nanos) | Value::Int(nanos) => Ok(Value::Duration(*nanos)),
        Value::String(text) => time::parse_duration(text)
            .map(Value::Duration)
            .map_err(|_| cannot("string", "google.protobuf.Duration")),
        _ => Err(Fault::NoOverload),
    }
}

fn int<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let overflow = || Fault::error("integer overflow");
    match &args[0] {
        Value::Int(number) | Value::Duration(number) => Ok(Value::Int(*number)),
        Value::Uint(number) => i64::try_from(*number).map(Value::Int).map_err(|_| overflow()),
        #[expect(clippy::cast_possible_truncation, reason = "it was just found to be small enough")]
        Value::Double(number) if number.abs() < 9_223_372_036_854_775_807.0 => Ok(Value::Int(*number as i64)),
        Value::Double(_) => Err(overflow()),
        Value::String(text) => text.parse().map(Value::Int).map_err(|_| cannot("string", "int")),
        Value::Timestamp(stamp) => Ok(Value::Int(stamp.moment.seconds)),
        _ => Err(Fault::NoOverload),
    }
}

fn uint<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let overflow = || Fault::error("unsigned integer overflow");
    match &args[0] {
        Value::Uint(number) => Ok(Value::Uint(*number)),
        Value::Int(number) => u64::try_from(*number).map(Value::Uint).map_err(|_| overflow()),
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it was just found to fit"
        )]
        Value::Double(number) if *number >= 0.0 && *number < 18_446_744_073_709_551_615.0 => {
            Ok(Value::Uint(*number as u64))
        }
        Value::Double(_) => Err(overflow()),
        Value::String(text) => text.parse().map(Value::Uint).map_err(|_| cannot("string", "uint")),
        _ => Err(Fault::NoOverload),
    }
}

fn timestamp<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let overflow = || Fault::error("timestamp overflow");
    let within = |stamp: Stamp| {
        let holds = time::YEARS.contains(&stamp.moment.seconds);
        if holds { Ok(Value::Timestamp(stamp)) } else { Err(overflow()) }
    };
    match &args[0] {
        Value::Timestamp(stamp) => Ok(Value::Timestamp(*stamp)),
        Value::Int(seconds) => within(Stamp::utc(Moment::of_seconds(*seconds))),
        Value::String(text) => {
            within(Stamp::parse(text).map_err(|_| cannot("string", "google.protobuf.Timestamp"))?)
        }
        _ => Err(Fault::NoOverload),
    }
}
