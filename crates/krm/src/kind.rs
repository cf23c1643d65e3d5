//! A kind: everything that the server knows about it, from our declaration or from a
//! CustomResourceDefinition.

mod activity;
mod bucket;
mod change;
mod check;
mod conversion;
mod converter;
mod counter;
mod declaration;
mod effect;
mod metadata;
mod mirror;
mod owned;
mod question;
mod reference;
mod resolution;
mod rollout;
mod sealed;
mod version;
mod view;
mod webhook;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub use activity::{Activity, Sentence};
pub use bucket::Bucket;
pub use change::{Address, Change, RawChange, Refusal, Verdict, allow, deny, refuse};
pub use check::{Mistakes, check};
pub use conversion::{Conversion, OtherVersion, Unconvertible, round_trip, round_trip_of_stored};
pub use converter::{Converter, WebhookLocation};
pub use counter::{Addition, Counter, Sum};
pub use declaration::{Declaration, Resource};
pub use effect::{Amendment, Effect, EffectPlane, EffectPlugin, EffectWrite};
pub use metadata::{Metadata, OwnerReference};
pub use mirror::Mirror;
pub use owned::Owned;
pub use question::{
    Answered, Form, Lazy, Parsed, Parser, QueryContext, Question, Questioned, SHOWN_TO_ALL, SHOWN_TO_PROJECT,
    definition_of, has_namespaces,
};
pub use reference::{Missing, OnDelete, Reference};
pub use resolution::Resolution;
pub use rollout::Rollout;
pub use sealed::{CREDENTIALS, SEALED_NAMESPACE, Sealed, secret_of};
pub use version::{Scale, Subresource, Version};
pub use view::{Project, Reader, View};
pub use webhook::Webhook;

pub use crate::names::NameRule;

use crate::field::FieldError;
use crate::object::Object;
use crate::shape::Shape;
use crate::status::Subject;

/// Scope of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Cluster-scoped.
    Cluster,
    /// Namespaced.
    Namespaced,
}

/// Planes that serve a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planes {
    /// The root plane only.
    Root,
    /// The control planes of projects only.
    Project,
    /// Everywhere.
    Both,
}

/// How much history of a kind's objects is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum History {
    /// Every change, also each that only changes the status.
    Everything,
    /// Every change, and the last few that only change the status.
    Full,
    /// Every change except those that only change the status.
    Spec,
    /// Nothing.
    None,
}

/// What the code of a kind checks of metadata itself, beside what is checked of every object. Kubernetes tells each error
/// as often as it is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetadataChecks {
    /// On an update, everything that is checked of a new object.
    pub whole_on_update: bool,
    /// On an update, what changes.
    pub changes: bool,
    /// With each of its checks, that names of finalizers are qualified. Who does not refuses none, and may warn.
    pub finalizers: bool,
}

