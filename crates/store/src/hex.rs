//! Bytes as lowercase hexadecimal text, for keys that people copy between files.

use zeroize::Zeroizing;

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// `bytes` as text. Allocated once at its full length, so a secret leaves no copies behind.
pub(crate) fn encode(bytes: &[u8]) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(bytes.len() * 2));
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// The bytes that `text` spells, or nothing when it isn't pairs of hexadecimal digits.
pub(crate) fn decode(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let mut bytes = Zeroizing::new(Vec::with_capacity(pairs.len()));
    for [high, low] in pairs {
        bytes.push(digit(*high)? << 4 | digit(*low)?);
    }
    Some(bytes)
}

/// Exactly `N` bytes, or nothing.
pub(crate) fn decode_array<const N: usize>(text: &str) -> Option<Zeroizing<[u8; N]>> {
    let bytes = decode(text)?;
    let array: &[u8; N] = bytes.as_slice().try_into().ok()?;
    Some(Zeroizing::new(*array))
}

fn digit(character: u8) -> Option<u8> {
    char::from(character).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_pairs_of_digits_are_bytes() {
        assert_eq!(decode("00fFa0").unwrap().as_slice(), [0x00, 0xff, 0xa0]);
        assert_eq!(decode("0"), None);
        assert_eq!(decode("0x"), None);
        assert_eq!(decode("+1"), None);
        assert_eq!(decode_array::<2>("000000"), None);
    }

    proptest! {
        #[test]
        fn decoding_undoes_encoding(bytes: Vec<u8>) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(Zeroizing::new(bytes)));
        }

        #[test]
        fn any_text_is_read_without_panic(text: String) {
            let _ = decode(&text);
        }
    }
}
