//! Who has one term. Most terms that are names or references have one bearer, labels have thousands.

use std::ops::Bound;

use imbl::OrdSet;

use crate::key::{Key, KeyRange};

/// The keys of those who have a term; at least one.
#[derive(Clone)]
pub(crate) enum Posting {
    /// Just this one, without a tree of its own.
    One(Key),
    Many(OrdSet<Key>),
}

impl Posting {
    pub fn of(key: &Key) -> Posting {
        Posting::One(key.clone())
    }

    pub fn insert(&mut self, key: &Key) {
        match self {
            Posting::One(one) if one == key => {}
            Posting::One(one) => {
                let mut many = OrdSet::unit(one.clone());
                many.insert(key.clone());
                *self = Posting::Many(many);
            }
            Posting::Many(many) => drop(many.insert(key.clone())),
        }
    }

    /// Takes one away; whether nobody is left.
    pub fn remove(&mut self, key: &Key) -> bool {
        match self {
            Posting::One(one) => one == key,
            Posting::Many(many) => {
                many.remove(key);
                many.is_empty()
            }
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Posting::One(_) => 1,
            Posting::Many(many) => many.len(),
        }
    }

    /// One of them, chosen by `seed`, in a time that does not depend on how many there are: the tree of keys is walked
    /// down from where they begin to differ, one byte at a time. Of keys that are numbered, each is about as likely.
    pub fn somewhere(&self, seed: u64) -> Option<&Key> {
        let many = match self {
            Posting::One(one) => return Some(one),
            Posting::Many(many) => many,
        };
        let (mut prefix, mut seed) = (Vec::new(), seed);
        loop {
            let range = KeyRange::new(&prefix, None);
            let mut keys = many.range::<_, [u8]>(range.bounds()?);
            let first = keys.next()?;
            let Some(last) = keys.next_back() else { return Some(first) };
            let (low, high) = (first.as_bytes(), last.as_bytes());
            let common = low.iter().zip(high).take_while(|(low, high)| low == high).count();
            let Some(least) = low.get(common) else { return Some(first) };
            let most = high.get(common).copied().unwrap_or(*least);
            let span = u64::from(most.saturating_sub(*least)) + 1;
            let byte = least.saturating_add((seed % span) as u8);
            seed = (seed / span) ^ seed.rotate_left(29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            prefix = low[..common].to_vec();
            prefix.push(byte);
            // Nobody need have that byte: then the next one that somebody has.
            let next = many.range::<_, [u8]>((Bound::Included(&prefix[..]), Bound::Unbounded)).next()?;
            prefix = next.as_bytes()[..=common.min(next.as_bytes().len() - 1)].to_vec();
        }
    }

    /// Those under `prefix` that come after `after`, in order.
    pub fn range(&self, prefix: &[u8], after: Option<&Key>) -> impl Iterator<Item = &Key> + use<'_> {
        let range = KeyRange::new(prefix, after);
        let (one, many) = match self {
            Posting::One(one) => (Some(one).filter(|one| range.contains(one)), None),
            Posting::Many(many) => (None, range.bounds().map(|bounds| many.range::<_, [u8]>(bounds))),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn numbered(count: usize) -> Posting {
        let keys: Vec<Key> =
            (0..count).map(|number| Key::new(format!("hosts/h-{number:05}")).unwrap()).collect();
        let mut posting = Posting::of(&keys[0]);
        keys.iter().for_each(|key| posting.insert(key));
        posting
    }

    #[test]
    fn seeds_lead_to_keys_all_over_a_posting() {
        for count in [1, 2, 48, 1_000, 20_000] {
            let posting = numbered(count);
            let mut tenths: BTreeMap<usize, usize> = BTreeMap::new();
            let mut found = std::collections::BTreeSet::new();
            for seed in 0..1_000u64 {
                let key = posting.somewhere(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)).unwrap();
                let number: usize = std::str::from_utf8(&key.as_bytes()[8..]).unwrap().parse().unwrap();
                *tenths.entry(number * 10 / count).or_default() += 1;
                found.insert(number);
            }
            let expected = count.min(10);
            assert_eq!(tenths.len(), expected, "{count}: {tenths:?}");
            assert!(tenths.values().all(|share| *share > 30), "{count}: {tenths:?}");
            assert!(found.len() >= count.min(400), "{count}: {} different ones", found.len());
        }
    }

    #[test]
    fn a_key_that_is_the_beginning_of_another_is_found_too() {
        let mut posting = Posting::of(&Key::new("a").unwrap());
        for key in ["ab", "abc", "b"] {
            posting.insert(&Key::new(key).unwrap());
        }
        let found: std::collections::BTreeSet<String> =
            (0..64).map(|seed| posting.somewhere(seed).unwrap().to_string()).collect();
        assert!(found.contains("a") && found.contains("b"), "{found:?}");
    }
}
