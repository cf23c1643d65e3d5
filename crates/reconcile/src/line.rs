//! Lines of objects that wait for something to become free: first come, first served, and nobody is planned in vain.
//!
//! With 10,000 objects in a line, one thing that becomes free costs one plan: the first is *called*. If it takes it, the line
//! moves on with the next thing. If it does not, because what is there does not suit it or its plan failed, the next in line
//! is called as long as anything is there.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::ops::Bound;

use krm::kind::Bucket;

use crate::read::Read;

/// What a line is for: an object of a bucket.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Line {
    /// The plane of the bucket; the root's name is empty.
    pub plane: String,
    /// The name of the bucket.
    pub bucket: Bucket,
    /// Its value.
    pub value: String,
}

impl Line {
    /// The line for an object of a bucket.
    pub fn new(plane: &str, bucket: Bucket, value: &str) -> Line {
        Line { plane: plane.to_owned(), bucket, value: value.to_owned() }
    }

    /// The read that a change of the bucket touches.
    pub fn read(&self) -> Read {
        Read::bucket(&self.plane, self.bucket, &self.value)
    }
}

/// A place in a line: since when, and who.
type Place<K> = (u64, K);

/// All lines of a controller.
pub struct Lines<K> {
    lines: HashMap<Read, Queued<K>>,
    places: HashMap<K, (Read, u64)>,
    called: HashMap<K, Read>,
}

struct Queued<K> {
    line: Line,
    places: BTreeSet<Place<K>>,
    /// All up to here were called since something last became free, and did not take it.
    passed: Option<Place<K>>,
}

impl<K> Default for Lines<K> {
    fn default() -> Lines<K> {
        Lines { lines: HashMap::new(), places: HashMap::new(), called: HashMap::new() }
    }
}

impl<K: Ord + Hash + Clone> Lines<K> {
    /// Whether a key that came at a time may take what is there: everybody before it has passed on it.
    pub fn is_turn(&self, line: &Line, key: &K, since: u64) -> bool {
        let read = line.read();
        if self.called.get(key) == Some(&read) {
            return true;
        }
        let Some(queued) = self.lines.get(&read) else { return true };
        let own = (since, key.clone());
        queued.after(queued.passed.as_ref()).next().is_none_or(|first| *first >= own)
    }

    /// A key stands in line from now on.
    pub fn stand(&mut self, line: &Line, key: &K, since: u64) {
        let read = line.read();
        if self.places.get(key) == Some(&(read, since)) {
            return;
        }
        self.leave(key);
        self.places.insert(key.clone(), (read, since));
        let new = || Queued { line: line.clone(), places: BTreeSet::new(), passed: None };
        self.lines.entry(read).or_insert_with(new).places.insert((since, key.clone()));
    }

    /// Something became free. Who is called; nobody if the line is empty or all of it is called already.
    pub fn call(&mut self, read: Read) -> Option<K> {
        let queued = self.lines.get_mut(&read)?;
        queued.passed = None;
        self.call_after(read, None)
    }

    /// A key was planned; whether it still waits. Who is called next, if more is left, as `left` counts it, than others are
    /// called for.
    pub fn planned(&mut self, key: &K, still_waits: bool, left: impl Fn(&Line) -> usize) -> Option<K> {
        let was_called = self.called.remove(key);
        let place = self.places.get(key).copied();
        if !still_waits {
            self.leave(key);
        }
        let read = was_called?;
        let own = place.filter(|(of, _)| still_waits && *of == read).map(|(_, since)| (since, key.clone()));
        let queued = self.lines.get_mut(&read)?;
        if let Some(own) = &own {
            queued.passed = queued.passed.take().max(Some(own.clone()));
        }
        let promised = self.called.values().filter(|called| **called == read).count();
        if left(&queued.line) <= promised {
            return None;
        }
        self.call_after(read, own)
    }

    /// Keys that stand in line.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether nobody does.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    fn call_after(&mut self, read: Read, after: Option<Place<K>>) -> Option<K> {
        let queued = self.lines.get(&read)?;
        let mut rest = queued.after(after.as_ref());
        let next = rest.find(|(_, key)| !self.called.contains_key(key)).map(|(_, key)| key.clone())?;
        self.called.insert(next.clone(), read);
        Some(next)
    }

    fn leave(&mut self, key: &K) {
        let Some((read, since)) = self.places.remove(key) else { return };
        let Some(queued) = self.lines.get_mut(&read) else { return };
        queued.places.remove(&(since, key.clone()));
        if queued.places.is_empty() {
            self.lines.remove(&read);
        }
    }
}

impl<K: Ord> Queued<K> {
    fn after<'a>(&'a self, after: Option<&'a Place<K>>) -> impl Iterator<Item = &'a Place<K>> {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.places.range((start, Bound::Unbounded))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oak() -> Line {
        Line::new("", Bucket::new("example.groundplane.dev/free-desks"), "oak")
    }

    fn waiting(count: u64) -> Lines<String> {
        let mut lines = Lines::default();
        // Keys sort otherwise than they came.
        (0..count).for_each(|number| lines.stand(&oak(), &format!("{:05}", count - number), number));
        lines
    }

    #[test]
    fn of_ten_thousand_that_wait_one_is_called_for_each_thing_that_becomes_free() {
        let mut lines = waiting(10_000);
        for served in 0..10_000u64 {
            let first = lines.call(oak().read()).unwrap();
            assert_eq!(first, format!("{:05}", 10_000 - served), "first come, first served");
            assert!(lines.is_turn(&oak(), &first, served));
            assert_eq!(lines.planned(&first, false, |_| 0), None);
        }
        assert!(lines.is_empty() && lines.call(oak().read()).is_none());
    }

    #[test]
    fn things_that_become_free_at_once_call_as_many() {
        let mut lines = waiting(5);
        let called: Vec<String> = (0..7).filter_map(|_| lines.call(oak().read())).collect();
        assert_eq!(called, ["00005", "00004", "00003", "00002", "00001"]);
    }

    #[test]
    fn whoever_does_not_take_it_is_passed_over_and_newcomers_come_after_those_who_wait() {
        let mut lines = waiting(3);
        let newcomer = "new".to_owned();
        assert!(!lines.is_turn(&oak(), &newcomer, 9), "three were there before");
        let mut called = lines.call(oak().read());
        let mut order = Vec::new();
        while let Some(key) = called {
            order.push(key.clone());
            called = lines.planned(&key, true, |_| 1);
        }
        assert_eq!(order, ["00003", "00002", "00001"], "each once");
        assert!(lines.is_turn(&oak(), &newcomer, 9), "all have passed on what is there");
        // The next thing may suit them.
        assert_eq!(lines.call(oak().read()).as_deref(), Some("00003"));
        assert!(!lines.is_turn(&oak(), &newcomer, 9));
    }

    #[test]
    fn who_is_served_or_gone_hands_over_what_is_left() {
        let mut lines = waiting(3);
        let first = lines.call(oak().read()).unwrap();
        assert_eq!(lines.planned(&first, false, |_| 1).as_deref(), Some("00002"));
        assert_eq!(lines.planned(&"00002".to_owned(), false, |_| 0), None);
        assert_eq!(lines.len(), 1);
    }

    #[test]
    fn what_others_are_called_for_is_not_left() {
        let mut lines = waiting(3);
        let (first, second) = (lines.call(oak().read()).unwrap(), lines.call(oak().read()).unwrap());
        assert_eq!(lines.planned(&first, false, |_| 1), None, "that is for the second");
        assert_eq!(lines.planned(&second, true, |_| 1).as_deref(), Some("00001"), "which does not take it");
    }
}
