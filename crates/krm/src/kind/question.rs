//! Read-only subresources that compute an answer from many objects.

use std::any::Any;
use std::sync::Arc;

use serde_json::Value;

use super::{Address, Bucket, Resource};
use crate::object::Object;
use crate::status::Status;

/// The bucket of objects in the root that questions in a project may be answered from, by the name of the project.
pub const SHOWN_TO_PROJECT: Bucket = Bucket::new("groundplane.dev/shown-to-project");
/// The value in it of objects that are shown to all projects.
pub const SHOWN_TO_ALL: &str = "*";

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
    /// For programs: an object with a map of many members, which are made while they are sent.
    Members {
        /// The field that holds the map.
        field: &'static str,
        /// The members.
        members: Lazy<(String, Value)>,
    },
    /// For a terminal: text that is made while it is sent.
    Pieces(Lazy<String>),
}

/// Parts of an answer that are made one by one, so that a large answer needs little memory.
#[derive(Clone)]
pub struct Lazy<T>(Arc<dyn Fn() -> Box<dyn Iterator<Item = T> + Send> + Send + Sync>);

impl<T> Lazy<T> {
    /// Parts that a function makes.
    pub fn new<I>(parts: impl Fn() -> I + Send + Sync + 'static) -> Lazy<T>
    where
        I: Iterator<Item = T> + Send + 'static,
    {
        Lazy(Arc::new(move || Box::new(parts())))
    }

    /// The parts, from the first.
    pub fn parts(&self) -> Box<dyn Iterator<Item = T> + Send> {
        (self.0)()
    }
}

impl<T> std::fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lazy")
    }
}

/// Equal if they are the same parts.
impl<T> PartialEq for Lazy<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// What is asked.
pub struct Questioned<'a> {
    /// The object it is about; `-` when it is about all of the kind.
    pub name: &'a str,
    /// The namespace of the object; empty for kinds without.
    pub namespace: &'a str,
    /// What was sent with the question; empty unless it takes something.
    pub body: &'a [u8],
    /// What else the question says: options by name, in the order given. Some may be given more than once.
    pub options: &'a [(String, String)],
    /// In which form the answer is wanted.
    pub form: Form,
}

impl Questioned<'_> {
    /// An option, unless it is empty. Of several, the last one counts.
    pub fn option(&self, name: &str) -> Option<&str> {
        let given = self.options.iter().rev().find(|(given, _)| given == name);
        given.map(|(_, text)| text.as_str()).filter(|text| !text.is_empty())
    }

    /// The values of an option that may be given more than once, each time with one value or several separated by commas.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        let given = self.options.iter().filter(move |(given, _)| given == name);
        given.flat_map(|(_, text)| text.split(',')).map(str::trim).filter(|text| !text.is_empty())
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

