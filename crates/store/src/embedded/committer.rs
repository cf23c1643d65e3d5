//! The one writer: takes what is queued, decides it in order, writes it in one go, then tells everybody.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{mpsc, oneshot};

use super::amended_terms::AmendedTerms;
use super::batch::{Batch, Row};
use super::leases::{KeptLease, Leases};
use super::load::load;
use super::touched::Touched;
use super::{Settings, Shared};
use crate::clock::Ticks;
use crate::error::{Conflict, Error, Result};
use crate::history::archive::Edit;
use crate::history::draft::Draft;
use crate::history::record::Head;
use crate::lease::Acquired;
use crate::memory::Published;
use crate::memory::recent::{Commit, Event, Recent};
use crate::memory::state::{State, Terms};
use crate::snapshot::Snapshot;
use crate::transaction::{Committed, Fence, Guard, Transaction, Write};
use crate::version::{Revision, Version};

/// Something for the committer to do.
pub(crate) enum Job {
    Commit {
        transaction: Transaction,
        reply: Reply<Committed>,
    },
    /// Decides on a transaction while nothing else can happen.
    Alone {
        decide: Box<dyn FnOnce(Snapshot) -> Option<Result<Transaction>> + Send>,
        reply: Reply<Option<Committed>>,
    },
    Acquire {
        name: Arc<str>,
        holder: Arc<str>,
        milliseconds: u64,
        reply: Reply<Acquired>,
    },
    Renew {
        fence: Fence,
        reply: Reply<bool>,
    },
    Release {
        fence: Fence,
        reply: Reply<bool>,
    },
    Edit {
        edits: Vec<Edit>,
        fence: Option<Fence>,
        reply: Reply<()>,
    },
    /// Lets go of the recent commits through this revision.
    Compact {
        through: Revision,
        reply: Reply<()>,
    },
    /// Indexes everything anew, after the model changed its mind.
    Reindex {
        reply: Reply<()>,
    },
    Stop,
}

pub(crate) type Reply<T> = oneshot::Sender<Result<T>>;

/// Decided, and told once it is durable.
type Answer = Box<dyn FnOnce(Result<()>) + Send>;

/// Jobs taken into one group.
const GROUP: usize = 1_024;
/// Bytes written in one group before it is closed.
const GROUP_BYTES: usize = 8 << 20;

pub(crate) struct Committer {
    pub shared: Arc<Shared>,
    pub state: State,
    pub recent: Recent,
    pub touched: Touched,
    pub leases: Leases,
    pub ticks: Ticks,
    /// Room for the rows of a group, kept from the last one.
    pub rows: Vec<Row>,
    /// What amended objects are found by.
    pub amended: AmendedTerms,
}

impl Committer {
    pub fn run(mut self, jobs: &mut mpsc::UnboundedReceiver<Job>) {
        while let Some(first) = jobs.blocking_recv() {
            if !self.group(first, || jobs.try_recv().ok()) {
                break;
            }
        }
        self.shared.memory.close();
    }

    /// Does one group of jobs, `first` and those that `more` has now; `false` when it is time to stop.
    pub fn group(&mut self, first: Job, mut more: impl FnMut() -> Option<Job>) -> bool {
        let healed = self.heal();
        let mut batch = Batch::in_place_of(std::mem::take(&mut self.rows));
        let mut answers: Vec<Answer> = Vec::new();
        let mut next = Some(first);
        let mut go_on = true;
        while let Some(job) = next {
            if matches!(job, Job::Stop) {
                go_on = false;
                break;
            }
            self.decide(job, &mut batch, &mut answers);
            if answers.len() >= GROUP || batch.weight() >= GROUP_BYTES {
                break;
            }
            next = more();
        }
        let outcome = healed.and_then(|()| self.make_durable(&mut batch));
        if outcome.is_ok() {
            self.publish();
        } else {
            self.forget_undurable();
        }
        for answer in answers {
            answer(outcome.clone());
        }
        self.rows = batch.into_room();
        go_on
    }

    /// Opens the file again if it failed and that is safe; if the last group landed after all, catches up with it.
    fn heal(&mut self) -> Result<()> {
        self.shared.disk.check()?;
        if self.shared.disk.is_open() {
            return Ok(());
        }
        let caught_up = self.catch_up();
        if caught_up.is_err() {
            // Not open for as long as there may be something in it that we do not know of.
            self.shared.disk.close();
        }
        caught_up
    }

