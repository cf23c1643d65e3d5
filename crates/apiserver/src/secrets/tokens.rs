//! Opaque tokens that stand for the values of Secrets while a request is decided for a caller who may not reveal them.
//!
//! Wherever such a request reads a stored Secret, every value is replaced by a random token; when the Secret is written,
//! each token is replaced by its value again, and only at the field that it came from. So no patch, apply, undo, restore
//! or plan can move a value to where it is shown, and nothing that it compares depends on one: a token equals nothing
//! that a client can send.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use krm::{Object, base64};
use serde_json::{Map, Value};
use store::Key;

use super::{LAST_APPLIED, VALUES};
use crate::read::resume::random;

/// A token is the base64 of a JSON object, so that it is valid wherever a value of a Secret has to be.
const BEGINS: &str = "{\"groundplane.dev/sealed\":\"";
const ENDS: &str = "\"}";
/// Random bytes of a token, written as hex.
const RANDOM: usize = 16;

/// The tokens of one request. Clones share them.
#[derive(Clone, Default)]
pub struct Tokens(Arc<Mutex<Issued>>);

#[derive(Default)]
struct Issued {
    /// By the field it was read from: the object, its version there, the path.
    by_field: HashMap<(Key, u64, Field), String>,
    sealed: HashMap<String, Sealed>,
}

/// What a token stands for.
struct Sealed {
    key: Key,
    field: Field,
    value: Value,
}

/// A field of a Secret whose value is sealed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Field {
    /// `data` or `stringData`, and the key in it.
    Value(&'static str, String),
    /// What client-side apply keeps of the whole object.
    LastApplied,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Field::Value(map, key) => write!(f, "{map}.{key}"),
            Field::LastApplied => write!(f, "metadata.annotations[{LAST_APPLIED}]"),
        }
    }
}

/// A token where it may not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// The field whose value it stands for.
    pub of: String,
    /// The field it was found in.
    pub at: String,
}

impl Tokens {
    /// Replaces every sealed value of an object, which was stored at this version, by its token.
    pub fn cover(&self, key: &Key, version: u64, object: &mut Map<String, Value>) {
        let mut issued = self.issued();
        for (field, value) in fields_of(object) {
            let of = (key.clone(), version, field.clone());
            let token = match issued.by_field.get(&of) {
                Some(token) => token.clone(),
                None => {
                    let token = new_token();
                    issued.by_field.insert(of, token.clone());
                    token
                }
            };
            let value = std::mem::replace(value, token.as_str().into());
            issued.sealed.insert(token, Sealed { key: key.clone(), field, value });
        }
    }

    /// The object with its values in the place of their tokens; nothing where there is no token in it.
    pub fn open(&self, key: &Key, object: &Object) -> Result<Option<Object>, Stray> {
        let issued = self.issued();
        if issued.sealed.is_empty() {
            return Ok(None);
        }
        let mut opened = object.clone();
        for (field, value) in fields_of(&mut opened.0) {
            let sealed = value.as_str().and_then(|token| issued.sealed.get(token));
            if let Some(sealed) = sealed.filter(|sealed| sealed.key == *key && sealed.field == field) {
                *value = sealed.value.clone();
            }
        }
        match issued.stray(&opened) {
            Some(stray) => Err(stray),
            None => Ok(Some(opened)),
        }
    }

    /// A token that is not at the field that it came from.
    pub fn stray(&self, key: &Key, object: &Object) -> Option<Stray> {
        self.open(key, object).err()
    }

    fn issued(&self) -> MutexGuard<'_, Issued> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Issued {
    /// The first token left in an object whose own have been replaced. Values are not looked into: they may be anything.
    fn stray(&self, object: &Object) -> Option<Stray> {
        let mut path = Vec::new();
        object.0.iter().find_map(|(field, value)| {
            path.push(field.clone());
            let found = self.within(value, &mut path);
            path.pop();
            found
        })
    }

    fn within(&self, value: &Value, path: &mut Vec<String>) -> Option<Stray> {
        match value {
            Value::String(text) => {
                let sealed = self.sealed.get(token_in(text)?)?;
                Some(Stray { of: sealed.field.to_string(), at: path.join(".") })
            }
            Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
                path.push(index.to_string());
                let found = self.within(item, path);
                path.pop();
                found
            }),
            Value::Object(fields) => fields.iter().find_map(|(field, value)| {
                path.push(field.clone());
                let found = self.within(value, path);
                path.pop();
                found
            }),
            _ => None,
        }
    }
}

