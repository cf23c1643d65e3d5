//! `application/x-www-form-urlencoded`, read and written.

/// Fields of a form or a query; of two with one name the first counts.
#[derive(Debug, Default, Clone)]
pub struct Form(Vec<(String, String)>);

impl Form {
    /// Reads `a=b&c=d`.
    pub fn read(text: &str) -> Form {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        Form(
            pairs
                .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                .map(|(name, value)| (decoded(name), decoded(value)))
                .collect(),
        )
    }

    /// A field; empty when it is not there.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

/// A value as a query has it.
pub fn encoded(text: &str) -> String {
    let mut made = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                made.push(char::from(byte))
            }
            other => made.push_str(&format!("%{other:02X}")),
        }
    }
    made
}

fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut made = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let hex = bytes.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        match (byte, hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(meant)) => {
                made.push(meant);
                at += 3;
                continue;
            }
            (b'+', _) => made.push(b' '),
            (other, _) => made.push(*other),
        }
        at += 1;
    }
    String::from_utf8_lossy(&made).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_as_they_are_written() {
        let form = Form::read(&format!("a={}&b=x+y&c&d=%zz", encoded("ä & b=c")));
        assert_eq!(
            (form.get("a"), form.get("b"), form.get("c"), form.get("d"), form.get("e")),
            ("ä & b=c", "x y", "", "%zz", "")
        );
    }
}
