//! One value, the way one verb wants it.

use serde_json::Value;

use super::super::floats;
use super::super::items::Item;

/// A verb with its flags.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    pub verb: char,
    pub plus: bool,
    pub left: bool,
    pub sharp: bool,
    pub blank: bool,
    pub zeros: bool,
    pub width: Option<usize>,
    pub precision: Option<usize>,
}

/// A value with its type, as in `string=a`: what is told of a value that nobody wants.
pub fn with_type(value: &Item<'_>, out: &mut Vec<u8>) {
    out.extend(value.type_name().bytes());
    if !matches!(value, Item::Nothing) {
        out.push(b'=');
        Spec::plain().write(value, out);
    }
}

impl Spec {
    /// `%v`
    pub fn plain() -> Spec {
        Spec {
            verb: 'v',
            plus: false,
            left: false,
            sharp: false,
            blank: false,
            zeros: false,
            width: None,
            precision: None,
        }
    }

    /// Writes a value.
    pub fn write(&self, value: &Item<'_>, out: &mut Vec<u8>) {
        let value = value.clone().open();
        if self.verb == 'T' {
            return self.pad(value.type_name().as_bytes(), out);
        }
        if self.sharp && self.verb == 'v' {
            return in_source(&value, out);
        }
        match &value {
            Item::Nothing | Item::Held(_) if self.verb == 'v' => self.pad(b"<nil>", out),
            Item::Nothing | Item::Held(_) => out.extend(format!("%!{}(<nil>)", self.verb).bytes()),
            Item::Bool(flag) if matches!(self.verb, 'v' | 't') => {
                self.pad(flag.to_string().as_bytes(), out);
            }
            Item::Int(number, _) => self.int(*number, &value, out),
            Item::Float(number) => self.float(*number, &value, out),
            Item::Text(text) => self.text(text, &value, out),
            Item::List(items) => {
                out.push(b'[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(b' ');
                    }
                    self.within(item, out);
                }
                out.push(b']');
            }
            Item::Map(entries) => {
                out.extend(b"map[");
                let mut entries: Vec<_> = entries.iter().collect();
                entries.sort_by_key(|(key, _)| *key);
                for (at, (key, value)) in entries.into_iter().enumerate() {
                    if at > 0 {
                        out.push(b' ');
                    }
                    self.write(&Item::text(key.as_bytes()), out);
                    out.push(b':');
                    self.within(value, out);
                }
                out.push(b']');
            }
            Item::Bool(_) => self.unfit(&value, out),
        }
    }

    fn within(&self, value: &Value, out: &mut Vec<u8>) {
        match value {
            Value::Null => out.extend(b"<nil>"),
            value => self.write(&Item::Held(value), out),
        }
    }

    fn unfit(&self, value: &Item<'_>, out: &mut Vec<u8>) {
        out.extend(format!("%!{}(", self.verb).bytes());
        with_type(value, out);
        out.push(b')');
    }

    fn int(&self, number: i64, value: &Item<'_>, out: &mut Vec<u8>) {
        let size = number.unsigned_abs();
        let (prefix, digits) = match self.verb {
            'v' | 'd' => ("", size.to_string()),
            'b' => (if self.sharp { "0b" } else { "" }, format!("{size:b}")),
            'o' => (if self.sharp { "0" } else { "" }, format!("{size:o}")),
            'O' => ("0o", format!("{size:o}")),
            'x' => (if self.sharp { "0x" } else { "" }, format!("{size:x}")),
            'X' => (if self.sharp { "0X" } else { "" }, format!("{size:X}")),
            'c' | 'q' | 'U' => {
                let found = u32::try_from(number).ok().and_then(char::from_u32).unwrap_or('\u{fffd}');
                let text = match self.verb {
                    'c' => found.to_string(),
                    'q' => format!("'{found}'"),
                    _ if self.sharp => format!("U+{size:04X} '{found}'"),
                    _ => format!("U+{size:04X}"),
                };
                return self.pad(text.as_bytes(), out);
            }
            _ => return self.unfit(value, out),
        };
        let digits = match self.precision {
            Some(0) if number == 0 => String::new(),
            Some(least) => format!("{digits:0>least$}"),
            None => digits,
        };
        let zeros = self.zeros && self.precision.is_none();
        self.number(number < 0, prefix, &digits, zeros, out);
    }

    fn float(&self, number: f64, value: &Item<'_>, out: &mut Vec<u8>) {
        let verb = match self.verb {
            'v' => 'g',
            'F' => 'f',
            'e' | 'E' | 'f' | 'g' | 'G' => self.verb,
            _ => return self.unfit(value, out),
        };
        let digits = floats::written(number, verb, self.precision);
        self.number(number.is_sign_negative(), "", &digits, self.zeros, out);
    }

    fn number(&self, is_negative: bool, prefix: &str, digits: &str, zeros: bool, out: &mut Vec<u8>) {
        let sign = match (is_negative, self.plus, self.blank) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            _ => "",
        };
        let fill = match self.width {
            Some(width) if zeros => width.saturating_sub(sign.len() + prefix.len() + digits.len()),
            _ => 0,
        };
        self.pad(format!("{sign}{prefix}{}{digits}", "0".repeat(fill)).as_bytes(), out);
    }

    fn text(&self, text: &[u8], value: &Item<'_>, out: &mut Vec<u8>) {
        let cut = match self.precision.filter(|_| !matches!(self.verb, 'x' | 'X')) {
            Some(most) => first_characters(text, most),
            None => text,
        };
        match self.verb {
            'v' | 's' => self.pad(cut, out),
            'q' if self.sharp && !cut.contains(&b'`') && std::str::from_utf8(cut).is_ok() => {
                self.pad(&[b"`", cut, b"`"].concat(), out);
            }
            'q' => self.pad(quoted(cut).as_bytes(), out),
            'x' | 'X' => {
                let bytes = text.get(..self.precision.unwrap_or(text.len())).unwrap_or(text);
                let between = if self.blank { " " } else { "" };
                let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                let digits = digits.join(between);
                let digits = if self.verb == 'X' { digits.to_ascii_uppercase() } else { digits };
                self.pad(digits.as_bytes(), out);
            }
            _ => self.unfit(value, out),
        }
    }

    fn pad(&self, text: &[u8], out: &mut Vec<u8>) {
        let length: usize =
            text.utf8_chunks().map(|chunk| chunk.valid().chars().count() + chunk.invalid().len()).sum();
        let fill = self.width.unwrap_or(0).saturating_sub(length);
        let filling = if self.zeros && !self.left { b'0' } else { b' ' };
        match self.left {
            true => {
                out.extend(text);
                out.extend(std::iter::repeat_n(b' ', fill));
            }
            false => {
                out.extend(std::iter::repeat_n(filling, fill));
                out.extend(text);
            }
        }
    }
}

