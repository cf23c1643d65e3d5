//! JSON that Go reads and serde does not: halves of surrogate pairs, and numbers beyond all bounds.

/// A text in which serde finds nothing odd.
pub(super) struct Mended {
    pub(super) text: String,
    /// The first number that no fraction of 64 bits can hold; a zero stands in its place.
    pub(super) too_large: Option<String>,
}

/// Mends a text that is JSON by its syntax.
pub(super) fn mend(text: &str) -> Mended {
    let mut mended = Mended { text: String::with_capacity(text.len()), too_large: None };
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => mended.string(rest),
            '-' | '0'..='9' => mended.number(rest),
            other => {
                mended.text.push(other);
                other.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    mended
}

impl Mended {
    /// Copies a number, and tells its length.
    fn number(&mut self, rest: &str) -> usize {
        let is_in_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let end = rest.find(|c| !is_in_number(c)).unwrap_or(rest.len());
        let number = &rest[..end];
        if number.parse::<f64>().is_ok_and(f64::is_infinite) {
            self.too_large.get_or_insert_with(|| number.to_owned());
            self.text.push('0');
        } else {
            self.text.push_str(number);
        }
        end
    }

    /// Copies a text with its quotes, and tells its length.
    fn string(&mut self, rest: &str) -> usize {
        self.text.push('"');
        let mut at = 1;
        while let Some(c) = rest[at..].chars().next() {
            if c == '\\' {
                at += self.escape(&rest[at..]);
                continue;
            }
            self.text.push(c);
            at += c.len_utf8();
            if c == '"' {
                break;
            }
        }
        at
    }

    /// Copies what a backslash begins, and tells its length.
    fn escape(&mut self, rest: &str) -> usize {
        let (length, is_whole) = match (unit(rest), rest.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (12, true),
            (Some(0xD800..=0xDFFF), _) => (6, false),
            (Some(_), _) => (6, true),
            (None, _) => (1 + rest[1..].chars().next().map_or(0, char::len_utf8), true),
        };
        self.text.push_str(if is_whole { &rest[..length] } else { "\\ufffd" });
        length
    }
}

/// The number of an escape such as `\u00e4`.
fn unit(rest: &str) -> Option<u16> {
    u16::from_str_radix(rest.strip_prefix("\\u")?.get(..4)?, 16).ok()
}
