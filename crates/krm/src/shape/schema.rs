//! The OpenAPI schema of a Go type, with what the type itself does not say: words about its fields, and how lists and
//! maps are merged.

use serde_json::{Map, Value, json};

use super::{Shape, Struct};
use crate::patch::strategic::Layout;

/// Where a schema in the making keeps the name of its Go type, which strategic merge patches name in their errors.
const GO_NAME: &str = "x-go-name";

/// The schema of a type, being completed.
///
/// Paths are dotted; `[]` after a name stands for the items of a list: `status.conditions[].type`.
#[derive(Debug, Clone)]
pub struct Outline(Value);

impl Outline {
    /// The schema of a whole object of this type. Lists are owned as a whole unless they are [keyed](Outline::keyed).
    pub fn of(shape: &Shape) -> Outline {
        let mut schema = schema_of(shape, &mut Vec::new());
        // What every object has is described for all kinds in one place.
        for field in ["apiVersion", "kind"] {
            schema["properties"][field] = json!({"type": "string"});
        }
        schema["properties"]["metadata"] = json!({"type": "object"});
        Outline(schema)
    }

    /// Words about a field; about the type itself when the path is empty.
    pub fn says(self, path: &str, words: &str) -> Outline {
        self.set(path, "description", words)
    }

    /// A struct or map is owned as a whole.
    pub fn whole(self, path: &str) -> Outline {
        self.set(path, "x-kubernetes-map-type", "atomic")
    }

    /// Items of a list are told apart by a field.
    pub fn keyed(self, path: &str, key: &str) -> Outline {
        self.set(path, "x-kubernetes-list-type", "map").set(path, "x-kubernetes-list-map-keys", json!([key]))
    }

    /// A strategic merge patch adds to a list, whose items are told apart by a field.
    pub fn merged(self, path: &str, key: &str) -> Outline {
        self.set(path, "x-kubernetes-patch-strategy", "merge").set(path, "x-kubernetes-patch-merge-key", key)
    }

    /// Fields that have to be given.
    pub fn requires(self, path: &str, fields: &[&str]) -> Outline {
        self.set(path, "required", json!(fields))
    }

    /// How a text is written.
    pub fn format(self, path: &str, format: &str) -> Outline {
        self.set(path, "type", "string").set(path, "format", format)
    }

    /// The schema as OpenAPI shows it.
    pub fn openapi(&self) -> Value {
        let mut schema = self.0.clone();
        strip(&mut schema);
        schema
    }

    /// The schema as strategic merge patches read it.
    pub fn layout(&self, kind: &str) -> Layout {
        let mut definitions = Map::new();
        let mut root = self.0.clone();
        if let Some(schema) = root.as_object_mut() {
            schema.remove(GO_NAME);
        }
        refer(&mut root, &mut definitions);
        Layout::new(kind, &root, &definitions)
    }

    fn set(mut self, path: &str, keyword: &str, value: impl Into<Value>) -> Outline {
        match at(&mut self.0, path) {
            Some(schema) => {
                schema.insert(keyword.to_owned(), value.into());
            }
            None => debug_assert!(false, "the type has no field {path}"),
        }
        self
    }
}

fn schema_of(shape: &Shape, within: &mut Vec<&'static str>) -> Value {
    match shape {
        Shape::Text(_) => json!({"type": "string"}),
        Shape::Integer(name, ..) => json!({"type": "integer", "format": name}),
        Shape::Number => json!({"type": "number", "format": "double"}),
        Shape::Flag => json!({"type": "boolean"}),
        Shape::Bytes => json!({"type": "string", "format": "byte"}),
        Shape::Time | Shape::MicroTime => json!({"type": "string", "format": "date-time"}),
        Shape::Map(_, of) => json!({"type": "object", "additionalProperties": schema_of(of, within)}),
        Shape::List(_, of) => {
            json!({"type": "array", "items": schema_of(of, within), "x-kubernetes-list-type": "atomic"})
        }
        Shape::Struct(of) => struct_schema(of, within),
        Shape::Anything | Shape::Own(_) => json!({"x-kubernetes-preserve-unknown-fields": true}),
    }
}

