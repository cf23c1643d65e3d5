//! One place of a schema: what is declared about the values that stand there.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::format::Format;
use super::pattern::Pattern;

/// What is declared about the values at one place of an object.
#[derive(Debug, Clone, Default)]
pub struct Node {
    pub(super) kind: Option<JsonType>,
    pub(super) int_or_string: bool,
    pub(super) nullable: bool,
    pub(super) preserve_unknown: bool,
    pub(super) embedded: bool,
    pub(super) list: ListType,
    /// Whether a default stands here or anywhere below.
    pub(super) has_defaults: bool,
    /// Whether an embedded object stands here or anywhere below.
    pub(super) has_embedded: bool,
    /// Whether a list that is a set or a map stands here or anywhere below.
    pub(super) has_unique_lists: bool,
    pub(super) properties: BTreeMap<String, Node>,
    pub(super) additional: Additional,
    pub(super) items: Option<Box<Node>>,
    pub(super) default: Option<Box<Value>>,
    pub(super) limits: Option<Box<Limits>>,
    pub(super) branches: Option<Box<Branches>>,
    pub(super) rest: Option<Box<Rest>>,
}

/// The types a value can be declared to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonType {
    /// A map of fields.
    Object,
    /// A list.
    Array,
    /// A text.
    String,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// True or false.
    Boolean,
}

/// What makes the items of a list the same item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ListType {
    /// Nothing was said: the list is replaced as a whole.
    #[default]
    Unsaid,
    /// The list is replaced as a whole.
    Atomic,
    /// Their value: each may appear once.
    Set,
    /// The values of their key fields.
    Map,
}

/// What is declared about fields without a name.
#[derive(Debug, Clone, Default)]
pub enum Additional {
    /// Nothing: they are unknown fields.
    #[default]
    Unsaid,
    /// They may be anything.
    Anything,
    /// They may not be there.
    Nothing,
    /// Each is of this shape.
    Each(Box<Node>),
}

/// Bounds on a value of its own.
#[derive(Debug, Clone, Default)]
pub(super) struct Limits {
    pub format: Option<(Format, String)>,
    pub maximum: Option<f64>,
    pub exclusive_maximum: bool,
    pub minimum: Option<f64>,
    pub exclusive_minimum: bool,
    pub multiple_of: Option<f64>,
    pub max_length: Option<i64>,
    pub min_length: Option<i64>,
    pub pattern: Option<Pattern>,
    pub max_items: Option<i64>,
    pub min_items: Option<i64>,
    pub unique_items: bool,
    pub max_properties: Option<i64>,
    pub min_properties: Option<i64>,
    pub required: Vec<String>,
    pub allowed: Vec<Value>,
    /// The texts among them, where there are too many to go through.
    pub allowed_texts: Option<HashSet<String>>,
}

/// Other schemas the same value is held against.
#[derive(Debug, Clone, Default)]
pub(super) struct Branches {
    pub all_of: Vec<Node>,
    pub any_of: Vec<Node>,
    pub one_of: Vec<Node>,
    pub not: Option<Node>,
}

/// What few places declare.
#[derive(Debug, Clone, Default)]
pub(super) struct Rest {
    pub list_map_keys: Vec<String>,
    pub map_type: Option<String>,
    pub rules: Vec<Value>,
}

/// What is known about a field of an object.
pub(super) enum Field<'a> {
    /// It is declared, by name or as one of many.
    Declared(&'a Node),
    /// It may be there, and nothing is said about it.
    Allowed,
    /// Nobody declared it.
    Unknown,
}

impl JsonType {
    /// Its name in schemas and messages.
    pub fn name(self) -> &'static str {
        match self {
            JsonType::Object => "object",
            JsonType::Array => "array",
            JsonType::String => "string",
            JsonType::Integer => "integer",
            JsonType::Number => "number",
            JsonType::Boolean => "boolean",
        }
    }
}

impl Node {
    /// The declared type; none for int-or-string and where anything goes.
    pub fn json_type(&self) -> Option<JsonType> {
        self.kind
    }

    /// Whether both integers and texts may stand here.
    pub fn is_int_or_string(&self) -> bool {
        self.int_or_string
    }

