//! Names of hosts and of objects.

use std::sync::LazyLock;

use regex::Regex;

/// The name of a host by the rules of the validator Kubernetes uses: more signs are allowed than DNS has, and a name
/// without a dot has a dash only after its first sign.
pub fn is_hostname(text: &str) -> bool {
    if text.len() > 255 || text.split('.').any(|label| label.len() > 63) {
        return false;
    }
    match text.rsplit_once('.') {
        None => is_lone_label(text),
        Some((labels, top)) => labels.split('.').all(is_label) && is_top_level(top),
    }
}

fn is_lone_label(text: &str) -> bool {
    let mut chars = text.chars();
    let first = chars.next().is_some_and(is_sign);
    let rest = chars.as_str();
    first && rest.strip_prefix('-').unwrap_or(rest).chars().all(is_sign)
}

fn is_label(text: &str) -> bool {
    let ends = text.starts_with(is_sign) && text.ends_with(is_sign);
    ends && text.chars().all(|c| c == '-' || is_sign(c))
}

fn is_top_level(text: &str) -> bool {
    text.chars().count() >= 2 && text.chars().all(is_letter)
}

fn is_sign(c: char) -> bool {
    static SYMBOL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{S}$").ok());
    c.is_ascii_digit() || is_letter(c) || is_one(&SYMBOL, c)
}

fn is_letter(c: char) -> bool {
    static LETTER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{L}$").ok());
    c.is_ascii_alphabetic() || !c.is_ascii() && is_one(&LETTER, c)
}

fn is_one(class: &Option<Regex>, c: char) -> bool {
    class.as_ref().is_some_and(|class| class.is_match(c.encode_utf8(&mut [0; 4])))
}

/// A short name of an object: a DNS label in lower case.
pub fn is_short_name(text: &str) -> bool {
    text.len() <= 63 && is_name(text)
}

/// A long name of an object: short names, which may be longer here, with dots between.
pub fn is_long_name(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_name)
}

fn is_name(text: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    let ends = bytes.first().copied().is_some_and(is_sign) && bytes.last().copied().is_some_and(is_sign);
    ends && bytes.iter().all(|byte| *byte == b'-' || is_sign(*byte))
}
