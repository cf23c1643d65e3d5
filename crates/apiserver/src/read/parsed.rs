//! Cache of parsed objects for read-only subresources.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use krm::kind::Parsed;
use store::{Key, Version};

/// How many bytes the kept objects have in all, as they are stored. Parsed they take about as many.
const MOST: usize = 64 << 20;
/// Questions that are asked at the same time seldom wait for each other.
const SHELVES: usize = 16;

/// What was parsed last.
#[derive(Default)]
pub struct ParsedObjects {
    shelves: [Mutex<Shelf>; SHELVES],
}

/// Two ages: what is asked for again becomes young again; when there are too many young ones they become old, and the
/// old ones go.
#[derive(Default)]
struct Shelf {
    young: HashMap<Version, Kept>,
    old: HashMap<Version, Kept>,
    young_bytes: usize,
}

struct Kept {
    key: Key,
    bytes: usize,
    parsed: Parsed,
}

impl ParsedObjects {
    /// What the write of this version left at the key, or what `parse` makes of it. `bytes` is how many it has stored.
    pub fn get(
        &self,
        key: &Key,
        version: Version,
        bytes: usize,
        parse: impl FnOnce() -> Option<Parsed>,
    ) -> Option<Parsed> {
        if let Some(parsed) = self.shelf(version).get(key, version) {
            return Some(parsed);
        }
        // Not under the lock: two may parse it at the same time, and get the same.
        let parsed = parse()?;
        let kept = Kept { key: key.clone(), bytes, parsed: parsed.clone() };
        self.shelf(version).put(version, kept);
        Some(parsed)
    }

    fn shelf(&self, version: Version) -> std::sync::MutexGuard<'_, Shelf> {
        // Neighbours of one commit are next to each other, and commits too.
        let number = version.get() ^ (version.get() >> 16);
        let shelf = &self.shelves[usize::try_from(number).unwrap_or(0) % SHELVES];
        shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        let count = |shelf: &Mutex<Shelf>| {
            let shelf = shelf.lock().unwrap();
            shelf.young.len() + shelf.old.len()
        };
        self.shelves.iter().map(count).sum()
    }
}

impl Shelf {
    fn get(&mut self, key: &Key, version: Version) -> Option<Parsed> {
        // A version is that of one write, and so of one key; that it is this one costs little to make sure of.
        if let Some(kept) = self.young.get(&version) {
            return (kept.key == *key).then(|| kept.parsed.clone());
        }
        let kept = self.old.remove(&version).filter(|kept| kept.key == *key)?;
        let parsed = kept.parsed.clone();
        self.put(version, kept);
        Some(parsed)
    }

    fn put(&mut self, version: Version, kept: Kept) {
        self.young_bytes += kept.bytes;
        if let Some(before) = self.young.insert(version, kept) {
            self.young_bytes -= before.bytes;
        }
        if self.young_bytes > MOST / 2 / SHELVES {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn get(kept: &ParsedObjects, name: &str, number: u64, bytes: usize) -> Option<(u64, bool)> {
        let (mut is_new, key) = (false, Key::new(format!("/group/things//{name}")).unwrap());
        let version = store::Revision::new(number).end();
        let parsed = kept.get(&key, version, bytes, || {
            is_new = true;
            Some(Arc::new(number))
        })?;
        Some((*parsed.downcast::<u64>().unwrap(), is_new))
    }

    #[test]
    fn what_was_written_once_is_parsed_once() {
        let kept = ParsedObjects::default();
        assert_eq!(get(&kept, "a", 1, 10), Some((1, true)));
        assert_eq!(get(&kept, "a", 1, 10), Some((1, false)));
        assert_eq!(get(&kept, "a", 2, 10), Some((2, true)), "it was written again");
        assert_eq!(get(&kept, "a", 1, 10), Some((1, false)), "somebody asks for the past");
    }

    #[test]
    fn what_is_asked_for_stays_and_the_rest_goes_before_there_is_too_much() {
        let kept = ParsedObjects::default();
        let each = MOST / 2 / SHELVES / 4;
        get(&kept, "asked", 0, each);
        for number in 1..2000 {
            get(&kept, "other", number, each);
            assert_eq!(get(&kept, "asked", 0, each), Some((0, false)), "after {number}");
        }
        assert!(kept.len() <= 2 * 5 * SHELVES, "{} are kept", kept.len());
        assert_eq!(get(&kept, "other", 1, each), Some((1, true)));
    }
}
