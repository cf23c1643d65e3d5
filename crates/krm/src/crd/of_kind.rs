//! Exports one of our kinds as a CustomResourceDefinition for another Kubernetes.

use serde_json::{Map, Value, json};

use crate::kind::{Kind, Scope, Subresource, Version};

/// More selectable fields a version of a definition can't have.
const MOST_SELECTABLE: usize = 8;

/// The CustomResourceDefinition of a kind: names, versions, schemas with their rules in CEL, columns, selectable fields
/// and subresources. What the server itself keeps (references, rules over several objects, columns that are worked
/// out, fields that are selectable through lists) has no place in a definition and is not in it.
pub fn of_kind(kind: &Kind) -> Value {
    let names = &kind.names;
    let mut written = Map::new();
    written.insert("kind".to_owned(), json!(names.kind));
    written.insert("listKind".to_owned(), json!(names.list_kind));
    written.insert("plural".to_owned(), json!(names.plural));
    written.insert("singular".to_owned(), json!(names.singular));
    for (field, given) in [("shortNames", &names.short), ("categories", &names.categories)] {
        if !given.is_empty() {
            written.insert(field.to_owned(), json!(given));
        }
    }
    let versions: Vec<Value> =
        kind.versions.iter().enumerate().map(|(place, one)| version(one, place == kind.storage)).collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{}.{}", names.plural, kind.group)},
        "spec": {
            "group": kind.group,
            "names": written,
            "scope": match kind.scope {
                Scope::Cluster => "Cluster",
                Scope::Namespaced => "Namespaced",
            },
            "versions": versions,
        },
    })
}

fn version(version: &Version, storage: bool) -> Value {
    let mut written = json!({
        "name": version.name,
        "served": version.served,
        "storage": storage,
        "schema": {"openAPIV3Schema": schema(&version.openapi)},
    });
    if let Some(warning) = &version.deprecated {
        written["deprecated"] = json!(true);
        if !warning.is_empty() {
            written["deprecationWarning"] = json!(warning);
        }
    }
    let columns = version.columns.declared();
    if !columns.is_empty() {
        written["additionalPrinterColumns"] = Value::Array(columns);
    }
    let fields = version.selectable.iter().filter(|field| is_selectable(&version.openapi, field));
    let fields: Vec<Value> =
        fields.take(MOST_SELECTABLE).map(|field| json!({"jsonPath": format!(".{field}")})).collect();
    if !fields.is_empty() {
        written["selectableFields"] = Value::Array(fields);
    }
    if !version.subresources.is_empty() {
        written["subresources"] = version.subresources.iter().map(subresource).collect::<Map<_, _>>().into();
    }
    written
}

fn subresource(sub: &Subresource) -> (String, Value) {
    match sub {
        Subresource::Status => ("status".to_owned(), json!({})),
        Subresource::Scale(scale) => {
            let mut written = json!({
                "specReplicasPath": scale.spec_replicas,
                "statusReplicasPath": scale.status_replicas,
            });
            if let Some(selector) = &scale.selector {
                written["labelSelectorPath"] = json!(selector);
            }
            ("scale".to_owned(), written)
        }
    }
}

/// Whether a definition may name a field as selectable: a text, a number or a flag, and not one in a list.
fn is_selectable(openapi: &Value, field: &str) -> bool {
    let found = field.split('.').try_fold(openapi, |schema, step| schema.get("properties")?.get(step));
    let kind = found.and_then(|schema| schema.get("type")).and_then(Value::as_str);
    matches!(kind, Some("string" | "integer" | "boolean"))
}

/// A definition says nothing of what all objects have.
fn schema(openapi: &Value) -> Value {
    let mut schema = openapi.clone();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("apiVersion".to_owned(), json!({"type": "string"}));
        properties.insert("kind".to_owned(), json!({"type": "string"}));
        properties.insert("metadata".to_owned(), json!({"type": "object"}));
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crd::{default, prepare_for_create, validate_create};
    use crate::kind::Scale;
    use crate::object::Object;
    use crate::table::{Column, ColumnDefinition, Columns};

    fn kettles() -> Kind {
        let openapi = json!({
            "type": "object",
            "properties": {
                "metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
                "spec": {
                    "type": "object",
                    "properties": {"litres": {"type": "integer"}, "colour": {"type": "string"}},
                    "x-kubernetes-validations": [{"rule": "self.litres > 0", "message": "it holds something"}],
                },
                "status": {"type": "object", "properties": {"count": {"type": "integer"}}},
            },
        });
        let mut version = Version::new("v1", openapi).unwrap();
        let full = ColumnDefinition {
            name: "Full".to_owned(),
            type_name: "string".to_owned(),
            format: String::new(),
            description: "Whether it is full.".to_owned(),
            priority: 0,
        };
        let colour = json!({"name": "Colour", "type": "string", "jsonPath": ".spec.colour", "priority": 1});
        version.columns = Columns::new(vec![
            Column::name(),
            Column::of_custom_resource(&colour).unwrap(),
            Column::own(full, |_, _| "no".into()),
            Column::age(),
        ]);
        version.selectable.push("spec.colour".to_owned());
        version.subresources = vec![
            Subresource::Status,
            Subresource::Scale(Scale {
                spec_replicas: ".spec.litres".to_owned(),
                status_replicas: ".status.count".to_owned(),
                selector: None,
            }),
        ];
        let mut kind = Kind::new("kitchen.example.com", "Kettle", "kettles", Scope::Namespaced, version);
        kind.names.short.push("kt".to_owned());
        kind
    }

    #[test]
    fn a_kind_becomes_a_definition_that_is_taken() {
        let written = of_kind(&kettles());
        let version = &written["spec"]["versions"][0];
        assert_eq!(written["metadata"]["name"], "kettles.kitchen.example.com");
        assert_eq!(written["spec"]["names"]["shortNames"], json!(["kt"]));
        assert_eq!(version["selectableFields"], json!([{"jsonPath": ".spec.colour"}]));
        assert_eq!(version["subresources"]["scale"]["specReplicasPath"], ".spec.litres");
        assert_eq!(version["schema"]["openAPIV3Schema"]["properties"]["metadata"], json!({"type": "object"}));

        let Value::Object(fields) = written else { panic!("{written}") };
        let mut object = Object(fields);
        default(&mut object);
        prepare_for_create(&mut object);
        let errors = validate_create(&object);
        assert!(errors.is_empty(), "{errors:?}");
    }

    #[test]
    fn columns_that_are_worked_out_are_left_out() {
        let written = of_kind(&kettles());
        let columns = written["spec"]["versions"][0]["additionalPrinterColumns"].as_array().unwrap();
        let shown: Vec<_> = columns.iter().map(|column| (&column["name"], &column["jsonPath"])).collect();
        assert_eq!(
            shown,
            [
                (&json!("Colour"), &json!(".spec.colour")),
                (&json!("Age"), &json!(".metadata.creationTimestamp")),
            ]
        );
    }
}