    fn catch_up(&mut self) -> Result<()> {
        let reached = self.shared.disk.reopen()?;
        tracing::info!(revision = %reached.revision, "the store's file is open again");
        self.leases = self.shared.disk.leases(self.now())?;
        if reached.revision > self.state.revision {
            let indexer = &self.shared.memory.indexer;
            let Settings { window, environment, .. } = &self.shared.settings;
            let now = environment.clock.now();
            let loaded = load(&*self.shared.disk.database()?, indexer, window, now)?;
            (self.state, self.recent) = (loaded.state, loaded.recent);
            self.shared.memory.forget_overflow();
            self.publish();
        }
        Ok(())
    }

    fn decide(&mut self, job: Job, batch: &mut Batch, answers: &mut Vec<Answer>) {
        match job {
            Job::Commit { transaction, reply } => {
                let result = self.stage(transaction, batch);
                answers.push(later(reply, result));
            }
            Job::Alone { decide, reply } => {
                let snapshot = Snapshot::new(Arc::new(self.state.clone()));
                // The caller's code: if it panics, its caller is told, and everybody else goes on.
                let result = match catch_unwind(AssertUnwindSafe(|| decide(snapshot))) {
                    Ok(Some(transaction)) => {
                        transaction.and_then(|transaction| self.stage(transaction, batch)).map(Some)
                    }
                    Ok(None) => Ok(None),
                    Err(_) => Err(Error::Unavailable(
                        "the transaction could not be decided, and the log says why; nothing was written"
                            .into(),
                    )),
                };
                answers.push(later(reply, result));
            }
            Job::Acquire { name, holder, milliseconds, reply } => {
                let result = self.acquire(name, holder, milliseconds, batch);
                answers.push(later(reply, Ok(result)));
            }
            Job::Renew { fence, reply } => {
                let renewed = self.leases.renew(&fence, self.now());
                answers.push(later(reply, Ok(renewed)));
            }
            Job::Release { fence, reply } => {
                let released = self.leases.release(&fence);
                if released {
                    batch.leases.push((fence.name, None));
                }
                answers.push(later(reply, Ok(released)));
            }
            Job::Edit { edits, fence, reply } => {
                let lost = fence.filter(|fence| !self.leases.is_held(fence, self.now()));
                let result = match lost {
                    Some(fence) => Err(Conflict::LeaseLost(fence.name).into()),
                    None => {
                        batch.edits.extend(edits);
                        Ok(())
                    }
                };
                answers.push(later(reply, result));
            }
            Job::Compact { through, reply } => {
                let through = through.min(self.state.revision);
                self.shared.memory.drop_through(&mut self.recent, through);
                answers.push(later(reply, Ok(())));
            }
            Job::Reindex { reply } => {
                self.state.reindex(&self.shared.memory.indexer);
                self.amended.clear();
                self.shared.memory.forget_older();
                answers.push(later(reply, Ok(())));
            }
            Job::Stop => {}
        }
    }

    /// Checks the guards and works out the writes. On an error nothing is left behind.
    fn stage(&mut self, transaction: Transaction, batch: &mut Batch) -> Result<Committed> {
        for guard in &transaction.guards {
            self.check(guard)?;
        }
        let time = self.ticks.next(self.shared.settings.environment.clock.now());
        let mut writes = transaction.writes;
        let written = writes.len();
        for amendment in &transaction.amendments {
            writes.push(Write::Put(amendment.of(self.state.objects.get(&amendment.key))?));
        }
        let mut drafts = Vec::with_capacity(writes.len());
        for write in writes {
            let before = self.state.objects.get(write.key()).cloned();
            let draft = Draft::of(write, before.as_ref(), &transaction.author, time)?;
            drafts.push(draft.ok_or(before));
        }
        if drafts.iter().all(Result::is_err) {
            let entries = drafts.into_iter().map(|unchanged| unchanged.err().flatten()).collect();
            return Ok(Committed { revision: self.state.revision, entries });
        }

        let revision = self.state.revision.next();
        let mut entries = Vec::with_capacity(drafts.len());
        let mut events = Vec::with_capacity(drafts.len());
        for (place, draft) in drafts.into_iter().enumerate() {
            match draft {
                Err(unchanged) => entries.push(unchanged),
                Ok(draft) => {
                    let version = Version::of(revision, events.len() as u16);
                    let event = self.apply(draft, version, place >= written, batch);
                    entries.push(Some(event.shown().clone()));
                    events.push(Arc::new(event));
                }
            }
        }
        self.state.revision = revision;
        self.recent.push(Commit { revision, time, events });
        Ok(Committed { revision, entries })
    }

