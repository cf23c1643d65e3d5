//! Quotas: the number of objects in each project, and its limit.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use krm::status::Status;
use store::{Key, Snapshot};

use crate::call::Call;
use crate::definitions;
use crate::keys;

/// How much there may be in one project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Objects of all kinds.
    pub objects: usize,
    /// Definitions of kinds.
    pub definitions: usize,
}

impl Default for Room {
    fn default() -> Room {
        Room { objects: 100_000, definitions: 500 }
    }
}

/// Counts what is in projects. It follows the store, so that a burst of writes may go a little beyond what there is room for.
#[derive(Debug, Default)]
pub struct Population {
    counted: RwLock<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    room: Room,
    projects: HashMap<Box<str>, Room>,
}

impl Population {
    /// How much there may be from now on.
    pub fn give_room(&self, room: Room) {
        self.counted.write().unwrap_or_else(PoisonError::into_inner).room = room;
    }

    /// Counts everything that is there.
    pub fn load(&self, snapshot: &Snapshot) {
        let mut counted = self.counted.write().unwrap_or_else(PoisonError::into_inner);
        counted.projects.clear();
        snapshot.list(b"").for_each(|(key, _)| counted.count(key, true));
    }

    /// An object came or went.
    pub fn count(&self, key: &Key, came: bool) {
        if keys::parts(key).is_some_and(|parts| !parts.plane.is_empty()) {
            self.counted.write().unwrap_or_else(PoisonError::into_inner).count(key, came);
        }
    }

    /// Whether one more object of a kind may be made; an error says how many there are. What keeps a project in order always
    /// may.
    pub fn has_room(&self, call: &Call, name: &str) -> Result<(), Status> {
        if call.plane.is_root() || call.fence.is_some() {
            return Ok(());
        }
        let counted = self.counted.read().unwrap_or_else(PoisonError::into_inner);
        let found = counted.projects.get(call.plane.as_str()).copied();
        let found = found.unwrap_or(Room { objects: 0, definitions: 0 });
        let of_definitions = call.kind.group == definitions::GROUP;
        let (found, most, what, flag) = match of_definitions && found.definitions >= counted.room.definitions
        {
            true => {
                (found.definitions, counted.room.definitions, "definitions", "--max-definitions-per-project")
            }
            false => (found.objects, counted.room.objects, "objects", "--max-objects-per-project"),
        };
        if found < most {
            return Ok(());
        }
        let why = format!(
            "exceeded quota: project {:?} has {found} {what}, limit is {most}; delete some, or ask the administrator of the \
             server to raise {flag}",
            call.plane.as_str()
        );
        Err(Status::forbidden(&call.kind.resource(), name, why))
    }
}

impl Counted {
    fn count(&mut self, key: &Key, came: bool) {
        let Some(parts) = keys::parts(key).filter(|parts| !parts.plane.is_empty()) else { return };
        if !self.projects.contains_key(parts.plane) {
            self.projects.insert(parts.plane.into(), Room { objects: 0, definitions: 0 });
        }
        let Some(found) = self.projects.get_mut(parts.plane) else { return };
        let step = |count: &mut usize| *count = if came { *count + 1 } else { count.saturating_sub(1) };
        step(&mut found.objects);
        if parts.group == definitions::GROUP {
            step(&mut found.definitions);
        }
        if found.objects == 0 {
            self.projects.remove(parts.plane);
        }
    }
}
