//! The messages of gnostic's openapi.v2, as far as our documents have what they hold. Fields are known by their names
//! in JSON.

/// A message: its fields, and the number of what holds extensions (`x-…`), 0 where there are none.
pub struct Message {
    pub fields: &'static [(&'static str, u32, Holds)],
    pub extensions: u32,
}

/// What a field holds.
pub enum Holds {
    Text,
    Texts,
    Flag,
    Whole,
    Float,
    Any,
    Anys,
    One(&'static Message),
    Many(&'static Message),
    /// A map.
    ByName(&'static Message),
    /// The map of all paths, which is apart from its extensions.
    Paths(&'static Message),
    /// One schema, or a list of them.
    OneOrMany(&'static Message),
    /// A type.
    Type,
    /// True, false or a schema.
    FlagOr(&'static Message),
    /// Parameters of an operation, or references to them.
    Parameters,
    ParametersByName,
    Responses,
    /// Ways to be known by a key.
    KeysByName,
    /// Which of those are required.
    Requirements,
}

pub static DOCUMENT: Message = Message {
    fields: &[
        ("swagger", 1, Holds::Text),
        ("info", 2, Holds::One(&INFO)),
        ("paths", 8, Holds::Paths(&PATH)),
        ("definitions", 9, Holds::ByName(&SCHEMA)),
        ("parameters", 10, Holds::ParametersByName),
        ("security", 12, Holds::Requirements),
        ("securityDefinitions", 13, Holds::KeysByName),
    ],
    extensions: 16,
};

static INFO: Message =
    Message { fields: &[("title", 1, Holds::Text), ("version", 2, Holds::Text)], extensions: 7 };

static PATH: Message = Message {
    fields: &[
        ("get", 2, Holds::One(&OPERATION)),
        ("put", 3, Holds::One(&OPERATION)),
        ("post", 4, Holds::One(&OPERATION)),
        ("delete", 5, Holds::One(&OPERATION)),
        ("options", 6, Holds::One(&OPERATION)),
        ("head", 7, Holds::One(&OPERATION)),
        ("patch", 8, Holds::One(&OPERATION)),
        ("parameters", 9, Holds::Parameters),
    ],
    extensions: 10,
};

static OPERATION: Message = Message {
    fields: &[
        ("tags", 1, Holds::Texts),
        ("summary", 2, Holds::Text),
        ("description", 3, Holds::Text),
        ("operationId", 5, Holds::Text),
        ("produces", 6, Holds::Texts),
        ("consumes", 7, Holds::Texts),
        ("parameters", 8, Holds::Parameters),
        ("responses", 9, Holds::Responses),
        ("schemes", 10, Holds::Texts),
        ("deprecated", 11, Holds::Flag),
    ],
    extensions: 13,
};

pub static REFERENCE: Message =
    Message { fields: &[("$ref", 1, Holds::Text), ("description", 2, Holds::Text)], extensions: 0 };

pub static BODY_PARAMETER: Message = Message {
    fields: &[
        ("description", 1, Holds::Text),
        ("name", 2, Holds::Text),
        ("in", 3, Holds::Text),
        ("required", 4, Holds::Flag),
        ("schema", 5, Holds::One(&SCHEMA)),
    ],
    extensions: 6,
};

/// Parameters in headers are the same.
pub static PATH_PARAMETER: Message = Message {
    fields: &[
        ("required", 1, Holds::Flag),
        ("in", 2, Holds::Text),
        ("description", 3, Holds::Text),
        ("name", 4, Holds::Text),
        ("type", 5, Holds::Text),
        ("format", 6, Holds::Text),
        ("uniqueItems", 19, Holds::Flag),
    ],
    extensions: 22,
};

pub static QUERY_PARAMETER: Message = Message {
    fields: &[
        ("required", 1, Holds::Flag),
        ("in", 2, Holds::Text),
        ("description", 3, Holds::Text),
        ("name", 4, Holds::Text),
        ("type", 6, Holds::Text),
        ("format", 7, Holds::Text),
        ("uniqueItems", 20, Holds::Flag),
    ],
    extensions: 23,
};

pub static RESPONSE: Message = Message {
    fields: &[("description", 1, Holds::Text), ("schema", 2, Holds::OneOrMany(&SCHEMA))],
    extensions: 5,
};

pub static API_KEY: Message = Message {
    fields: &[
        ("type", 1, Holds::Text),
        ("name", 2, Holds::Text),
        ("in", 3, Holds::Text),
        ("description", 4, Holds::Text),
    ],
    extensions: 5,
};

static SCHEMA: Message = Message {
    fields: &[
        ("$ref", 1, Holds::Text),
        ("format", 2, Holds::Text),
        ("title", 3, Holds::Text),
        ("description", 4, Holds::Text),
        ("default", 5, Holds::Any),
        ("multipleOf", 6, Holds::Float),
        ("maximum", 7, Holds::Float),
        ("exclusiveMaximum", 8, Holds::Flag),
        ("minimum", 9, Holds::Float),
        ("exclusiveMinimum", 10, Holds::Flag),
        ("maxLength", 11, Holds::Whole),
        ("minLength", 12, Holds::Whole),
        ("pattern", 13, Holds::Text),
        ("maxItems", 14, Holds::Whole),
        ("minItems", 15, Holds::Whole),
        ("uniqueItems", 16, Holds::Flag),
        ("maxProperties", 17, Holds::Whole),
        ("minProperties", 18, Holds::Whole),
        ("required", 19, Holds::Texts),
        ("enum", 20, Holds::Anys),
        ("additionalProperties", 21, Holds::FlagOr(&SCHEMA)),
        ("type", 22, Holds::Type),
        ("items", 23, Holds::OneOrMany(&SCHEMA)),
        ("allOf", 24, Holds::Many(&SCHEMA)),
        ("properties", 25, Holds::ByName(&SCHEMA)),
        ("readOnly", 27, Holds::Flag),
        ("example", 30, Holds::Any),
    ],
    extensions: 31,
};
