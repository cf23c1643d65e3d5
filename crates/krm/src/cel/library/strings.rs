//! Texts taken apart and put together.

use super::operators::text;
use super::{DeepRun, Run, format};
use crate::cel::expression;
use crate::cel::value::{Effort, Fault, List, Outcome, Value, equal};

pub(super) fn find(name: &str) -> Option<Run> {
    Some(match name {
        "contains" => |args| Ok(Value::Bool(text(&args[0])?.contains(&**text(&args[1])?))),
        "startsWith" => |args| Ok(Value::Bool(text(&args[0])?.starts_with(&**text(&args[1])?))),
        "endsWith" => |args| Ok(Value::Bool(text(&args[0])?.ends_with(&**text(&args[1])?))),
        "charAt" => char_at,
        "lowerAscii" => |args| Ok(Value::text(text(&args[0])?.to_ascii_lowercase())),
        "upperAscii" => |args| Ok(Value::text(text(&args[0])?.to_ascii_uppercase())),
        "trim" => |args| Ok(Value::text(text(&args[0])?.trim())),
        "split" => split,
        "substring" => substring,
        "join" => join,
        "@link" => |args| expression::link(text(&args[0])?, &args[1]).map(Value::text),
        "strings.quote" => |args| Ok(Value::text(quote(text(&args[0])?))),
        _ => return None,
    })
}

/// Those that may have to look at all of their arguments, or make more of them than their cost tells.
pub(super) fn find_deep(name: &str) -> Option<DeepRun> {
    Some(match name {
        "indexOf" => index_of,
        "lastIndexOf" => last_index_of,
        "replace" => replace,
        "format" => |args, effort| match &args[1] {
            Value::List(list) => format::apply(text(&args[0])?, list, effort).map(Value::text),
            _ => Err(Fault::NoOverload),
        },
        _ => return None,
    })
}

fn out_of_range(index: i64) -> Fault {
    Fault::Error(format!("index out of range: {index}"))
}

fn int(value: &Value<'_>) -> Result<i64, Fault> {
    match value {
        Value::Int(number) => Ok(*number),
        _ => Err(Fault::NoOverload),
    }
}

#[expect(clippy::cast_possible_wrap, reason = "no text is so long")]
fn place<'a>(index: usize) -> Value<'a> {
    Value::Int(index as i64)
}

fn char_at<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let (text, index) = (text(&args[0])?, int(&args[1])?);
    let at = usize::try_from(index).map_err(|_| out_of_range(index))?;
    match text.chars().nth(at) {
        Some(c) => Ok(Value::text(c.to_string())),
        None if at == text.chars().count() => Ok(Value::text("")),
        None => Err(out_of_range(index)),
    }
}

fn index_of<'a>(args: &[Value<'a>], effort: &mut Effort) -> Outcome<'a> {
    if let Value::List(list) = &args[0] {
        return list_index(list, &args[1], false, effort);
    }
    let (whole, part) = (text(&args[0])?, text(&args[1])?);
    let from = args.get(2).map_or(Ok(0), int)?;
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    let start = usize::try_from(from).map_err(|_| out_of_range(from))?;
    let Some((byte, _)) = whole.char_indices().nth(start) else { return Ok(Value::Int(-1)) };
    Ok(match whole[byte..].find(&**part) {
        Some(at) => place(start + whole[byte..byte + at].chars().count()),
        None => Value::Int(-1),
    })
}

fn last_index_of<'a>(args: &[Value<'a>], effort: &mut Effort) -> Outcome<'a> {
    if let Value::List(list) = &args[0] {
        return list_index(list, &args[1], true, effort);
    }
    let (whole, part) = (text(&args[0])?, text(&args[1])?);
    let until = args.get(2).map(int).transpose()?;
    if part.is_empty() {
        return Ok(until.map_or_else(|| place(whole.chars().count()), Value::Int));
    }
    // It may begin at `until`, and end after it.
    let end = match until {
        None => whole.len(),
        Some(until) => {
            let start = usize::try_from(until).map_err(|_| out_of_range(until))?;
            let Some((byte, _)) = whole.char_indices().nth(start) else { return Ok(Value::Int(-1)) };
            let after = whole[byte..].char_indices().nth(part.chars().count());
            after.map_or(whole.len(), |(length, _)| byte + length)
        }
    };
    Ok(match whole[..end].rfind(&**part) {
        Some(byte) => place(whole[..byte].chars().count()),
        None => Value::Int(-1),
    })
}

fn list_index<'a>(list: &List<'a>, wanted: &Value<'a>, last: bool, effort: &mut Effort) -> Outcome<'a> {
    let mut found = Value::Int(-1);
    for (index, item) in list.iter().enumerate() {
        if equal(&item?, wanted, effort)? {
            found = place(index);
            if !last {
                break;
            }
        }
    }
    Ok(found)
}

fn replace<'a>(args: &[Value<'a>], effort: &mut Effort) -> Outcome<'a> {
    let (whole, old, new) = (text(&args[0])?, text(&args[1])?, text(&args[2])?);
    let most = args.get(3).map(int).transpose()?;
    let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    // A short text can be made into a very long one.
    let places = whole.matches(&**old).take(most).count() as u64;
    effort.spend(places.saturating_mul(new.len() as u64))?;
    Ok(Value::text(whole.replacen(&**old, new, most)))
}

fn split<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let (whole, separator) = (text(&args[0])?, text(&args[1])?);
    let most = args.get(2).map(int).transpose()?;
    let most = match most.map(usize::try_from) {
        Some(Ok(0)) => return Ok(Value::list(Vec::new())),
        Some(Ok(most)) => most,
        _ => usize::MAX,
    };
    if separator.is_empty() {
        return Ok(Value::texts(characters(whole, most)));
    }
    Ok(Value::texts(whole.splitn(most, &**separator)))
}

/// The first characters one by one, and in the last of `most` texts what is left.
fn characters(whole: &str, most: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = whole;
    while let Some(c) = rest.chars().next() {
        let length = if parts.len() + 1 == most { rest.len() } else { c.len_utf8() };
        let (part, after) = rest.split_at(length);
        parts.push(part);
        rest = after;
    }
    parts
}

fn substring<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let (whole, start) = (text(&args[0])?, int(&args[1])?);
    let end = args.get(2).map(int).transpose()?;
    if let Some(end) = end.filter(|end| start > *end) {
        return Err(Fault::Error(format!("invalid substring range. start: {start}, end: {end}")));
    }
    let from = byte_place(whole, start)?;
    let to = end.map_or(Ok(whole.len()), |end| byte_place(whole, end))?;
    Ok(Value::text(&whole[from..to]))
}

/// Where a character starts, the one after the last included.
fn byte_place(whole: &str, index: i64) -> Result<usize, Fault> {
    let at = usize::try_from(index).map_err(|_| out_of_range(index))?;
    let mut places = whole.char_indices().map(|(byte, _)| byte).chain([whole.len()]);
    places.nth(at).ok_or_else(|| out_of_range(index))
}

fn join<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let Value::List(list) = &args[0] else { return Err(Fault::NoOverload) };
    let separator = args.get(1).map(text).transpose()?.map_or("", |it| &**it);
    let mut out = String::new();
    for (index, item) in list.iter().enumerate() {
        if index > 0 {
            out.push_str(separator);
        }
        match item? {
            Value::String(item) => out.push_str(&item),
            other => return Err(Fault::Error(format!("join: invalid input: {}", other.type_name()))),
        }
    }
    Ok(Value::text(out))
}

fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