/// A consistent view of the objects that whoever asks may read, for computing an answer. An object that they may not read
/// is absent, and [`is_incomplete`](QueryContext::is_incomplete) tells that something was.
pub trait QueryContext {
    /// An object.
    fn get(&self, at: &Address) -> Option<Arc<Object>>;
    /// The objects in a bucket.
    fn bucket(&self, bucket: Bucket, value: &str) -> Vec<Arc<Object>>;
    /// The objects of a kind whose selectable field has this value.
    fn having(&self, group: &str, plural: &str, field: &str, value: &str) -> Vec<Arc<Object>>;
    /// The objects of a kind with this label, by name.
    fn labelled(&self, group: &str, plural: &str, label: &str, value: &str) -> Vec<Arc<Object>> {
        let has_label = |object: &Arc<Object>| object.labels().any(|pair| pair == (label, value));
        self.all(group, plural).into_iter().filter(has_label).collect()
    }
    /// The names of the objects of a kind whose selectable field has this value, in order, without reading them.
    fn names_having(&self, group: &str, plural: &str, field: &str, value: &str) -> Vec<String> {
        let found = self.having(group, plural, field, value);
        found.iter().map(|object| object.name().to_owned()).collect()
    }
    /// How many objects of a kind have this value in a selectable field, without reading them.
    fn count_having(&self, group: &str, plural: &str, field: &str, value: &str) -> usize {
        self.names_having(group, plural, field, value).len()
    }
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
    fn bucket_version(&self, bucket: Bucket, value: &str) -> u64;
    /// The addresses of the objects in a bucket, without reading them.
    fn places(&self, bucket: Bucket, value: &str) -> Vec<Address>;
    /// The objects of a kind in the root that are shown to the project whose plane is asked about, whether or not whoever asks
    /// may read the root: see [`Declaration::shown_to_project`](super::Declaration::shown_to_project).
    fn shown_in_root(&self, group: &str, plural: &str) -> Vec<Arc<Object>> {
        let _ = (group, plural);
        Vec::new()
    }
    /// An object without a namespace, as its type. One that was read before and has not changed need not be read again.
    fn parsed(&self, name: &str, parser: Parser) -> Option<Parsed> {
        (parser.parse)(&*self.get(&parser.address(name))?)
    }
    /// The objects of one kind in a bucket, as their type.
    fn bucket_parsed(&self, bucket: Bucket, value: &str, parser: Parser) -> Vec<Parsed> {
        let places = self.places(bucket, value);
        let of_kind = places.iter().filter(|at| at.group == parser.group && at.plural == parser.plural);
        of_kind.filter_map(|at| (parser.parse)(&*self.get(at)?)).collect()
    }
    /// The names of the objects of a kind in one namespace, each with its version, without reading them.
    fn versions_in(&self, group: &str, plural: &str, namespace: &str) -> Vec<(String, u64)> {
        let objects = self.all_in(group, plural, namespace);
        let of = |object: &Arc<Object>| {
            let at = Address {
                group: group.to_owned(),
                plural: plural.to_owned(),
                namespace: namespace.to_owned(),
                name: object.name().to_owned(),
            };
            Some((object.name().to_owned(), self.version(&at)?))
        };
        objects.iter().filter_map(of).collect()
    }
    /// What an answer left for later ones with [`keep`](QueryContext::keep). It must be checked against what may be read now.
    fn recall(&self, _key: &str) -> Option<Parsed> {
        None
    }
    /// Keeps something that was computed. It may be gone any time.
    fn keep(&self, _key: &str, _value: Parsed) {}
    /// Whether users defined this resource, with namespaces. Which kinds there are is withheld from nobody.
    fn is_defined_in_namespaces(&self, group: &str, plural: &str) -> bool {
        self.get(&definition_of(group, plural)).is_some_and(|definition| has_namespaces(&definition))
    }
    /// Whether anything that exists was withheld so far, because whoever asks may not read it. An answer must not say that
    /// there is nothing, or no effect, without asking this last.
    fn is_incomplete(&self) -> bool {
        false
    }
}

impl dyn QueryContext + '_ {
    /// An object of a kind of ours.
    pub fn find<T: Resource>(&self, name: &str) -> Option<Arc<T>> {
        self.parsed(name, Parser::of::<T>())?.downcast().ok()
    }

    /// Whether an object of a kind of ours exists and may be read. What an answer names beyond the objects that it read must
    /// be asked for: a reference tells the name of an object that may be withheld.
    pub fn shows<T: Resource>(&self, name: &str) -> bool {
        self.version(&T::address("", name)).is_some()
    }

    /// The objects of a kind of ours in a bucket.
    pub fn in_bucket<T: Resource>(&self, bucket: Bucket, value: &str) -> Vec<Arc<T>> {
        let found = self.bucket_parsed(bucket, value, Parser::of::<T>());
        found.into_iter().filter_map(|parsed| parsed.downcast().ok()).collect()
    }

    /// The objects of a kind of ours whose selectable field has this value.
    pub fn with<T: Resource>(&self, field: &str, value: &str) -> Vec<T> {
        of_kind(&self.having(T::GROUP, T::PLURAL, field, value))
    }

    /// The objects of a kind of ours with this label.
    pub fn labelled_as<T: Resource>(&self, label: &str, value: &str) -> Vec<T> {
        of_kind(&self.labelled(T::GROUP, T::PLURAL, label, value))
    }

    /// All objects of a kind of ours.
    pub fn every<T: Resource>(&self) -> Vec<T> {
        of_kind(&self.all(T::GROUP, T::PLURAL))
    }
}

/// Where the definition of a resource that users define is.
pub fn definition_of(group: &str, plural: &str) -> Address {
    Address {
        group: "apiextensions.k8s.io".to_owned(),
        plural: "customresourcedefinitions".to_owned(),
        namespace: String::new(),
        name: format!("{plural}.{group}"),
    }
}

/// Whether the objects of a definition are in namespaces.
pub fn has_namespaces(definition: &Object) -> bool {
    definition.at("spec.scope").and_then(Value::as_str) == Some("Namespaced")
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