    /// Whether null may stand here.
    pub fn is_nullable(&self) -> bool {
        self.nullable
    }

    /// Whether fields nobody declared are kept.
    pub fn preserves_unknown_fields(&self) -> bool {
        self.preserve_unknown
    }

    /// Whether a whole object, with type and metadata, stands here.
    pub fn is_embedded_resource(&self) -> bool {
        self.embedded
    }

    /// What makes the items of this list the same item.
    pub fn list_type(&self) -> ListType {
        self.list
    }

    /// The key fields of a list that is a map.
    pub fn list_map_keys(&self) -> &[String] {
        self.rest.as_ref().map_or(&[], |rest| &rest.list_map_keys)
    }

    /// `granular` or `atomic`, if said.
    pub fn map_type(&self) -> Option<&str> {
        self.rest.as_ref()?.map_type.as_deref()
    }

    /// The entries of `x-kubernetes-validations`, as declared.
    pub fn rules(&self) -> &[Value] {
        self.rest.as_ref().map_or(&[], |rest| &rest.rules)
    }

    /// The fields declared by name, sorted.
    pub fn properties(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.properties.iter().map(|(name, node)| (name.as_str(), node))
    }

    /// The field of this name.
    pub fn property(&self, name: &str) -> Option<&Node> {
        self.properties.get(name)
    }

    /// What is declared about fields without a name.
    pub fn additional_properties(&self) -> &Additional {
        &self.additional
    }

    /// What is declared about the items of a list.
    pub fn items(&self) -> Option<&Node> {
        self.items.as_deref()
    }

    /// What is declared about a field, by its name or as one of many.
    pub fn field(&self, name: &str) -> Option<&Node> {
        match self.lookup(name) {
            Field::Declared(node) => Some(node),
            Field::Allowed | Field::Unknown => None,
        }
    }

    /// What absent values become.
    pub fn default_value(&self) -> Option<&Value> {
        self.default.as_deref()
    }

    /// The only values allowed, if not all are.
    pub fn allowed_values(&self) -> &[Value] {
        self.limits.as_ref().map_or(&[], |limits| &limits.allowed)
    }

    /// The format of texts and numbers, where it is one that is checked.
    pub fn format(&self) -> Option<&str> {
        self.limits.as_ref()?.format.as_ref().map(|(_, name)| name.as_str())
    }

    /// The most characters of a text.
    pub fn max_length(&self) -> Option<i64> {
        self.limits.as_ref()?.max_length
    }

    /// The most items of a list.
    pub fn max_items(&self) -> Option<i64> {
        self.limits.as_ref()?.max_items
    }

    /// The most fields of an object.
    pub fn max_properties(&self) -> Option<i64> {
        self.limits.as_ref()?.max_properties
    }

    /// The fields that have to be there.
    pub fn required(&self) -> &[String] {
        self.limits.as_ref().map_or(&[], |limits| &limits.required)
    }

    /// Schemas all of which the same value has to fit.
    pub fn all_of(&self) -> &[Node] {
        self.branches.as_ref().map_or(&[], |branches| &branches.all_of)
    }

    /// Schemas one or more of which the same value has to fit.
    pub fn any_of(&self) -> &[Node] {
        self.branches.as_ref().map_or(&[], |branches| &branches.any_of)
    }

    /// Schemas exactly one of which the same value has to fit.
    pub fn one_of(&self) -> &[Node] {
        self.branches.as_ref().map_or(&[], |branches| &branches.one_of)
    }

    /// A schema the same value may not fit.
    pub fn not(&self) -> Option<&Node> {
        self.branches.as_ref()?.not.as_ref()
    }

    pub(super) fn lookup(&self, name: &str) -> Field<'_> {
        match (self.properties.get(name), &self.additional) {
            (Some(node), _) => Field::Declared(node),
            (None, Additional::Each(node)) => Field::Declared(node),
            (None, Additional::Anything | Additional::Nothing) => Field::Allowed,
            (None, Additional::Unsaid) => Field::Unknown,
        }
    }

    /// The schemas right below that describe parts of the value.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Node> {
        let additional = match &self.additional {
            Additional::Each(node) => Some(node.as_ref()),
            _ => None,
        };
        self.properties.values().chain(additional).chain(self.items.as_deref())
    }
}
