//! Addresses of networks and of network cards.

use std::net::Ipv6Addr;

/// An IPv4 address, or an IPv6 address that ends in one. Leading zeros are taken as decimal.
pub fn is_ipv4(text: &str) -> bool {
    text.contains('.') && is_sloppy_address(text)
}

/// An IPv6 address without a zone.
pub fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

/// An address and the length of its network's part. Leading zeros are taken as decimal.
pub fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let Some(length) = decimal(length) else { return false };
    is_sloppy_ipv4(address) && length <= 32 || is_sloppy_ipv6(address) && length <= 128
}

/// A MAC address of 6, 8 or 20 bytes: with colons, with dashes, in dotted groups of two bytes, or bare.
pub fn is_mac(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() < 12 {
        return false;
    }
    let (digits, group) = match (bytes[2], bytes[4]) {
        (separator @ (b':' | b'-'), _) => (digits_in_groups(bytes, 2, separator), 2),
        (_, b'.') => (digits_in_groups(bytes, 4, b'.'), 4),
        _ => (bytes.iter().all(u8::is_ascii_hexdigit).then_some(bytes.len()), 2),
    };
    digits.is_some_and(|digits| digits % group == 0 && matches!(digits, 12 | 16 | 40))
}

/// How many hexadecimal digits there are, when they come in groups of one size.
fn digits_in_groups(bytes: &[u8], size: usize, separator: u8) -> Option<usize> {
    let mut digits = 0;
    for group in bytes.split(|byte| *byte == separator) {
        if group.len() != size || !group.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        digits += size;
    }
    Some(digits)
}

fn is_sloppy_address(text: &str) -> bool {
    match text.find(['.', ':']) {
        Some(at) if text[at..].starts_with('.') => is_sloppy_ipv4(text),
        Some(_) => is_sloppy_ipv6(text),
        None => false,
    }
}

fn is_sloppy_ipv4(text: &str) -> bool {
    let mut parts = 0;
    for part in text.split('.') {
        parts += 1;
        if decimal(part).is_none_or(|part| part > 255) {
            return false;
        }
    }
    parts == 4
}

/// Groups of any number of hexadecimal digits, the last two of which may be an IPv4 address.
fn is_sloppy_ipv6(text: &str) -> bool {
    match text.split_once("::") {
        None => groups(text, true) == Some(8),
        Some((left, right)) => match (groups(left, false), groups(right, true)) {
            (Some(left), Some(right)) => left + right < 8,
            _ => false,
        },
    }
}

fn groups(text: &str, is_end: bool) -> Option<usize> {
    if text.is_empty() {
        return Some(0);
    }
    let mut count = 0;
    let mut parts = text.split(':').peekable();
    while let Some(part) = parts.next() {
        let is_last = is_end && parts.peek().is_none();
        count += match hexadecimal(part) {
            Some(group) if group <= 0xffff => 1,
            _ if is_last && is_sloppy_ipv4(part) => 2,
            _ => return None,
        };
    }
    Some(count)
}

/// A number in digits; large ones are all the same.
fn decimal(text: &str) -> Option<u32> {
    number(text, 10)
}

fn hexadecimal(text: &str) -> Option<u32> {
    number(text, 16)
}

fn number(text: &str, radix: u32) -> Option<u32> {
    if text.is_empty() {
        return None;
    }
    text.chars()
        .try_fold(0_u32, |number, c| Some(number.saturating_mul(radix).saturating_add(c.to_digit(radix)?)))
}
