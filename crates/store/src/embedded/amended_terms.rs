//! The terms of objects that are amended again and again: an amendment leaves them as they are, so they are found out once.

use std::collections::HashMap;

use crate::entry::Entry;
use crate::key::Key;
use crate::memory::indexer::Indexer;
use crate::memory::state::Terms;
use crate::model::Term;
use crate::version::Version;

/// Objects whose terms are kept, at most.
const MOST: usize = 256;

/// The terms of the objects that were amended last, at the version that their last amendment made.
#[derive(Default)]
pub(crate) struct AmendedTerms(HashMap<Key, (Version, Vec<Term>)>);

impl AmendedTerms {
    /// The terms before and after an amendment.
    pub fn terms(
        &mut self,
        indexer: &Indexer,
        key: &Key,
        before: Option<&Entry>,
        after: Option<&Entry>,
    ) -> Terms {
        let (Some(was), Some(is)) = (before, after) else { return Terms::of(indexer, key, before, after) };
        if let Some((version, terms)) = self.0.get_mut(key)
            && *version == was.version
        {
            *version = is.version;
            return Terms { before: terms.clone(), after: terms.clone() };
        }
        let terms = Terms::kept(indexer, key, before, after);
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.insert(key.clone(), (is.version, terms.after.clone()));
        terms
    }

    /// Forgets everything: the model may have changed its mind, or what was amended did not become durable.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
