//! Hosts/Sync: observations of many hosts, in as few commits as the store's limits allow.

use std::collections::BTreeSet;
use std::sync::Arc;

use apiserver::call::Call;
use apiserver::plane::Plane;
use apiserver::transaction::item::{Doing, Item, Named, Operation};
use apiserver::transaction::{self, Work};
use apiserver::write::patch::Patch;
use krm::Object;
use prost_reflect::{DynamicMessage, Value};
use tonic::Code;

use super::update::{Change, Changes};
use super::{Objects, applied};
use crate::failure::Failure;
use crate::view::Names;

/// An observation of an object.
#[derive(Debug, Clone)]
pub struct Observation {
    /// The object, with its identifier.
    pub object: DynamicMessage,
    /// The fields that were observed; without a mask those that are set.
    pub mask: Option<Vec<String>>,
}

/// What came of an observation.
#[derive(Debug, Clone)]
pub struct Synced {
    /// The identifier of the object.
    pub id: String,
    /// What was done, or why nothing was.
    pub outcome: Result<Outcome, Failure>,
}

/// What was done with an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The object was created.
    Created,
    /// The object was changed.
    Updated,
    /// The object was like that already.
    Unchanged,
}

impl Objects {
    /// Takes a batch of observations: in one commit if all of them can be written, else one by one.
    pub async fn sync(&self, batch: Vec<Observation>) -> Vec<Synced> {
        let mut seen = BTreeSet::new();
        let is_one_each = batch.iter().all(|observation| seen.insert(id_of(&observation.object)));
        if is_one_each
            && batch.len() > 1
            && let Ok(synced) = self.sync_together(&batch).await
        {
            return synced;
        }
        let mut all = Vec::with_capacity(batch.len());
        for observation in batch {
            let id = id_of(&observation.object);
            all.push(Synced { id, outcome: self.sync_one(observation).await });
        }
        all
    }

    async fn sync_one(&self, observation: Observation) -> Result<Outcome, Failure> {
        let id = id_of(&observation.object);
        if id.is_empty() {
            return Err(Failure::invalid("field 'object.id': an identifier is required"));
        }
        let names = Names::at(self.caller.now().await?);
        match self.find(&id, &names) {
            // Applied, as below.
            Err(failure) if failure.code == Code::NotFound && self.caller.is_source() => {
                self.sync_together(&[observation]).await.map(|_| Outcome::Created)
            }
            Err(failure) if failure.code == Code::NotFound => {
                self.create(observation.object).await.map(|_| Outcome::Created)
            }
            Err(failure) => Err(failure),
            Ok(_) => {
                let changes = self.changes(&observation);
                let (_, is_written) = self.write(observation.object, &changes).await?;
                Ok(if is_written { Outcome::Updated } else { Outcome::Unchanged })
            }
        }
    }

    fn changes(&self, observation: &Observation) -> Changes {
        let mask = observation.mask.clone().unwrap_or_else(|| set_paths(&observation.object, ""));
        Changes { mask: Some(mask), lock: false }
    }

