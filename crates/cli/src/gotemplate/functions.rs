//! The functions of templates.

use std::cmp::Ordering;

use super::arguments::{Arguments, Signature, Takes};
use super::comparisons::{is_equal, order};
use super::formats;
use super::items::{IntType, Item};
use super::run::{Ran, Run, failed};

/// Whether there is such a function.
pub fn is_known(name: &str) -> bool {
    signature(name).is_some()
}

fn signature(name: &str) -> Option<Signature> {
    use Takes::{Any, AsIs, Text};
    let (fixed, more): (&'static [Takes], Option<Takes>) = match name {
        "print" | "println" | "html" | "urlquery" => (&[], Some(Any)),
        "printf" => (&[Text], Some(Any)),
        "len" | "not" => (&[AsIs], None),
        "index" | "slice" | "eq" | "and" | "or" => (&[AsIs], Some(AsIs)),
        "ne" | "lt" | "le" | "gt" | "ge" => (&[AsIs, AsIs], None),
        "base64decode" => (&[Text], None),
        "exists" => (&[Any], Some(Any)),
        _ => return None,
    };
    Some(Signature { fixed, more })
}

/// Calls a function.
pub fn call<'a>(run: &mut Run<'a>, name: &str, arguments: Arguments<'a>, dot: &Item<'a>) -> Ran<Item<'a>> {
    let Some(signature) = signature(name) else {
        let name = krm::field::quote(name);
        return failed(arguments.name, format!("{name} is not a defined function"));
    };
    arguments.check(name, &signature)?;
    if matches!(name, "and" | "or") {
        return first_that_decides(run, name == "or", arguments, dot);
    }
    let span = arguments.call;
    let values = arguments.values(&signature, run, dot)?;
    match of(name, values) {
        Ok(value) => Ok(value),
        Err(why) => failed(span, format!("error calling {name}: {why}")),
    }
}

/// What comes after the value that decides is not even looked at.
fn first_that_decides<'a>(
    run: &mut Run<'a>,
    truth: bool,
    arguments: Arguments<'a>,
    dot: &Item<'a>,
) -> Ran<Item<'a>> {
    let mut value = Item::Nothing;
    for word in arguments.words {
        value = run.value(word, dot)?;
        if value.is_true() == truth {
            return Ok(value);
        }
    }
    Ok(arguments.last.unwrap_or(value))
}

fn of<'a>(name: &str, values: Vec<Item<'a>>) -> Result<Item<'a>, String> {
    let mut rest = values.into_iter();
    let mut next = || rest.next().unwrap_or(Item::Nothing);
    let yes = |found: Result<bool, String>| found.map(Item::Bool);
    match name {
        "print" => Ok(Item::text(formats::sprint(&rest.collect::<Vec<_>>()))),
        "println" => Ok(Item::text(formats::sprintln(&rest.collect::<Vec<_>>()))),
        "html" => Ok(Item::text(in_html(&one_text(rest.collect())))),
        "urlquery" => Ok(Item::text(in_query(&one_text(rest.collect())))),
        "printf" => {
            let Item::Text(format) = next() else { return Err("the format is no string".to_owned()) };
            Ok(Item::text(formats::sprintf(&format, &rest.collect::<Vec<_>>())))
        }
        "base64decode" => {
            let Item::Text(text) = next() else { return Err("the value is no string".to_owned()) };
            decoded(&text).map(Item::text)
        }
        "len" => length(next()),
        "not" => Ok(Item::Bool(!next().is_true())),
        "index" => index(next(), rest),
        "slice" => slice(next(), &rest.collect::<Vec<_>>()),
        "exists" => Ok(Item::Bool(exists(next(), rest))),
        "eq" => {
            let first = next();
            let others: Vec<_> = rest.collect();
            if others.is_empty() {
                return Err("missing argument for comparison".to_owned());
            }
            for other in others {
                if is_equal(first.clone(), other)? {
                    return Ok(Item::Bool(true));
                }
            }
            Ok(Item::Bool(false))
        }
        "ne" => yes(is_equal(next(), next()).map(|equal| !equal)),
        "lt" => yes(order(next(), next()).map(Ordering::is_lt)),
        "le" => yes(order(next(), next()).map(Ordering::is_le)),
        "gt" => yes(order(next(), next()).map(Ordering::is_gt)),
        _ => yes(order(next(), next()).map(Ordering::is_ge)),
    }
}

fn length<'a>(item: Item<'a>) -> Result<Item<'a>, String> {
    if item.is_held_nil() {
        return Err("len of nil pointer".to_owned());
    }
    let length = match item.open() {
        Item::Text(text) => text.len(),
        Item::List(items) => items.len(),
        Item::Map(entries) => entries.len(),
        Item::Nothing => return Err("reflect: call of reflect.Value.Type on zero Value".to_owned()),
        other => return Err(format!("len of type {}", other.type_name())),
    };
    Ok(Item::Int(i64::try_from(length).unwrap_or(i64::MAX), IntType::Int))
}

