//! Where a text stops being JSON, said as Go's `encoding/json` says it.

use super::MOST_DEPTH;
use crate::field::quote;

/// What is wrong with a text; nothing when it is JSON.
pub(super) fn fault(text: &[u8]) -> Option<String> {
    let mut scan = Scan { expects: Expects::Value, open: Vec::new() };
    for &byte in text {
        if let Err(context) = scan.step(byte) {
            return Some(format!("invalid character {} {context}", quote_byte(byte)));
        }
    }
    // A number ends where the text does, which only what would come after it can tell.
    if let Err(context) = scan.step(b' ') {
        return Some(format!("invalid character ' ' {context}"));
    }
    let complete = scan.open.is_empty() && matches!(scan.expects, Expects::End);
    (!complete).then(|| "unexpected end of JSON input".to_owned())
}

struct Scan {
    expects: Expects,
    open: Vec<Open>,
}

/// What the next byte may be.
#[derive(Clone, Copy)]
enum Expects {
    Value,
    ValueOrClose,
    Key,
    KeyOrClose,
    /// What follows a value or a key, depending on what it stands in.
    End,
    Text,
    Escape,
    Hex(u8),
    FirstDigit,
    Digits,
    PointOrExponent,
    FirstDecimal,
    Decimals,
    Sign,
    FirstExponentDigit,
    ExponentDigits,
    /// The bytes at and after the given one of a word.
    Word(&'static str, usize),
}

/// What a value stands in.
#[derive(Clone, Copy)]
enum Open {
    Key,
    Field,
    List,
}

impl Scan {
    fn step(&mut self, byte: u8) -> Result<(), String> {
        let blank = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        self.expects = match self.expects {
            Expects::Value | Expects::ValueOrClose | Expects::Key | Expects::KeyOrClose if blank => {
                return Ok(());
            }
            Expects::ValueOrClose if byte == b']' => return self.end(byte, blank),
            Expects::KeyOrClose if byte == b'}' => {
                self.open.pop();
                Expects::End
            }
            Expects::Value | Expects::ValueOrClose => self.begin(byte)?,
            Expects::Key | Expects::KeyOrClose if byte == b'"' => Expects::Text,
            Expects::Key | Expects::KeyOrClose => return words("looking for beginning of object key string"),
            Expects::End => return self.end(byte, blank),
            Expects::Text if byte == b'"' => Expects::End,
            Expects::Text if byte == b'\\' => Expects::Escape,
            Expects::Text if byte < 0x20 => return words("in string literal"),
            Expects::Text => Expects::Text,
            Expects::Escape if b"bfnrt\\/\"".contains(&byte) => Expects::Text,
            Expects::Escape if byte == b'u' => Expects::Hex(0),
            Expects::Escape => return words("in string escape code"),
            Expects::Hex(3) if byte.is_ascii_hexdigit() => Expects::Text,
            Expects::Hex(read) if byte.is_ascii_hexdigit() => Expects::Hex(read + 1),
            Expects::Hex(_) => return words("in \\u hexadecimal character escape"),
            Expects::FirstDigit if byte == b'0' => Expects::PointOrExponent,
            Expects::FirstDigit if byte.is_ascii_digit() => Expects::Digits,
            Expects::FirstDigit => return words("in numeric literal"),
            Expects::Digits if byte.is_ascii_digit() => Expects::Digits,
            Expects::Digits | Expects::PointOrExponent if byte == b'.' => Expects::FirstDecimal,
            Expects::Decimals if byte.is_ascii_digit() => Expects::Decimals,
            Expects::Digits | Expects::PointOrExponent | Expects::Decimals if matches!(byte, b'e' | b'E') => {
                Expects::Sign
            }
            Expects::FirstDecimal if byte.is_ascii_digit() => Expects::Decimals,
            Expects::FirstDecimal => return words("after decimal point in numeric literal"),
            Expects::Sign if matches!(byte, b'+' | b'-') => Expects::FirstExponentDigit,
            Expects::Sign | Expects::FirstExponentDigit | Expects::ExponentDigits
                if byte.is_ascii_digit() =>
            {
                Expects::ExponentDigits
            }
            Expects::Sign | Expects::FirstExponentDigit => return words("in exponent of numeric literal"),
            Expects::Digits | Expects::PointOrExponent | Expects::Decimals | Expects::ExponentDigits => {
                return self.end(byte, blank);
            }
            Expects::Word(word, at) => {
                let expected = word.as_bytes()[at];
                if byte != expected {
                    return Err(format!("in literal {word} (expecting '{}')", char::from(expected)));
                }
                if at + 1 == word.len() { Expects::End } else { Expects::Word(word, at + 1) }
            }
        };
        Ok(())
    }

    fn begin(&mut self, byte: u8) -> Result<Expects, String> {
        let expects = match byte {
            b'{' => Expects::KeyOrClose,
            b'[' => Expects::ValueOrClose,
            b'"' => return Ok(Expects::Text),
            b'-' => return Ok(Expects::FirstDigit),
            b'0' => return Ok(Expects::PointOrExponent),
            b'1'..=b'9' => return Ok(Expects::Digits),
            b't' => return Ok(Expects::Word("true", 1)),
            b'f' => return Ok(Expects::Word("false", 1)),
            b'n' => return Ok(Expects::Word("null", 1)),
            _ => return Err("looking for beginning of value".to_owned()),
        };
        if self.open.len() == MOST_DEPTH {
            return Err("exceeded max depth".to_owned());
        }
        self.open.push(if byte == b'{' { Open::Key } else { Open::List });
        Ok(expects)
    }

    fn end(&mut self, byte: u8, blank: bool) -> Result<(), String> {
        self.expects = Expects::End;
        match (self.open.last_mut(), byte) {
            _ if blank => {}
            (None, _) => return words("after top-level value"),
            (Some(open @ Open::Key), b':') => {
                *open = Open::Field;
                self.expects = Expects::Value;
            }
            (Some(Open::Key), _) => return words("after object key"),
            (Some(open @ Open::Field), b',') => {
                *open = Open::Key;
                self.expects = Expects::Key;
            }
            (Some(Open::List), b',') => self.expects = Expects::Value,
            (Some(Open::Field), b'}') | (Some(Open::List), b']') => {
                self.open.pop();
            }
            (Some(Open::Field), _) => return words("after object key:value pair"),
            (Some(Open::List), _) => return words("after array element"),
        }
        Ok(())
    }
}

fn words(context: &str) -> Result<(), String> {
    Err(context.to_owned())
}

/// A byte in single quotes, taken for the character of that number.
fn quote_byte(byte: u8) -> String {
    match byte {
        b'\'' => r"'\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        _ => {
            let quoted = quote(&char::from(byte).to_string());
            format!("'{}'", &quoted[1..quoted.len() - 1])
        }
    }
}
