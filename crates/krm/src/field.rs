//! Field errors in Kubernetes' words.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use crate::shown;

/// Where a value stands in an object: `spec.ports[0].name`, `metadata.labels[app]`.
///
/// Made on the way down a walk and thrown away on the way up, so it costs nothing while nothing is wrong.
#[derive(Clone, Copy)]
pub struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Field(&'a str),
    Key(&'a str),
    Index(usize),
}

impl<'a> Path<'a> {
    /// The object itself.
    pub const ROOT: Path<'static> = Path { parent: None, step: Step::Root };

    /// A field at the top of an object.
    pub const fn of(name: &'a str) -> Path<'a> {
        Path { parent: None, step: Step::Field(name) }
    }

    /// A field of this.
    pub fn field<'b>(&'b self, name: &'b str) -> Path<'b> {
        Path { parent: Some(self), step: Step::Field(name) }
    }

    /// An entry of this map, by its key.
    pub fn key<'b>(&'b self, key: &'b str) -> Path<'b> {
        Path { parent: Some(self), step: Step::Key(key) }
    }

    /// An item of this list.
    pub fn index(&self, index: usize) -> Path<'_> {
        Path { parent: Some(self), step: Step::Index(index) }
    }

    /// Whether this is the object itself.
    pub fn is_root(&self) -> bool {
        matches!(self.step, Step::Root)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let below_something = match self.parent {
            Some(parent) => {
                parent.fmt(f)?;
                !parent.is_root()
            }
            None => false,
        };
        match self.step {
            Step::Root => Ok(()),
            Step::Field(name) if below_something => write!(f, ".{name}"),
            Step::Field(name) => f.write_str(name),
            Step::Key(key) => write!(f, "[{key}]"),
            Step::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// What kind of thing is wrong with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// It refers to an object that does not exist.
    NotFound,
    /// It has to be given.
    Required,
    /// It may appear once, and appears again.
    Duplicate,
    /// It is malformed or out of range.
    Invalid,
    /// It is none of the values that are allowed.
    NotSupported,
    /// It may not be given or changed here.
    Forbidden,
    /// It has too many characters or bytes.
    TooLong,
    /// It has too many items.
    TooMany,
    /// Something went wrong on our side while checking it.
    Internal,
    /// It has the wrong JSON type.
    TypeInvalid,
}

impl Fault {
    /// The reason of a cause in a Status.
    pub fn reason(self) -> &'static str {
        match self {
            Fault::NotFound => "FieldValueNotFound",
            Fault::Required => "FieldValueRequired",
            Fault::Duplicate => "FieldValueDuplicate",
            Fault::Invalid => "FieldValueInvalid",
            Fault::NotSupported => "FieldValueNotSupported",
            Fault::Forbidden => "FieldValueForbidden",
            Fault::TooLong => "FieldValueTooLong",
            Fault::TooMany => "FieldValueTooMany",
            Fault::Internal => "InternalError",
            Fault::TypeInvalid => "FieldValueTypeInvalid",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Fault::NotFound => "Not found",
            Fault::Required => "Required value",
            Fault::Duplicate => "Duplicate value",
            Fault::Invalid | Fault::TypeInvalid => "Invalid value",
            Fault::NotSupported => "Unsupported value",
            Fault::Forbidden => "Forbidden",
            Fault::TooLong => "Too long",
            Fault::TooMany => "Too many",
            Fault::Internal => "Internal error",
        }
    }

    /// Whether the message shows the value that is wrong.
    fn shows_value(self) -> bool {
        !matches!(self, Fault::Required | Fault::Forbidden | Fault::TooLong | Fault::Internal)
    }
}

/// One thing that is wrong with one field.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldError {
    /// What kind of thing.
    pub fault: Fault,
    /// Which field.
    pub field: String,
    /// The wrong value as the message shows it; `None` where there is none to show.
    shown: Option<String>,
    /// What would be right.
    pub detail: Cow<'static, str>,
}

impl FieldError {
    /// A fault whose message shows no value.
    pub fn new(fault: Fault, path: &Path<'_>, detail: impl Into<Cow<'static, str>>) -> FieldError {
        FieldError { fault, field: path.to_string(), shown: None, detail: detail.into() }
    }

    /// A fault that shows the value it was found in.
    pub fn with(
        fault: Fault,
        path: &Path<'_>,
        value: &Value,
        detail: impl Into<Cow<'static, str>>,
    ) -> FieldError {
        let shown = fault.shows_value().then(|| shown::value(value));
        FieldError { fault, field: path.to_string(), shown, detail: detail.into() }
    }

    /// The field has to be given.
    pub fn required(path: &Path<'_>, detail: impl Into<Cow<'static, str>>) -> FieldError {
        FieldError::new(Fault::Required, path, detail)
    }

    /// The field is malformed or out of range.
    pub fn invalid(path: &Path<'_>, value: &Value, detail: impl Into<Cow<'static, str>>) -> FieldError {
        FieldError::with(Fault::Invalid, path, value, detail)
    }

    /// The field holds a malformed text.
    pub fn invalid_text(path: &Path<'_>, text: &str, detail: impl Into<Cow<'static, str>>) -> FieldError {
        FieldError {
            fault: Fault::Invalid,
            field: path.to_string(),
            shown: Some(quote(text)),
            detail: detail.into(),
        }
    }

    /// The field is malformed or out of range; `shown` is its value as the message is to show it.
    pub fn invalid_shown(path: &Path<'_>, shown: String, detail: impl Into<Cow<'static, str>>) -> FieldError {
        let shown = Some(shown);
        FieldError { fault: Fault::Invalid, field: path.to_string(), shown, detail: detail.into() }
    }

    /// The field may not be given or changed here.
    pub fn forbidden(path: &Path<'_>, detail: impl Into<Cow<'static, str>>) -> FieldError {
        FieldError::new(Fault::Forbidden, path, detail)
    }

    /// The value appears a second time.
    pub fn duplicate(path: &Path<'_>, value: &Value) -> FieldError {
        FieldError::with(Fault::Duplicate, path, value, "")
    }

    /// The value is none of those allowed.
    pub fn not_supported(path: &Path<'_>, value: &Value, allowed: &[&str]) -> FieldError {
        let quoted: Vec<String> = allowed.iter().map(|text| quote(text)).collect();
        let detail = format!("supported values: {}", quoted.join(", "));
        FieldError::with(Fault::NotSupported, path, value, detail)
    }

    /// A text or list is longer than `most` bytes.
    pub fn too_long(path: &Path<'_>, most: usize) -> FieldError {
        let unit = if most == 1 { "byte" } else { "bytes" };
        FieldError::new(Fault::TooLong, path, format!("may not be more than {most} {unit}"))
    }

    /// A list or map has more than `most` entries.
    pub fn too_many(path: &Path<'_>, found: usize, most: usize) -> FieldError {
        let unit = if most == 1 { "item" } else { "items" };
        let detail = format!("must have at most {most} {unit}");
        FieldError::with(Fault::TooMany, path, &Value::from(found), detail)
    }

    /// What is wrong, without the field's name: the message of a cause.
    pub fn message(&self) -> String {
        let mut text = self.fault.words().to_owned();
        if let Some(shown) = &self.shown {
            text.push_str(": ");
            text.push_str(shown);
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = if self.field.is_empty() { "<nil>" } else { &self.field };
        write!(f, "{field}: {}", self.message())
    }
}

impl std::error::Error for FieldError {}

/// A text in double quotes, as Go's `%q` writes it.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\u{b}' => quoted.push_str("\\v"),
            c if is_printable(c) => quoted.push(c),
            c if c.is_ascii() => quoted.push_str(&format!("\\x{:02x}", c as u32)),
            c if (c as u32) < 0x10000 => quoted.push_str(&format!("\\u{:04x}", c as u32)),
            c => quoted.push_str(&format!("\\U{:08x}", c as u32)),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether a character shows: letters, marks, numbers, punctuation, symbols, and the plain space.
pub fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    // Text that is shown for debugging has everything else escaped, except for marks after another character.
    let mut text = [b'a'; 5];
    let length = 1 + c.encode_utf8(&mut text[1..]).len();
    str::from_utf8(&text[..length]).is_ok_and(|text| text.escape_debug().nth(1) == Some(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_reads_like_the_way_to_the_field() {
        let spec = Path::ROOT.field("spec");
        let ports = spec.field("ports");
        let first = ports.index(0);
        assert_eq!(first.field("name").to_string(), "spec.ports[0].name");
        let metadata = Path::of("metadata");
        let labels = metadata.field("labels");
        assert_eq!(labels.key("a/b").to_string(), "metadata.labels[a/b]");
        assert_eq!(Path::ROOT.to_string(), "");
    }

    #[test]
    fn messages_read_as_kubernetes_writes_them() {
        let spec = Path::of("spec");
        let size = spec.field("size");
        let high =
            FieldError::invalid(&size, &json!(101), "spec.size in body should be less than or equal to 100");
        assert_eq!(
            high.to_string(),
            "spec.size: Invalid value: 101: spec.size in body should be less than or equal to 100"
        );
        assert_eq!(FieldError::required(&size, "").to_string(), "spec.size: Required value");
        assert_eq!(
            FieldError::not_supported(&size, &json!("x"), &["a", "b"]).to_string(),
            r#"spec.size: Unsupported value: "x": supported values: "a", "b""#
        );
        assert_eq!(FieldError::too_long(&size, 3).message(), "Too long: may not be more than 3 bytes");
        assert_eq!(FieldError::duplicate(&size, &json!({"a": 1})).message(), r#"Duplicate value: {"a":1}"#);
    }

    #[test]
    fn a_quoted_text_shows_only_what_is_printable() {
        assert_eq!(
            quote("a\"\\\n\u{1}é\u{200b}\u{e0001}\u{a0} "),
            r#""a\"\\\n\x01é\u200b\U000e0001\u00a0 ""#
        );
        assert_eq!(quote("e\u{301}"), "\"e\u{301}\"");
    }
}
