//! Types read from OpenAPI schemas: those of custom resources, and those of built-in kinds with references.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{Atom, DEDUCED, Fields, Id, Items, Key, List, Scalar, Type, UNTYPED};
use crate::ownership::DEEPEST;

impl Type {
    /// The type of objects with this schema, as a CustomResourceDefinition gives it. `apiVersion`, `kind` and
    /// `metadata` are those every object has, whatever the schema says of them.
    pub fn from_schema(schema: &Value) -> Type {
        Type::build(schema, None)
    }

    /// The type of the objects with the schema `name` among `definitions`, which may refer to each other by `$ref`.
    pub fn from_definitions(definitions: &Map<String, Value>, name: &str) -> Type {
        match definitions.get(name) {
            Some(schema) => Type::build(schema, Some(definitions)),
            None => Type::deduced(),
        }
    }

    fn build(schema: &Value, definitions: Option<&Map<String, Value>>) -> Type {
        let mut builder =
            Builder { atoms: Type::known_atoms(), definitions, named: HashMap::new(), object_meta: None };
        let root = builder.object(schema);
        Type { atoms: builder.atoms, root }
    }
}

pub(super) struct Builder<'s> {
    atoms: Vec<Atom>,
    definitions: Option<&'s Map<String, Value>>,
    /// Types that are referred to, by name: those begun, too, so that recursion ends.
    named: HashMap<&'s str, Id>,
    pub(super) object_meta: Option<Id>,
}

/// What holds below a place in a schema.
#[derive(Clone, Copy)]
struct SchemaScope {
    /// Whether something above lets unknown fields be.
    keeps_unknown: bool,
    /// How much deeper the schema may go.
    depth: usize,
}

/// What a schema of an object declares.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Declares {
    /// The properties it lists.
    Properties,
    /// More fields, which are added later.
    More,
}

impl<'s> Builder<'s> {
    pub(super) fn add(&mut self, atom: Atom) -> Id {
        let id = u32::try_from(self.atoms.len()).map_or(UNTYPED, Id);
        if id != UNTYPED {
            self.atoms.push(atom);
        }
        id
    }

    /// The type of whole objects.
    fn object(&mut self, schema: &'s Value) -> Id {
        let place = SchemaScope { keeps_unknown: false, depth: DEEPEST };
        let mut fields = self.map(schema, place.below(schema), Declares::More);
        self.add_type_and_metadata(&mut fields.declared);
        self.add(Atom { map: Some(fields), ..Atom::default() })
    }

    fn add_type_and_metadata(&mut self, declared: &mut Vec<(String, Id)>) {
        let text = self.scalar(Scalar::Text);
        let metadata = self.object_meta();
        for (name, id) in [("apiVersion", text), ("kind", text), ("metadata", metadata)] {
            match declared.binary_search_by(|(declared, _)| declared.as_str().cmp(name)) {
                Ok(at) => declared[at].1 = id,
                Err(at) => declared.insert(at, (name.to_owned(), id)),
            }
        }
    }

    /// The type a schema, or what it refers to, describes.
    fn reference(&mut self, schema: &'s Value, place: SchemaScope) -> Id {
        let Some(depth) = place.depth.checked_sub(1) else { return DEDUCED };
        let place = SchemaScope { depth, ..place };
        match target(schema) {
            Some(name) => {
                let named = self.named(name, place);
                match map_type(schema) {
                    Some(atomic) => self.with_relationship(named, atomic),
                    None => named,
                }
            }
            None => {
                let atom = self.atom(schema, place.below(schema));
                self.add(atom)
            }
        }
    }

    fn named(&mut self, name: &'s str, place: SchemaScope) -> Id {
        if name.ends_with(".meta.v1.ObjectMeta") {
            return self.object_meta();
        }
        if let Some(id) = self.named.get(name) {
            return *id;
        }
        if name.ends_with(".api.resource.Quantity") {
            return self.scalar(Scalar::Any);
        }
        if name.ends_with(".pkg.runtime.RawExtension") {
            return UNTYPED;
        }
        let Some(schema) = self.definitions.and_then(|definitions| definitions.get(name)) else {
            return DEDUCED;
        };
        let id = self.add(Atom::default());
        self.named.insert(name, id);
        let place = SchemaScope { keeps_unknown: false, ..place };
        let atom = self.atom(schema, place.below(schema));
        if let Some(slot) = self.atoms.get_mut(id.0 as usize) {
            *slot = atom;
        }
        id
    }

    /// The same type, but owned as a whole or not as the place that refers to it says.
    fn with_relationship(&mut self, id: Id, atomic: bool) -> Id {
        let mut atom = self.atoms.get(id.0 as usize).cloned().unwrap_or_default();
        if let Some(fields) = &mut atom.map {
            fields.atomic = atomic;
        } else if let Some(list) = &mut atom.list
            && atomic
        {
            list.items = Items::Atomic;
        }
        self.add(atom)
    }

