//! Read-only subresources that compute an answer from many objects.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{Address, Resource};
use crate::object::Object;
use crate::status::Status;

/// In which form an answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// JSON, or YAML, for programs.
    #[default]
    Json,
    /// Text for a terminal.
    Text,
    /// A drawing.
    Svg,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Answered {
    /// For programs.
    Json(Value),
    /// For a terminal.
    Text(String),
    /// A drawing.
    Svg(String),
}

/// What is asked.
pub struct Questioned<'a> {
    /// The object it is about; `-` when it is about all of the kind.
    pub name: &'a str,
    /// The namespace of the object; empty for kinds without.
    pub namespace: &'a str,
    /// What was sent with the question; empty unless it takes something.
    pub body: &'a [u8],
    /// What else the question says.
    pub options: &'a BTreeMap<String, String>,
    /// In which form the answer is wanted.
    pub form: Form,
}

impl Questioned<'_> {
    /// An option, unless it is empty.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// A number among the options.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, Status> {
        let Some(text) = self.option(name) else { return Ok(None) };
        let number = text.parse().map(Some);
        number.map_err(|_| Status::bad_request(format!("{name}: {text:?} must be an integer")))
    }
}

/// An object as its type, shared by all who ask for it.
pub type Parsed = Arc<dyn Any + Send + Sync>;

/// Reads an object of one kind into its type.
#[derive(Debug, Clone, Copy)]
pub struct Parser {
    /// The kind's group.
    pub group: &'static str,
    /// The kind's resource.
    pub plural: &'static str,
    /// Reads an object; nothing when it is not what the type says.
    pub parse: fn(&Object) -> Option<Parsed>,
}

impl Parser {
    /// Of a kind of ours.
    pub fn of<T: Resource>() -> Parser {
        let parse = |object: &Object| read::<T>(object).map(|parsed| Arc::new(parsed) as Parsed);
        Parser { group: T::GROUP, plural: T::PLURAL, parse }
    }

    /// Where the object of this name is.
    pub fn address(&self, name: &str) -> Address {
        Address {
            group: self.group.to_owned(),
            plural: self.plural.to_owned(),
            namespace: String::new(),
            name: name.to_owned(),
        }
    }
}

/// A consistent view of all objects, for computing an answer.
pub trait QueryContext {
    /// An object.
    fn get(&self, at: &Address) -> Option<Arc<Object>>;
    /// The objects in a bucket.
    fn bucket(&self, bucket: &str, value: &str) -> Vec<Arc<Object>>;
    /// The objects of a kind whose selectable field has this value.
    fn having(&self, group: &str, plural: &str, field: &str, value: &str) -> Vec<Arc<Object>>;
    /// Those who refer to an object.
    fn referrers(&self, to: &Address) -> Vec<Arc<Object>>;
    /// All objects of a kind, by name.
    fn all(&self, group: &str, plural: &str) -> Vec<Arc<Object>>;
    /// The objects of a kind in one namespace, by name.
    fn all_in(&self, group: &str, plural: &str, namespace: &str) -> Vec<Arc<Object>> {
        self.all(group, plural).into_iter().filter(|object| object.namespace() == namespace).collect()
    }
    /// How many objects of a kind there are.
    fn count(&self, group: &str, plural: &str) -> usize;
    /// The names of all objects of a kind, in order.
    fn names(&self, group: &str, plural: &str) -> Vec<String>;
    /// A number that changes whenever the object changes; none if the object does not exist.
    fn version(&self, at: &Address) -> Option<u64>;
    /// A number that changes whenever an object in the bucket is added, removed or changed.
    fn bucket_version(&self, bucket: &str, value: &str) -> u64;
    /// The addresses of the objects in a bucket, without reading them.
    fn places(&self, bucket: &str, value: &str) -> Vec<Address>;
    /// An object without a namespace, as its type. One that was read before and has not changed need not be read again.
    fn parsed(&self, name: &str, parser: Parser) -> Option<Parsed> {
        (parser.parse)(&*self.get(&parser.address(name))?)
    }
    /// The objects of one kind in a bucket, as their type.
    fn bucket_parsed(&self, bucket: &str, value: &str, parser: Parser) -> Vec<Parsed> {
        let places = self.places(bucket, value);
        let of_kind = places.iter().filter(|at| at.group == parser.group && at.plural == parser.plural);
        of_kind.filter_map(|at| (parser.parse)(&*self.get(at)?)).collect()
    }
}

impl dyn QueryContext + '_ {
    /// An object of a kind of ours.
    pub fn find<T: Resource>(&self, name: &str) -> Option<Arc<T>> {
        self.parsed(name, Parser::of::<T>())?.downcast().ok()
    }

    /// The objects of a kind of ours in a bucket.
    pub fn in_bucket<T: Resource>(&self, bucket: &str, value: &str) -> Vec<Arc<T>> {
        let found = self.bucket_parsed(bucket, value, Parser::of::<T>());
        found.into_iter().filter_map(|parsed| parsed.downcast().ok()).collect()
    }

    /// The objects of a kind of ours whose selectable field has this value.
    pub fn with<T: Resource>(&self, field: &str, value: &str) -> Vec<T> {
        of_kind(&self.having(T::GROUP, T::PLURAL, field, value))
    }

    /// All objects of a kind of ours.
    pub fn every<T: Resource>(&self) -> Vec<T> {
        of_kind(&self.all(T::GROUP, T::PLURAL))
    }
}

fn of_kind<T: Resource>(objects: &[Arc<Object>]) -> Vec<T> {
    objects.iter().filter(|object| object.kind() == T::KIND).filter_map(|object| read(object)).collect()
}

fn read<T: Resource>(object: &Object) -> Option<T> {
    T::deserialize(&object.0).ok()
}

/// Computes the answer of a read-only subresource.
pub type Answer = Arc<dyn Fn(&Questioned<'_>, &dyn QueryContext) -> Result<Answered, Status> + Send + Sync>;

/// A read-only subresource that computes an answer.
#[derive(Clone)]
pub struct Question {
    /// Its name in the path.
    pub name: &'static str,
    /// The kind of its answer in JSON, in `groundplane.dev/v1alpha1`.
    pub answer_kind: &'static str,
    /// Whether something may be sent with it: then it can be posted as well.
    pub takes_body: bool,
    /// How it is answered.
    pub answer: Answer,
}
