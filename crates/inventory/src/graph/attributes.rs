//! Attributes of graph nodes and edges, validated against the closed schema of their type.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::choice::choice;

choice! {
    /// The value type of an attribute.
    AttributeType: String, Integer, Float, Boolean
}

/// Schema of one attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttributeSchema {
    /// Name of the attribute. Unique within the type. Must not be empty.
    #[schemars(length(min = 1))]
    pub key: std::string::String,
    /// Value type. Values are written as strings and must parse as this type.
    #[serde(rename = "type")]
    pub kind: AttributeType,
    /// Whether the attribute must be set. Defaults to false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// Allowed values of a `String` attribute. Empty means any. Ignored for other types.
    #[serde(default, rename = "enum", skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<std::string::String>,
}

/// Validates attributes against the schema of `owner`, the type as messages name it.
pub fn check(
    owner: &str,
    schema: &[AttributeSchema],
    attributes: &BTreeMap<std::string::String, std::string::String>,
) -> Result<(), std::string::String> {
    for (key, value) in attributes {
        let Some(known) = schema.iter().find(|known| known.key == *key) else {
            return Err(format!("{owner} does not allow attribute \"{key}\""));
        };
        let wants = |what: &str| Err(format!("{owner} attribute \"{key}\" must be {what}, got \"{value}\""));
        match known.kind {
            AttributeType::Integer if value.parse::<i64>().is_err() => return wants("an integer"),
            AttributeType::Float if value.parse::<f64>().is_err() => return wants("a float"),
            AttributeType::Boolean if !matches!(value.as_str(), "true" | "false") => {
                return wants("true or false");
            }
            AttributeType::String if !known.words.is_empty() && !known.words.contains(value) => {
                return wants(&format!("one of [{}]", known.words.join(" ")));
            }
            _ => {}
        }
    }
    let required = schema.iter().filter(|known| known.required == Some(true));
    match required.map(|known| known.key.as_str()).filter(|key| !attributes.contains_key(*key)).min() {
        Some(key) => Err(format!("{owner} requires attribute \"{key}\"")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn attributes_that_violate_the_schema_are_refused() {
        let schema: Vec<AttributeSchema> = serde_json::from_value(json!([
            {"key": "cores", "type": "Integer", "required": true},
            {"key": "load", "type": "Float"},
            {"key": "on", "type": "Boolean"},
            {"key": "arch", "type": "String", "enum": ["amd64", "arm64"], "required": true},
        ]))
        .unwrap();
        let told = |attributes: serde_json::Value| {
            let attributes = serde_json::from_value(attributes).unwrap();
            check("NodeType \"host\"", &schema, &attributes).err().unwrap_or_default()
        };
        assert_eq!(told(json!({"cores": "8", "arch": "arm64", "load": "0.5", "on": "true"})), "");
        assert_eq!(told(json!({"x": "1"})), r#"NodeType "host" does not allow attribute "x""#);
        assert_eq!(
            told(json!({"cores": "8.5"})),
            r#"NodeType "host" attribute "cores" must be an integer, got "8.5""#
        );
        assert_eq!(
            told(json!({"load": "much"})),
            r#"NodeType "host" attribute "load" must be a float, got "much""#
        );
        assert_eq!(
            told(json!({"on": "yes"})),
            r#"NodeType "host" attribute "on" must be true or false, got "yes""#
        );
        assert_eq!(
            told(json!({"arch": "mips"})),
            r#"NodeType "host" attribute "arch" must be one of [amd64 arm64], got "mips""#
        );
        assert_eq!(told(json!({})), r#"NodeType "host" requires attribute "arch""#);
    }
}
