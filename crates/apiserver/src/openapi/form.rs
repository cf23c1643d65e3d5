//! The two formats: OpenAPI 2.0 as one document, and 3.0 as one document for each group version.

use serde_json::{Map, Value, json};

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

    /// What a definition of ours says, whose references are names alone. What a field holds when it is not given is told
    /// in 3.0 only.
    pub fn translate(self, definition: &Value) -> Value {
        let Some(members) = definition.as_object() else { return definition.clone() };
        let mut translated = Map::new();
        for (keyword, value) in members {
            let value = match (keyword.as_str(), value) {
                ("$ref", Value::String(_)) => continue,
                ("default", _) if self == Form::V2 => continue,
                ("properties", Value::Object(fields)) => {
                    fields.iter().map(|(name, field)| (name.clone(), self.translate(field))).collect()
                }
                ("items" | "additionalProperties", schema) => self.translate(schema),
                (_, value) => value.clone(),
            };
            translated.insert(keyword.clone(), value);
        }
        let Some(name) = members.get("$ref").and_then(Value::as_str) else { return translated.into() };
        let reference = self.refer(name);
        if translated.is_empty() {
            return reference;
        }
        if let Value::Object(reference) = self.wrap(reference) {
            translated.extend(reference);
        }
        translated.into()
    }

    /// In 3.0 nothing may stand beside a reference.
    fn wrap(self, reference: Value) -> Value {
        match self {
            Form::V2 => reference,
            Form::V3 => json!({ "allOf": [reference] }),
        }
    }
}
