//! Declaration of our kinds: a builder with everything about a kind in one place.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::change::Address;
use super::{
    Answered, Change, History, Kind, Look, NameRule, Planes, Question, Questioned, RawChange, Reference,
    Refusal, Scale, Scope, Subresource, Verdict, Version, View, Webhook, allow,
};
use crate::field::{FieldError, Path};
use crate::object::Object;
use crate::schema::schema_of;
use crate::status::Status;
use crate::table::{Column, Columns};

/// A kind of ours: the type of its objects, and what it declares.
pub trait Resource: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// Its group; empty for the core one.
    const GROUP: &'static str;
    /// Its version.
    const VERSION: &'static str;
    /// Its name: `Rack`.
    const KIND: &'static str;
    /// Its resource: `racks`.
    const PLURAL: &'static str;

    /// Everything else about it.
    fn declare() -> Declaration<Self>;

    /// Where an object of this kind is to be found.
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

/// What a kind says about itself; every line is optional.
pub struct Declaration<T> {
    kind: Kind,
    columns: Vec<Column>,
    of: std::marker::PhantomData<fn() -> T>,
}

impl<T: Resource> Declaration<T> {
    /// A kind without namespaces.
    pub fn cluster() -> Declaration<T> {
        Declaration::new(Scope::Cluster)
    }

    /// A kind with namespaces.
    pub fn namespaced() -> Declaration<T> {
        Declaration::new(Scope::Namespaced)
    }

    fn new(scope: Scope) -> Declaration<T> {
        let version = Version::new(T::VERSION, schema_of::<T>())
            .unwrap_or_else(|error| panic!("invalid schema of {}: {error}", T::KIND));
        let kind = Kind::new(T::GROUP, T::KIND, T::PLURAL, scope, version);
        Declaration { kind, columns: vec![Column::name()], of: std::marker::PhantomData }
    }

    fn version(&mut self) -> &mut Version {
        &mut self.kind.versions[0]
    }

    /// Short names for the command line.
    pub fn short(mut self, names: &[&str]) -> Self {
        self.kind.names.short = names.iter().map(ToString::to_string).collect();
        self
    }

    /// What it is listed with.
    pub fn categories(mut self, names: &[&str]) -> Self {
        self.kind.names.categories = names.iter().map(ToString::to_string).collect();
        self
    }

    /// Where it is served; everywhere unless said.
    pub fn planes(mut self, planes: Planes) -> Self {
        self.kind.planes = planes;
        self
    }

    /// How much of its past is kept; everything unless said.
    pub fn history(mut self, history: History) -> Self {
        self.kind.history = history;
        self
    }

    /// Status is written through a path of its own.
    pub fn status(mut self) -> Self {
        self.version().subresources.push(Subresource::Status);
        self
    }

    /// It can be scaled.
    pub fn scale(mut self, scale: Scale) -> Self {
        self.version().subresources.push(Subresource::Scale(scale));
        self
    }

    /// It refers to another kind.
    pub fn refers(mut self, reference: Reference) -> Self {
        self.kind.references.push(reference);
        self
    }

    /// It may name an object of any kind at `path`, as `{apiGroup, kind, namespace, name}`; nothing is refused for it.
    pub fn mentions(mut self, path: &str) -> Self {
        self.kind.mentions.push(path.to_owned());
        self
    }

    /// It refuses in the words of a validating webhook that clients know.
    pub fn refuses_as(mut self, name: &'static str, order: &'static [&'static str]) -> Self {
        self.kind.webhook = Some(Webhook { name, order });
        self
    }

    /// Something that can be asked of it, at a path of its own.
    pub fn answers(
        mut self,
        name: &'static str,
        answer_kind: &'static str,
        answer: impl Fn(&Questioned<'_>, &dyn Look) -> Result<Answered, Status> + Send + Sync + 'static,
    ) -> Self {
        let answer = Arc::new(answer);
        self.kind.questions.push(Question { name, answer_kind, takes_body: false, answer });
        self
    }

    /// The same, of something that is sent with the question: it can be posted as well, and nothing is kept of it.
    pub fn answers_about(
        mut self,
        name: &'static str,
        answer_kind: &'static str,
        answer: impl Fn(&Questioned<'_>, &dyn Look) -> Result<Answered, Status> + Send + Sync + 'static,
    ) -> Self {
        let answer = Arc::new(answer);
        self.kind.questions.push(Question { name, answer_kind, takes_body: true, answer });
        self
    }

    /// Fields that a field selector may name.
    pub fn selects(mut self, fields: &[&str]) -> Self {
        self.version().selectable.extend(fields.iter().map(ToString::to_string));
        self
    }

    /// Fields that a search looks at.
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

    /// A column made with care.
    pub fn column(mut self, column: Column) -> Self {
        self.columns.push(column);
        self
    }

    /// How old an object is, as the last column usually says.
    pub fn prints_age(self) -> Self {
        self.column(Column::age())
    }

    /// A bucket its objects are in: a question that rules may ask, and that guards them.
    pub fn bucket(
        mut self,
        name: &'static str,
        values: impl Fn(&T) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        let values = move |object: &Object| {
            let typed = T::deserialize(&serde_json::Value::Object(object.0.clone()));
            typed.map(|typed| values(&typed)).unwrap_or_default()
        };
        self.kind.buckets.push((name, Arc::new(values)));
        self
    }

    /// The same, read off the object as JSON: indexes are made of every object at every start, and that adds up.
    pub fn bucket_raw(
        mut self,
        name: &'static str,
        values: impl Fn(&Object) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.kind.buckets.push((name, Arc::new(values)));
        self
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

    /// What the server decides about a new object before it is checked.
    pub fn prepare(mut self, prepare: impl Fn(&mut Object, Option<&Object>) + Send + Sync + 'static) -> Self {
        self.kind.prepare.push(Arc::new(move |new, old, _| prepare(new, old)));
        self
    }

    /// How long an object lives by itself.
    pub fn lifetime(
        mut self,
        lifetime: impl Fn(&Object) -> Option<Duration> + Send + Sync + 'static,
    ) -> Self {
        self.kind.lifetime = Some(Arc::new(lifetime));
        self
    }

    /// What a name may be; a DNS subdomain unless said.
    pub fn names(mut self, rule: NameRule) -> Self {
        self.kind.name_rule = rule;
        self
    }

    /// The verbs it takes; all of them unless said.
    pub fn verbs(mut self, verbs: &[&'static str]) -> Self {
        self.kind.verbs = verbs.to_vec();
        self
    }

    /// Sealed at rest.
    pub fn secret(mut self) -> Self {
        self.kind.secret = true;
        self
    }

    /// An update needs no version of what it replaces.
    pub fn unconditional_update(mut self) -> Self {
        self.kind.unconditional_update = true;
        self
    }

    /// An update of what is not there makes it.
    pub fn create_on_update(mut self) -> Self {
        self.kind.create_on_update = true;
        self
    }

    /// Strategic merge patches are taken, as for Kubernetes' own kinds.
    pub fn strategic(mut self) -> Self {
        self.kind.strategic = true;
        self
    }

    /// The server counts no generations of it.
    pub fn no_generations(mut self) -> Self {
        self.kind.generations = false;
        self
    }

    /// The kind as the server knows it.
    pub fn finish(mut self) -> Kind {
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
    Change::read(raw).map_err(|error| {
        Refusal::from(FieldError::new(crate::field::Fault::Invalid, &Path::ROOT, error.to_string()))
    })
}
