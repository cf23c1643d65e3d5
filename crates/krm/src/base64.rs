//! Bytes as text: base64 with padding, read as Go reads it and refused in its words; and as URLs hold it.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const URL_ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The text for these bytes.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = written(bytes, ALPHABET);
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

/// The text for these bytes that is safe in URLs, without padding.
pub fn url(bytes: &[u8]) -> String {
    written(bytes, URL_ALPHABET)
}

/// Reads what [`url`] writes, padded or not.
pub fn from_url(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    for chunk in text.as_bytes().chunks(4) {
        let mut group = 0u32;
        for byte in chunk {
            let digit = URL_ALPHABET.iter().position(|known| known == byte)?;
            group = group << 6 | u32::try_from(digit).ok()?;
        }
        group <<= 6 * (4 - chunk.len());
        let whole = group.to_be_bytes();
        bytes.extend_from_slice(&whole[1..chunk.len().max(1)]);
    }
    Some(bytes)
}

/// Reads what [`url`] writes, without padding, as Go does. An error tells where it stops being base64.
pub fn decode_url(text: &str) -> Result<Vec<u8>, String> {
    let signs = text.bytes().enumerate().filter(|(_, sign)| !matches!(sign, b'\r' | b'\n'));
    let mut kept = String::with_capacity(text.len());
    for (at, sign) in signs {
        if !URL_ALPHABET.contains(&sign) {
            return Err(illegal(at));
        }
        kept.push(char::from(sign));
    }
    match kept.len() % 4 {
        1 => Err(illegal(text.len() - 1)),
        _ => from_url(&kept).ok_or_else(|| illegal(0)),
    }
}

fn written(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0u32, |group, byte| group << 8 | u32::from(*byte));
        let group = group << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            text.push(char::from(alphabet[(group >> (18 - 6 * place) & 63) as usize]));
        }
    }
    text
}

/// The bytes of a text; line ends in it don't count. An error tells where it stops being base64.
pub fn decode(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut signs = text.bytes().enumerate().filter(|(_, sign)| !matches!(sign, b'\r' | b'\n'));
    let (mut bits, mut held) = (0u32, 0usize);
    while let Some((at, sign)) = signs.next() {
        if let Some(value) = value_of(sign) {
            bits = bits << 6 | value;
            held += 1;
            if held == 4 {
                bytes.extend_from_slice(&bits.to_be_bytes()[1..]);
                (bits, held) = (0, 0);
            }
            continue;
        }
        if sign != b'=' || held < 2 {
            return Err(illegal(at));
        }
        if held == 2 {
            match signs.next() {
                Some((_, b'=')) => {}
                Some((at, _)) => return Err(illegal(at - 1)),
                None => return Err(illegal(text.len())),
            }
        }
        if let Some((at, _)) = signs.next() {
            return Err(illegal(at));
        }
        let whole = bits << (6 * (4 - held));
        bytes.extend_from_slice(&whole.to_be_bytes()[1..held]);
        return Ok(bytes);
    }
    match held {
        0 => Ok(bytes),
        _ => Err(illegal(text.len() - held)),
    }
}

fn value_of(sign: u8) -> Option<u32> {
    let value = match sign {
        b'A'..=b'Z' => sign - b'A',
        b'a'..=b'z' => sign - b'a' + 26,
        b'0'..=b'9' => sign - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

fn illegal(at: usize) -> String {
    format!("illegal base64 data at input byte {at}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_base64_is_refused_where_it_stops_being_it() {
        for (text, at) in [
            ("not base64!", 3),
            ("!!", 0),
            ("YQ", 0),
            ("YWFhYQ", 4),
            ("Y===", 1),
            ("YQ=", 3),
            ("YQ=a", 2),
            ("YWE=a", 4),
            ("YQ==YQ==", 4),
        ] {
            assert_eq!(
                decode(text).unwrap_err(),
                format!("illegal base64 data at input byte {at}"),
                "{text}"
            );
        }
    }

    #[test]
    fn line_ends_and_bits_that_do_not_count_are_let_by() {
        assert_eq!(decode("Y\nQ=\r\n=\n").unwrap(), b"a");
        assert_eq!(encode(&decode("YR==").unwrap()), "YQ==");
        assert_eq!(decode("").unwrap(), b"");
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes: Vec<u8>) {
            prop_assert_eq!(decode(&encode(&bytes)).unwrap(), bytes);
        }

        #[test]
        fn no_text_is_too_odd(text: String) {
            let _ = decode(&text);
        }
    }

    #[test]
    fn what_urls_hold_is_read_again() {
        for (plain, text) in [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foo?>", "Zm9vPz4")] {
            assert_eq!(url(plain.as_bytes()), text);
            assert_eq!(from_url(text).unwrap(), plain.as_bytes());
        }
        assert_eq!(from_url("!"), None);
    }
}
