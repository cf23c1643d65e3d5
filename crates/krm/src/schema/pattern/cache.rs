//! Compiled patterns of this process: compiled when they are first used, and kept while there is room.
//!
//! Anybody who may define a kind brings patterns along. Their compiled form is a hundred times as large as their text, so it is
//! not kept with each definition: all definitions share this room.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use regex::Regex;

/// Bytes of compiled patterns that are kept.
const ROOM: usize = 64 << 20;
/// What the smallest pattern takes, with the tables that it fills while it runs.
const SMALLEST: usize = 16 << 10;

static CACHE: LazyLock<Mutex<Cache>> = LazyLock::new(|| Mutex::new(Cache::of(ROOM)));

/// The compiled form of a pattern that takes about `weight` bytes. Two threads may compile it at once: neither waits.
pub(super) fn compiled<E>(
    text: &Arc<str>,
    weight: usize,
    compile: impl FnOnce() -> Result<Regex, E>,
) -> Result<Arc<Regex>, E> {
    let cache = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = cache().get(text) {
        return Ok(known);
    }
    let program = Arc::new(compile()?);
    cache().insert(text, weight, program.clone());
    Ok(program)
}

/// The most recently used patterns that fit.
struct Cache {
    room: usize,
    used: usize,
    /// Number of the last use.
    clock: u64,
    known: HashMap<Arc<str>, Kept>,
    /// By their last use.
    order: BTreeMap<u64, Arc<str>>,
}

struct Kept {
    program: Arc<Regex>,
    weight: usize,
    used_at: u64,
}

impl Cache {
    fn of(room: usize) -> Cache {
        Cache { room, used: 0, clock: 0, known: HashMap::new(), order: BTreeMap::new() }
    }

    fn get(&mut self, text: &Arc<str>) -> Option<Arc<Regex>> {
        let kept = self.known.get_mut(text)?;
        self.clock += 1;
        self.order.remove(&kept.used_at);
        kept.used_at = self.clock;
        self.order.insert(self.clock, text.clone());
        Some(kept.program.clone())
    }

    fn insert(&mut self, text: &Arc<str>, weight: usize, program: Arc<Regex>) {
        if self.known.contains_key(text) {
            return;
        }
        let weight = weight.saturating_add(SMALLEST);
        self.clock += 1;
        self.used = self.used.saturating_add(weight);
        self.order.insert(self.clock, text.clone());
        self.known.insert(text.clone(), Kept { program, weight, used_at: self.clock });
        while self.used > self.room
            && let Some((_, oldest)) = self.order.pop_first()
        {
            let weight = self.known.remove(&oldest).map_or(0, |kept| kept.weight);
            self.used = self.used.saturating_sub(weight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(number: usize) -> Arc<str> {
        format!("^{number}$").into()
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first_and_the_room_is_never_exceeded() {
        let mut cache = Cache::of(10 * (SMALLEST + 100));
        for number in 0..100 {
            if number > 0 {
                assert!(cache.get(&text(0)).is_some(), "used all the time, before {number}");
            }
            cache.insert(&text(number), 100, Arc::new(Regex::new(&text(number)).unwrap()));
            assert!(cache.used <= cache.room);
        }
        assert_eq!(cache.known.len(), 10);
        assert_eq!(cache.order.len(), 10);
        assert!(cache.get(&text(99)).is_some() && cache.get(&text(91)).is_some());
        assert!(cache.get(&text(90)).is_none());
    }

    #[test]
    fn what_is_larger_than_the_room_is_not_kept() {
        let mut cache = Cache::of(1 << 20);
        cache.insert(&text(1), 2 << 20, Arc::new(Regex::new("a").unwrap()));
        assert_eq!((cache.used, cache.known.len()), (0, 0));
    }
}
