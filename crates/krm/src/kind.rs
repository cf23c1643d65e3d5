//! A kind: everything that the server knows about it, from our declaration or from a
//! CustomResourceDefinition.

mod change;
mod converter;
mod declaration;
mod metadata;
mod mirror;
mod owned;
mod question;
mod reference;
mod version;
mod webhook;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub use change::{Address, Change, RawChange, Reader, Refusal, Verdict, View, allow, deny, refuse};
pub use converter::{Converter, Place};
pub use declaration::{Declaration, Resource};
pub use metadata::{Metadata, OwnerReference};
pub use mirror::Mirror;
pub use owned::Owned;
pub use question::{Answered, Form, Look, Parsed, Parser, Question, Questioned};
pub use reference::{Missing, OnDelete, Reference};
pub use version::{Scale, Subresource, Version};
pub use webhook::Webhook;

pub use crate::names::NameRule;

use crate::field::FieldError;
use crate::object::Object;
use crate::shape::Shape;
use crate::status::Subject;

/// Whether objects of a kind live in namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// One name, one object.
    Cluster,
    /// Names count within a namespace.
    Namespaced,
}

/// In which planes a kind is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planes {
    /// The root only.
    Root,
    /// The control planes of projects only.
    Project,
    /// Everywhere.
    Both,
}

/// How much of the past of its objects is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum History {
    /// Every change; of changes to status alone the last few.
    Full,
    /// Changes of what is wanted; of changes to status nothing.
    Spec,
    /// Nothing.
    None,
}

/// The names a kind goes by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    /// `Rack`.
    pub kind: String,
    /// `RackList`.
    pub list_kind: String,
    /// `racks`.
    pub plural: String,
    /// `rack`.
    pub singular: String,
    /// `rk`.
    pub short: Vec<String>,
    /// What it is listed with, such as `all`.
    pub categories: Vec<String>,
}

/// Where a kind comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// It ships with the server.
    BuiltIn,
    /// A CustomResourceDefinition made it.
    Custom {
        /// The name of the definition.
        definition: String,
        /// The version the definition was read at: a write through an older reading of it is tried again.
        version: u64,
        /// Whether the definition is being deleted, so that nothing new may be made.
        terminating: bool,
    },
}

