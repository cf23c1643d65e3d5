//! Objects in the bodies of requests: from bytes to a value with a type, or to the answer that says why not.

mod order;
mod refusal;
mod yaml;

use serde_json::{Map, Value};

use crate::body::{self, SyntaxError};
use crate::names;

pub use refusal::Refusal;
pub(crate) use yaml::is_plain_text;
pub use yaml::{Yaml, YamlError, read_yaml};

/// How a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `application/json`.
    Json,
    /// `application/yaml`.
    Yaml,
}

/// An object out of a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// The object.
    pub object: Map<String, Value>,
    /// Its group; empty when it is that of the core, or when the body does not say.
    pub group: String,
    /// Its version; empty when the body does not say.
    pub version: String,
    /// Its kind; empty when the body does not say.
    pub kind: String,
    /// What a strict reader holds against the body.
    pub complaints: Complaints,
}

/// What a strict reader holds against a body: keys given twice, and fields that nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Complaints {
    /// About YAML, by line: `line 6: key "size" already set in map`.
    pub lines: Vec<String>,
    /// About fields: `duplicate field "spec.size"`, `unknown field "spec.colour"`.
    pub fields: Vec<String>,
}

impl Complaints {
    /// Whether there is nothing to complain of.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.fields.is_empty()
    }

    /// Adds fields that nobody knows.
    pub fn unknown(&mut self, paths: impl IntoIterator<Item = String>) {
        self.fields.extend(paths.into_iter().map(|path| format!("unknown field \"{path}\"")));
    }

    /// Puts complaints about fields into the order in which the fields stand in a JSON body, as Kubernetes tells them for the
    /// kinds of the core. (Of a custom resource, it tells the duplicates first.)
    pub fn sort_by_place(&mut self, body: &[u8]) {
        order::sort(&mut self.fields, body);
    }

    /// The texts of the warnings that an answer carries.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().chain(&self.fields).map(String::as_str)
    }

    /// What a request fails with that asked to be read strictly.
    pub fn message(&self) -> String {
        let lines = (!self.lines.is_empty()).then(|| unmarshal_errors(&self.lines));
        let all: Vec<&str> = lines.iter().chain(&self.fields).map(String::as_str).collect();
        format!("strict decoding error: {}", all.join(", "))
    }
}

/// Reads an object whose kind may be left out, because the path tells it: one of the core.
pub fn read(bytes: &[u8], format: Format) -> Result<Decoded, Refusal> {
    let (value, complaints) = match format {
        Format::Json => {
            let body = body::read(bytes).map_err(|error| refuse_body(&error))?;
            (body.value, Complaints { lines: Vec::new(), fields: body.duplicates })
        }
        Format::Yaml => {
            let yaml = read_yaml(bytes).map_err(|error| Refusal::unrecognized(error.to_string()))?;
            (yaml.value, Complaints { lines: yaml.duplicates, fields: Vec::new() })
        }
    };
    let object = match value {
        Value::Object(object) => object,
        Value::Null => Map::new(),
        other => return Err(no_object(&other)),
    };
    let api_version = text(&object, "apiVersion")?;
    let kind = text(&object, "kind")?.to_owned();
    let Some((group, version)) = names::group_version(api_version) else {
        return Err(Refusal::unrecognized(format!("unexpected GroupVersion string: {api_version}")));
    };
    let (group, version) = (group.to_owned(), version.to_owned());
    Ok(Decoded { object, group, version, kind, complaints })
}

/// Reads an object that has to name its kind: a custom resource.
pub fn read_with_kind(bytes: &[u8], format: Format) -> Result<Decoded, Refusal> {
    let decoded = read(bytes, format)?;
    if decoded.kind.is_empty() {
        return Err(Refusal::unrecognized(missing_kind(&String::from_utf8_lossy(bytes))));
    }
    Ok(decoded)
}

/// What is said of an object without a kind; `shown` is the object as text.
pub fn missing_kind(shown: &str) -> String {
    format!("Object 'Kind' is missing in '{shown}'")
}

/// Reads the body of a server-side apply; the error is a whole answer.
pub fn read_apply(bytes: &[u8]) -> Result<(Map<String, Value>, Complaints), String> {
    let yaml = read_yaml(bytes)
        .map_err(|error| format!("error decoding YAML: error converting YAML to JSON: {error}"))?;
    match yaml.value {
        Value::Object(object) => Ok((object, Complaints { lines: yaml.duplicates, fields: Vec::new() })),
        Value::Null => Ok((Map::new(), Complaints::default())),
        other => Err(format!(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            body::kind_of(&other)
        )),
    }
}

/// What a strict apply fails with when the YAML has keys that repeat.
pub fn strict_apply_message(complaints: &Complaints) -> String {
    format!(
        "error strict decoding YAML: error converting YAML to JSON: {}",
        unmarshal_errors(&complaints.lines)
    )
}

fn unmarshal_errors(lines: &[String]) -> String {
    format!("yaml: unmarshal errors:\n  {}", lines.join("\n  "))
}

impl Decoded {
    /// Group and version as one text; empty when the body has none.
    pub fn group_version(&self) -> String {
        match self.group.is_empty() {
            true => self.version.clone(),
            false => format!("{}/{}", self.group, self.version),
        }
    }

    /// Refuses an object of another group or version than the path has; the error is a whole answer.
    pub fn expect_group_version(&self, expected: &str) -> Result<(), String> {
        let found = self.group_version();
        match found == expected {
            true => Ok(()),
            false => Err(format!(
                "the API version in the data ({found}) does not match the expected API version ({expected})"
            )),
        }
    }

    /// The object was read, but can't be what it says it is.
    pub fn refuse(&self, why: impl Into<String>) -> Refusal {
        Refusal::unfit(&self.kind, &self.version, why)
    }
}

/// The type that Kubernetes reads a body into to learn what it is.
const TYPE_META: &str =
    r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;

/// A body that is no JSON is not recognised; one that only holds a number too large is known by its kind.
fn refuse_body(error: &SyntaxError) -> Refusal {
    let Some(Value::Object(object)) = error.otherwise.as_deref() else {
        return Refusal::unrecognized(format!("couldn't get version/kind; json parse error: {error}"));
    };
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or("");
    let version = names::group_version(text("apiVersion")).map_or("", |(_, version)| version);
    Refusal::unfit(text("kind"), version, error.to_string())
}

fn no_object(value: &Value) -> Refusal {
    let found = body::kind_of(value);
    Refusal::unrecognized(format!(
        "couldn't get version/kind; json parse error: json: cannot unmarshal {found} into Go value of type {TYPE_META}"
    ))
}

fn text<'a>(object: &'a Map<String, Value>, field: &str) -> Result<&'a str, Refusal> {
    match object.get(field) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text),
        Some(other) => {
            let found = body::kind_of(other);
            Err(Refusal::unrecognized(format!(
                "couldn't get version/kind; json parse error: json: cannot unmarshal {found} into Go struct field .{field} of type string"
            )))
        }
    }
}

#[cfg(test)]
mod tests;