impl MetadataChecks {
    /// Those of custom resources.
    pub const CUSTOM: MetadataChecks =
        MetadataChecks { whole_on_update: false, changes: true, finalizers: false };
    /// Those of most of Kubernetes' own kinds.
    pub const CORE: MetadataChecks =
        MetadataChecks { whole_on_update: true, changes: true, finalizers: true };
    /// None.
    pub const NONE: MetadataChecks =
        MetadataChecks { whole_on_update: false, changes: false, finalizers: false };
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

/// Defaults a new object when it is decoded, before field ownership is computed.
pub type Complete = Arc<dyn Fn(&mut Object) + Send + Sync>;
/// Looks at a new object and changes what the server decides about it; the second is what was there before, the last
/// the subresource it is written through.
pub type Prepare = Arc<dyn Fn(&mut Object, Option<&Object>, &str) + Send + Sync>;
/// Warnings about an allowed change.
pub type Warn = Arc<dyn Fn(&RawChange<'_>) -> Vec<String> + Send + Sync>;
/// What a field selector reads of an object, for fields that are not simply where their name says; else nothing.
pub type Selected = Arc<dyn Fn(&Object, &str) -> Option<String> + Send + Sync>;
/// Validation of a change, by field.
pub type Validate = Arc<dyn Fn(&RawChange<'_>) -> Vec<FieldError> + Send + Sync>;
/// A rule that may read other objects.
pub type Rule = Arc<dyn Fn(&RawChange<'_>, &mut View<'_>) -> Verdict + Send + Sync>;
/// Writes that belong to a change.
pub type Effects = Arc<dyn Fn(&RawChange<'_>, &mut View<'_>) -> Result<Vec<Effect>, Refusal> + Send + Sync>;
/// The values under which an object is found in a bucket.
pub type BucketValues = Arc<dyn Fn(&Object) -> Vec<String> + Send + Sync>;
/// Marks an object as being deleted at a time, for kinds that do that in a way of their own.
pub type Mark = Arc<dyn Fn(&mut Object, &str) + Send + Sync>;
/// Time to live of an object.
pub type Lifetime = Arc<dyn Fn(&Object) -> Option<Duration> + Send + Sync>;
/// A kind: names, versions, references, rules.
pub struct Kind {
    /// Its group; empty for the core one.
    pub group: String,
    /// Its names.
    pub names: Names,
    /// Whether it is namespaced.
    pub scope: Scope,
    /// Planes that serve it.
    pub planes: Planes,
    /// How much history is kept.
    pub history: History,
    /// Where it comes from.
    pub origin: Origin,
    /// Its versions, the preferred first; one of them is how objects are stored.
    pub versions: Vec<Version>,
    /// Which version objects are stored in: an index into `versions`.
    pub storage: usize,
    /// The conversion webhook; without one, conversion only changes `apiVersion`.
    pub converter: Option<Arc<Converter>>,
    /// Conversions between its versions that are written in Rust.
    pub conversion: Option<Arc<Conversion>>,
    /// Supported verbs; empty for all.
    pub verbs: Vec<&'static str>,
    /// Verbs besides those of the API that permissions can name, such as `use`: what others take to refer to its objects.
    pub custom_verbs: Vec<&'static str>,
    /// Whether controllers alone write its objects. Roles for people let them be read.
    pub is_controlled: bool,
    /// Subresources that a route of the server answers for, with their verbs, such as `log`.
    pub streams: Vec<(&'static str, &'static [&'static str])>,
    /// The Go type that objects of Kubernetes' own kinds are decoded into; others have their schema alone.
    pub shape: Option<&'static Shape>,
    /// Whether the key of an annotation may be a prefix alone, as in definitions that projects publish.
    pub bare_annotations: bool,
    /// What its code checks of metadata.
    pub metadata_checks: MetadataChecks,
    /// What is in an object of Kubernetes' own kinds before anything is written to it.
    pub blank: Object,
    /// Whether its objects are encrypted at rest.
    pub secret: bool,
    /// Fields whose values are kept in a Secret.
    pub sealed: Vec<Sealed>,
    /// The annotation that names who created an object. The server sets it, whatever is sent.
    pub creator: Option<&'static str>,
    /// Whether updates without a resource version are allowed.
    pub unconditional_update: bool,
    /// Whether updates can create objects.
    pub create_on_update: bool,
    /// Whether a delete returns the deleted object instead of a Status.
    pub shows_deleted: bool,
    /// Whether strategic merge patches are supported.
    pub strategic: bool,
    /// Whether the server maintains `metadata.generation`.
    pub generations: bool,
    /// Whether it is kept who owns the fields that effects write.
    pub tracks_effects: bool,
    /// Whether a search finds its objects.
    pub is_searched: bool,
    /// Whether no index, bucket or reference of its objects depends on their status.
    pub is_found_by_spec: bool,
    /// Validation of names.
    pub name_rule: NameRule,
    /// References to other kinds.
    pub references: Vec<Reference>,
    /// Paths of fields that may name objects of any kind, as `{apiGroup, kind, namespace, name}`. They are not enforced,
    /// but listed as referrers of the named object.
    pub mentions: Vec<String>,
    /// The validating webhook whose message format rejections use, if any.
    pub webhook: Option<Webhook>,
    /// How activity feeds tell its changes.
    pub activity: Activity,
    /// Read-only subresources that compute an answer.
    pub questions: Vec<Question>,
    /// How its changes are told as a history of rollouts, if they are.
    pub rollout: Option<Rollout>,
    /// The buckets its objects are in.
    pub buckets: Vec<(Bucket, BucketValues)>,
    /// Fields that are indexed for search.
    pub searchable: Vec<String>,
    /// Defaulting of a decoded object.
    pub complete: Vec<Complete>,
    /// Fields of a new object that the server decides about.
    pub prepare: Vec<Prepare>,
    /// Validation by field.
    pub validations: Vec<Validate>,
    /// Warnings.
    pub warnings: Vec<Warn>,
    /// Rules that may read other objects.
    pub rules: Vec<Rule>,
    /// Writes of other objects that belong to a change.
    pub effects: Vec<Effects>,
    /// How selectable fields are read that are not where their name says.
    pub selected: Option<Selected>,
    /// The kind whose objects it shows in another form, having none of its own.
    pub mirror: Option<Mirror>,
    /// How its objects are marked as being deleted, where that is a way of their own.
    pub mark: Option<Mark>,
    /// Time to live of an object.
    pub lifetime: Option<Lifetime>,
    /// Field ownership, computed on first use.
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
            conversion: None,
            verbs: Vec::new(),
            custom_verbs: Vec::new(),
            is_controlled: false,
            streams: Vec::new(),
            shape: None,
            bare_annotations: false,
            metadata_checks: MetadataChecks::CUSTOM,
            blank: Object::default(),
            secret: false,
            sealed: Vec::new(),
            creator: None,
            unconditional_update: false,
            create_on_update: false,
            shows_deleted: false,
            strategic: false,
            generations: true,
            tracks_effects: true,
            is_searched: true,
            is_found_by_spec: false,
            name_rule: crate::names::name_is_dns_subdomain,
            references: Vec::new(),
            mentions: Vec::new(),
            webhook: None,
            activity: Activity::default(),
            questions: Vec::new(),
            rollout: None,
            buckets: Vec::new(),
            searchable: Vec::new(),
            complete: Vec::new(),
            prepare: Vec::new(),
            validations: Vec::new(),
            warnings: Vec::new(),
            rules: Vec::new(),
            effects: Vec::new(),
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
        self.subject_of(&self.names.kind)
    }

    /// The same for an object that says it is of this kind. What is kept as another kind is judged as that.
    pub fn subject_of(&self, kind: &str) -> Subject {
        let group = self.mirror.as_ref().map_or(self.group.as_str(), |mirror| mirror.group);
        Subject::new(group, kind)
    }

    /// Whether the kind is namespaced.
    pub fn is_namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }

    /// Whether the verb is supported.
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
