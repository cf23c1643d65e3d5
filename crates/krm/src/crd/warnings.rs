//! Warnings about accepted definitions.

use std::collections::BTreeSet;

use super::definition::{Conversion, Definition};
use super::json_schema::JsonSchema;
use crate::Object;
use crate::field::quote;
use crate::kind::{Converter, WebhookLocation};
use crate::schema::{Format, JsonType};

/// What the writer of a definition is warned of, if it was not in it before: formats that nobody checks, and a webhook that
/// nobody can reach.
pub fn warnings(new: &Object, old: Option<&Object>) -> Vec<String> {
    let mut formats = unknown_formats(new);
    for known in old.map(unknown_formats).unwrap_or_default() {
        formats.remove(&known);
    }
    let formats = formats.iter().map(|format| format!("unrecognized format {}", quote(format)));
    let unreachable =
        unreachable_webhook(new).filter(|now| old.and_then(unreachable_webhook).as_ref() != Some(now));
    formats.chain(unreachable).collect()
}

/// A webhook at a Service: there is no cluster here that has one. It is taken all the same, so that definitions that others
/// ship load as they are, and the stored version of their objects needs no webhook.
fn unreachable_webhook(definition: &Object) -> Option<String> {
    let definition = Definition::parse(definition).ok()?;
    let Conversion::Webhook(webhook) = &definition.conversion else { return None };
    let WebhookLocation::Service { namespace, name, .. } = Converter::read(webhook).place else {
        return None;
    };
    if name.is_empty() {
        return None;
    }
    let stored = definition.versions.iter().find(|version| version.storage)?;
    let mut others =
        definition.versions.iter().filter(|version| version.served && !version.storage).peekable();
    others.peek()?;
    let others: Vec<&str> = others.map(|version| version.name.as_str()).collect();
    Some(format!(
        "spec.conversion.webhook.clientConfig.service: this server knows no services, so that {} can't be reached and objects \
         can only be used in version {}, not in {}; name the webhook in clientConfig.url instead",
        quote(&format!("{namespace}/{name}")),
        stored.name,
        others.join(", ")
    ))
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