/// A place within `length`, which itself is still allowed.
fn place(index: &Item<'_>, length: usize) -> Result<usize, String> {
    match index.clone().open() {
        Item::Int(at, _) => usize::try_from(at)
            .ok()
            .filter(|at| *at <= length)
            .ok_or_else(|| format!("index out of range: {at}")),
        Item::Nothing => Err("cannot index slice/array with nil".to_owned()),
        other => Err(format!("cannot index slice/array with type {}", other.type_name())),
    }
}

const NIL: &serde_json::Value = &serde_json::Value::Null;

fn index<'a>(mut item: Item<'a>, indexes: impl Iterator<Item = Item<'a>>) -> Result<Item<'a>, String> {
    if matches!(item.clone().open(), Item::Nothing) {
        return Err("index of untyped nil".to_owned());
    }
    for index in indexes {
        item = match item.open() {
            Item::Nothing => return Err("index of nil pointer".to_owned()),
            Item::List(items) => {
                let at = place(&index, items.len())?;
                let found = items.get(at);
                Item::Held(found.ok_or("reflect: slice index out of range")?)
            }
            Item::Text(text) => {
                let at = place(&index, text.len())?;
                let byte = text.get(at).ok_or("reflect: string index out of range")?;
                Item::Int(i64::from(*byte), IntType::Uint8)
            }
            Item::Map(entries) => match index.open() {
                Item::Text(key) => {
                    let key = std::str::from_utf8(&key).unwrap_or("");
                    Item::Held(entries.get(key).unwrap_or(NIL))
                }
                Item::Nothing => return Err("value is nil; should be of type string".to_owned()),
                other => return Err(format!("value has type {}; should be string", other.type_name())),
            },
            other => return Err(format!("can't index item of type {}", other.type_name())),
        };
    }
    Ok(item)
}

fn slice<'a>(item: Item<'a>, indexes: &[Item<'a>]) -> Result<Item<'a>, String> {
    let item = item.open();
    let length = match &item {
        Item::Nothing => return Err("slice of untyped nil".to_owned()),
        _ if indexes.len() > 3 => return Err(format!("too many slice indexes: {}", indexes.len())),
        Item::Text(_) if indexes.len() == 3 => return Err("cannot 3-index slice a string".to_owned()),
        Item::Text(text) => text.len(),
        Item::List(items) => items.len(),
        other => return Err(format!("can't slice item of type {}", other.type_name())),
    };
    let mut bounds = [0, length, length];
    for (bound, index) in bounds.iter_mut().zip(indexes) {
        *bound = place(index, length)?;
    }
    let [from, to, most] = bounds;
    for (low, high) in [(from, to), (to, most)] {
        if low > high {
            return Err(format!("invalid slice index: {low} > {high}"));
        }
    }
    Ok(match item {
        Item::List(items) => Item::List(&items[from..to]),
        Item::Text(text) => Item::text(&text[from..to]),
        other => other,
    })
}

/// Whether `index` would find something.
fn exists<'a>(mut item: Item<'a>, indexes: impl Iterator<Item = Item<'a>>) -> bool {
    for index in indexes {
        item = match (item.open(), index.open()) {
            (Item::List(items), Item::Int(at, _)) => {
                match usize::try_from(at).ok().and_then(|at| items.get(at)) {
                    Some(found) => Item::Held(found),
                    None => return false,
                }
            }
            (Item::Text(text), Item::Int(at, _)) => {
                match usize::try_from(at).ok().and_then(|at| text.get(at)) {
                    Some(byte) => Item::Int(i64::from(*byte), IntType::Uint8),
                    None => return false,
                }
            }
            (Item::Map(entries), Item::Text(key)) => {
                Item::Held(std::str::from_utf8(&key).ok().and_then(|key| entries.get(key)).unwrap_or(NIL))
            }
            _ => return false,
        };
    }
    !matches!(item.open(), Item::Nothing)
}

fn one_text(values: Vec<Item<'_>>) -> Vec<u8> {
    match values.as_slice() {
        [Item::Text(text)] => text.to_vec(),
        values => formats::sprint(values),
    }
}

fn decoded(text: &[u8]) -> Result<Vec<u8>, String> {
    // What is no text is no base64 either; the position is that of the first byte that isn't.
    let valid = std::str::from_utf8(text);
    let found = valid.map_err(|error| format!("illegal base64 data at input byte {}", error.valid_up_to()));
    found.and_then(krm::base64::decode).map_err(|why| format!("base64 decode failed: {why}"))
}

fn in_html(text: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            0 => escaped.extend("\u{fffd}".as_bytes()),
            b'"' => escaped.extend(b"&#34;"),
            b'\'' => escaped.extend(b"&#39;"),
            b'&' => escaped.extend(b"&amp;"),
            b'<' => escaped.extend(b"&lt;"),
            b'>' => escaped.extend(b"&gt;"),
            byte => escaped.push(*byte),
        }
    }
    escaped
}

fn in_query(text: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            b' ' => escaped.push(b'+'),
            b'-' | b'_' | b'.' | b'~' => escaped.push(*byte),
            byte if byte.is_ascii_alphanumeric() => escaped.push(*byte),
            byte => escaped.extend(format!("%{byte:02X}").bytes()),
        }
    }
    escaped
}
