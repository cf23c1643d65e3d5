//! The parameters of operations, with Kubernetes' descriptions.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::definitions::DELETE_OPTIONS;
use super::form::Form;

/// What a list or a watch takes.
pub const LIST: &[&str] = &[
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "shardSelector",
    "timeoutSeconds",
    "watch",
];
/// What a create or an update takes.
pub const WRITE: &[&str] = &["dryRun", "fieldManager", "fieldValidation"];
/// What a patch takes.
pub const PATCH: &[&str] = &["dryRun", "fieldManager of a patch", "fieldValidation", "force"];
/// What a delete takes.
pub const DELETE: &[&str] = &[
    "dryRun",
    "gracePeriodSeconds",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "orphanDependents",
    "propagationPolicy",
];

/// A parameter of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    place: &'static str,
    kind: &'static str,
    about: Cow<'static, str>,
}

#[derive(Deserialize)]
struct Text {
    r#in: String,
    r#type: String,
    description: String,
}

/// All that do not depend on the kind. Where two of one name differ, the key says more than the name.
static TEXTS: LazyLock<BTreeMap<String, Text>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("parameters.json"))
        .expect("parameters.json, which is part of this program, is JSON")
});

impl Parameter {
    /// One of those that do not depend on the kind.
    pub fn known(key: &str) -> Option<Parameter> {
        let (key, text) = TEXTS.get_key_value(key)?;
        Some(Parameter {
            name: key.split(' ').next().unwrap_or(key),
            place: &text.r#in,
            kind: &text.r#type,
            about: Cow::Borrowed(&text.description),
        })
    }

    /// The name of an object in a path.
    pub fn name_of(kind: &str) -> Parameter {
        Parameter { name: "name", place: "path", kind: "string", about: format!("name of the {kind}").into() }
    }

    /// As an operation or a path lists it.
    pub fn listed(&self, form: Form) -> Value {
        match form == Form::V3 || is_told_in_full(self.name) {
            true => self.whole(form),
            false => shared(&self.shared_name()),
        }
    }

    fn whole(&self, form: Form) -> Value {
        let mut parameter = json!({ "name": self.name, "in": self.place, "description": self.about });
        let holds = json!({ "type": self.kind, "uniqueItems": true });
        match (form, holds) {
            (Form::V2, Value::Object(holds)) => {
                holds.into_iter().for_each(|(keyword, value)| parameter[keyword] = value);
            }
            (_, holds) => parameter["schema"] = holds,
        }
        if self.place == "path" {
            parameter["required"] = true.into();
        }
        parameter
    }

    /// Clients that were generated once call shared parameters by names made of a hash of their JSON, in this order.
    fn shared_name(&self) -> String {
        let text = |text: &str| json!(text).to_string();
        let required = if self.place == "path" { r#","required":true"# } else { "" };
        let (about, name) = (text(&self.about), self.name);
        let written = format!(
            r#"{{"uniqueItems":true,"type":"{}","description":{about},"name":"{name}","in":"{}"{required}}}"#,
            self.kind, self.place
        );
        format!("{name}-{}", hash(&written))
    }
}

/// The body of a request in 2.0, where it is a parameter as well.
pub fn body(definition: &str, required: bool) -> Value {
    match definition.starts_with("io.k8s.apimachinery") {
        true => shared(&shared_body_name(definition, required)),
        false => whole_body(definition, required),
    }
}

fn whole_body(definition: &str, required: bool) -> Value {
    let mut body = json!({ "name": "body", "in": "body", "schema": Form::V2.refer(definition) });
    if required {
        body["required"] = true.into();
    }
    body
}

fn shared_body_name(definition: &str, required: bool) -> String {
    let (schema, required) = (Form::V2.refer(definition), if required { r#""required":true,"# } else { "" });
    format!("body-{}", hash(&format!(r#"{{"name":"body","in":"body",{required}"schema":{schema}}}"#)))
}

/// The parameters that operations share in 2.0, by their names there.
pub fn all_shared() -> Value {
    let known = TEXTS.keys().filter_map(|key| Parameter::known(key));
    let shared = known.filter(|parameter| !is_told_in_full(parameter.name));
    let mut all: Map<String, Value> =
        shared.map(|parameter| (parameter.shared_name(), parameter.whole(Form::V2))).collect();
    for (definition, required) in [(DELETE_OPTIONS, false), (super::definitions::PATCH, true)] {
        all.insert(shared_body_name(definition, required), whole_body(definition, required));
    }
    Value::Object(all)
}

/// The name says of which kind it is, and clients look for the other two right where they are used.
fn is_told_in_full(name: &str) -> bool {
    matches!(name, "name" | "fieldValidation" | "dryRun")
}

fn shared(name: &str) -> Value {
    json!({ "$ref": format!("#/parameters/{name}") })
}

/// Six bytes of FNV-1, as eight letters.
fn hash(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| hash.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte));
    (0..8).map(|letter| char::from(LETTERS[(hash >> (58 - 6 * letter)) as usize & 63])).collect()
}
