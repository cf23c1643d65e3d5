//! Reads signatures such as `charAt string_char_at_int string.(int) -> string`.

use super::Overload;
use crate::cel::types::Type;

/// The name and the signature that a line of the table gives.
pub(super) fn read(line: &'static str) -> (&'static str, Overload) {
    let mut words = line.splitn(3, ' ');
    let mut word = || words.next().expect("a line of the table has a name, an overload and a signature");
    let (name, id, signature) = (word(), word(), word());
    let (call, result) = signature.split_once(" -> ").expect("a signature has a result");
    let open_paren = call.find('(').expect("a signature has arguments");
    // The parenthesis of a receiver's own type comes before the dot that ends it.
    let (target, args) = match call.rfind(".(") {
        Some(dot) => (Some(&call[..dot]), &call[dot + 2..call.len() - 1]),
        None => (None, &call[open_paren + 1..call.len() - 1]),
    };
    let mut types: Vec<Type> = target.map(one).into_iter().collect();
    types.extend(several(args));
    let mut open = Vec::new();
    types.iter().for_each(|it| letters(it, &mut open));
    let result = one(result);
    letters(&result, &mut open);
    (name, Overload { id, member: target.is_some(), args: types, result, open })
}

/// Types with commas between them, outside of parentheses.
fn several(text: &'static str) -> Vec<Type> {
    let mut types = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                types.push(one(text[start..at].trim()));
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        types.push(one(text[start..].trim()));
    }
    types
}

fn one(text: &'static str) -> Type {
    if let Some((name, rest)) = text.split_once('(') {
        let mut inner = several(&rest[..rest.len() - 1]).into_iter();
        let mut next = || inner.next().expect("a type with parameters has them");
        return match name {
            "list" => Type::list(next()),
            "map" => Type::map(next(), next()),
            "optional" => Type::optional(next()),
            _ => Type::Meta(Some(next().into())),
        };
    }
    match text {
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "duration" => Type::Duration,
        "timestamp" => Type::Timestamp,
        "dyn" => Type::Dyn,
        "IP" => Type::Opaque("net.IP"),
        "CIDR" => Type::Opaque("net.CIDR"),
        "URL" => Type::Library("kubernetes.URL"),
        "Quantity" => Type::Library("kubernetes.Quantity"),
        "Semver" => Type::Library("kubernetes.Semver"),
        "Format" => Type::Library("kubernetes.NamedFormat"),
        letter => Type::Open(letter.chars().next().expect("a type has a name")),
    }
}

fn letters(it: &Type, found: &mut Vec<char>) {
    match it {
        Type::Open(letter) if !found.contains(letter) => found.push(*letter),
        Type::List(of) | Type::Optional(of) | Type::Meta(Some(of)) => letters(of, found),
        Type::Map(key, value) => {
            letters(key, found);
            letters(value, found);
        }
        _ => {}
    }
}
