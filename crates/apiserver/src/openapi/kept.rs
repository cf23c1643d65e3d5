//! What was made of some kinds, kept as long as those kinds are served and there is room.
//!
//! Planes that serve the same kinds share what was made of them, and what was made of other kinds stays when one changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use krm::kind::Kind;

/// Things made of kinds, by their names.
pub struct Kept<T> {
    held: Mutex<Held<T>>,
    /// How many bytes may be held.
    room: usize,
    size: fn(&T) -> usize,
}

struct Held<T> {
    by_name: HashMap<String, Vec<Slot<T>>>,
    /// Counts the times anything was asked for.
    clock: u64,
}

struct Slot<T> {
    /// What it was made of; as long as these are held, no other kind is at their address.
    of: Vec<Weak<Kind>>,
    made: Arc<OnceLock<Arc<T>>>,
    used: u64,
}

impl<T> Kept<T> {
    /// Keeps about so many bytes.
    pub fn new(room: usize, size: fn(&T) -> usize) -> Kept<T> {
        Kept { held: Mutex::new(Held { by_name: HashMap::new(), clock: 0 }), room, size }
    }

    /// What was made of these kinds under this name; made now if it was not. Who asks while it is made waits for it.
    pub fn get(&self, name: &str, of: &[Arc<Kind>], make: impl FnOnce() -> T) -> Arc<T> {
        let slot = self.slot(name, of);
        if let Some(made) = slot.get() {
            return made.clone();
        }
        let made = slot.get_or_init(|| Arc::new(make())).clone();
        self.make_room();
        made
    }

    fn slot(&self, name: &str, of: &[Arc<Kind>]) -> Arc<OnceLock<Arc<T>>> {
        let mut held = self.lock();
        held.clock += 1;
        let used = held.clock;
        let slots = held.by_name.entry(name.to_owned()).or_default();
        if let Some(slot) = slots.iter_mut().find(|slot| slot.is_of(of)) {
            slot.used = used;
            return slot.made.clone();
        }
        let made = Arc::default();
        slots.push(Slot { of: of.iter().map(Arc::downgrade).collect(), made: Arc::clone(&made), used });
        made
    }

    /// Lets go of what was made of kinds that are gone, then of what was not asked for the longest.
    fn make_room(&self) {
        let mut held = self.lock();
        for slots in held.by_name.values_mut() {
            slots.retain(|slot| slot.of.iter().all(|kind| kind.strong_count() > 0));
        }
        let sizes = held.by_name.values().flatten();
        let mut sizes: Vec<(u64, usize)> = sizes.map(|slot| (slot.used, self.size_of(slot))).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let mut room = self.room;
        let fits = |(_, size): &&(u64, usize)| {
            room = room.saturating_sub(*size);
            room > 0
        };
        // What was made last stays, however large it is.
        let kept = sizes.iter().take_while(fits).count().max(1);
        let oldest = sizes.get(kept - 1).map_or(0, |(used, _)| *used);
        held.by_name.retain(|_, slots| {
            slots.retain(|slot| slot.used >= oldest);
            !slots.is_empty()
        });
    }

    fn size_of(&self, slot: &Slot<T>) -> usize {
        slot.made.get().map_or(0, |made| (self.size)(made))
    }

    fn lock(&self) -> MutexGuard<'_, Held<T>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Slot<T> {
    fn is_of(&self, kinds: &[Arc<Kind>]) -> bool {
        let same = |(kept, kind): (&Weak<Kind>, &Arc<Kind>)| kept.as_ptr() == Arc::as_ptr(kind);
        self.of.len() == kinds.len() && self.of.iter().zip(kinds).all(same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm::kind::{Scope, Version};

    fn kind(name: &str) -> Arc<Kind> {
        let version = Version::new("v1", serde_json::json!({"type": "object"})).unwrap();
        Arc::new(Kind::new("g", name, name, Scope::Cluster, version))
    }

    #[test]
    fn what_was_made_stays_until_its_kinds_change() {
        let kept = Kept::new(1000, String::len);
        let (a, b) = (kind("A"), kind("B"));
        let first = kept.get("v1", &[a.clone(), b.clone()], || "first".to_owned());
        assert!(Arc::ptr_eq(&first, &kept.get("v1", &[a.clone(), b.clone()], || unreachable!())));
        let again = kept.get("v1", &[a.clone(), kind("B")], || "again".to_owned());
        assert_eq!((first.as_str(), again.as_str()), ("first", "again"));
        assert_eq!(*kept.get("v2", &[a, b], || "other".to_owned()), "other");
    }

    #[test]
    fn what_was_made_of_kinds_that_are_gone_is_let_go() {
        let kept = Kept::new(1000, String::len);
        let gone = Arc::downgrade(&kept.get("v1", &[kind("A")], || "gone".to_owned()));
        kept.get("v1", &[kind("B")], || "new".to_owned());
        assert!(gone.upgrade().is_none());
    }

    #[test]
    fn what_was_not_asked_for_the_longest_makes_room() {
        let kept = Kept::new(25, String::len);
        let kinds = [kind("A"), kind("B"), kind("C")];
        let make = |index: usize| kept.get("v1", &kinds[index..=index], || "ten bytes.".to_owned());
        let made = [0, 1].map(make).map(|made| Arc::downgrade(&made));
        make(0);
        make(2);
        assert_eq!(made.map(|made| made.upgrade().is_some()), [true, false]);
    }
}
