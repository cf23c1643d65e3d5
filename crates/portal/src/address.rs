//! Addresses of pages: paths and queries, encoded once and here.

use crate::PATH;

/// The address of a page below [`PATH`]: segments are encoded, and parameters without a value left out.
pub fn page(segments: &[&str], parameters: &[(&str, &str)]) -> String {
    let mut text = PATH.to_owned();
    for segment in segments {
        text.push('/');
        text.push_str(&encoded(segment));
    }
    if segments.is_empty() {
        text.push('/');
    }
    text + &query(parameters)
}

/// The query of an address, with its question mark; nothing if all values are empty.
pub fn query<N: AsRef<str>, V: AsRef<str>>(parameters: &[(N, V)]) -> String {
    let given = parameters.iter().filter(|(_, value)| !value.as_ref().is_empty());
    let pairs: Vec<String> = given
        .map(|(name, value)| format!("{}={}", encoded(name.as_ref()), encoded(value.as_ref())))
        .collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

/// Percent-encoded, as a segment of a path or a value of a query may have it.
pub fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b':' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// A segment for what may be empty, such as the namespace of an object without one.
pub fn or_dash(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}

/// What such a segment stands for.
pub fn from_dash(segment: &str) -> &str {
    if segment == "-" { "" } else { segment }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_in_an_address_stays_in_its_place() {
        let address = page(&["o", "a/b", "ü <&"], &[("q", "a=b&c"), ("none", "")]);
        assert_eq!(address, "/ui/o/a%2Fb/%C3%BC%20%3C%26?q=a%3Db%26c");
        assert_eq!(page(&[], &[]), "/ui/");
    }
}
