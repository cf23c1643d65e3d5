//! Records of external actions, in the store beside the objects. They are not objects of the API.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use reconcile::operation::Operations;
use reconcile::target::Target;
use serde_json::Value;
use store::{Body, Key, Level, Put, Snapshot, Uid, View};

use crate::api::Api;
use crate::read::all_planes;
use crate::write;

/// The group under which records are kept. No kind is served in it.
const GROUP: &str = "internal.groundplane.dev";

/// The records of a controller about one object.
pub struct Records<'a> {
    /// The controller.
    pub controller: &'a str,
    /// The server.
    pub api: &'a Api,
    /// The object.
    pub target: &'a Target,
}

/// All records of a controller: each with its object and its operations.
pub fn of_controller(api: &Api, snapshot: &Snapshot, controller: &str) -> Vec<Value> {
    let records = all_planes::all(api.kinds(), snapshot).into_iter().flat_map(|plane| {
        let prefix = format!("{}/{GROUP}/operations//{controller}.", plane.as_str());
        let found = snapshot.list(prefix.as_bytes());
        let read = move |(key, entry): (&Key, &Arc<store::Entry>)| {
            let record: Value = serde_json::from_slice(&api.reveal(key, entry).ok()?).ok()?;
            // The name of another controller may begin with this one's and a dot.
            (record["controller"] == controller).then_some(record)
        };
        found.filter_map(read).collect::<Vec<_>>()
    });
    records.collect()
}

/// A record to be written or removed.
#[derive(Clone)]
pub struct Record {
    key: Key,
    uid: Uid,
    bytes: Option<Vec<u8>>,
}

impl Records<'_> {
    /// The operations that are recorded.
    pub fn read(&self, snapshot: &Snapshot) -> Operations {
        let entry = self.key().and_then(|key| Some((key.clone(), snapshot.get(&key)?.clone())));
        let Some((key, entry)) = entry else { return Operations::default() };
        let bytes = self.api.reveal(&key, &entry);
        let record: Value =
            bytes.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        Operations::read(&record["operations"])
    }

    /// The record of these operations; it is removed if there are none.
    pub fn write(&self, operations: &Operations) -> Record {
        let record = serde_json::json!({
            "controller": self.controller,
            "object": self.target.to_string(),
            "operations": operations.record(),
        });
        let bytes = (!operations.is_empty()).then(|| record.to_string().into_bytes());
        #[expect(clippy::expect_used, reason = "the key is made of a fixed prefix and hexadecimal digits")]
        let key = self.key().expect("a valid key");
        Record { key, uid: write::uid_of(&self.api.new_uid()), bytes }
    }

    /// Beside the object's plane, so that it goes with it.
    fn key(&self) -> Option<Key> {
        let mut hasher = DefaultHasher::new();
        (self.controller, &self.target.at).hash(&mut hasher);
        let plane = &self.target.plane;
        Key::new(format!("{plane}/{GROUP}/operations//{}.{:016x}", self.controller, hasher.finish())).ok()
    }
}

impl Record {
    /// Writes or removes it; `false` if it is so already.
    pub fn put(&self, view: &mut View) -> bool {
        match &self.bytes {
            None if view.exists(&self.key) => view.delete(self.key.clone(), "delete"),
            None => return false,
            Some(bytes) => {
                let earlier = view.get(&self.key);
                let is_same =
                    |entry: &Arc<store::Entry>| !entry.is_sealed() && entry.bytes()[..] == bytes[..];
                if earlier.as_ref().is_some_and(is_same) {
                    return false;
                }
                let uid = earlier.map_or(self.uid, |entry| entry.uid());
                let mut put = Put::new(self.key.clone(), uid, Body::plain(bytes.clone())).verb("update");
                put.level = Level::None;
                view.put(put);
            }
        }
        true
    }
}
