//! What a schema says about the values that rules see: their types, and how large they can get.

mod escape;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::types::Type;
use crate::crd::JsonSchema;

pub(super) use escape::{escape, unescape};

/// The largest request there can be.
pub(super) const REQUEST_BYTES: u64 = 3 * 1024 * 1024;

/// Stands for one declaration among [`Decls`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct DeclId(u32);

/// Declarations for a schema and everything below it.
#[derive(Debug)]
pub(super) struct Decls {
    all: Vec<Decl>,
    root: DeclId,
}

/// What values at one place are.
#[derive(Debug)]
pub(super) struct Decl {
    pub kind: DeclKind,
    /// How many characters, items or entries there can be; nothing for what is no text, list or map.
    pub most: u64,
    /// How few bytes such a value can take.
    pub least_bytes: u64,
    pub nullable: bool,
}

#[derive(Debug)]
pub(super) enum DeclKind {
    /// A whole number or a text.
    IntOrString,
    Bool,
    Int,
    Double,
    String,
    Bytes,
    Duration,
    Date,
    DateTime,
    List {
        item: DeclId,
        list_type: ListType,
    },
    Map {
        value: DeclId,
    },
    /// Whatever JSON can be, as it is found.
    Any,
    /// Fields by their names. Those of no known type are not among them.
    Object {
        fields: BTreeMap<Box<str>, DeclId>,
    },
}

/// What makes items of a list the same.
#[derive(Debug)]
pub(super) enum ListType {
    /// Their places.
    Atomic,
    /// Their values.
    Set,
    /// The values of their keys.
    Map(Vec<Box<str>>),
}

/// The keys of every map.
const KEY: DeclId = DeclId(0);

impl Decls {
    /// Declares a schema; `None` when it says nothing that rules could use. `is_resource` adds what every resource has.
    pub fn of(schema: &JsonSchema<'_>, is_resource: bool) -> Option<Decls> {
        let key = Decl { kind: DeclKind::String, most: 0, least_bytes: 2, nullable: false };
        let mut decls = Decls { all: vec![key], root: KEY };
        decls.root = decls.declare(schema, is_resource)?;
        Some(decls)
    }

    /// Declares nothing: values are what they turn out to be.
    pub fn any() -> Decls {
        let key = Decl { kind: DeclKind::String, most: 0, least_bytes: 2, nullable: false };
        let mut decls = Decls { all: vec![key], root: KEY };
        decls.root = decls.add(DeclKind::Any, REQUEST_BYTES, 1, true);
        decls
    }

    pub fn root(&self) -> DeclId {
        self.root
    }

    pub fn get(&self, id: DeclId) -> &Decl {
        &self.all[id.0 as usize]
    }

    /// The type of values declared so.
    pub fn type_of(&self, id: DeclId) -> Type {
        match &self.get(id).kind {
            DeclKind::IntOrString | DeclKind::Any => Type::Dyn,
            DeclKind::Bool => Type::Bool,
            DeclKind::Int => Type::Int,
            DeclKind::Double => Type::Double,
            DeclKind::String => Type::String,
            DeclKind::Bytes => Type::Bytes,
            DeclKind::Duration => Type::Duration,
            DeclKind::Date | DeclKind::DateTime => Type::Timestamp,
            DeclKind::List { item, .. } => Type::list(self.type_of(*item)),
            DeclKind::Map { value } => Type::map(Type::String, self.type_of(*value)),
            DeclKind::Object { .. } => Type::Object(id),
        }
    }

    /// A field by the name that an expression gives it.
    pub fn field(&self, of: DeclId, name: &str) -> Option<DeclId> {
        let DeclKind::Object { fields } = &self.get(of).kind else { return None };
        // A keyword may also be written as it is.
        fields.get(&*unescape(name)?).copied()
    }

    /// What a list or a map holds.
    pub fn element(&self, of: DeclId) -> Option<DeclId> {
        match &self.get(of).kind {
            DeclKind::List { item, .. } => Some(*item),
            DeclKind::Map { value } => Some(*value),
            DeclKind::Any => Some(of),
            _ => None,
        }
    }

    /// The keys of a map.
    pub fn key(&self, of: DeclId) -> Option<DeclId> {
        matches!(self.get(of).kind, DeclKind::Map { .. }).then_some(KEY)
    }

    /// A property by its own name.
    pub fn property(&self, of: DeclId, name: &str) -> Option<DeclId> {
        let DeclKind::Object { fields } = &self.get(of).kind else { return None };
        fields.get(name).copied()
    }

