//! Secret: sensitive data. Values are encrypted at rest and never appear in messages.

mod key_pair;

use std::sync::Arc;

use krm::base64;
use krm::field::{FieldError, Path};
use krm::kind::{Kind, RawChange, Scope};
use krm::meta::OBJECT_META;
use krm::object::Object;
use krm::shape::{Field, Outline, STRING, STRING_MAP, Shape, Struct};
use krm::table::{Column, Columns};
use serde_json::{Map, Value};

use super::columns::{age, column, text};
use super::config_map::{MOST_BYTES, decoded_size, entries, key_faults, unchanged};
use super::declare::{self, MOST_ERRORS};
use crate::secrets::{self, tokens::is_token};

const ABOUT_TYPE: &str = "Used to facilitate programmatic handling of secret data. More info: \
    https://kubernetes.io/docs/concepts/configuration/secret/#secret-types";
const ABOUT_DATA: &str = "Data contains the secret data. Each key must consist of alphanumeric characters, '-', '_' or \
    '.'. The serialized form of the secret data is a base64 encoded string, representing the arbitrary (possibly \
    non-string) data value here. Described in https://tools.ietf.org/html/rfc4648#section-4";

const OPAQUE: &str = "Opaque";
const TLS: &str = "kubernetes.io/tls";
const SERVICE_ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
/// Stands where a message would show what is secret.
const REDACTED: &str = "<secret contents redacted>";

static SHAPE: Shape = Shape::Struct(&Struct {
    name: "Secret",
    type_name: "v1.Secret",
    fields: &[
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("kind", STRING),
        Field::always("metadata", OBJECT_META),
        Field::if_absent("immutable", Shape::Flag),
        Field::if_empty("data", Shape::Map("map[string][]uint8", &Shape::Bytes)),
        Field::if_empty("stringData", STRING_MAP),
        Field::if_empty("type", Shape::Text("v1.SecretType")),
    ],
});

pub fn kind() -> Kind {
    let outline = Outline::of(&SHAPE)
        .says("", "Secret holds sensitive data such as passwords and keys. Its values are encrypted at rest, and reading them requires the verb reveal.")
        .says("data", "Secret data as base64-encoded bytes. Keys must consist of alphanumeric characters, '-', '_' or '.'.")
        .says(
            "stringData",
            "Secret data as strings, for convenience when writing. Entries are merged into data and overwrite entries of the same key. Never returned on read.",
        )
        .says("type", "Type of the secret, such as Opaque or kubernetes.io/tls. Some types require keys. Immutable. Defaults to Opaque.")
        .says("immutable", "If true, data cannot be updated, and the field cannot be unset. Defaults to false.");
    let mut kind = declare::core("", "Secret", "secrets", Scope::Namespaced, &SHAPE, &outline);
    kind.secret = true;
    kind.versions[0].selectable = vec!["type".into()];
    kind.versions[0].columns = Columns::new(vec![
        Column::name(),
        column("Type", ABOUT_TYPE, |object, _| text(object, "/type").into()),
        column("Data", ABOUT_DATA, |object, _| {
            object.get("data").and_then(Value::as_object).map_or(0, Map::len).into()
        }),
        age(),
    ]);
    kind.complete.push(Arc::new(complete));
    kind.prepare.push(Arc::new(|new, old, _| {
        // A patch may have taken the type away.
        if let Some(old) = old.filter(|_| type_of(new).is_empty()) {
            new.set("type", old.get("type").cloned());
        }
    }));
    kind.validations.push(Arc::new(validate));
    kind.warnings.push(Arc::new(|change| {
        let is_known = |new: &&Object| !entries(new, "data").values().any(is_token);
        let secret = change.new.filter(|new| type_of(new) == TLS).filter(is_known);
        let fault = secret.and_then(|new| key_pair::fault(&bytes(new, "tls.crt"), &bytes(new, "tls.key")));
        fault.into_iter().collect()
    }));
    kind
}