    fn atom(&mut self, schema: &'s Value, place: SchemaScope) -> Atom {
        match type_of(schema) {
            "object" => Atom { map: Some(self.map(schema, place, Declares::Properties)), ..Atom::default() },
            "array" => Atom { list: Some(self.list_of(schema, place)), ..Atom::default() },
            "integer" | "number" => Atom { scalar: Some(Scalar::Numeric), ..Atom::default() },
            "boolean" => Atom { scalar: Some(Scalar::Boolean), ..Atom::default() },
            "string" => {
                let scalar = match schema.get("format").and_then(Value::as_str) {
                    None | Some("" | "byte") => Scalar::Text,
                    Some(_) => Scalar::Any,
                };
                Atom { scalar: Some(scalar), ..Atom::default() }
            }
            _ => Atom {
                scalar: Some(Scalar::Any),
                list: Some(self.list_of(schema, place)),
                map: Some(self.map(schema, place, Declares::Properties)),
                ..Atom::default()
            },
        }
    }

    fn map(&mut self, schema: &'s Value, place: SchemaScope, declares: Declares) -> Fields {
        let properties = schema.get("properties").and_then(Value::as_object);
        let properties = properties.into_iter().flatten();
        let mut declared: Vec<(String, Id)> = Vec::new();
        for (name, property) in properties {
            declared.push((name.clone(), self.reference(property, place)));
        }
        if schema.get("x-kubernetes-embedded-resource") == Some(&Value::Bool(true)) {
            self.add_type_and_metadata(&mut declared);
        }
        let others = match schema.get("additionalProperties") {
            None | Some(Value::Null) => {
                // An object of which no field is declared may have any.
                let any = place.keeps_unknown || (declared.is_empty() && declares == Declares::Properties);
                any.then_some(DEDUCED)
            }
            Some(Value::Bool(any)) => any.then_some(DEDUCED),
            Some(others) => Some(self.reference(others, place)),
        };
        Fields { declared, others, atomic: map_type(schema).unwrap_or(false) }
    }

    fn list_of(&mut self, schema: &'s Value, place: SchemaScope) -> List {
        let items = schema.get("items").filter(|items| items.is_object());
        let element = items.map_or(UNTYPED, |items| self.reference(items, place));
        let keyed = |names: Vec<&str>| {
            let item = items.and_then(|items| self.resolve(items));
            Items::Keyed(names.into_iter().map(|name| key(name, item)).collect())
        };
        let text = |name: &str| schema.get(name).and_then(Value::as_str);
        let items = match (text("x-kubernetes-list-type"), text("x-kubernetes-patch-strategy")) {
            (Some("set"), _) => Items::Set,
            (Some("map"), _) => {
                let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
                match keys.into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>() {
                    names if names.is_empty() => Items::Set,
                    names => keyed(names),
                }
            }
            (None, Some("merge" | "merge,retainKeys")) => match text("x-kubernetes-patch-merge-key") {
                Some(name) => keyed(vec![name]),
                None => Items::Set,
            },
            _ => Items::Atomic,
        };
        List { element, items }
    }

    /// The schema itself, or the one it refers to.
    fn resolve(&self, schema: &'s Value) -> Option<&'s Value> {
        match target(schema) {
            Some(name) => self.definitions?.get(name),
            None => Some(schema),
        }
    }
}

impl SchemaScope {
    fn below(self, schema: &Value) -> SchemaScope {
        let keeps = schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true));
        SchemaScope { keeps_unknown: self.keeps_unknown || keeps, ..self }
    }
}

fn key(name: &str, item: Option<&Value>) -> Key {
    let field = item.and_then(|item| item.get("properties")?.get(name));
    let default = field.and_then(|field| field.get("default")).filter(|default| !default.is_null());
    Key { name: name.to_owned(), default: default.cloned() }
}

/// The name of the schema that this one refers to, directly or as the only part of `allOf`.
fn target(schema: &Value) -> Option<&str> {
    let holder = match schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
        Some([only]) if schema.get("$ref").is_none() => only,
        _ => schema,
    };
    holder.get("$ref")?.as_str()?.rsplit('/').next().filter(|name| !name.is_empty())
}

fn type_of(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => names.first().and_then(Value::as_str).unwrap_or(""),
        _ => "",
    }
}

/// Whether maps of this schema are owned as a whole, if it says.
fn map_type(schema: &Value) -> Option<bool> {
    match schema.get("x-kubernetes-map-type")?.as_str()? {
        "atomic" => Some(true),
        "granular" => Some(false),
        _ => None,
    }
}