    fn apply(&mut self, draft: Draft, version: Version, is_amendment: bool, batch: &mut Batch) -> Event {
        let entry = draft.entry(version);
        let Draft { key, place, before, after, mut record } = draft;
        let was = self.state.objects.get(&key).cloned();
        let indexer = &self.shared.memory.indexer;
        let terms = match is_amendment {
            true => self.amended.terms(indexer, &key, was.as_deref(), entry.as_deref()),
            false => Terms::of(indexer, &key, was.as_deref(), entry.as_deref()),
        };
        for bucket in terms.buckets() {
            self.touched.touch(bucket.clone(), version.revision());
        }
        self.state.set_known(&key, was.as_deref(), entry.clone(), terms);
        record.version = version;
        let object = after.map(|(head, stored)| (Head { version, ..head }, stored));
        let row = Row { key: key.clone(), place, object, record, is_superseded: false };
        if is_amendment {
            batch.push_amended(row)
        } else {
            batch.push(row)
        }
        Event::new(version, key, before, entry)
    }

    fn check(&self, guard: &Guard) -> Result<(), Conflict> {
        match guard {
            Guard::At { key, version } => {
                let found = self.state.objects.get(key).map_or(Version::ZERO, |entry| entry.version);
                if found != *version {
                    return Err(Conflict::Changed { key: key.clone(), expected: *version, found });
                }
            }
            Guard::Exists(key) if !self.state.objects.contains_key(key) => {
                return Err(Conflict::Missing(key.clone()));
            }
            Guard::Life { key, uid } => match self.state.objects.get(key) {
                None => return Err(Conflict::Missing(key.clone())),
                Some(entry) if entry.uid != *uid => return Err(Conflict::Reborn(key.clone())),
                Some(_) => {}
            },
            Guard::Bucket { term, at } if !self.touched.unchanged_since(term, *at) => {
                return Err(Conflict::Bucket(String::from_utf8_lossy(term).into_owned()));
            }
            Guard::Lease(fence) if !self.leases.is_held(fence, self.now()) => {
                return Err(Conflict::LeaseLost(fence.name.clone()));
            }
            _ => {}
        }
        Ok(())
    }

    fn acquire(
        &mut self,
        name: Arc<str>,
        holder: Arc<str>,
        milliseconds: u64,
        batch: &mut Batch,
    ) -> Acquired {
        let now = self.now();
        if let Some((by, left)) = self.leases.holder(&name, now)
            && by != holder
        {
            return Acquired::HeldBy { holder: by, for_at_most: left };
        }
        let revision = self.state.revision.next();
        self.state.revision = revision;
        let kept = KeptLease { holder, taken: Version::of(revision, 0), milliseconds };
        batch.leases.push((name.clone(), Some(kept.clone())));
        Acquired::Taken(self.leases.take(name, kept, now))
    }

    /// By the clock that leases run out by.
    fn now(&self) -> Instant {
        self.shared.settings.environment.clock.instant()
    }

    fn make_durable(&mut self, batch: &mut Batch) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        self.shared.disk.write(batch, self.state.revision)
    }

    fn publish(&mut self) {
        let Settings { window, environment, .. } = &self.shared.settings;
        self.shared.memory.trim(&mut self.recent, window, environment.clock.now());
        self.touched.tidy();
        let state = Arc::new(self.state.clone());
        self.shared.memory.publish(Published { state, recent: self.recent.clone() });
    }

    /// Back to what is durable. Buckets touched in vain stay touched: that costs a retry, never a wrong answer.
    fn forget_undurable(&mut self) {
        self.amended.clear();
        let published = self.shared.memory.load();
        self.state = State::clone(&published.state);
        self.recent = published.recent.clone();
        drop(published);
        match self.shared.disk.leases(self.now()) {
            Ok(leases) => self.leases = leases,
            // Nothing is decided any more, so nobody asks for them.
            Err(Error::ReadOnly(_)) => {}
            // They are read when the file is opened again.
            Err(_) => self.shared.disk.close(),
        }
    }
}

fn later<T: Send + 'static>(reply: Reply<T>, result: Result<T>) -> Answer {
    // A caller who no longer waits is no reason to stop.
    Box::new(move |durable| drop(reply.send(durable.and(result))))
}
