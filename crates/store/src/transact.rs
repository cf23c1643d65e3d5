//! Deciding a transaction on a view, and deciding it anew when what it read has changed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::decisions;
use crate::environment::Randomness;
use crate::error::{Conflict, Error};
use crate::store::Store;
use crate::transaction::{Author, Committed, Transaction};
use crate::view::View;

/// Tries with jitter before the transaction is decided where nothing else can happen.
const TRIES: u32 = 16;

/// Why a transaction did not happen: the store could not, or the decision was against it.
#[derive(Debug)]
pub enum Refused<E> {
    /// The store could not.
    Store(Error),
    /// The decision was against it.
    Decision(E),
}

impl dyn Store {
    /// Runs `decide` on a view and commits what it wrote, provided that nothing it read has changed by then.
    /// If something has, it is run again on a new view, up to 16 times with growing pauses; then once inside
    /// the committer, where nothing can change (embedded), or it is given up as [`Error::Contended`] (etcd).
    /// Transactions of this process that were in each other's way wait in line, first come, first served, so that
    /// others than those of another server are in nobody's way twice.
    /// A lease that was lost does not come back by waiting: that is told at once.
    ///
    /// `decide` may run many times: it must do nothing but read the view and write to it.
    pub async fn transact<T, E>(
        &self,
        author: Author,
        decide: impl Fn(&mut View) -> Result<T, E> + Send + Sync + 'static,
    ) -> Result<(T, Committed), Refused<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        self.transact_by(author, decide, false).await
    }

    /// The same for a decision that may take long: it is made on a thread for such, in turn with those of other users, and
    /// never inside the committer. Where it is in conflict again and again, it is given up as [`Error::Contended`].
    pub async fn transact_apart<T, E>(
        &self,
        author: Author,
        decide: impl Fn(&mut View) -> Result<T, E> + Send + Sync + 'static,
    ) -> Result<(T, Committed), Refused<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        // A simulation has one thread, and its order is that of the calls.
        let is_apart = !self.environment().is_single_threaded;
        self.transact_by(author, decide, is_apart).await
    }

    async fn transact_by<T, E>(
        &self,
        author: Author,
        decide: impl Fn(&mut View) -> Result<T, E> + Send + Sync + 'static,
        is_apart: bool,
    ) -> Result<(T, Committed), Refused<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let decide = Arc::new(decide);
        let indexer = self.parts().memory.indexer.clone();
        let (contention, has_one_committer) = (&self.parts().contention, self.parts().has_one_committer);
        let mut snapshot = self.latest();
        let mut turn = None;
        let mut attempt = 0;
        while attempt < TRIES {
            let mut view = View::new(snapshot.clone(), indexer.clone()).amending(has_one_committer);
            let outcome = match is_apart {
                false => decide(&mut view),
                true => {
                    let decide = decide.clone();
                    let made = decisions::apart(&author.user, move || {
                        let outcome = decide(&mut view);
                        (view, outcome)
                    });
                    let outcome;
                    (view, outcome) = made.await;
                    outcome
                }
            };
            let decided = match outcome {
                Ok(decided) => decided,
                Err(no) if attempt > 0 => return Err(Refused::Decision(no)),
                Err(no) => {
                    // Decided on what was at hand: make sure of it on what is current before saying no.
                    let current = self.current().await.map_err(Refused::Store)?;
                    if current.revision() == snapshot.revision() {
                        return Err(Refused::Decision(no));
                    }
                    snapshot = current;
                    attempt += 1;
                    continue;
                }
            };
            if turn.is_none() {
                turn = contention.wait_for_guards(view.guards()).await;
                if turn.is_some() {
                    snapshot = self.current().await.map_err(Refused::Store)?;
                    continue;
                }
            }
            let conflict = match self.commit(view.into_transaction(author.clone())).await {
                Ok(committed) => return Ok((decided, committed)),
                Err(error @ Error::Conflict(Conflict::LeaseLost(_))) => return Err(Refused::Store(error)),
                Err(Error::Conflict(conflict)) => conflict,
                Err(error) => return Err(Refused::Store(error)),
            };
            if turn.as_ref().is_none_or(|turn| !turn.is_over(&conflict)) {
                // Never two lines at once: whoever is first in the other may wait in this one.
                drop(turn.take());
                turn = contention.wait_after(&conflict).await;
            } else {
                tokio::time::sleep(pause(attempt, &*self.environment().randomness)).await;
            }
            attempt += 1;
            snapshot = self.current().await.map_err(Refused::Store)?;
        }
        if is_apart {
            return Err(Refused::Store(Error::Contended { tries: TRIES }));
        }
        self.decide_alone(author, move |view: &mut View| decide(view)).await
    }

    async fn decide_alone<T, E>(
        &self,
        author: Author,
        decide: impl Fn(&mut View) -> Result<T, E> + Send + Sync + 'static,
    ) -> Result<(T, Committed), Refused<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let indexer = self.parts().memory.indexer.clone();
        let decided = Arc::new(Mutex::new(None));
        let slot = decided.clone();
        let committed = self.commit_alone(Box::new(move |snapshot| -> Option<Transaction> {
            let mut view = View::new(snapshot, indexer);
            let outcome = decide(&mut view);
            let transaction = outcome.is_ok().then(|| view.into_transaction(author));
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
            transaction
        }));
        let committed = match committed.await {
            Ok(committed) => committed,
            Err(Error::Contended { .. }) => return Err(Refused::Store(Error::Contended { tries: TRIES })),
            Err(error) => return Err(Refused::Store(error)),
        };
        let outcome = decided.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (outcome, committed) {
            (Some(Ok(value)), Some(committed)) => Ok((value, committed)),
            (Some(Err(error)), _) => Err(Refused::Decision(error)),
            _ => Err(Refused::Store(Error::Closed)),
        }
    }
}

/// A pause that grows with each try and differs between those who collide.
fn pause(attempt: u32, randomness: &dyn Randomness) -> Duration {
    let most = 200u64 << attempt.min(8);
    let mut noise = [0; 8];
    // Without randomness the pause is merely not spread.
    let _ = randomness.fill(&mut noise);
    Duration::from_micros(u64::from_be_bytes(noise) % most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::{Embedded, Settings};

    #[tokio::test]
    async fn a_decision_that_may_take_long_is_made_by_no_thread_that_serves_or_commits() {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Embedded::open(folder.path(), Settings::default()).await.unwrap();
        let made = store.transact_apart(Author::new("ann", "test"), |_: &mut View| {
            Ok::<_, ()>(std::thread::current().name().unwrap_or_default().to_owned())
        });
        let (thread, _) = made.await.unwrap();
        assert!(thread.starts_with("decide-"), "{thread}");
        let refused = store.transact_apart(Author::new("ann", "test"), |_: &mut View| {
            Err::<(), _>(std::thread::current().name().unwrap_or_default().to_owned())
        });
        match refused.await {
            Err(Refused::Decision(thread)) => assert!(thread.starts_with("decide-"), "{thread}"),
            other => panic!("{other:?}"),
        }
        store.close().await.unwrap();
    }
}
