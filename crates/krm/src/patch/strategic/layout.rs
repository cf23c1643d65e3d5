//! What a kind's fields hold, and how their lists and maps are merged: its schema, read once.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};

use crate::patch::PatchError;

/// The fields of a kind and how they are merged.
#[derive(Debug, Clone)]
pub struct Layout {
    nodes: Vec<Node>,
    root: usize,
}

/// What a field can hold, by the Go type that Kubernetes gives it.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Struct {
        name: Box<str>,
        fields: BTreeMap<Box<str>, Field>,
    },
    Map(usize),
    List(usize),
    Bytes,
    Text,
    Bool,
    Integer(&'static str),
    Float,
    /// A text to Go's JSON, but a type of its own to Go: a point in time.
    Time,
    Any,
}

/// A field of a struct.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) node: usize,
    rule: Rule,
}

/// How a field is merged.
#[derive(Debug, Clone, Default)]
pub(super) struct Rule {
    merges: bool,
    replaces: bool,
    merge_key: Option<Box<str>>,
}

impl Rule {
    /// Whether a list takes in the items of a patch, instead of making way for them.
    pub(super) fn merges(&self) -> bool {
        self.merges
    }

    /// Whether a map makes way for that of a patch, instead of taking in its fields.
    pub(super) fn replaces(&self) -> bool {
        self.replaces
    }

    /// The field that tells the items of a list apart; empty when they are no maps.
    pub(super) fn merge_key(&self) -> &str {
        self.merge_key.as_deref().unwrap_or_default()
    }
}

impl Layout {
    /// Reads the schema of a kind, which may refer to others by name.
    ///
    /// Every kind has the same metadata, whatever its schema says of it.
    pub fn new(kind: &str, schema: &Value, definitions: &Map<String, Value>) -> Layout {
        let mut reading = Reading { definitions, nodes: Vec::new(), named: HashMap::new() };
        let root = reading.node(schema, kind);
        let metadata = reading.node(&object_meta(), "ObjectMeta");
        if let Node::Struct { fields, .. } = &mut reading.nodes[root] {
            fields.insert("metadata".into(), Field { node: metadata, rule: Rule::default() });
        }
        Layout { nodes: reading.nodes, root }
    }

    pub(super) fn root(&self) -> FieldLayout<'_> {
        FieldLayout { layout: self, node: self.root }
    }
}

/// A field of a kind.
#[derive(Clone, Copy)]
pub(super) struct FieldLayout<'a> {
    layout: &'a Layout,
    node: usize,
}

impl<'a> FieldLayout<'a> {
    pub(super) fn node(self) -> &'a Node {
        &self.layout.nodes[self.node]
    }

    pub(super) fn at(self, node: usize) -> FieldLayout<'a> {
        FieldLayout { node, ..self }
    }

    /// A field of this, and how it is merged.
    pub(super) fn field(self, key: &str) -> Result<(FieldLayout<'a>, &'a Rule), PatchError> {
        static PLAIN: Rule = Rule { merges: false, replaces: false, merge_key: None };
        match self.node() {
            Node::Any => Ok((self, &PLAIN)),
            Node::Struct { name, fields } => match fields.get(key) {
                Some(field) => Ok((self.at(field.node), &field.rule)),
                None => Err(PatchError::Failed(format!(
                    "unable to find api field in struct {name} for the json field {key:?}"
                ))),
            },
            other => Err(PatchError::Failed(format!(
                "merging an object in json but data type is not struct, instead is: {}",
                other.go_kind()
            ))),
        }
    }

    /// The items of a list of this, and how it is merged.
    pub(super) fn list(self, key: &str) -> Result<(FieldLayout<'a>, &'a Rule), PatchError> {
        let (below, rule) = self.field(key)?;
        match below.node() {
            Node::List(item) => Ok((self.at(*item), rule)),
            Node::Any | Node::Bytes => Ok((below, rule)),
            _ => {
                let kind = self.node().go_kind();
                Err(PatchError::Failed(format!("expected slice or array type, but got: {kind}")))
            }
        }
    }
}

impl Node {
    /// The kind of its Go type.
    pub(super) fn go_kind(&self) -> &'static str {
        match self {
            Node::Struct { .. } | Node::Time => "struct",
            Node::Map(_) => "map",
            Node::List(_) | Node::Bytes => "slice",
            Node::Text => "string",
            Node::Bool => "bool",
            Node::Integer(name) => name,
            Node::Float => "float64",
            Node::Any => "interface",
        }
    }
}