/// Adds what a new object leaves unsaid, when it is decoded: before anybody owns a field of it.
pub type Complete = Arc<dyn Fn(&mut Object) + Send + Sync>;
/// Looks at a new object and changes what the server decides about it; the second is what was there before, the last
/// the subresource it is written through.
pub type Prepare = Arc<dyn Fn(&mut Object, Option<&Object>, &str) + Send + Sync>;
/// What the client should be warned of although a change is allowed.
pub type Warn = Arc<dyn Fn(&RawChange<'_>) -> Vec<String> + Send + Sync>;
/// What a field selector reads of an object, for fields that are not simply where their name says; else nothing.
pub type Selected = Arc<dyn Fn(&Object, &str) -> Option<String> + Send + Sync>;
/// Everything that is wrong with a change, by field.
pub type Validate = Arc<dyn Fn(&RawChange<'_>) -> Vec<FieldError> + Send + Sync>;
/// A rule over more than the object itself.
pub type Rule = Arc<dyn Fn(&RawChange<'_>, &mut View<'_>) -> Verdict + Send + Sync>;
/// The values under which an object is found in a bucket.
pub type Bucket = Arc<dyn Fn(&Object) -> Vec<String> + Send + Sync>;
/// Marks an object as being deleted at a time, for kinds that do that in a way of their own.
pub type Mark = Arc<dyn Fn(&mut Object, &str) + Send + Sync>;
/// How long an object lives by itself.
pub type Lifetime = Arc<dyn Fn(&Object) -> Option<Duration> + Send + Sync>;
/// All of a kind: names, versions, references, rules.
pub struct Kind {
    /// Its group; empty for the core one.
    pub group: String,
    /// Its names.
    pub names: Names,
    /// Whether it is namespaced.
    pub scope: Scope,
    /// Where it is served.
    pub planes: Planes,
    /// How much of its past is kept.
    pub history: History,
    /// Where it comes from.
    pub origin: Origin,
    /// Its versions, the preferred first; one of them is how objects are stored.
    pub versions: Vec<Version>,
    /// Which version objects are stored in: an index into `versions`.
    pub storage: usize,
    /// The webhook that makes objects of one version into another; without one only their type changes.
    pub converter: Option<Arc<Converter>>,
    /// The verbs it takes; empty for all of them.
    pub verbs: Vec<&'static str>,
    /// The Go type that objects of Kubernetes' own kinds are decoded into; others have their schema alone.
    pub shape: Option<&'static Shape>,
    /// Whether the key of an annotation may be a prefix alone, as in definitions that projects publish.
    pub bare_annotations: bool,
    /// What is in an object of Kubernetes' own kinds before anything is written to it.
    pub blank: Object,
    /// Whether its objects are sealed at rest.
    pub secret: bool,
    /// Whether an update needs no version of what it replaces.
    pub unconditional_update: bool,
    /// Whether an update of what is not there makes it.
    pub create_on_update: bool,
    /// Whether a delete answers with what was deleted instead of with a Status.
    pub shows_deleted: bool,
    /// Whether strategic merge patches are taken.
    pub strategic: bool,
    /// Whether the server counts generations.
    pub generations: bool,
    /// What a name may be.
    pub name_rule: NameRule,
    /// What it refers to.
    pub references: Vec<Reference>,
    /// Where it may name objects of any kind there is: paths of `{apiGroup, kind, namespace, name}`. Nothing is refused
    /// for it; whoever is named can be asked who names it.
    pub mentions: Vec<String>,
    /// The webhook as which it refuses, where clients know one.
    pub webhook: Option<Webhook>,
    /// What can be asked of its objects.
    pub questions: Vec<Question>,
    /// The buckets its objects are in, by the bucket's name.
    pub buckets: Vec<(&'static str, Bucket)>,
    /// Fields that a search looks at.
    pub searchable: Vec<String>,
    /// What is added to a decoded object.
    pub complete: Vec<Complete>,
    /// What the server decides about a new object.
    pub prepare: Vec<Prepare>,
    /// Checks by field.
    pub validations: Vec<Validate>,
    /// What the client is warned of.
    pub warnings: Vec<Warn>,
    /// Rules over more than the object itself.
    pub rules: Vec<Rule>,
    /// How selectable fields are read that are not where their name says.
    pub selected: Option<Selected>,
    /// The kind whose objects it shows in another form, having none of its own.
    pub mirror: Option<Mirror>,
    /// How its objects are marked as being deleted, where that is a way of their own.
    pub mark: Option<Mark>,
    /// How long an object lives by itself.
    pub lifetime: Option<Lifetime>,
    /// Who may own which fields, worked out when it is first asked for.
    owned: OnceLock<Owned>,
}

impl Kind {
    /// A kind of one version, with everything else as most kinds have it.
    pub fn new(group: &str, kind: &str, plural: &str, scope: Scope, version: Version) -> Kind {
        Kind {
            group: group.to_owned(),
            names: Names {
                kind: kind.to_owned(),
                list_kind: format!("{kind}List"),
                plural: plural.to_owned(),
                singular: kind.to_lowercase(),
                short: Vec::new(),
                categories: Vec::new(),
            },
            scope,
            planes: Planes::Both,
            history: History::Full,
            origin: Origin::BuiltIn,
            versions: vec![version],
            storage: 0,
            converter: None,
            verbs: Vec::new(),
            shape: None,
            bare_annotations: false,
            blank: Object::default(),
            secret: false,
            unconditional_update: false,
            create_on_update: false,
            shows_deleted: false,
            strategic: false,
            generations: true,
            name_rule: crate::names::name_is_dns_subdomain,
            references: Vec::new(),
            mentions: Vec::new(),
            webhook: None,
            questions: Vec::new(),
            buckets: Vec::new(),
            searchable: Vec::new(),
            complete: Vec::new(),
            prepare: Vec::new(),
            validations: Vec::new(),
            warnings: Vec::new(),
            rules: Vec::new(),
            selected: None,
            mirror: None,
            mark: None,
            lifetime: None,
            owned: OnceLock::new(),
        }
    }

    /// As messages about its resource name it: `racks.inventory.miloapis.com`.
    pub fn resource(&self) -> Subject {
        Subject::new(self.group.clone(), self.names.plural.clone())
    }

    /// As messages about its kind name it: `Rack.inventory.miloapis.com`.
    pub fn subject(&self) -> Subject {
        Subject::new(self.group.clone(), self.names.kind.clone())
    }

    /// Whether its objects live in namespaces.
    pub fn is_namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }

    /// Whether it takes the verb.
    pub fn takes(&self, verb: &str) -> bool {
        self.verbs.is_empty() || self.verbs.contains(&verb)
    }

    /// A served version by its name.
    pub fn served(&self, version: &str) -> Option<&Version> {
        self.versions.iter().find(|found| found.served && found.name == version)
    }

    /// The version objects are stored in.
    pub fn stored(&self) -> &Version {
        &self.versions[self.storage]
    }

    /// Who may own which fields of its objects. The versions must not change after this was asked for.
    pub fn owned(&self) -> &Owned {
        self.owned.get_or_init(|| Owned::of(self))
    }

    /// The `apiVersion` of one of its versions.
    pub fn api_version(&self, version: &str) -> String {
        api_version(&self.group, version)
    }
}

/// `group/version`, or the version alone in the core group.
pub fn api_version(group: &str, version: &str) -> String {
    match group.is_empty() {
        true => version.to_owned(),
        false => format!("{group}/{version}"),
    }
}

/// The group and the version of an `apiVersion`.
pub fn split_api_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}