    fn add(&mut self, kind: DeclKind, most: u64, least_bytes: u64, nullable: bool) -> DeclId {
        // A schema has far fewer parts than there are numbers.
        let id = DeclId(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        self.all.push(Decl { kind, most, least_bytes, nullable });
        id
    }

    fn declare(&mut self, schema: &JsonSchema<'_>, is_resource: bool) -> Option<DeclId> {
        let nullable = schema.nullable;
        if schema.int_or_string {
            let most = schema.max_length.map_or(REQUEST_BYTES - 2, in_bytes);
            return Some(self.add(DeclKind::IntOrString, most, 1, nullable));
        }
        match schema.kind {
            "array" => self.declare_list(schema),
            "object" if schema.values().is_some() && !is_resource => self.declare_map(schema),
            "object" => Some(self.declare_object(schema, is_resource)),
            "string" => Some(self.declare_text(schema)),
            "boolean" => Some(self.add(DeclKind::Bool, 0, 4, nullable)),
            "number" => Some(self.add(DeclKind::Double, 0, 1, nullable)),
            "integer" => Some(self.add(DeclKind::Int, 0, 1, nullable)),
            _ => None,
        }
    }

    fn declare_list(&mut self, schema: &JsonSchema<'_>) -> Option<DeclId> {
        let items = schema.item()?;
        let item = self.declare(items, items.embedded)?;
        let fit = (REQUEST_BYTES - 2) / (self.get(item).least_bytes + 1);
        let most = schema.max_items.map_or(fit, not_negative);
        let list_type = match schema.list_type {
            Some("set") => ListType::Set,
            Some("map") => ListType::Map(schema.list_map_keys.iter().map(|key| Box::from(*key)).collect()),
            _ => ListType::Atomic,
        };
        Some(self.add(DeclKind::List { item, list_type }, most, 2, schema.nullable))
    }

    fn declare_map(&mut self, schema: &JsonSchema<'_>) -> Option<DeclId> {
        let values = schema.values()?;
        let value = self.declare(values, values.embedded)?;
        // Two quotes for the key, a colon, a comma, and no key is shorter than two letters all the way.
        let fit = (REQUEST_BYTES - 2) / (self.get(value).least_bytes + 6);
        let most = schema.max_properties.map_or(fit, not_negative);
        Some(self.add(DeclKind::Map { value }, most, 2, schema.nullable))
    }

    fn declare_object(&mut self, schema: &JsonSchema<'_>, is_resource: bool) -> DeclId {
        let required: BTreeSet<&str> = schema.required.iter().copied().collect();
        let implied = is_resource && !declares_resource(schema);
        let is_implied = |name: &str| implied && matches!(name, "apiVersion" | "kind" | "metadata");
        let mut fields = BTreeMap::new();
        let mut least_bytes = 2;
        for (name, property) in &schema.properties {
            if is_implied(name) {
                continue;
            }
            let Some(field) = self.declare(property, property.embedded) else { continue };
            if escape(name).is_some() {
                fields.insert(Box::from(*name), field);
            }
            if property.default.is_none() && required.contains(name) {
                least_bytes += name.len() as u64 + self.get(field).least_bytes + 4;
            }
        }
        if implied {
            self.declare_implied(&mut fields);
            let given = ["apiVersion", "kind", "metadata"].iter().filter(|name| required.contains(**name));
            least_bytes += given.map(|name| name.len() as u64 + 6).sum::<u64>();
        }
        self.add(DeclKind::Object { fields }, 0, least_bytes, schema.nullable)
    }

    /// What rules at the root of a resource may use without its being in the schema.
    fn declare_implied(&mut self, fields: &mut BTreeMap<Box<str>, DeclId>) {
        let text = self.add(DeclKind::String, REQUEST_BYTES - 2, 2, false);
        let names = BTreeMap::from([("name".into(), text), ("generateName".into(), text)]);
        let metadata = self.add(DeclKind::Object { fields: names }, 0, 2, false);
        fields.extend([("kind".into(), text), ("apiVersion".into(), text), ("metadata".into(), metadata)]);
    }

    fn declare_text(&mut self, schema: &JsonSchema<'_>) -> DeclId {
        let nullable = schema.nullable;
        let whole_request = REQUEST_BYTES - 2;
        match schema.format {
            "byte" => {
                let most = schema.max_length.map_or(whole_request, not_negative);
                self.add(DeclKind::Bytes, most, 2, nullable)
            }
            "duration" => self.add(DeclKind::Duration, 32, 3, nullable),
            "date" => self.add(DeclKind::Date, 12, 12, nullable),
            "date-time" => self.add(DeclKind::DateTime, 32, 21, nullable),
            _ => {
                let longest_allowed =
                    schema.allowed.iter().filter_map(Value::as_str).map(|text| text.len() as u64).max();
                let most = match (schema.max_length, schema.allowed.is_empty()) {
                    (Some(length), _) => in_bytes(length),
                    (None, false) => longest_allowed.unwrap_or(0),
                    (None, true) => whole_request,
                };
                self.add(DeclKind::String, most, 2, nullable)
            }
        }
    }
}

/// Whether a schema declares all that every resource has, and so is taken at its word about it.
fn declares_resource(schema: &JsonSchema<'_>) -> bool {
    let has =
        |of: &JsonSchema<'_>, name: &str, kind: &str| of.property(name).is_some_and(|it| it.kind == kind);
    has(schema, "kind", "string")
        && has(schema, "apiVersion", "string")
        && has(schema, "metadata", "object")
        && schema.property("metadata").is_some_and(|metadata| {
            has(metadata, "name", "string") && has(metadata, "generateName", "string")
        })
}

fn not_negative(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// How many bytes so many characters can take.
fn in_bytes(length: i64) -> u64 {
    not_negative(length).saturating_mul(4)
}
