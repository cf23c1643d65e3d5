//! Snapshots: all objects at one revision, read without a lock and for as long as one likes.

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;

use crate::entry::Entry;
use crate::key::{Key, KeyRange};
use crate::memory::posting::Posting;
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

    /// The same from the beginning where there is no such key.
    pub fn list_from(
        &self,
        prefix: &[u8],
        after: Option<&Key>,
    ) -> impl Iterator<Item = (&Key, &Arc<Entry>)> + use<'_> {
        self.range(prefix, after)
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
    pub fn having(&self, term: &[u8]) -> impl Iterator<Item = &Key> + use<'_> {
        self.having_after(term, b"", None)
    }

    /// The same of those under `prefix` that come after the key `after`.
    pub fn having_after(
        &self,
        term: &[u8],
        prefix: &[u8],
        after: Option<&Key>,
    ) -> impl Iterator<Item = &Key> + use<'_> {
        let posting = self.state.postings.get(term);
        posting.map(|posting| posting.range(prefix, after)).into_iter().flatten()
    }

    /// A key of an object that has `term`, chosen by `seed`. Takes no longer the more there are.
    pub fn somewhere(&self, term: &[u8], seed: u64) -> Option<&Key> {
        self.state.postings.get(term).and_then(|posting| posting.somewhere(seed))
    }

    /// How many objects have `term`, without counting them.
    pub fn count_having(&self, term: &[u8]) -> usize {
        self.state.postings.get(term).map_or(0, Posting::len)
    }

    /// The terms that begin with `prefix`, in order, and how many objects have each.
    pub fn terms(&self, prefix: &[u8]) -> impl Iterator<Item = (&Bytes, usize)> + use<'_> {
        let bounds = KeyRange::new(prefix, None);
        let found = bounds.bounds().map(|bounds| self.state.postings.range::<_, [u8]>(bounds));
        found.into_iter().flatten().map(|(term, posting)| (term, posting.len()))
    }

    /// The terms from `from` up to, not including, `to`, each with the keys of the objects that have it, in order.
    pub fn having_between(&self, from: &Bytes, to: &Bytes) -> impl Iterator<Item = (&Bytes, &Key)> + use<'_> {
        let bounds = (Bound::Included(&from[..]), Bound::Excluded(&to[..]));
        let found = (from < to).then(|| self.state.postings.range::<_, [u8]>(bounds));
        found
            .into_iter()
            .flatten()
            .flat_map(|(term, posting)| posting.range(b"", None).map(move |key| (term, key)))
    }

    /// How many objects there are under `prefix`, which ends with a slash, without counting them: that of each folder is kept.
    pub fn count(&self, prefix: &[u8]) -> usize {
        debug_assert!(prefix.ends_with(b"/"), "only whole folders are counted");
        let bounds = KeyRange::new(prefix, None);
        let found = bounds.bounds().map(|bounds| self.state.folders.range::<_, [u8]>(bounds));
        found.into_iter().flatten().map(|(_, count)| count).sum()
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
        let range = KeyRange::new(prefix, after);
        let found = range.bounds().map(|bounds| self.state.objects.range::<_, [u8]>(bounds));
        found.into_iter().flatten()
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
