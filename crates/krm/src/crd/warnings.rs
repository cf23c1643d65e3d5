//! What a definition is taken with, and its writer should know.

use std::collections::BTreeSet;

use super::definition::Definition;
use super::json_schema::JsonSchema;
use crate::Object;
use crate::field::quote;
use crate::schema::{Format, JsonType};

/// What the writer of a definition is warned of: formats that nobody checks, and that were not in it before.
pub fn warnings(new: &Object, old: Option<&Object>) -> Vec<String> {
    let mut formats = unknown_formats(new);
    for known in old.map(unknown_formats).unwrap_or_default() {
        formats.remove(&known);
    }
    formats.iter().map(|format| format!("unrecognized format {}", quote(format))).collect()
}

fn unknown_formats(definition: &Object) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let Ok(definition) = Definition::parse(definition) else { return found };
    for schema in definition.versions.iter().filter_map(|version| version.schema.as_ref()) {
        JsonSchema::parse(schema).has(&mut |it| {
            if !it.format.is_empty() && !is_known(it.format, it.kind) {
                found.insert(it.format.to_owned());
            }
            false
        });
    }
    found
}

fn is_known(format: &str, kind: &str) -> bool {
    let kind = match kind {
        "" | "string" => None,
        "integer" => Some(JsonType::Integer),
        "number" => Some(JsonType::Number),
        // Values of other types have no formats.
        _ => return false,
    };
    Format::named(format, kind).is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition(formats: &[(&str, &str)]) -> Object {
        let properties: serde_json::Map<String, serde_json::Value> = formats
            .iter()
            .enumerate()
            .map(|(index, (kind, format))| (format!("p{index}"), json!({"type": kind, "format": format})))
            .collect();
        let object = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.example.com"},
            "spec": {"group": "example.com", "scope": "Cluster", "names": {"plural": "things", "kind": "Thing"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
                    {"type": "object", "properties": properties}}}]},
        });
        Object::from_value(object).unwrap()
    }

    #[test]
    fn formats_that_nobody_checks_are_told() {
        let fine = [
            ("string", "date-time"),
            ("integer", "int32"),
            ("number", "double"),
            ("string", "k8s-short-name"),
        ];
        assert_eq!(warnings(&definition(&fine), None), Vec::<String>::new());
        let odd = [
            ("string", "x"),
            ("integer", "uint8"),
            ("boolean", "byte"),
            ("string", "x"),
            ("string", "int32"),
        ];
        let told = ["byte", "int32", "uint8", "x"].map(|format| format!("unrecognized format \"{format}\""));
        assert_eq!(warnings(&definition(&odd), None), told);
    }

    #[test]
    fn formats_that_were_there_are_not_told_again() {
        let (old, new) = (definition(&[("string", "x")]), definition(&[("string", "x"), ("string", "y")]));
        assert_eq!(warnings(&new, Some(&old)), ["unrecognized format \"y\""]);
        assert_eq!(warnings(&old, Some(&new)), Vec::<String>::new());
    }
}
