//! The two forms of OpenAPI: 2.0, all in one document, and 3.0, a document for each version of a group.

use serde_json::{Value, json};

/// The form of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// OpenAPI 2.0, "Swagger".
    V2,
    /// OpenAPI 3.0.
    V3,
}

impl Form {
    /// A reference to a definition.
    pub fn refer(self, name: &str) -> Value {
        let place = match self {
            Form::V2 => "#/definitions/",
            Form::V3 => "#/components/schemas/",
        };
        json!({ "$ref": format!("{place}{name}") })
    }

    /// A reference to a definition with words about it.
    pub fn refer_saying(self, name: &str, words: &str) -> Value {
        let mut schema = self.wrap(self.refer(name));
        schema["description"] = words.into();
        schema
    }

    /// What a definition of ours says, whose references are names alone.
    pub fn translate(self, definition: &Value) -> Value {
        match definition {
            Value::Array(items) => items.iter().map(|item| self.translate(item)).collect(),
            Value::Object(members) => {
                let reference = members.get("$ref").and_then(Value::as_str);
                let mut translated = match reference {
                    Some(name) if members.len() == 1 => return self.refer(name),
                    Some(name) => self.wrap(self.refer(name)),
                    None => json!({}),
                };
                for (key, value) in members.iter().filter(|(key, _)| reference.is_none() || *key != "$ref") {
                    translated[key] = self.translate(value);
                }
                translated
            }
            plain => plain.clone(),
        }
    }

    /// In 3.0 nothing may stand beside a reference.
    fn wrap(self, reference: Value) -> Value {
        match self {
            Form::V2 => reference,
            Form::V3 => json!({ "allOf": [reference] }),
        }
    }
}
