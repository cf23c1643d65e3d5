//! Attributes of nodes and edges, and the closed schema that their type sets for them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::choice::choice;

choice! {
    /// What an attribute may hold.
    AttributeType: String, Integer, Float, Boolean
}

/// What a type says of one attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttributeSchema {
    /// Its name.
    #[schemars(length(min = 1))]
    pub key: std::string::String,
    /// What it may hold.
    #[serde(rename = "type")]
    pub kind: AttributeType,
    /// Whether it has to be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// The only words it may hold; of strings alone.
    #[serde(default, rename = "enum", skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<std::string::String>,
}

/// What is wrong with attributes, given what their type, as messages name it, says of them.
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
    fn what_does_not_fit_the_type_is_told_in_its_words() {
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
