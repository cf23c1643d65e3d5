//! The committer, called by whoever has something to do, with faults around it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use super::disk::Disk;
use super::faults::{Fault, Faults, Operation, Point};
use crate::embedded::committer::{Committer, Job, Reply};
use crate::embedded::{Device, Settings, Shared, start};
use crate::error::{Error, Result};
use crate::keys::Keys;
use crate::lease::Acquired;
use crate::memory::overflow::Overflow;
use crate::memory::{Memory, Published, Threads};
use crate::transaction::Committed;

/// What all servers of a store share.
pub(super) struct Engine {
    shared: Arc<Shared>,
    /// Gone once the store is closed.
    committer: Mutex<Option<Committer>>,
    servers: Mutex<Vec<Memory>>,
    faults: Arc<dyn Faults>,
    /// Faults happen from now on: the store is open.
    exposed: AtomicBool,
    points: AtomicU64,
    steps: AtomicU64,
    stopped: AtomicBool,
    /// Those who wait for an answer of a process that was stopped: they get none, not even that there is none.
    waiting: Mutex<Vec<Box<dyn Send>>>,
}

impl Engine {
    pub fn open(
        disk: &Disk,
        keys: &Keys,
        settings: Settings,
        faults: Arc<dyn Faults>,
    ) -> Result<Arc<Engine>> {
        let device: Arc<dyn Device> = Arc::new(disk.clone());
        let committer = start::open(device, keys, settings, Threads::None)?;
        Ok(Arc::new(Engine {
            shared: committer.shared.clone(),
            committer: Mutex::new(Some(committer)),
            servers: Mutex::default(),
            faults,
            exposed: AtomicBool::new(false),
            points: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            waiting: Mutex::default(),
        }))
    }

    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub fn expose(&self) {
        self.exposed.store(true, Ordering::Release);
    }

    /// The memory of a new server.
    pub fn memory_of_server(&self) -> Memory {
        let mut servers = locked(&self.servers);
        let Published { state, recent } = Published::clone(&self.shared.memory.load());
        let memory =
            Memory::new(self.shared.memory.indexer.clone(), (*state).clone(), recent, Overflow::none());
        servers.push(memory.clone());
        memory
    }

    /// A server goes; the store closes with the last.
    pub fn leave(&self, memory: &Memory) {
        let mut servers = locked(&self.servers);
        servers.retain(|server| !server.is(memory));
        if servers.is_empty() {
            self.shared.stopped.store(true, Ordering::Release);
            drop(locked(&self.committer).take());
            self.shared.disk.close();
        }
    }

    /// A read of what is current, which can fail like anything else.
    pub async fn read(&self, server: &Arc<str>) -> Result<()> {
        let point = self.point(server, Operation::Read);
        for fault in self.faults_at(&point) {
            match fault {
                Fault::Before | Fault::After => return Err(unavailable()),
                Fault::Delayed(time) => tokio::time::sleep(time).await,
                _ => {}
            }
        }
        Ok(())
    }

    /// Does a job, or what becomes of it.
    pub async fn process(self: &Arc<Engine>, server: &Arc<str>, memory: &Memory, job: Job) {
        let to = To { server, memory };
        match job {
            Job::Commit { transaction, reply } => {
                let operation = Operation::commit(&transaction);
                let attempt =
                    || Some(self.run(|reply| Job::Commit { transaction: transaction.clone(), reply }));
                self.deliver(to, operation, reply, attempt, committed).await;
            }
            Job::Alone { decide, reply } => {
                let mut decide = Some(decide);
                let attempt = || decide.take().map(|decide| self.run(|reply| Job::Alone { decide, reply }));
                let told = |done: &Option<Committed>| done.as_ref().map_or("nothing".to_owned(), committed);
                self.deliver(to, Operation::CommitAlone, reply, attempt, told).await;
            }
            Job::Acquire { name, holder, milliseconds, reply } => {
                let operation = Operation::Acquire { name: name.clone(), holder: holder.clone() };
                let attempt = || {
                    let (name, holder) = (name.clone(), holder.clone());
                    Some(self.run(|reply| Job::Acquire { name, holder, milliseconds, reply }))
                };
                self.deliver(to, operation, reply, attempt, acquired).await;
            }
            Job::Renew { fence, reply } => {
                let attempt = || Some(self.run(|reply| Job::Renew { fence: fence.clone(), reply }));
                let operation = Operation::Renew(fence.name.clone());
                self.deliver(to, operation, reply, attempt, bool::to_string).await;
            }
            Job::Release { fence, reply } => {
                let attempt = || Some(self.run(|reply| Job::Release { fence: fence.clone(), reply }));
                let operation = Operation::Release(fence.name.clone());
                self.deliver(to, operation, reply, attempt, bool::to_string).await;
            }
            Job::Edit { edits, fence, reply } => {
                let attempt = || {
                    let (edits, fence) = (edits.clone(), fence.clone());
                    Some(self.run(|reply| Job::Edit { edits, fence, reply }))
                };
                self.deliver(to, Operation::Edit, reply, attempt, done).await;
            }
            Job::Compact { through, reply } => {
                let attempt = || Some(self.run(|reply| Job::Compact { through, reply }));
                self.deliver(to, Operation::Compact, reply, attempt, done).await;
            }
            Job::Reindex { reply } => {
                let attempt = || Some(self.run(|reply| Job::Reindex { reply }));
                self.deliver(to, Operation::Reindex, reply, attempt, done).await;
            }
            Job::Stop => {}
        }
    }