/// The schemas on the way into a layout.
struct Reading<'a> {
    definitions: &'a Map<String, Value>,
    nodes: Vec<Node>,
    /// Where the definitions went that were met already: they may refer to one another in circles.
    named: HashMap<String, usize>,
}

impl Reading<'_> {
    fn node(&mut self, schema: &Value, name: &str) -> usize {
        // A reference that carries a default or a description stands alone in `allOf`.
        let schema = schema.pointer("/allOf/0").unwrap_or(schema);
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return self.definition(reference.rsplit('/').next().unwrap_or_default());
        }
        let slot = self.reserve();
        self.nodes[slot] = self.read(schema, name);
        slot
    }

    fn definition(&mut self, name: &str) -> usize {
        if let Some(slot) = self.named.get(name) {
            return *slot;
        }
        let slot = self.reserve();
        self.named.insert(name.to_owned(), slot);
        if let Some(schema) = self.definitions.get(name) {
            self.nodes[slot] = self.read(schema, name.rsplit('.').next().unwrap_or_default());
        }
        slot
    }

    fn reserve(&mut self) -> usize {
        self.nodes.push(Node::Any);
        self.nodes.len() - 1
    }

    fn read(&mut self, schema: &Value, name: &str) -> Node {
        let text = |field: &str| schema.get(field).and_then(Value::as_str).unwrap_or_default();
        match (text("type"), text("format")) {
            ("object", _) => match (schema.get("properties"), schema.get("additionalProperties")) {
                (Some(Value::Object(properties)), _) => {
                    let fields = properties.iter().map(|(key, property)| {
                        let field = Field { node: self.node(property, &title(key)), rule: rule(property) };
                        (key.as_str().into(), field)
                    });
                    Node::Struct { name: name.into(), fields: fields.collect() }
                }
                (_, Some(values @ Value::Object(_))) => Node::Map(self.node(values, name)),
                _ => Node::Any,
            },
            ("array", _) => match schema.get("items") {
                Some(items) => Node::List(self.node(items, name)),
                None => Node::Any,
            },
            ("string", "byte") => Node::Bytes,
            ("string", "date-time" | "micro-time") => Node::Time,
            ("string", "int-or-string" | "quantity") => Node::Any,
            ("string", _) => Node::Text,
            ("boolean", _) => Node::Bool,
            ("integer", "int64") => Node::Integer("int64"),
            ("integer", _) => Node::Integer("int32"),
            ("number", _) => Node::Float,
            _ => Node::Any,
        }
    }
}

fn rule(schema: &Value) -> Rule {
    let text = |field: &str| schema.get(field).and_then(Value::as_str);
    let mut strategies = text("x-kubernetes-patch-strategy").unwrap_or_default().split(',');
    Rule {
        merges: strategies.clone().any(|strategy| strategy == "merge"),
        replaces: strategies.any(|strategy| strategy == "replace"),
        merge_key: text("x-kubernetes-patch-merge-key").map(Into::into),
    }
}

/// The name of a type that has none but its field's.
fn title(field: &str) -> String {
    let mut chars = field.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The schema of the metadata of every object.
fn object_meta() -> Value {
    let text = json!({"type": "string"});
    let texts = json!({"type": "object", "additionalProperties": text});
    let time = json!({"type": "string", "format": "date-time"});
    let integer = json!({"type": "integer", "format": "int64"});
    let flag = json!({"type": "boolean"});
    json!({"type": "object", "properties": {
        "name": text, "generateName": text, "namespace": text, "selfLink": text, "uid": text, "resourceVersion": text,
        "generation": integer, "deletionGracePeriodSeconds": integer,
        "creationTimestamp": time, "deletionTimestamp": time,
        "labels": texts, "annotations": texts,
        "finalizers": {"type": "array", "items": text, "x-kubernetes-patch-strategy": "merge"},
        "ownerReferences": {
            "type": "array",
            "x-kubernetes-patch-strategy": "merge",
            "x-kubernetes-patch-merge-key": "uid",
            "items": {"type": "object", "properties": {
                "apiVersion": text, "kind": text, "name": text, "uid": text, "controller": flag, "blockOwnerDeletion": flag,
            }},
        },
        "managedFields": {"type": "array", "items": {"type": "object", "properties": {
            "manager": text, "operation": text, "apiVersion": text, "time": time, "fieldsType": text,
            "fieldsV1": {"type": "object"}, "subresource": text,
        }}},
    }})
}
