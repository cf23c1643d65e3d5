//! Who has one term. Most terms that are names or references have one bearer, labels have thousands.

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
