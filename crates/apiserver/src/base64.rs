//! Base64, in the two alphabets that the API uses.

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// With padding.
pub fn standard(bytes: &[u8]) -> String {
    let mut text = encode(bytes, STANDARD);
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

/// Safe in URLs, without padding.
pub fn url(bytes: &[u8]) -> String {
    encode(bytes, URL)
}

/// Reads what [`url`] writes, padded or not.
pub fn from_url(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    for chunk in text.as_bytes().chunks(4) {
        let mut group = 0u32;
        for byte in chunk {
            let digit = URL.iter().position(|known| known == byte)?;
            group = group << 6 | u32::try_from(digit).ok()?;
        }
        group <<= 6 * (4 - chunk.len());
        let whole = group.to_be_bytes();
        bytes.extend_from_slice(&whole[1..chunk.len().max(1)]);
    }
    Some(bytes)
}

fn encode(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0u32, |group, byte| group << 8 | u32::from(*byte));
        let group = group << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            text.push(alphabet[(group >> (18 - 6 * place) & 63) as usize] as char);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_texts_come_out() {
        for (plain, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(standard(plain.as_bytes()), text);
            assert_eq!(from_url(&url(plain.as_bytes())).unwrap(), plain.as_bytes());
        }
        assert_eq!(from_url("!"), None);
    }
}
