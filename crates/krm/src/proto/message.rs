//! The tables by which messages are read and written.

/// A kind of message: its fields, in the order that Kubernetes writes them in JSON.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) name: &'static str,
    pub(crate) fields: &'static [Field],
}

/// A field of a message.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) number: i32,
    pub(crate) name: &'static str,
    pub(crate) holds: Holds,
    /// Whether it says something by being there, whatever it holds.
    pub(crate) kept: bool,
}

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Holds {
    Text,
    Bool,
    Int32,
    Int64,
    Double,
    /// Bytes, which JSON has as base64.
    Bytes,
    /// A port: its number, or its name.
    IntOrString,
    /// A point in time to the second.
    Time,
    /// A point in time to the microsecond.
    MicroTime,
    /// JSON as it is, in a message of its own.
    Json,
    /// A list of such.
    Jsons,
    Texts,
    /// A list of texts in a message of its own.
    WrappedTexts,
    One(&'static Message),
    Many(&'static Message),
    TextByText,
    BytesByText,
    TextsByText,
    OneByText(&'static Message),
    /// An object, or something else.
    Either(&'static Either),
    EitherByText(&'static Either),
}

/// A message for a value that JSON has in one of two forms.
#[derive(Debug)]
pub(crate) struct Either {
    pub(crate) name: &'static str,
    /// The field for an object.
    pub(crate) object: (i32, &'static Message),
    /// The field for the other form.
    pub(crate) other: (i32, Other),
}

/// What may stand in place of an object.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Other {
    /// Yes or no. It is yes where there is an object.
    Flag,
    Texts,
    /// A list of the same objects.
    Many,
}

impl Field {
    pub(crate) const fn new(number: i32, name: &'static str, holds: Holds) -> Field {
        Field { number, name, holds, kept: false }
    }

    pub(crate) const fn kept(number: i32, name: &'static str, holds: Holds) -> Field {
        Field { number, name, holds, kept: true }
    }
}
