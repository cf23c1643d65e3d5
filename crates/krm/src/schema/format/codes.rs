//! Identifiers, checksums, colours and encodings.

/// Exactly this many hexadecimal digits.
pub fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A UUID, dashes being optional, of any version or of one.
pub fn is_uuid(text: &str, version: Option<u8>) -> bool {
    let mut digits = Vec::with_capacity(32);
    let mut bytes = text.bytes().peekable();
    for (index, size) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 {
            bytes.next_if_eq(&b'-');
        }
        for _ in 0..size {
            match bytes.next() {
                Some(byte) if byte.is_ascii_hexdigit() => digits.push(byte.to_ascii_lowercase()),
                _ => return false,
            }
        }
    }
    let right_version = version.is_none_or(|version| digits[12] == version);
    let variant_counts = matches!(version, Some(b'4' | b'5'));
    let right_variant = !variant_counts || matches!(digits[16], b'8' | b'9' | b'a' | b'b');
    bytes.next().is_none() && right_version && right_variant
}

/// A book's number of ten digits, the last of which checks the others.
pub fn is_isbn10(text: &str) -> bool {
    let code = without_spaces_and_dashes(text);
    if code.len() != 10 {
        return false;
    }
    let mut sum = 0;
    for (place, byte) in (1_u32..).zip(&code) {
        sum += match byte {
            b'0'..=b'9' => place * u32::from(byte - b'0'),
            b'X' if place == 10 => 100,
            _ => return false,
        };
    }
    sum % 11 == 0
}

/// A book's number of thirteen digits, the last of which checks the others.
pub fn is_isbn13(text: &str) -> bool {
    let code = without_spaces_and_dashes(text);
    if code.len() != 13 || !code.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let weighted = |(index, byte): (usize, &u8)| u32::from(byte - b'0') * if index % 2 == 0 { 1 } else { 3 };
    code.iter().enumerate().map(weighted).sum::<u32>() % 10 == 0
}

/// The number of a credit card, with anything in between: a known range, and a right checksum.
pub fn is_credit_card(text: &str) -> bool {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_digit).map(|byte| byte - b'0').collect();
    if !is_issued(&digits) {
        return false;
    }
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(index, digit)| match (index % 2, u32::from(*digit)) {
            (0, digit) => digit,
            (_, digit @ 5..) => digit * 2 - 9,
            (_, digit) => digit * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}

fn is_issued(digits: &[u8]) -> bool {
    matches!(
        (digits, digits.len()),
        ([4, ..], 13 | 16)
            | ([5, 1..=5, ..], 16)
            | ([6, 0, 1, 1, ..] | [6, 5, ..], 16)
            | ([3, 4 | 7, ..], 15)
            | ([3, 0, 0..=5, ..] | [3, 6 | 8, ..], 14)
            | ([2, 1, 3, 1, ..] | [1, 8, 0, 0, ..], 15)
            | ([3, 5, ..], 16)
    )
}

/// A social security number of the United States, with both separators.
pub fn is_ssn(text: &str) -> bool {
    text.len() == 11
        && text.bytes().enumerate().all(|(index, byte)| match index {
            3 | 6 => matches!(byte, b'-' | b' '),
            _ => byte.is_ascii_digit(),
        })
}

/// Three or six hexadecimal digits, with or without `#`.
pub fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    is_hex(digits, 3) || is_hex(digits, 6)
}

/// `rgb(0, 127, 255)`.
pub fn is_rgb_color(text: &str) -> bool {
    let Some(inside) = text.strip_prefix("rgb(").and_then(|rest| rest.strip_suffix(')')) else {
        return false;
    };
    let is_space = |c: char| matches!(c, '\t' | '\n' | '\u{c}' | '\r' | ' ');
    let parts: Vec<&str> = inside.split(',').map(|part| part.trim_matches(is_space)).collect();
    parts.len() == 3 && parts.iter().all(|part| is_small_number(part))
}

/// A number up to 255 without leading zeros.
fn is_small_number(text: &str) -> bool {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits && (text == "0" || !text.starts_with('0')) && text.parse::<u8>().is_ok()
}

/// Base64 with its padding, not empty.
pub fn is_base64(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.is_empty() || !bytes.len().is_multiple_of(4) {
        return false;
    }
    let padding = bytes.iter().rev().take(2).take_while(|byte| **byte == b'=').count();
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    bytes[..bytes.len() - padding].iter().all(is_digit)
}

fn without_spaces_and_dashes(text: &str) -> Vec<u8> {
    let skipped = |byte: &u8| matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ' | b'-');
    text.bytes().filter(|byte| !skipped(byte)).collect()
}