    /// All of a batch in one commit.
    async fn sync_together(&self, batch: &[Observation]) -> Result<Vec<Synced>, Failure> {
        let snapshot = self.caller.now().await?;
        let root = Plane::root();
        let kind = self.caller.kind(self.view.collection, &root)?;
        let call = Arc::new(self.caller.call(&kind, &root, ""));
        let options = self.caller.options();
        let (mut items, mut synced) = (Vec::new(), Vec::<Synced>::new());
        // Where the result of each item belongs.
        let mut places = Vec::new();
        for observation in batch {
            let id = id_of(&observation.object);
            let names = Names::at(snapshot.clone());
            if id.is_empty() {
                return Err(Failure::invalid("field 'object.id': an identifier is required"));
            }
            let (operation, doing, name, outcome) = match self.find(&id, &names) {
                Err(failure) if failure.code == Code::NotFound => {
                    call.may("create", "")?;
                    let object = self.new_object(&observation.object, &call, &names)?;
                    let name = object.name().to_owned();
                    // What a Source creates it owns as if it had applied it, so that it can apply changes later.
                    let (operation, doing) = match self.caller.is_source() {
                        true => (Operation::Apply, Doing::Patch(Box::new(Patch::Apply(object, Vec::new())))),
                        false => (Operation::Create, Doing::Create(object)),
                    };
                    (operation, doing, name, Outcome::Created)
                }
                Err(failure) => return Err(failure),
                Ok(found) => {
                    let changes = self.changes(observation);
                    let change =
                        Change::read(&self.view, &self.caller, observation.object.clone(), &changes, names)?;
                    let old = apiserver::encode::read(found.entry.bytes())?;
                    let mut new = change.changed(&old, &found.entry, "")?;
                    if new == old {
                        synced.push(Synced { id, outcome: Ok(Outcome::Unchanged) });
                        continue;
                    }
                    if new.get("status") != old.get("status") {
                        // A status takes a right of its own, and is rare here: it is written by itself.
                        return Err(Failure::invalid("a batch with a status is written one by one"));
                    }
                    call.may("update", found.name())?;
                    new.set_meta("resourceVersion", Some(old.resource_version().into()));
                    let name = found.name().to_owned();
                    let (operation, doing) = match self.caller.is_source() {
                        true => {
                            let wanted = applied::wanted(&old, &new, &options.manager);
                            (Operation::Apply, Doing::Patch(Box::new(Patch::Apply(wanted, Vec::new()))))
                        }
                        false => (Operation::Update, Doing::Update(new)),
                    };
                    (operation, doing, name, Outcome::Updated)
                }
            };
            let one = Call { name: name.clone(), ..Call::clone(&call) };
            let named = Named {
                api_version: call.api_version(),
                kind: kind.names.kind.clone(),
                resource: kind.names.plural.clone(),
                namespace: String::new(),
                name,
            };
            items.push(Item {
                index: items.len(),
                named,
                operation,
                doing: Ok((Arc::new(one), doing)),
                options: options.clone(),
                ignores_not_found: false,
            });
            places.push(synced.len());
            synced.push(Synced { id, outcome: Ok(outcome) });
        }
        if !items.is_empty() {
            let work = Work { call, items, options };
            let ended = transaction::run(Arc::new(work), None).await?;
            for tried in &ended.tried {
                // A password that is sent again is recognized only where it is kept.
                let is_unchanged = tried.outcome.as_ref().is_ok_and(|done| done.result == "unchanged");
                if let (true, Some(place)) = (is_unchanged, places.get(tried.index)) {
                    synced[*place].outcome = Ok(Outcome::Unchanged);
                }
            }
        }
        Ok(synced)
    }

    fn new_object(&self, message: &DynamicMessage, call: &Call, names: &Names) -> Result<Object, Failure> {
        if message.get_field_by_name("status").is_some_and(|status| !is_empty(&status)) {
            return Err(Failure::invalid("a batch with a status is written one by one"));
        }
        let mut message = message.clone();
        message.clear_field_by_name("status");
        self.object_of(&message, call, names)
    }
}

fn is_empty(value: &Value) -> bool {
    matches!(value, Value::Message(message) if message.fields().next().is_none())
}

fn id_of(message: &DynamicMessage) -> String {
    message.get_field_by_name("id").and_then(|id| id.as_str().map(str::to_owned)).unwrap_or_default()
}

/// The paths of all fields that are set, as far in as messages go.
pub(crate) fn set_paths(message: &DynamicMessage, prefix: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for (field, value) in message.fields() {
        let path =
            if prefix.is_empty() { field.name().to_owned() } else { format!("{prefix}.{}", field.name()) };
        match value {
            Value::Message(inner)
                if field.kind().as_message().is_some_and(|of| of.package_name() != "google.protobuf") =>
            {
                paths.extend(set_paths(inner, &path));
            }
            _ => paths.push(path),
        }
    }
    paths
}