    /// Has an operation carried out by `attempt`, never, once or twice, and answers its caller. `attempt` gives nothing
    /// when it can't be repeated.
    async fn deliver<T: Send + 'static>(
        self: &Arc<Engine>,
        to: To<'_>,
        operation: Operation,
        reply: Reply<T>,
        mut attempt: impl FnMut() -> Option<Result<T>>,
        told: impl Fn(&T) -> String,
    ) {
        if self.stopped.load(Ordering::Acquire) {
            return self.wait_forever(reply);
        }
        let point = self.point(to.server, operation);
        let mut way = None;
        for fault in self.faults_at(&point) {
            match fault {
                Fault::Stale { prefix, time } => self.hold(to.memory, &prefix, time),
                Fault::CutWatches { prefix } => to.memory.cut(&prefix),
                Fault::LoseLease(name) => self.lose(&name),
                other => way = Some(other),
            }
        }
        let mut carry_out = || {
            let outcome = attempt();
            if let Some(outcome) = &outcome
                && self.exposed.load(Ordering::Acquire)
            {
                self.faults.carried_out(&point, &outcome.as_ref().map(&told).map_err(Error::clone));
            }
            outcome
        };
        let answer = match way {
            Some(Fault::Before) => Some(Err(unavailable())),
            Some(Fault::After) => {
                carry_out();
                Some(Err(Error::unknown("the simulation lost the answer")))
            }
            Some(Fault::Delayed(time)) => {
                tokio::time::sleep(time).await;
                if self.stopped.load(Ordering::Acquire) {
                    return self.wait_forever(reply);
                }
                carry_out()
            }
            Some(Fault::Repeated) => {
                let first = carry_out();
                carry_out().or(first)
            }
            Some(fault @ (Fault::StopBefore | Fault::StopAfter)) => {
                if fault == Fault::StopAfter {
                    carry_out();
                }
                self.stopped.store(true, Ordering::Release);
                self.faults.stopped(&point);
                return self.wait_forever(reply);
            }
            _ => carry_out(),
        };
        if let Some(answer) = answer {
            // A caller who no longer waits is no reason to stop.
            let _ = reply.send(answer);
        }
    }

    /// The committer does one job, here and now.
    fn run<T>(&self, job: impl FnOnce(Reply<T>) -> Job) -> Result<T> {
        let mut committer = locked(&self.committer);
        let committer = committer.as_mut().ok_or(Error::Closed)?;
        let (reply, mut answer) = oneshot::channel();
        let job = job(reply);
        let reindexed = matches!(job, Job::Reindex { .. });
        committer.group(job, || None);
        let published = Published::clone(&self.shared.memory.load());
        for server in locked(&self.servers).iter() {
            if reindexed {
                server.forget_older();
            }
            server.publish(published.clone());
        }
        answer.try_recv().unwrap_or(Err(Error::Closed))
    }

    fn point(&self, server: &Arc<str>, operation: Operation) -> Point {
        if !self.exposed.load(Ordering::Acquire) {
            return Point { number: 0, step: None, server: server.clone(), operation };
        }
        let next = |counter: &AtomicU64| counter.fetch_add(1, Ordering::AcqRel) + 1;
        Point {
            number: next(&self.points),
            step: operation.is_durable().then(|| next(&self.steps)),
            server: server.clone(),
            operation,
        }
    }

    fn faults_at(&self, point: &Point) -> Vec<Fault> {
        match self.exposed.load(Ordering::Acquire) && !self.stopped.load(Ordering::Acquire) {
            true => self.faults.at(point),
            false => Vec::new(),
        }
    }

    fn hold(&self, memory: &Memory, prefix: &[u8], time: Duration) {
        let (hold, memory) = (memory.hold(prefix), memory.clone());
        tokio::spawn(async move {
            tokio::time::sleep(time).await;
            memory.let_go(hold);
        });
    }

    fn lose(&self, lease: &str) {
        if let Some(committer) = &mut *locked(&self.committer) {
            committer.leases.lose(lease);
        }
    }

    fn wait_forever<T: Send + 'static>(&self, reply: Reply<T>) {
        locked(&self.waiting).push(Box::new(reply));
    }
}

/// Who is asked.
#[derive(Clone, Copy)]
struct To<'a> {
    server: &'a Arc<str>,
    memory: &'a Memory,
}

fn committed(committed: &Committed) -> String {
    format!("revision {}", committed.revision)
}

fn acquired(acquired: &Acquired) -> String {
    match acquired {
        Acquired::Taken(fence) => format!("taken at {}", fence.taken),
        Acquired::HeldBy { holder, .. } => format!("held by {holder}"),
    }
}

fn done((): &()) -> String {
    "done".to_owned()
}

fn unavailable() -> Error {
    Error::Unavailable("the simulation lets this fail before anything is written".to_owned())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