/// Moves what was written as text among the bytes.
fn complete(object: &mut Object) {
    if type_of(object).is_empty() {
        object.set("type", Some(OPAQUE.into()));
    }
    let Some(Value::Object(texts)) = object.0.remove("stringData") else { return };
    let data = object.0.entry("data").or_insert(Value::Null);
    if !data.is_object() {
        *data = Value::Object(Map::new());
    }
    for (key, text) in texts {
        data[key] = base64::encode(text.as_str().unwrap_or("").as_bytes()).into();
    }
}

fn validate(change: &RawChange<'_>) -> Vec<FieldError> {
    let Some(new) = change.new else { return Vec::new() };
    let mut errors = Vec::new();
    if change.old.is_some_and(|old| type_of(old) != type_of(new)) {
        errors.push(FieldError::invalid_text(&Path::of("type"), type_of(new), "field is immutable"));
    }
    errors.extend(unchanged(change, new, &["data"]));
    let path = Path::of("data");
    let data = entries(new, "data");
    errors.extend(data.keys().flat_map(|key| key_faults(key, &path)).take(MOST_ERRORS));
    if data.values().map(decoded_size).sum::<usize>() > MOST_BYTES {
        errors.push(FieldError::too_long(&path, MOST_BYTES));
    }
    errors.extend(type_faults(new));
    if new.annotation(secrets::REDACTED).is_some() {
        let metadata = Path::of("metadata");
        let annotations = metadata.field("annotations");
        let why = "the values of this Secret are redacted: writing it back would delete them";
        errors.push(FieldError::forbidden(&annotations.key(secrets::REDACTED), why));
    }
    errors
}

/// What a type asks for.
fn type_faults(object: &Object) -> Vec<FieldError> {
    let data = entries(object, "data");
    let path = Path::of("data");
    let missing = |key: &&&str| !data.contains_key(**key);
    let required = |key: &&str| FieldError::required(&path.key(key), "");
    match type_of(object) {
        "kubernetes.io/service-account-token" => {
            let named = object.annotation(SERVICE_ACCOUNT_NAME).is_some_and(|name| !name.is_empty());
            let metadata = Path::of("metadata");
            let annotations = metadata.field("annotations");
            let required = || FieldError::required(&annotations.key(SERVICE_ACCOUNT_NAME), "");
            (!named).then(required).into_iter().collect()
        }
        "kubernetes.io/dockercfg" => docker_faults(object, ".dockercfg"),
        "kubernetes.io/dockerconfigjson" => docker_faults(object, ".dockerconfigjson"),
        "kubernetes.io/basic-auth" => {
            let keys = ["username", "password"];
            // Either will do.
            let all_missing = keys.iter().all(|key| missing(&key));
            keys.iter().filter(|_| all_missing).map(required).collect()
        }
        "kubernetes.io/ssh-auth" => {
            let empty = data.get("ssh-privatekey").is_none_or(|key| decoded_size(key) == 0);
            empty.then(|| required(&"ssh-privatekey")).into_iter().collect()
        }
        TLS => ["tls.crt", "tls.key"].iter().filter(missing).map(required).collect(),
        _ => Vec::new(),
    }
}

/// Logins for registries are a JSON object.
fn docker_faults(object: &Object, key: &str) -> Vec<FieldError> {
    let path = Path::of("data");
    let path = path.key(key);
    if !entries(object, "data").contains_key(key) {
        return vec![FieldError::required(&path, "")];
    }
    let detail = match krm::body::read(&bytes(object, key)) {
        Ok(body) if body.value.is_object() || body.value.is_null() => return Vec::new(),
        Ok(body) => format!(
            "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            krm::body::kind_of(&body.value)
        ),
        Err(error) => error.to_string(),
    };
    vec![FieldError::invalid_text(&path, REDACTED, detail)]
}

fn type_of(object: &Object) -> &str {
    object.get("type").and_then(Value::as_str).unwrap_or("")
}

fn bytes(object: &Object, key: &str) -> Vec<u8> {
    let text = entries(object, "data").get(key).and_then(Value::as_str).unwrap_or("");
    base64::decode(text).unwrap_or_default()
}
