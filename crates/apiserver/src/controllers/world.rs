//! The world that controllers in the server see: a snapshot of the store.

use std::sync::Arc;

use krm::Object;
use krm::kind::{Bucket, Kind, QueryContext};
use reconcile::context::{Kinds, World};
use reconcile::target::Target;
use store::{Entry, Key, Snapshot};

use crate::api::Api;
use crate::catalog::Catalog;
use crate::handle::question::Seen;
use crate::index;
use crate::keys;
use crate::plane::Plane;
use crate::present;
use crate::write::uid_of;

/// Small writes of one commit, where the store has no limit of operations.
const MOST_WRITES: usize = 1000;
/// Operations of the store for one small write, at most.
const OPERATIONS_OF_A_WRITE: usize = 6;

/// All planes at one moment.
pub struct ServerWorld {
    api: Api,
    snapshot: Snapshot,
}

impl ServerWorld {
    /// The world as a snapshot shows it.
    pub fn new(api: &Api, snapshot: Snapshot) -> ServerWorld {
        ServerWorld { api: api.clone(), snapshot }
    }

    /// The objects of a plane.
    pub fn plane(&self, plane: &str) -> Seen {
        Seen::everything(&self.api, &plane_of(plane), self.snapshot.clone())
    }
}

impl World for ServerWorld {
    fn look(&self, plane: &str) -> Box<dyn QueryContext + '_> {
        Box::new(self.plane(plane))
    }

    fn kinds(&self, plane: &str) -> Box<dyn Kinds + '_> {
        Box::new(Served(self.api.kinds().of(&plane_of(plane))))
    }

    fn most_writes(&self) -> usize {
        // A small object costs a few operations: its key, its record, and the buckets that it enters or leaves.
        match self.api.store().limits().operations {
            Some(most) => (most / OPERATIONS_OF_A_WRITE).max(1),
            None => MOST_WRITES,
        }
    }

    fn metadata(&self, target: &Target) -> Option<Object> {
        let key = key_of(target)?;
        metadata(&self.api, &key, self.snapshot.get(&key)?)
    }

    fn is_outdated(&self, target: &Target) -> bool {
        let catalog = self.api.kinds().of(&plane_of(&target.plane));
        let kind = catalog.resource(&target.at.group, &target.at.plural);
        let Some(kind) = kind.filter(|kind| kind.conversion.is_some()) else { return false };
        let Some(key) = key_of(target) else { return false };
        let bytes = self.snapshot.get(&key).and_then(|entry| self.api.reveal(&key, entry).ok());
        bytes.is_some_and(|bytes| !present::is_in_storage_version(kind, &bytes))
    }

    fn is_of_one_moment(&self) -> bool {
        // In a simulation, some keys may be read as they were.
        !self.api.store().environment().is_single_threaded
    }

    fn lives(&self, target: &Target, uid: &str) -> bool {
        let Some(key) = key_of(target) else { return false };
        let is_there = self.snapshot.get(&key).is_some_and(|entry| entry.uid() == uid_of(uid));
        let going = index::going(&plane_of(&target.plane), &target.at);
        is_there && self.snapshot.having(&going).next().is_none()
    }

    fn born(&self, target: &Target) -> Option<u64> {
        Some(self.snapshot.get(&key_of(target)?)?.born())
    }

    fn owned(&self, plane: &str, uid: &str) -> Vec<Target> {
        let owned = self.snapshot.having(&index::owned_by(&plane_of(plane), uid));
        owned.filter_map(target_of).collect()
    }

    fn of_kind(&self, plane: &str, group: &str, plural: &str) -> Vec<Target> {
        let prefix = keys::of_kind(&plane_of(plane), group, plural);
        self.snapshot.list(prefix.as_bytes()).filter_map(|(key, _)| target_of(key)).collect()
    }

    fn in_namespace(&self, plane: &str, namespace: &str) -> Vec<Target> {
        let place = plane_of(plane);
        let catalog = self.api.kinds().of(&place);
        let contained =
            |kind: &&Arc<Kind>| kind.is_namespaced() && kind.takes("delete") && kind.mirror.is_none();
        let mut found = Vec::new();
        for kind in catalog.all().filter(contained) {
            let prefix = keys::in_namespace(&place, &kind.group, &kind.names.plural, namespace);
            found.extend(self.snapshot.list(prefix.as_bytes()).filter_map(|(key, _)| target_of(key)));
        }
        found
    }

    fn has_any(&self, plane: &str, bucket: Bucket, value: &str) -> bool {
        self.snapshot.count_having(&index::in_bucket(&plane_of(plane), bucket, value)) > 0
    }

    fn in_plane(&self, plane: &str) -> Vec<Target> {
        let prefix = format!("{plane}/");
        self.snapshot.list(prefix.as_bytes()).filter_map(|(key, _)| target_of(key)).collect()
    }
}

/// The kinds of a plane.
struct Served(Arc<Catalog>);

impl Kinds for Served {
    fn kind(&self, group: &str, kind: &str) -> Option<Arc<Kind>> {
        self.0.kind(group, kind).cloned()
    }

    fn resource(&self, group: &str, plural: &str) -> Option<Arc<Kind>> {
        self.0.resource(group, plural).cloned()
    }

    fn all(&self) -> Vec<Arc<Kind>> {
        self.0.all().cloned().collect()
    }
}

/// The plane of this name; the root's is empty.
pub fn plane_of(name: &str) -> Plane {
    if name.is_empty() { Plane::root() } else { Plane::project(name) }
}

/// The key of an object.
pub fn key_of(target: &Target) -> Option<Key> {
    keys::object(&plane_of(&target.plane), &target.at).ok()
}

/// The object that a key is of.
pub fn target_of(key: &Key) -> Option<Target> {
    keys::parts(key).map(|parts| Target::new(parts.plane, parts.address()))
}

/// The metadata of a stored object.
pub fn metadata(api: &Api, key: &Key, entry: &Entry) -> Option<Object> {
    reconcile::metadata::read(&api.reveal(key, entry).ok()?)
}
