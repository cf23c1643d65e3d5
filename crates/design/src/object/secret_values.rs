//! Secret values of an object, kept in a Secret: where they belong in the object, and the key in the Secret.
//!
//! A place is a path of field names, as `/repositories/sources/main/url`. Members of lists go by their name or number.

use serde_json::{Map, Value as Json, json};

use super::write::{Credential, fingerprint};
use crate::secrets::{HIDDEN, is_secret_text};

/// The field that names the Secrets of an object's values.
pub(super) const FIELD: &str = "secret_values";

/// Takes every secret out of the fields of an object, and gives their references. `is_secret_field` tells by the names of
/// the fields on the way, without the numbers and names of members.
pub(super) fn take(
    fields: &mut Json,
    secret: &str,
    is_secret_field: &dyn Fn(&[String], &str) -> bool,
) -> (Vec<Json>, Vec<Credential>) {
    let mut taking = Taking { secret, is_secret_field, references: Vec::new(), taken: Vec::new() };
    taking.walk(fields, "", &mut Vec::new());
    (taking.references, taking.taken)
}

struct Taking<'t> {
    secret: &'t str,
    is_secret_field: &'t dyn Fn(&[String], &str) -> bool,
    references: Vec<Json>,
    taken: Vec<Credential>,
}

impl Taking<'_> {
    fn walk(&mut self, value: &mut Json, path: &str, names: &mut Vec<String>) {
        match value {
            Json::Object(fields) => self.walk_fields(fields, path, names),
            Json::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    let member = member_name(item).unwrap_or_else(|| index.to_string());
                    let below = format!("{path}/{}", escaped(&member));
                    match item.as_str().filter(|text| self.is_secret(names, text)).map(str::to_owned) {
                        Some(text) => {
                            self.keep(below, text);
                            // The others keep their numbers.
                            *item = HIDDEN.into();
                        }
                        None => self.walk(item, &below, names),
                    }
                }
            }
            _ => {}
        }
    }

    fn walk_fields(&mut self, fields: &mut Map<String, Json>, path: &str, names: &mut Vec<String>) {
        let keys: Vec<String> = fields.keys().cloned().collect();
        for key in keys {
            let below = format!("{path}/{}", escaped(&key));
            names.push(key.clone());
            let Some(value) = fields.get_mut(&key) else { continue };
            let text = match value {
                Json::String(text) => Some(text.clone()),
                Json::Number(number) => Some(number.to_string()),
                _ => None,
            };
            match text.filter(|text| self.is_secret(names, text)) {
                Some(text) => {
                    self.keep(below, text);
                    fields.remove(&key);
                }
                None => self.walk(value, &below, names),
            }
            names.pop();
        }
    }

    fn is_secret(&self, names: &[String], text: &str) -> bool {
        is_secret_text(text) || (!names.is_empty() && (self.is_secret_field)(names, text))
    }

    fn keep(&mut self, path: String, value: String) {
        let key = key_of(&path);
        self.references.push(json!({"path": path, "name": self.secret, "key": key}));
        self.taken.push(Credential { secret: self.secret.to_owned(), key, value });
    }
}

/// The key of a value: its path. Keys are letters, digits, dots, dashes and underscores; another path gets a fingerprint.
fn key_of(path: &str) -> String {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let plain: String = path
        .chars()
        .skip(1)
        .take(200)
        .map(|c| {
            if is_kept(c) {
                c
            } else if c == '/' {
                '.'
            } else {
                '_'
            }
        })
        .collect();
    let is_same = path.len() <= 200 && path.chars().all(|c| is_kept(c) || c == '/');
    if is_same { plain } else { format!("{plain}-{:08x}", fingerprint(path)) }
}

/// Puts a value where it belongs, as far as the way there still exists.
pub(super) fn put(fields: &mut Json, path: &str, value: Json) {
    let mut place = fields;
    let mut steps = path.split('/').skip(1).map(unescaped).peekable();
    while let Some(step) = steps.next() {
        let is_last = steps.peek().is_none();
        place = match place {
            Json::Object(fields) => {
                if is_last {
                    fields.insert(step, value);
                    return;
                }
                fields.entry(step).or_insert_with(|| json!({}))
            }
            Json::Array(items) => {
                let index = items.iter().position(|item| member_name(item).as_deref() == Some(step.as_str()));
                let index = index.or_else(|| step.parse().ok());
                let Some(item) = index.and_then(|index| items.get_mut(index)) else { return };
                if is_last {
                    *item = value;
                    return;
                }
                item
            }
            _ => return,
        };
    }
}

fn member_name(item: &Json) -> Option<String> {
    item.get("name")?.as_str().map(str::to_owned)
}

fn escaped(step: &str) -> String {
    step.replace('~', "~0").replace('/', "~1")
}

fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::is_secret_key;

    #[test]
    fn what_was_taken_is_put_back() {
        let key = "-----BEGIN PRIVATE KEY-----\nx";
        let whole = json!({
            "a": {"password": "p/w", "b~/c": {"token": 7}},
            "list": [key, "open", {"name": "n/1", "secret": "x"}, {"secret": "y"}],
        });
        let mut left = whole.clone();
        let named = |names: &[String], _: &str| names.last().is_some_and(|name| is_secret_key(name));
        let (references, taken) = take(&mut left, "s", &named);
        assert_eq!(taken.len(), 5);
        for one in &taken {
            assert!(!left.to_string().contains(&format!("\"{}\"", one.value)), "{left}");
        }
        for (reference, one) in references.iter().zip(&taken) {
            let value = if one.value == "7" { json!(7) } else { json!(one.value) };
            put(&mut left, reference["path"].as_str().unwrap_or_default(), value);
        }
        assert_eq!(left, whole);
    }
}
