//! Declaration of our kinds: a builder with everything about a kind in one place.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::change::Address;
use super::{
    Answered, Bucket, CREDENTIALS, Change, Conversion, Effect, History, Kind, NameRule, OtherVersion, Planes,
    QueryContext, Question, Questioned, RawChange, Reference, Refusal, Rollout, Scale, Scope, Sealed,
    Sentence, Subresource, Verdict, Version, View, Webhook, allow,
};
use crate::field::FieldError;
use crate::object::Object;
use crate::schema::schema_of;
use crate::status::Status;
use crate::table::{Column, Columns};

/// A kind that is declared in Rust: the type of its objects and its declaration.
pub trait Resource: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// Its group; empty for the core one.
    const GROUP: &'static str;
    /// Its version.
    const VERSION: &'static str;
    /// Its name: `Rack`.
    const KIND: &'static str;
    /// Its resource: `racks`.
    const PLURAL: &'static str;

    /// Its resource as a list, for roles.
    const RESOURCES: &'static [&'static str] = &[Self::PLURAL];

    /// Everything else about it.
    fn declare() -> Declaration<Self>;

    /// The address of an object of this kind.
    fn address(namespace: &str, name: &str) -> Address {
        Address {
            group: Self::GROUP.to_owned(),
            plural: Self::PLURAL.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    /// The kind as the server knows it.
    ///
    /// # Panics
    /// When the type has no schema: a mistake in the kind's file, found by the first test that touches it.
    fn kind() -> Kind {
        Self::declare().finish()
    }
}

/// The declaration of a kind; everything is optional.
pub struct Declaration<T> {
    kind: Kind,
    columns: Vec<Column>,
    others: Vec<(Version, Option<Vec<Column>>)>,
    conversion: Option<Conversion>,
    of: std::marker::PhantomData<fn() -> T>,
}

impl<T: Resource> Declaration<T> {
    /// A cluster-scoped kind.
    pub fn cluster() -> Declaration<T> {
        Declaration::new(Scope::Cluster)
    }

    /// A namespaced kind.
    pub fn namespaced() -> Declaration<T> {
        Declaration::new(Scope::Namespaced)
    }

    fn new(scope: Scope) -> Declaration<T> {
        let version = Version::new(T::VERSION, schema_of::<T>())
            .unwrap_or_else(|error| panic!("invalid schema of {}: {error}", T::KIND));
        let kind = Kind::new(T::GROUP, T::KIND, T::PLURAL, scope, version);
        Declaration {
            kind,
            columns: vec![Column::name()],
            others: Vec::new(),
            conversion: None,
            of: std::marker::PhantomData,
        }
    }

    fn stored(&mut self) -> &mut Version {
        &mut self.kind.versions[0]
    }

    /// Serves another version besides this one, which is the one that is stored, with conversions in Rust.
    pub fn version<V: OtherVersion<Stored = T>>(mut self) -> Self {
        let mut version = Version::new(V::VERSION, schema_of::<V>())
            .unwrap_or_else(|error| panic!("invalid schema of {} {}: {error}", T::KIND, V::VERSION));
        version.deprecated = V::DEPRECATED.map(str::to_owned);
        version.selectable = V::selectable().iter().map(ToString::to_string).collect();
        self.others.push((version, V::columns()));
        self.conversion = Some(self.conversion.unwrap_or_else(Conversion::of::<T>).with::<V>());
        self
    }

    /// Short names for the command line.
    pub fn short(mut self, names: &[&str]) -> Self {
        self.kind.names.short = names.iter().map(ToString::to_string).collect();
        self
    }

    /// Categories, such as `all`.
    pub fn categories(mut self, names: &[&str]) -> Self {
        self.kind.names.categories = names.iter().map(ToString::to_string).collect();
        self
    }

    /// Planes that serve the kind. Defaults to all.
    pub fn planes(mut self, planes: Planes) -> Self {
        self.kind.planes = planes;
        self
    }

    /// How much history is kept. Defaults to full.
    pub fn history(mut self, history: History) -> Self {
        self.kind.history = history;
        self
    }

    /// Enables the status subresource.
    pub fn status(mut self) -> Self {
        self.stored().subresources.push(Subresource::Status);
        self
    }

    /// Enables the scale subresource.
    pub fn scale(mut self, scale: Scale) -> Self {
        self.stored().subresources.push(Subresource::Scale(scale));
        self
    }

    /// Adds a reference to another kind.
    pub fn refers(mut self, reference: Reference) -> Self {
        self.kind.references.push(reference);
        self
    }

    /// A field that may name an object of any kind, as `{apiGroup, kind, namespace, name}`. It is not enforced.
    pub fn mentions(mut self, path: &str) -> Self {
        self.kind.mentions.push(path.to_owned());
        self
    }

    /// Formats rejections like a validating webhook that existing clients know.
    pub fn refuses_as(mut self, name: &'static str, order: &'static [&'static str]) -> Self {
        self.kind.webhook = Some(Webhook { name, order });
        self
    }

    /// Tells creations by the first of these sentences that fits.
    pub fn tells_created(mut self, sentences: &'static [Sentence]) -> Self {
        self.kind.activity.created = sentences;
        self
    }

    /// Tells updates by the first of these sentences that fits.
    pub fn tells_updated(mut self, sentences: &'static [Sentence]) -> Self {
        self.kind.activity.updated = sentences;
        self
    }

    /// Tells of objects by their `spec.displayName`.
    pub fn tells_display_name(mut self) -> Self {
        self.kind.activity.is_displayed = true;
        self
    }

    /// Tells the Events of its objects by these rules, which depend on the name of the kind.
    pub fn tells_events(mut self, rules: fn(&str) -> Value) -> Self {
        self.kind.activity.event_rules = Some(rules);
        self
    }

    /// Adds a read-only subresource that computes an answer.
    pub fn answers(
        mut self,
        name: &'static str,
        answer_kind: &'static str,
        answer: impl Fn(&Questioned<'_>, &dyn QueryContext) -> Result<Answered, Status> + Send + Sync + 'static,
    ) -> Self {
        let answer = Arc::new(answer);
        self.kind.questions.push(Question { name, answer_kind, takes_body: false, answer });
        self
    }

    /// The same with a request body: it can be posted as well, and the body is not stored.
    pub fn answers_about(
        mut self,
        name: &'static str,
        answer_kind: &'static str,
        answer: impl Fn(&Questioned<'_>, &dyn QueryContext) -> Result<Answered, Status> + Send + Sync + 'static,
    ) -> Self {
        let answer = Arc::new(answer);
        self.kind.questions.push(Question { name, answer_kind, takes_body: true, answer });
        self
    }

    /// Tells its changes as a history of rollouts, as the subresource `rollout-history`.
    pub fn rollout(mut self, rollout: Rollout) -> Self {
        self.kind.rollout = Some(rollout);
        self
    }

    /// Fields that can be used in field selectors.
    pub fn selects(mut self, fields: &[&str]) -> Self {
        self.stored().selectable.extend(fields.iter().map(ToString::to_string));
        self
    }

    /// Fields that are indexed for search.
    pub fn searches(mut self, fields: &[&str]) -> Self {
        self.kind.searchable.extend(fields.iter().map(ToString::to_string));
        self
    }

    /// A column of its table: its type, and a JSONPath such as `.spec.siteRef.name`.
    pub fn prints(self, name: &str, kind: &str, path: &str) -> Self {
        self.path_column(name, kind, path, 0)
    }

    /// A column that only wide tables show.
    pub fn prints_wide(self, name: &str, kind: &str, path: &str) -> Self {
        self.path_column(name, kind, path, 1)
    }

    fn path_column(self, name: &str, kind: &str, path: &str, priority: i64) -> Self {
        let column = json!({ "name": name, "type": kind, "jsonPath": path, "priority": priority });
        match Column::of_custom_resource(&column) {
            Ok(column) => self.column(column),
            Err(why) => panic!("column {name} of {}: {why}", T::KIND),
        }
    }

    /// A column with a function of its own.
    pub fn column(mut self, column: Column) -> Self {
        self.columns.push(column);
        self
    }

    /// The Age column, usually the last.
    pub fn prints_age(self) -> Self {
        self.column(Column::age())
    }

    /// A bucket: an index by a computed value that rules can query and that guards their decisions.
    pub fn bucket(
        mut self,
        bucket: Bucket,
        values: impl Fn(&T) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        let values = move |object: &Object| {
            let typed = T::deserialize(&object.0);
            typed.map(|typed| values(&typed)).unwrap_or_default()
        };
        self.kind.buckets.push((bucket, Arc::new(values)));
        self
    }

    /// The same on the object as JSON, which is faster: at every start, the index is built from all objects.
    pub fn bucket_raw(
        mut self,
        bucket: Bucket,
        values: impl Fn(&Object) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.kind.buckets.push((bucket, Arc::new(values)));
        self
    }

    /// Lets questions in the plane of a project be answered from objects of the root: those for which `project` says its name,
    /// or [`SHOWN_TO_ALL`](super::SHOWN_TO_ALL). Only the kind's own code sees them, and decides what it tells.
    pub fn shown_to_project(self, project: impl Fn(&T) -> Option<String> + Send + Sync + 'static) -> Self {
        self.bucket(super::SHOWN_TO_PROJECT, move |object| project(object).into_iter().collect())
    }

    /// A rule over more than the object itself.
    pub fn rule(
        mut self,
        rule: impl Fn(&Change<T>, &mut View<'_>) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        self.kind.rules.push(Arc::new(move |raw, view| match typed(raw)? {
            Some(change) => rule(&change, view),
            None => allow(),
        }));
        self
    }

    /// A rule over more than the object itself, as JSON.
    pub fn rule_raw(
        mut self,
        rule: impl Fn(&RawChange<'_>, &mut View<'_>) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        self.kind.rules.push(Arc::new(rule));
        self
    }

    /// What is written besides the object, in the same commit: other objects that it claims or counts on, and its own
    /// status. Called with every write of an object and of its status, and when the object is gone, to release what it
    /// holds. Not called for the objects that effects write.
    pub fn effects(
        mut self,
        effects: impl Fn(&Change<T>, &mut View<'_>) -> Result<Vec<Effect>, Refusal> + Send + Sync + 'static,
    ) -> Self {
        self.kind.effects.push(Arc::new(move |raw, view| match typed(raw)? {
            Some(change) => effects(&change, view),
            None => Ok(Vec::new()),
        }));
        self
    }

    /// A check of the object itself, by field.
    pub fn validate(mut self, check: impl Fn(&Change<T>) -> Vec<FieldError> + Send + Sync + 'static) -> Self {
        // What can't be read as the type is told by the schema, or by a rule.
        self.kind.validations.push(Arc::new(move |raw| match typed(raw) {
            Ok(Some(change)) => check(&change),
            Ok(None) | Err(_) => Vec::new(),
        }));
        self
    }

    /// A check of the object as JSON.
    pub fn validate_raw(
        mut self,
        check: impl Fn(&RawChange<'_>) -> Vec<FieldError> + Send + Sync + 'static,
    ) -> Self {
        self.kind.validations.push(Arc::new(check));
        self
    }

    /// Sets fields that the server decides about, before validation.
    pub fn prepare(mut self, prepare: impl Fn(&mut Object, Option<&Object>) + Send + Sync + 'static) -> Self {
        self.kind.prepare.push(Arc::new(move |new, old, _| prepare(new, old)));
        self
    }

    /// Time to live of an object.
    pub fn lifetime(
        mut self,
        lifetime: impl Fn(&Object) -> Option<Duration> + Send + Sync + 'static,
    ) -> Self {
        self.kind.lifetime = Some(Arc::new(lifetime));
        self
    }

    /// Validation of names. Defaults to DNS subdomain.
    pub fn names(mut self, rule: NameRule) -> Self {
        self.kind.name_rule = rule;
        self
    }

    /// Supported verbs. Defaults to all.
    pub fn verbs(mut self, verbs: &[&'static str]) -> Self {
        self.kind.verbs = verbs.to_vec();
        self
    }

    /// Verbs besides those of the API that permissions can name, such as `use`. References of other kinds take them:
    /// [`Reference::takes`].
    pub fn custom_verbs(mut self, verbs: &[&'static str]) -> Self {
        self.kind.custom_verbs = verbs.to_vec();
        self
    }

    /// Its objects are written by controllers alone: shipped roles for people let them be read and not written.
    pub fn controlled(mut self) -> Self {
        self.kind.is_controlled = true;
        self
    }

    /// A subresource that a route of the server answers for, such as a log, with its verbs. Shipped roles permit them.
    pub fn streams(mut self, name: &'static str, verbs: &'static [&'static str]) -> Self {
        self.kind.streams.push((name, verbs));
        self
    }

    /// Encrypts objects at rest.
    pub fn secret(mut self) -> Self {
        self.kind.secret = true;
        self
    }

    /// Keeps the value of a field in a Secret instead of the object: see [`Sealed`]. Whoever may get `<plural>/credentials` is
    /// given the values back.
    pub fn seals(mut self, sealed: Sealed) -> Self {
        if self.kind.sealed.is_empty() {
            // The server answers it itself: no kind is shown what is sealed.
            let answer = Arc::new(|_: &Questioned<'_>, _: &dyn QueryContext| Ok(Answered::Json(json!({}))));
            let question =
                Question { name: CREDENTIALS, answer_kind: "Credentials", takes_body: false, answer };
            self.kind.questions.push(question);
        }
        self.kind.sealed.push(sealed);
        self
    }

    /// Keeps who created an object in this annotation. Nobody else sets or removes it.
    pub fn names_creator(mut self, annotation: &'static str) -> Self {
        self.kind.creator = Some(annotation);
        self
    }

    /// Allows updates without a resource version.
    pub fn unconditional_update(mut self) -> Self {
        self.kind.unconditional_update = true;
        self
    }

    /// Allows updates to create objects.
    pub fn create_on_update(mut self) -> Self {
        self.kind.create_on_update = true;
        self
    }

    /// Allows strategic merge patches, as for Kubernetes' own kinds.
    pub fn strategic(mut self) -> Self {
        self.kind.strategic = true;
        self
    }

    /// Keeps no field owners of what effects write. For kinds that almost nobody else writes: who owns the fields takes as much
    /// room as the fields.
    pub fn owned_by_effects(mut self) -> Self {
        self.kind.tracks_effects = false;
        self
    }

    /// Leaves objects out of searches: for those that come with another object, which is found instead.
    pub fn unsearched(mut self) -> Self {
        self.kind.is_searched = false;
        self
    }

    /// Says that no index, bucket or reference depends on the status, so that a change of it need not be looked through for
    /// them. Only such objects can be amended ([`Effect::amend`]).
    pub fn found_by_spec(mut self) -> Self {
        self.kind.is_found_by_spec = true;
        self
    }

    /// Disables `metadata.generation`.
    pub fn no_generations(mut self) -> Self {
        self.kind.generations = false;
        self
    }

    /// The kind as the server knows it.
    ///
    /// # Panics
    /// When a kind has both effects and a time to live: an object that goes by itself would release nothing.
    pub fn finish(mut self) -> Kind {
        if self.kind.lifetime.is_some() && !self.kind.effects.is_empty() {
            panic!("{} cannot have both effects and a time to live", T::KIND);
        }
        for (mut version, columns) in std::mem::take(&mut self.others) {
            version.subresources = self.kind.versions[0].subresources.clone();
            let columns = columns.unwrap_or_else(|| {
                let is_there = |column: &&Column| {
                    column.path().is_none_or(|path| super::check::field_exists(&version.openapi, path))
                };
                self.columns.iter().skip(1).filter(is_there).cloned().collect()
            });
            version.columns = Columns::new(std::iter::once(Column::name()).chain(columns).collect());
            self.kind.versions.push(version);
        }
        self.kind.conversion = self.conversion.map(Arc::new);
        self.kind.versions[0].columns = Columns::new(self.columns);
        // Whatever the schema lets through, nothing is stored that can't be read as the type. A kind with rules says so
        // in each of them.
        if self.kind.rules.is_empty() {
            let readable = |raw: &RawChange<'_>, _: &mut View<'_>| {
                typed::<T>(&RawChange { old: None, ..*raw }).map(drop)
            };
            self.kind.rules.push(Arc::new(readable));
        }
        self.kind
    }
}

fn typed<T: Resource>(raw: &RawChange<'_>) -> Result<Option<Change<T>>, Refusal> {
    Change::of(raw)
}
