//! Snapshots: all objects at one revision, read without a lock and for as long as one likes.

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;

use crate::entry::Entry;
use crate::key::{Key, after_prefix};
use crate::memory::state::State;
use crate::version::{Revision, Version};

/// All objects at one revision.
#[derive(Clone)]
pub struct Snapshot {
    state: Arc<State>,
}

/// A part of a list.
#[derive(Debug, Clone)]
pub struct Page {
    /// The objects, in the order of their keys.
    pub items: Vec<(Key, Arc<Entry>)>,
    /// Where the next page starts after; `None` when this is the last.
    pub next: Option<Key>,
    /// How many objects come after this page.
    pub remaining: usize,
}

impl Snapshot {
    pub(crate) fn new(state: Arc<State>) -> Snapshot {
        Snapshot { state }
    }

    /// The revision it shows.
    pub fn revision(&self) -> Revision {
        self.state.revision
    }

    /// The version that a list of it carries: watching from it misses nothing and repeats nothing.
    pub fn version(&self) -> Version {
        self.state.revision.end()
    }

    /// One object.
    pub fn get(&self, key: &Key) -> Option<&Arc<Entry>> {
        self.state.objects.get(key)
    }

    /// The objects whose keys start with `prefix`, in order.
    pub fn list(&self, prefix: &[u8]) -> impl Iterator<Item = (&Key, &Arc<Entry>)> + use<'_> {
        self.range(prefix, None)
    }

    /// The objects under `prefix` whose keys come after `after`, in order.
    pub fn list_after(
        &self,
        prefix: &[u8],
        after: &Key,
    ) -> impl Iterator<Item = (&Key, &Arc<Entry>)> + use<'_> {
        self.range(prefix, Some(after))
    }

    /// At most `limit` objects under `prefix`, after the key `after`.
    pub fn page(&self, prefix: &[u8], after: Option<&Key>, limit: usize) -> Page {
        let mut rest = self.range(prefix, after);
        let items: Vec<_> =
            rest.by_ref().take(limit).map(|(key, entry)| (key.clone(), entry.clone())).collect();
        let remaining = rest.count();
        let next = if remaining == 0 { None } else { items.last().map(|(key, _)| key.clone()) };
        Page { items, next, remaining }
    }

    /// The keys of the objects that have `term`, in order, found without looking at any other.
    pub fn having(&self, term: &Bytes) -> impl Iterator<Item = &Key> + use<'_> {
        let term = term.clone();
        let start = Bound::Included((term.clone(), Key::lowest()));
        self.state
            .postings
            .range((start, Bound::Unbounded))
            .take_while(move |(found, _)| *found == term)
            .map(|(_, key)| key)
    }

    /// The terms from `from` up to, not including, `to`, each with the keys of the objects that have it, in order.
    pub fn having_between(&self, from: &Bytes, to: &Bytes) -> impl Iterator<Item = (&Bytes, &Key)> + use<'_> {
        let start = Bound::Included((from.clone(), Key::lowest()));
        let to = to.clone();
        let range = self.state.postings.range((start, Bound::Unbounded));
        range.take_while(move |(term, _)| *term < to).map(|(term, key)| (term, key))
    }

    /// How many objects there are under `prefix`, and how many bytes they have.
    pub fn stats(&self, prefix: &[u8]) -> Stats {
        self.list(prefix).fold(Stats::default(), |stats, (_, entry)| Stats {
            objects: stats.objects + 1,
            bytes: stats.bytes + entry.bytes.len(),
        })
    }

    /// How many objects there are in all.
    pub fn len(&self) -> usize {
        self.state.objects.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.state.objects.is_empty()
    }

    pub(crate) fn state(&self) -> &Arc<State> {
        &self.state
    }

    fn range(
        &self,
        prefix: &[u8],
        after: Option<&Key>,
    ) -> impl Iterator<Item = (&Key, &Arc<Entry>)> + use<'_> {
        let start = match after {
            Some(after) if after.as_bytes() >= prefix => Bound::Excluded(after.as_bytes().to_vec()),
            _ => Bound::Included(prefix.to_vec()),
        };
        let end = after_prefix(prefix).map_or(Bound::Unbounded, Bound::Excluded);
        let empty = matches!((&start, &end), (Bound::Excluded(from), Bound::Excluded(to)) if from >= to);
        let bounds = if empty { None } else { Some((start, end)) };
        bounds.into_iter().flat_map(|(start, end)| {
            let start = start.as_ref().map(Vec::as_slice);
            let end = end.as_ref().map(Vec::as_slice);
            self.state.objects.range::<_, [u8]>((start, end))
        })
    }
}

/// The size of what a prefix holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// How many objects.
    pub objects: usize,
    /// Their bytes, as readers get them.
    pub bytes: usize,
}
