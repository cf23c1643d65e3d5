//! What answers computed last, for later ones: a few large things, such as compiled designs.

use std::collections::VecDeque;
use std::sync::Mutex;

use krm::kind::Parsed;

/// How many things are kept. Each may be large, so few are.
const MOST: usize = 16;

/// Computed things by name, the one that was asked for last at the end.
#[derive(Default)]
pub struct KeptAnswers(Mutex<VecDeque<(String, Parsed)>>);

impl KeptAnswers {
    /// What is kept under a name.
    pub fn get(&self, name: &str) -> Option<Parsed> {
        let mut kept = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let index = kept.iter().position(|(known, _)| known == name)?;
        let one = kept.remove(index)?;
        let value = one.1.clone();
        kept.push_back(one);
        Some(value)
    }

    /// Keeps a thing; the one that was not asked for longest goes.
    pub fn put(&self, name: String, value: Parsed) {
        let mut kept = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        kept.retain(|(known, _)| *known != name);
        kept.push_back((name, value));
        if kept.len() > MOST {
            kept.pop_front();
        }
    }
}