/// Whether a value looks like a token: nothing can be said about what it holds.
pub fn is_token(value: &Value) -> bool {
    value.as_str().and_then(token_in).is_some_and(|token| value == token)
}

fn new_token() -> String {
    let hex: String = random::<RANDOM>().iter().map(|byte| format!("{byte:02x}")).collect();
    base64::encode(format!("{BEGINS}{hex}{ENDS}").as_bytes())
}

/// What may be a token in a text. The length of the beginning is a multiple of three, so all tokens begin alike.
fn token_in(text: &str) -> Option<&str> {
    let begins = base64::encode(BEGINS.as_bytes());
    let at = text.find(&begins)?;
    let length = (BEGINS.len() + 2 * RANDOM + ENDS.len()).div_ceil(3) * 4;
    text.get(at..at + length)
}

fn fields_of(object: &mut Map<String, Value>) -> Vec<(Field, &mut Value)> {
    let mut found = Vec::new();
    for (name, value) in object {
        match (name.as_str(), value) {
            ("metadata", value) => {
                let noted =
                    value.get_mut("annotations").and_then(|annotations| annotations.get_mut(LAST_APPLIED));
                found.extend(noted.map(|value| (Field::LastApplied, value)));
            }
            (name, Value::Object(values)) => {
                let Some(map) = VALUES.into_iter().find(|map| *map == name) else { continue };
                found.extend(values.iter_mut().map(|(key, value)| (Field::Value(map, key.clone()), value)));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secret(data: Value) -> Object {
        Object::from_value(json!({"kind": "Secret", "metadata": {"name": "a"}, "data": data})).unwrap()
    }

    #[test]
    fn a_token_becomes_its_value_at_its_own_field_of_its_own_object_and_is_refused_anywhere_else() {
        let (tokens, key) = (Tokens::default(), Key::new("p//secrets/n/a").unwrap());
        let mut covered = secret(json!({"pin": "MQ==", "other": "MQ=="}));
        tokens.cover(&key, 7, &mut covered.0);
        let pin = covered.at("data.pin").unwrap().clone();
        assert!(is_token(&pin) && pin != *covered.at("data.other").unwrap(), "one for each field");
        assert_eq!(
            tokens.open(&key, &covered).unwrap(),
            Some(secret(json!({"pin": "MQ==", "other": "MQ=="})))
        );

        let mut again = secret(json!({"pin": "MQ=="}));
        tokens.cover(&key, 7, &mut again.0);
        assert_eq!(again.at("data.pin"), Some(&pin), "the same while nothing was written");
        tokens.cover(&key, 8, &mut secret(json!({"pin": "MQ=="})).0);

        let elsewhere = |object: Value| tokens.stray(&key, &Object::from_value(object).unwrap());
        let at = |place: &str| Some(Stray { of: "data.pin".into(), at: place.into() });
        assert_eq!(elsewhere(json!({"data": {"other": pin}})), at("data.other"));
        assert_eq!(elsewhere(json!({"metadata": {"annotations": {"x": pin}}})), at("metadata.annotations.x"));
        let within = format!("begin {} end", pin.as_str().unwrap());
        assert_eq!(
            elsewhere(json!({"metadata": {"finalizers": ["y", within]}})),
            at("metadata.finalizers.1")
        );
        let other = Key::new("p//secrets/n/b").unwrap();
        assert_eq!(tokens.stray(&other, &secret(json!({"pin": pin}))), at("data.pin"));
        assert_eq!(
            elsewhere(json!({"data": {"pin": new_token()}})),
            None,
            "what looks like one and was never issued is a value like any other"
        );
    }

    #[test]
    fn a_token_is_valid_wherever_a_value_has_to_be() {
        let token = new_token();
        let text = base64::decode(&token).unwrap();
        assert!(serde_json::from_slice::<Value>(&text).unwrap().is_object());
        assert_eq!(token_in(&format!("x{token}y")), Some(token.as_str()));
    }
}