/// As many characters as are wanted; a byte that is none counts as one.
fn first_characters(text: &[u8], most: usize) -> &[u8] {
    let mut length = 0;
    let mut left = most;
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars().take(left) {
            length += c.len_utf8();
            left -= 1;
        }
        let bytes = chunk.invalid().len().min(left);
        length += bytes;
        left -= bytes;
        if left == 0 {
            break;
        }
    }
    &text[..length]
}

/// With quotes, as a Go source has it.
fn quoted(text: &[u8]) -> String {
    let mut inner = String::new();
    for chunk in text.utf8_chunks() {
        let whole = krm::field::quote(chunk.valid());
        inner.push_str(&whole[1..whole.len() - 1]);
        inner.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    format!("\"{inner}\"")
}

/// `%#v`: as a Go source would have it.
fn in_source(value: &Item<'_>, out: &mut Vec<u8>) {
    match value.clone().open() {
        Item::Nothing => out.extend(b"<nil>"),
        Item::Text(text) => out.extend(quoted(&text).bytes()),
        Item::Int(number, super::super::items::IntType::Uint8) => {
            out.extend(format!("{number:#x}").bytes());
        }
        Item::List(items) => {
            out.extend(b"[]interface {}{");
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.extend(b", ");
                }
                held_in_source(item, out);
            }
            out.push(b'}');
        }
        Item::Map(entries) => {
            out.extend(b"map[string]interface {}{");
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            for (at, (key, value)) in entries.into_iter().enumerate() {
                if at > 0 {
                    out.extend(b", ");
                }
                out.extend(format!("{}:", krm::field::quote(key)).bytes());
                held_in_source(value, out);
            }
            out.push(b'}');
        }
        other => Spec::plain().write(&other, out),
    }
}

fn held_in_source(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend(b"interface {}(nil)"),
        value => in_source(&Item::Held(value), out),
    }
}
