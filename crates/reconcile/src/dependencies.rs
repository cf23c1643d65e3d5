//! Which keys have read what: the index from reads to the keys whose plans depend on them.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::hash::Hash;
use std::sync::Arc;

use crate::read::Read;

/// Reads that are remembered of the latest changes, at most.
const REMEMBERED: usize = 1 << 18;

/// The reads of each key's last plan.
pub struct Dependencies<K> {
    /// Keys by number, so that an index entry is small.
    keys: Vec<Option<K>>,
    free: Vec<u32>,
    numbers: HashMap<K, u32>,
    reads: HashMap<u32, Box<[Read]>>,
    readers: HashMap<Read, Readers>,
}

/// The keys that have read something; most reads have one.
enum Readers {
    One(u32),
    Many(Vec<u32>),
}

impl<K> Default for Dependencies<K> {
    fn default() -> Self {
        Dependencies {
            keys: Vec::new(),
            free: Vec::new(),
            numbers: HashMap::new(),
            reads: HashMap::new(),
            readers: HashMap::new(),
        }
    }
}

impl<K: Eq + Hash + Clone> Dependencies<K> {
    /// Replaces what a key depends on.
    pub fn set(&mut self, key: &K, reads: &BTreeSet<Read>) {
        if let Some(number) = self.numbers.get(key).copied() {
            let same = self.reads.get(&number).is_some_and(|before| before.iter().eq(reads.iter()));
            if same {
                return;
            }
            self.forget(number);
            if reads.is_empty() {
                self.numbers.remove(key);
                self.keys[number as usize] = None;
                self.free.push(number);
                return;
            }
            return self.note(number, reads);
        }
        if reads.is_empty() {
            return;
        }
        let number = match self.free.pop() {
            Some(number) => number,
            None => {
                self.keys.push(None);
                u32::try_from(self.keys.len() - 1).unwrap_or(u32::MAX)
            }
        };
        self.keys[number as usize] = Some(key.clone());
        self.numbers.insert(key.clone(), number);
        self.note(number, reads);
    }

    /// The keys that depend on any of these reads.
    pub fn touched(&self, reads: &[Read], mut found: impl FnMut(&K)) {
        if self.readers.is_empty() {
            return;
        }
        let mut tell = |number: u32| {
            if let Some(Some(key)) = self.keys.get(number as usize) {
                found(key);
            }
        };
        for read in reads {
            match self.readers.get(read) {
                None => {}
                Some(Readers::One(number)) => tell(*number),
                Some(Readers::Many(numbers)) => numbers.iter().for_each(|number| tell(*number)),
            }
        }
    }

    /// How many keys depend on something.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether no key depends on anything.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    fn note(&mut self, number: u32, reads: &BTreeSet<Read>) {
        for read in reads {
            match self.readers.get_mut(read) {
                None => drop(self.readers.insert(*read, Readers::One(number))),
                Some(Readers::Many(numbers)) => numbers.push(number),
                Some(one) => {
                    let Readers::One(first) = *one else { continue };
                    *one = Readers::Many(vec![first, number]);
                }
            }
        }
        self.reads.insert(number, reads.iter().copied().collect());
    }

    fn forget(&mut self, number: u32) {
        for read in self.reads.remove(&number).into_iter().flatten() {
            let is_unread = match self.readers.get_mut(&read) {
                None => false,
                Some(Readers::One(_)) => true,
                Some(Readers::Many(numbers)) => {
                    if let Some(at) = numbers.iter().position(|found| *found == number) {
                        numbers.swap_remove(at);
                    }
                    numbers.is_empty()
                }
            };
            if is_unread {
                self.readers.remove(&read);
            }
        }
    }
}

/// What the latest changes have touched: a plan was made on an older state than the one that its reads are registered at, and
/// what happened in between must not be missed.
#[derive(Default)]
pub struct Recent {
    changes: VecDeque<(u64, Arc<[Read]>)>,
    remembered: usize,
    /// Changes up to this revision are no longer remembered.
    floor: u64,
}

impl Recent {
    /// Nothing up to this revision is remembered.
    pub fn since(floor: u64) -> Recent {
        Recent { floor, ..Recent::default() }
    }

    /// Remembers the reads that a change touches.
    pub fn push(&mut self, revision: u64, reads: Arc<[Read]>) {
        self.remembered += reads.len();
        self.changes.push_back((revision, reads));
        while self.remembered > REMEMBERED {
            let Some((revision, reads)) = self.changes.pop_front() else { return };
            self.remembered -= reads.len();
            self.floor = revision;
        }
    }

    /// Whether a change after this revision may have touched any of these reads.
    pub fn has_touched(&self, after: u64, reads: &BTreeSet<Read>) -> bool {
        if after < self.floor {
            return true;
        }
        let newer = self.changes.iter().rev().take_while(|(revision, _)| *revision > after);
        newer.flat_map(|(_, touched)| touched.iter()).any(|read| reads.contains(read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(number: u32) -> Read {
        Read::bucket("", krm::kind::Bucket::new("g/b"), &number.to_string())
    }

    fn touched(dependencies: &Dependencies<u32>, number: u32) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        dependencies.touched(&[read(number)], |key| {
            found.insert(*key);
        });
        found
    }

    /// The index answers as a plain map of sets does, whatever is set and removed.
    #[test]
    fn it_answers_as_a_map_of_sets() {
        let mut dependencies = Dependencies::default();
        let mut plain: HashMap<u32, BTreeSet<u32>> = HashMap::new();
        let mut state = 1u64;
        let mut random = |below: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            u32::try_from(state >> 33).unwrap() % below
        };
        for _ in 0..5_000 {
            let key = random(20);
            let numbers: BTreeSet<u32> = (0..random(5)).map(|_| random(30)).collect();
            dependencies.set(&key, &numbers.iter().map(|number| read(*number)).collect());
            plain.insert(key, numbers);
            let number = random(30);
            let expected = plain.iter().filter(|(_, numbers)| numbers.contains(&number)).map(|(key, _)| *key);
            assert_eq!(touched(&dependencies, number), expected.collect());
        }
        for key in 0..20 {
            dependencies.set(&key, &BTreeSet::new());
        }
        assert!(dependencies.is_empty() && dependencies.readers.is_empty() && dependencies.reads.is_empty());
    }

    #[test]
    fn a_change_between_plan_and_registration_is_noticed() {
        let mut recent = Recent::since(10);
        recent.push(11, [read(1)].into());
        recent.push(12, [read(2)].into());
        let reads = |number| BTreeSet::from([read(number)]);
        assert!(recent.has_touched(10, &reads(1)));
        assert!(!recent.has_touched(11, &reads(1)));
        assert!(recent.has_touched(11, &reads(2)));
        assert!(!recent.has_touched(12, &reads(2)));
        assert!(recent.has_touched(9, &reads(3)), "nothing is known of revision 10");
    }
}
