//! Search terms of an object: words, MAC addresses, IP addresses and prefixes.

use std::net::IpAddr;

use bytes::Bytes;
use ipnet::IpNet;
use krm::Object;
use krm::selector::field_text;
use serde_json::Value;

/// A word is cut off here; nobody types more.
const LONGEST: usize = 64;
/// So many beginnings of one text are found.
const MOST_PARTS: usize = 8;
/// So many texts of one field are found, where it is a list.
const MOST_TEXTS: usize = 64;

/// Adds the terms of one object: its name, its labels, and these fields of it.
pub fn of(plane: &str, object: &Object, fields: &[String], add: &mut dyn FnMut(Bytes)) {
    of_text(plane, object.name(), add);
    for (label, value) in object.labels() {
        let value = value.to_lowercase();
        if !value.is_empty() {
            of_text(plane, &value, add);
            add(word(plane, &format!("{}={value}", label.to_lowercase())));
        }
    }
    for field in fields {
        for text in texts(object, field) {
            of_text(plane, &text, add);
        }
    }
}

/// The texts at a path, through lists.
pub fn texts(object: &Object, field: &str) -> Vec<String> {
    let mut found = Vec::new();
    let steps: Vec<&str> = field.trim_start_matches('.').split('.').collect();
    if let Some((first, rest)) = steps.split_first()
        && let Some(value) = object.get(first.trim_end_matches("[*]").trim_end_matches("[]"))
    {
        gather(value, rest, &mut found);
    }
    found
}

fn gather(value: &Value, steps: &[&str], found: &mut Vec<String>) {
    if found.len() >= MOST_TEXTS {
        return;
    }
    if let Value::Array(list) = value {
        return list.iter().for_each(|item| gather(item, steps, found));
    }
    match steps.split_first() {
        Some((step, rest)) => {
            if let Some(below) = value.get(step.trim_end_matches("[*]").trim_end_matches("[]")) {
                gather(below, rest, found);
            }
        }
        None => {
            let text = field_text(Some(value));
            if !text.is_empty() {
                found.push(text.into_owned());
            }
        }
    }
}

fn of_text(plane: &str, text: &str, add: &mut dyn FnMut(Bytes)) {
    let text = text.trim().to_lowercase();
    if text.is_empty() {
        return;
    }
    // Most texts are words, and every object is read so at every start.
    if text.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':' | b'/')) {
        if let Ok(address) = text.parse::<IpAddr>() {
            return add(self::address(plane, address));
        }
        if let Ok(prefix) = text.parse::<IpNet>() {
            // `10.0.0.1/24` on an interface is both: the address, and the prefix that it is in.
            if prefix.addr() != prefix.network() {
                add(self::address(plane, prefix.addr()));
            }
            return add(self::prefix(plane, &prefix.trunc()));
        }
    }
    if let Some(digits) = mac(&text).filter(|digits| digits.len() == 12) {
        return add(self::mac_term(plane, &digits));
    }
    for part in parts(&text) {
        add(word(plane, part));
    }
}

/// The text from each of its parts on: `rack-7`, `7`.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.char_indices().scan(true, |after_break, (at, c)| {
        let is_break = !c.is_alphanumeric();
        let starts = !is_break && *after_break;
        *after_break = is_break;
        Some(starts.then_some(at))
    });
    starts.flatten().take(MOST_PARTS).filter_map(|at| text.get(at..))
}

/// The digits of a MAC address, or of the beginning of one, in any spelling; `None` for anything else.
pub fn mac(text: &str) -> Option<String> {
    if !text.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'-' | b'.')) {
        return None;
    }
    let separators: Vec<char> = text.chars().filter(|c| matches!(c, ':' | '-' | '.')).collect();
    let digits: String = text.chars().filter(|c| !matches!(c, ':' | '-' | '.')).collect();
    let is_hex = !digits.is_empty();
    let one_kind = separators.windows(2).all(|pair| pair[0] == pair[1]);
    let group = match separators.first() {
        Some('.') => 4,
        Some(_) => 2,
        // Without separators only a whole one is surely meant.
        None => return (is_hex && digits.len() == 12).then(|| digits.to_lowercase()),
    };
    let separator = separators[0];
    let groups: Vec<&str> = text.split(separator).collect();
    let whole = groups
        .split_last()
        .is_some_and(|(last, rest)| rest.iter().all(|found| found.len() == group) && last.len() <= group);
    (is_hex && one_kind && whole && digits.len() <= 12).then(|| digits.to_lowercase())
}

/// The term of a word.
pub fn word(plane: &str, text: &str) -> Bytes {
    let cut = match text.len() <= LONGEST {
        true => text.len(),
        false => text.char_indices().map(|(at, _)| at).find(|at| *at >= LONGEST).unwrap_or(text.len()),
    };
    ["s", plane, "\0w", &text[..cut]].concat().into()
}

/// The term of the digits of a MAC address.
pub fn mac_term(plane: &str, digits: &str) -> Bytes {
    format!("s{plane}\0m{digits}").into()
}

/// The term of an address.
pub fn address(plane: &str, address: IpAddr) -> Bytes {
    format!("s{plane}\0a{}", hex(address)).into()
}

/// The term of a prefix, which must be cut to its length.
pub fn prefix(plane: &str, prefix: &IpNet) -> Bytes {
    format!("s{plane}\0n{}/{:03}", hex(prefix.network()), prefix.prefix_len()).into()
}

/// An address such that the order of texts is that of addresses.
pub fn hex(address: IpAddr) -> String {
    match address {
        IpAddr::V4(four) => format!("4{:08x}", u32::from(four)),
        IpAddr::V6(six) => format!("6{:032x}", u128::from(six)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn terms(object: Value, fields: &[&str]) -> Vec<String> {
        let object = Object::from_value(object).unwrap();
        let fields: Vec<String> = fields.iter().map(ToString::to_string).collect();
        let mut found = Vec::new();
        of("", &object, &fields, &mut |term| found.push(String::from_utf8_lossy(&term[2..]).into_owned()));
        found.sort();
        found
    }

    #[test]
    fn names_labels_and_fields_are_found_from_each_part_on() {
        let object =
            json!({"metadata": {"name": "Rack-7", "labels": {"Row": "B2"}}, "spec": {"serial": "SN 0042"}});
        assert_eq!(terms(object, &["spec.serial"]), ["w0042", "w7", "wb2", "wrack-7", "wrow=b2", "wsn 0042"]);
    }

    #[test]
    fn addresses_of_any_spelling_are_one_term() {
        for mac in ["aa:bb:cc:00:11:22", "AA-BB-CC-00-11-22", "aabb.cc00.1122", "AABBCC001122"] {
            let object = json!({"spec": {"ports": [{"mac": mac}]}});
            assert_eq!(terms(object, &["spec.ports.mac"]), ["maabbcc001122"], "{mac}");
        }
        assert_eq!(super::mac("aa:bb:c"), Some("aabbc".to_owned()));
        for none in ["rack-7", "cafe", "10.1.2.3", "aa:bbb", "2001:db8::1", "a-b", ""] {
            assert!(super::mac(none).is_none_or(|digits| digits.len() < 12), "{none}");
        }
        let object =
            json!({"spec": {"a": "10.1.2.3", "b": "10.1.0.0/16", "c": "2001:DB8::1", "d": "10.1.2.3/24"}});
        assert_eq!(
            terms(object, &["spec.a", "spec.b", "spec.c", "spec.d"]),
            [
                "a40a010203",
                "a40a010203",
                "a620010db8000000000000000000000001",
                "n40a010000/016",
                "n40a010200/024"
            ]
        );
    }
}
