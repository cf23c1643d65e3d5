//! Lines in front of what many transactions of this process change at once, such as a counter.
//!
//! Without them, all who lose a race try again at the same time: most of them in vain, and some for ever. In a line the first
//! to come is the first to be served, and nobody else of this process tries what is bound to fail.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::sync::OwnedMutexGuard;

use crate::error::Conflict;
use crate::transaction::Guard;

/// The lines of a process: one for each key or bucket over which transactions are in conflict now.
#[derive(Default)]
pub(crate) struct Contention {
    lines: Mutex<HashMap<Bytes, Arc<tokio::sync::Mutex<()>>>>,
}

/// The front of a line. Whoever is next gets it when it is dropped.
pub(crate) struct Turn<'a> {
    contention: &'a Contention,
    over: Bytes,
    front: Option<OwnedMutexGuard<()>>,
}

impl Contention {
    /// Waits in the line for what a conflict was about; `None` where it does not say.
    pub async fn wait_after(&self, conflict: &Conflict) -> Option<Turn<'_>> {
        Some(self.wait(Bytes::copy_from_slice(fought_over(conflict)?)).await)
    }

    /// Waits where others wait already for something that these guards depend on; `None` if nobody does. Whoever comes
    /// later does not overtake.
    pub async fn wait_for_guards(&self, guards: &[Guard]) -> Option<Turn<'_>> {
        let over = {
            let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
            if lines.is_empty() {
                return None;
            }
            guards
                .iter()
                .map(guarded)
                .find_map(|over| lines.get_key_value(over?).map(|(over, _)| over.clone()))?
        };
        Some(self.wait(over).await)
    }

    async fn wait(&self, over: Bytes) -> Turn<'_> {
        let line = {
            let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
            lines.entry(over.clone()).or_default().clone()
        };
        // Made before the wait: whoever gives up waiting leaves the line too.
        let mut turn = Turn { contention: self, over, front: None };
        turn.front = Some(line.lock_owned().await);
        turn
    }
}

impl Turn<'_> {
    /// Whether a conflict is about what this line is for: then it is with another process.
    pub fn is_over(&self, conflict: &Conflict) -> bool {
        fought_over(conflict) == Some(&self.over[..])
    }
}

fn fought_over(conflict: &Conflict) -> Option<&[u8]> {
    match conflict {
        Conflict::Changed { key, .. }
        | Conflict::Missing(key)
        | Conflict::Reborn(key)
        | Conflict::Unamendable(key)
        | Conflict::Overtaken(key) => Some(key.as_bytes()),
        Conflict::Bucket(term) => Some(term.as_bytes()),
        Conflict::LeaseLost(_) => None,
    }
}

fn guarded(guard: &Guard) -> Option<&[u8]> {
    match guard {
        Guard::At { key, .. } => Some(key.as_bytes()),
        Guard::Bucket { term, .. } => Some(term),
        Guard::Exists(_) | Guard::Life { .. } | Guard::Lease(_) => None,
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        drop(self.front.take());
        let mut lines = self.contention.lines.lock().unwrap_or_else(PoisonError::into_inner);
        // The last one out takes the line away: nobody else knows it.
        if lines.get(&self.over).is_some_and(|line| Arc::strong_count(line) == 1) {
            lines.remove(&self.over);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use crate::version::Version;

    fn conflict(key: &str) -> Conflict {
        Conflict::Changed { key: Key::new(key).unwrap(), expected: Version::ZERO, found: Version::ZERO }
    }

    fn guard(key: &str) -> Guard {
        Guard::At { key: Key::new(key).unwrap(), version: Version::ZERO }
    }

    #[tokio::test]
    async fn the_first_to_come_is_the_first_to_be_served_and_an_empty_line_is_forgotten() {
        let contention = Arc::new(Contention::default());
        let first = contention.wait_after(&conflict("a")).await.unwrap();
        assert!(contention.wait_for_guards(&[guard("b")]).await.is_none(), "nobody waits for that");
        let served = Arc::new(Mutex::new(Vec::new()));
        let mut waiting = tokio::task::JoinSet::new();
        for number in 0..10 {
            let (contention, served) = (contention.clone(), served.clone());
            waiting.spawn(async move {
                let _turn = contention.wait_for_guards(&[guard("b"), guard("a")]).await.unwrap();
                served.lock().unwrap().push(number);
            });
            tokio::task::yield_now().await;
        }
        let over = conflict("a");
        let given_up = tokio::time::timeout(std::time::Duration::ZERO, contention.wait_after(&over));
        assert!(given_up.await.is_err());
        drop(first);
        waiting.join_all().await;
        assert_eq!(*served.lock().unwrap(), (0..10).collect::<Vec<_>>());
        assert!(contention.lines.lock().unwrap().is_empty());
    }
}
