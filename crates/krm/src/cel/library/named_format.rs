//! Formats by name, and what is wrong with a text that has them not.

use super::Run;
use super::operators::text;
use super::url::Url;
use crate::cel::value::{Fault, Outcome, Value};
use crate::names::{
    Faults, label_value, name_is_dns_label, name_is_dns_subdomain, name_is_dns1035_label, qualified_name,
};
use crate::schema::Format;

/// A format, how long the pattern is that it is taken to be, and what it finds wrong.
#[derive(Debug)]
pub(in crate::cel) struct NamedFormat {
    pub name: &'static str,
    pub pattern_length: u64,
    faults: fn(&str) -> Vec<String>,
}

pub(super) fn find(name: &str) -> Option<Run> {
    Some(match name {
        "validate" => validate,
        "format.named" => |args| {
            let name = text(&args[0])?;
            let found = FORMATS.iter().find(|format| *format.name == **name);
            Ok(found.map_or(Value::none(), |format| Value::some(Value::Format(format))))
        },
        "format.dns1123Label" => |_| Ok(Value::Format(&FORMATS[0])),
        "format.dns1123Subdomain" => |_| Ok(Value::Format(&FORMATS[1])),
        "format.dns1035Label" => |_| Ok(Value::Format(&FORMATS[2])),
        "format.qualifiedName" => |_| Ok(Value::Format(&FORMATS[3])),
        "format.dns1123LabelPrefix" => |_| Ok(Value::Format(&FORMATS[4])),
        "format.dns1123SubdomainPrefix" => |_| Ok(Value::Format(&FORMATS[5])),
        "format.dns1035LabelPrefix" => |_| Ok(Value::Format(&FORMATS[6])),
        "format.labelValue" => |_| Ok(Value::Format(&FORMATS[7])),
        "format.uri" => |_| Ok(Value::Format(&FORMATS[8])),
        "format.uuid" => |_| Ok(Value::Format(&FORMATS[9])),
        "format.byte" => |_| Ok(Value::Format(&FORMATS[10])),
        "format.date" => |_| Ok(Value::Format(&FORMATS[11])),
        "format.datetime" => |_| Ok(Value::Format(&FORMATS[12])),
        _ => return None,
    })
}

static FORMATS: [NamedFormat; 13] = [
    of("dns1123Label", 30, |text| told(name_is_dns_label(text, false))),
    of("dns1123Subdomain", 60, |text| told(name_is_dns_subdomain(text, false))),
    of("dns1035Label", 30, |text| told(name_is_dns1035_label(text, false))),
    of("qualifiedName", 60, |text| told(qualified_name(text))),
    of("dns1123LabelPrefix", 30, |text| told(name_is_dns_label(text, true))),
    of("dns1123SubdomainPrefix", 60, |text| told(name_is_dns_subdomain(text, true))),
    of("dns1035LabelPrefix", 30, |text| told(name_is_dns1035_label(text, true))),
    of("labelValue", 40, |text| told(label_value(text))),
    of("uri", 1103, |text| Url::parse(text).err().into_iter().collect()),
    of("uuid", 81, |text| unless(Format::Uuid.accepts(text), "does not match the UUID format")),
    of("byte", 84, |text| unless(Format::Byte.accepts(text), "invalid base64")),
    of("date", 75, |text| unless(Format::Date.accepts(text), "invalid date")),
    of("datetime", 75, |text| unless(Format::DateTime.accepts(text), "invalid datetime")),
];

const fn of(name: &'static str, pattern_length: u64, faults: fn(&str) -> Vec<String>) -> NamedFormat {
    NamedFormat { name, pattern_length, faults }
}

fn told(faults: Faults) -> Vec<String> {
    faults.into_iter().map(Into::into).collect()
}

fn unless(holds: bool, fault: &str) -> Vec<String> {
    if holds { Vec::new() } else { vec![fault.to_owned()] }
}

fn validate<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let Value::Format(format) = &args[0] else { return Err(Fault::NoOverload) };
    let faults = (format.faults)(text(&args[1])?);
    Ok(if faults.is_empty() { Value::none() } else { Value::some(Value::texts(faults)) })
}