fn struct_schema(of: &Struct, within: &mut Vec<&'static str>) -> Value {
    // A type within itself would have no end.
    if within.contains(&of.type_name) {
        return json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    }
    within.push(of.type_name);
    let fields = of.fields.iter().map(|field| (field.name.to_owned(), schema_of(&field.shape, within)));
    let properties: Map<String, Value> = fields.collect();
    within.pop();
    match properties.is_empty() {
        true => json!({"type": "object"}),
        false => json!({"type": "object", "properties": properties, GO_NAME: of.name}),
    }
}

fn at<'a>(mut schema: &'a mut Value, path: &str) -> Option<&'a mut Map<String, Value>> {
    for step in path.split('.').filter(|step| !step.is_empty()) {
        let (field, is_list) = match step.strip_suffix("[]") {
            Some(field) => (field, true),
            None => (step, false),
        };
        schema = schema.get_mut("properties")?.get_mut(field)?;
        if is_list {
            schema = schema.get_mut("items")?;
        }
    }
    schema.as_object_mut()
}

/// The schemas right below a schema.
fn below(schema: &mut Map<String, Value>) -> Vec<&mut Value> {
    let mut found = Vec::new();
    for (keyword, value) in schema {
        match keyword.as_str() {
            "properties" => found.extend(value.as_object_mut().into_iter().flat_map(|all| all.values_mut())),
            "items" | "additionalProperties" => found.push(value),
            _ => {}
        }
    }
    found
}

fn strip(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    schema.remove(GO_NAME);
    below(schema).into_iter().for_each(strip);
}

/// Moves every struct among the definitions, under its name: only there has it one.
fn refer(schema: &mut Value, definitions: &mut Map<String, Value>) {
    let Some(fields) = schema.as_object_mut() else { return };
    below(fields).into_iter().for_each(|schema| refer(schema, definitions));
    let Some(Value::String(name)) = fields.remove(GO_NAME) else { return };
    // The same type may be merged in different ways at different places.
    let name = format!("{}.{name}", definitions.len());
    let mut moved = Map::new();
    for keyword in ["type", "properties"] {
        if let Some((keyword, value)) = fields.remove_entry(keyword) {
            moved.insert(keyword, value);
        }
    }
    fields.insert("$ref".to_owned(), format!("#/definitions/{name}").into());
    definitions.insert(name, Value::Object(moved));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Field, STRING, STRING_MAP};

    static PART: Struct = Struct {
        name: "Part",
        type_name: "v1.Part",
        fields: &[
            Field::always("name", STRING),
            Field::if_empty("labels", STRING_MAP),
            Field::if_empty("parts", Shape::List("[]v1.Part", &Shape::Struct(&PART))),
        ],
    };
    static WHOLE: Shape = Shape::Struct(&Struct {
        name: "Whole",
        type_name: "v1.Whole",
        fields: &[Field::if_empty("parts", Shape::List("[]v1.Part", &Shape::Struct(&PART)))],
    });

    fn outline() -> Outline {
        Outline::of(&WHOLE)
            .says("parts", "What it is made of.")
            .keyed("parts", "name")
            .merged("parts", "name")
    }

    #[test]
    fn a_type_within_itself_ends() {
        assert_eq!(
            outline().requires("parts[]", &["name"]).openapi(),
            json!({"type": "object", "properties": {
                "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"},
                "parts": {
                    "type": "array", "description": "What it is made of.",
                    "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                    "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name",
                    "items": {"type": "object", "required": ["name"], "properties": {
                        "name": {"type": "string"},
                        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                        "parts": {"type": "array", "x-kubernetes-list-type": "atomic", "items": {
                            "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                        }},
                    }},
                },
            }})
        );
    }

    #[test]
    fn a_strategic_merge_patch_finds_lists_to_merge_and_names_types_as_go_does() {
        use crate::patch::strategic::apply;
        let layout = outline().layout("Whole");
        let mut object = json!({"parts": [{"name": "a", "nope": {"b": 1}}]});
        apply(&json!({"parts": [{"name": "b"}]}), &mut object, &layout).unwrap();
        assert_eq!(object, json!({"parts": [{"name": "b"}, {"name": "a", "nope": {"b": 1}}]}));
        let error = apply(&json!({"parts": [{"name": "a", "nope": {"a": 1}}]}), &mut object, &layout);
        let error = format!("{:?}", error.unwrap_err());
        assert!(error.contains("struct Part"), "{error}");
    }
}
