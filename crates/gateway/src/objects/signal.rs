//! Signals: a note in the store that watchers see and that goes by itself. The object is not written.

use apiserver::api::store_failure;
use apiserver::keys::{self, Parts};
use apiserver::plane::Plane;
use apiserver::write;
use krm::kind::Address;
use krm::status::Status;
use serde_json::json;
use store::{Author, Body, Key, Level, Put, Refused};

use super::Objects;
use crate::collection::{Collection, GROUP};
use crate::failure::Failure;
use crate::view::Names;

/// The plural under which the notes are kept. It is none of a kind: nobody lists them.
pub const PLURAL: &str = "signals";
/// How long a note stays, in milliseconds: long enough for every server to see it.
const STAYS: u64 = 60_000;

/// The object that a note is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signalled {
    /// Its collection.
    pub collection: &'static Collection,
    /// Its key.
    pub key: Key,
}

impl Signalled {
    /// What the note at a key is about.
    pub fn at(parts: &Parts<'_>) -> Option<Signalled> {
        if parts.group != GROUP || parts.plural != PLURAL {
            return None;
        }
        let (plural, name) = parts.name.split_once('.')?;
        let collection = Collection::of_plural(plural)?;
        let plane = if parts.namespace.is_empty() { Plane::root() } else { Plane::project(parts.namespace) };
        let at = Address {
            group: GROUP.to_owned(),
            plural: plural.to_owned(),
            namespace: String::new(),
            name: name.to_owned(),
        };
        Some(Signalled { collection, key: keys::object(&plane, &at).ok()? })
    }
}

impl Objects {
    /// Tells everybody who watches events to look at an object again, on every server.
    pub async fn signal(&self, id: &str) -> Result<(), Failure> {
        let names = Names::at(self.caller.now().await?);
        let found = self.find(id, &names)?;
        // It makes controllers work, and writes a note: who may only read does neither.
        let kind = self.caller.kind(self.view.collection, &found.plane())?;
        self.caller.call(&kind, &found.plane(), found.name()).may("update", found.name())?;
        let at = Address {
            group: GROUP.to_owned(),
            plural: PLURAL.to_owned(),
            namespace: found.plane().as_str().to_owned(),
            name: format!("{}.{}", self.view.collection.plural, found.name()),
        };
        let key = keys::object(&Plane::root(), &at).map_err(|error| Failure::invalid(error.to_string()))?;
        let api = &self.caller.api;
        let now = u64::try_from(api.now().seconds).unwrap_or(0) * 1_000;
        // Another note about the same object differs from the one before: it is another signal.
        let uid = api.new_uid();
        let note = json!({"apiVersion": format!("{GROUP}/v1alpha1"), "kind": "Signal", "metadata": {
            "name": at.name, "uid": uid.as_str(),
        }, "by": &*self.caller.who.user});
        let author = Author::new(&*self.caller.who.user, "fulfillment-api");
        let written = api.store().transact(author, move |view| -> Result<(), Status> {
            // A note that is there already goes on in the same life.
            let earlier = view.get(&key).map(|earlier| earlier.uid());
            let body = Body::plain(note.to_string());
            let mut put =
                Put::new(key.clone(), earlier.unwrap_or_else(|| write::uid_of(&uid)), body).verb("signal");
            put.level = Level::None;
            put.expires = Some(now + STAYS);
            view.put(put);
            Ok(())
        });
        match written.await {
            Ok(_) => Ok(()),
            Err(Refused::Store(error)) => Err(store_failure(&error).into()),
            Err(Refused::Decision(status)) => Err(status.into()),
        }
    }
}
