//! States of the recent past that were asked for: whoever pages through a list asks for the same one again.

use std::sync::{Arc, Mutex, PoisonError};

use super::Published;
use super::indexer::Indexer;
use super::state::State;
use crate::version::Revision;

/// The last few, the newest asked for at the end.
#[derive(Default)]
pub(crate) struct Older {
    states: Mutex<Vec<Arc<State>>>,
}

const FEW: usize = 8;

impl Older {
    /// The state right after `revision`, which the window must hold: one that was asked for before, or one made
    /// from the nearest newer.
    pub fn get(&self, published: &Published, indexer: &Indexer, revision: Revision) -> Arc<State> {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        states.retain(|state| state.revision >= published.recent.floor());
        if let Some(at) = states.iter().position(|state| state.revision == revision) {
            let state = states.remove(at);
            states.push(state.clone());
            return state;
        }
        // Nothing newer than what was published to us: commits after that can't be undone from here.
        let known = revision..published.state.revision;
        let newer = states.iter().filter(|state| known.contains(&state.revision));
        let newer = newer.min_by_key(|state| state.revision).unwrap_or(&published.state).clone();
        let state = published.recent.undone(indexer, &newer, revision);
        if states.len() == FEW {
            states.remove(0);
        }
        states.push(state.clone());
        state
    }

    /// Lets go of all, after objects are found by other terms than before.
    pub fn forget(&self) {
        self.states.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
