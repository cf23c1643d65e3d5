//! The schema of a Go type as Kubernetes publishes it: each struct is a definition of its own, which others name.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Field, LeftOut, Outline, Shape, Struct};

/// Where a time to the second is defined.
const TIME: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Time";
/// Where a time to the microsecond is defined.
const MICRO_TIME: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime";
/// What an outline says of a value that the type leaves open.
const OPEN: &str = "x-kubernetes-preserve-unknown-fields";

/// A schema and the definitions that it refers to. A reference is the name of a definition alone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Published {
    /// The schema of whole objects.
    pub root: Value,
    /// The structs within, by their full names.
    pub definitions: BTreeMap<String, Value>,
}

impl Published {
    /// What an outline says about a type; `name` gives the full name of a struct.
    pub fn of(shape: &Shape, outline: &Outline, name: impl Fn(&str) -> String) -> Published {
        let mut walk = Walk { name: &name, within: Vec::new(), definitions: BTreeMap::new() };
        let said = outline.openapi();
        let root = match shape {
            Shape::Struct(of) => walk.fields(of, &said),
            _ => said,
        };
        Published { root, definitions: walk.definitions }
    }
}

struct Walk<'a> {
    name: &'a dyn Fn(&str) -> String,
    /// The structs that the walk is in.
    within: Vec<&'static str>,
    definitions: BTreeMap<String, Value>,
}

impl Walk<'_> {
    fn fields(&mut self, of: &Struct, said: &Value) -> Value {
        let mut schema = words(said);
        let described = said.get("properties");
        let mut properties = Map::new();
        // What every object has is described for all kinds in one place.
        let is_object = self.within.is_empty();
        for field in of.fields.iter().filter(|field| !is_object || field.name != "metadata") {
            let said = described.and_then(|fields| fields.get(field.name)).unwrap_or(&Value::Null);
            properties.insert(field.name.to_owned(), self.field(field, said));
        }
        schema.insert("type".into(), "object".into());
        if !properties.is_empty() {
            schema.insert("properties".into(), Value::Object(properties));
        }
        schema.into()
    }

    fn field(&mut self, field: &Field, said: &Value) -> Value {
        let mut schema = self.schema(&field.shape, said);
        // A struct that is no pointer is there also when it is empty.
        let always = field.left_out == LeftOut::Never
            || (matches!(field.shape, Shape::Struct(_)) && field.left_out == LeftOut::IfEmpty);
        if always && let Some(zero) = zero(&field.shape) {
            schema["default"] = zero;
        }
        schema
    }

    fn item(&mut self, shape: &Shape, said: &Value) -> Value {
        let mut schema = self.schema(shape, said);
        if let Some(zero) = zero(shape) {
            schema["default"] = zero;
        }
        schema
    }

    fn schema(&mut self, shape: &Shape, said: &Value) -> Value {
        let mut schema = words(said);
        let below = |keyword: &str| said.get(keyword).unwrap_or(&Value::Null);
        match shape {
            Shape::Struct(of) => return self.refer(of, said),
            Shape::Time => return refer(TIME, said),
            Shape::MicroTime => return refer(MICRO_TIME, said),
            Shape::List(_, of) => {
                schema.insert("items".into(), self.item(of, below("items")));
            }
            Shape::Map(_, of) => {
                let mut entry = self.item(of, below("additionalProperties"));
                if let Some(entry) = entry.as_object_mut() {
                    entry.remove("x-kubernetes-list-type");
                }
                schema.insert("additionalProperties".into(), entry);
            }
            Shape::Anything | Shape::Own(_) => {
                schema.remove(OPEN);
            }
            _ => {}
        }
        schema.into()
    }

    fn refer(&mut self, of: &Struct, said: &Value) -> Value {
        let name = (self.name)(of.name);
        if !self.within.contains(&of.type_name) {
            self.within.push(of.type_name);
            let mut definition = self.fields(of, said);
            // What is said about the field is not about the type.
            if let Some(definition) = definition.as_object_mut() {
                definition.remove("description");
            }
            self.within.pop();
            complete(self.definitions.entry(name.clone()).or_insert(Value::Null), definition);
        }
        refer(&name, said)
    }
}

fn refer(name: &str, said: &Value) -> Value {
    let mut reference = json!({ "$ref": name });
    if let Some(words) = said.get("description") {
        reference["description"] = words.clone();
    }
    reference
}

/// What is said about a schema itself.
fn words(said: &Value) -> Map<String, Value> {
    let own = said.as_object().into_iter().flatten();
    let own = own
        .filter(|(keyword, _)| !matches!(keyword.as_str(), "properties" | "items" | "additionalProperties"));
    own.map(|(keyword, value)| (keyword.clone(), value.clone())).collect()
}

/// The same type may be described better in another place.
fn complete(known: &mut Value, more: Value) {
    match (known, more) {
        (known @ Value::Null, more) => *known = more,
        (Value::Object(known), Value::Object(more)) => {
            for (keyword, value) in more {
                complete(known.entry(keyword).or_insert(Value::Null), value);
            }
        }
        _ => {}
    }
}

/// What is in a field of a type that is always there, where Kubernetes says so.
fn zero(shape: &Shape) -> Option<Value> {
    Some(match shape {
        Shape::Text(_) => "".into(),
        Shape::Integer(..) | Shape::Number => 0.into(),
        Shape::Flag => false.into(),
        Shape::Struct(_) => json!({}),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{INT32, STRING, STRING_LIST};

    static NODE: Struct = Struct {
        name: "Node",
        type_name: "v1.Node",
        fields: &[
            Field::always("name", STRING),
            Field::if_empty("count", INT32),
            Field::if_empty("below", Shape::List("[]v1.Node", &Shape::Struct(&NODE))),
            Field::if_absent("since", Shape::Time),
        ],
    };

    static TREE: Shape = Shape::Struct(&Struct {
        name: "Tree",
        type_name: "v1.Tree",
        fields: &[Field::always("root", Shape::Struct(&NODE)), Field::if_empty("tags", STRING_LIST)],
    });

    #[test]
    fn structs_are_definitions_also_within_themselves() {
        let outline = Outline::of(&TREE)
            .says("root", "Where it begins.")
            .says("root.name", "What it is called.")
            .requires("root", &["name"]);
        let published = Published::of(&TREE, &outline, |name| format!("io.example.v1.{name}"));
        assert_eq!(
            published.root["properties"]["root"],
            json!({"$ref": "io.example.v1.Node", "description": "Where it begins.", "default": {}})
        );
        assert_eq!(published.root["properties"]["tags"]["items"], json!({"type": "string", "default": ""}));
        assert_eq!(
            published.definitions["io.example.v1.Node"],
            json!({"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string", "description": "What it is called.", "default": ""},
                "count": {"type": "integer", "format": "int32"},
                "below": {"type": "array", "x-kubernetes-list-type": "atomic",
                    "items": {"$ref": "io.example.v1.Node", "default": {}}},
                "since": {"$ref": TIME},
            }})
        );
    }
}
