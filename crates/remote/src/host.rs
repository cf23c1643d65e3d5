//! Runs a reconciler beside the server: plans on the caches, commits over the API, executes.

mod attempt;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use client::{ControllerLease, Fence};
use reconcile::backoff::{Backoff, system_randomness};
use reconcile::lease::{self, Terms};
use reconcile::member::Member;
use reconcile::queue::Queue;
use reconcile::reconciler::{Bell, Freshness, Reconciler, Scope};
use reconcile::workers::{self, Attempt, Failure};
use tokio_util::sync::CancellationToken;

use crate::commit::Committer;
use crate::feed::Informers;
use crate::place::Place;
use crate::records::Records;
use crate::role;
use crate::running::{Progress, Running};
use crate::source::{self, Source};
use attempt::Planner;

/// How long one request about the lease may take.
const LEASE_REQUEST: Duration = Duration::from_secs(3);
/// How long a commit may take: less than the deadline of an attempt.
const COMMIT: Duration = Duration::from_secs(25);
/// How often something that has to be before the work can begin is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// Runs one reconciler. Clones are the same one.
#[derive(Clone)]
pub struct Host(Arc<Inner>);

struct Inner {
    informers: Informers,
    reconciler: Arc<dyn Reconciler>,
    running: Arc<Running>,
    identity: String,
}

/// Why a reconciler can't run beside the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit(String);

impl fmt::Display for Unfit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Unfit {}

impl Host {
    /// A host of a reconciler. The identity is that of this process, which no other one has.
    pub fn new(
        informers: &Informers,
        reconciler: Arc<dyn Reconciler>,
        identity: &str,
    ) -> Result<Host, Unfit> {
        let needs_all = matches!(reconciler.scope(), Scope::Everything);
        let needs_all = needs_all || matches!(reconciler.observes(), Scope::Everything);
        if needs_all || reconciler.freshness() == Freshness::Current {
            let name = reconciler.name();
            return Err(Unfit(format!(
                "{name} looks at everything in the store, so it runs in the server only"
            )));
        }
        if reconciler.waits_in_line() {
            let name = reconciler.name();
            return Err(Unfit(format!("{name} keeps objects in line, so it runs in the server only")));
        }
        Ok(Host(Arc::new(Inner {
            informers: informers.clone(),
            running: Arc::new(Running::new(reconciler.name())),
            identity: identity.to_owned(),
            reconciler,
        })))
    }

    /// Its state.
    pub fn progress(&self) -> Progress {
        self.0.running.progress()
    }

    /// Runs the reconciler whenever this process holds its lease, which a server that runs it has to hold too, until `stop` is
    /// cancelled. Then what runs is cancelled and waited for, and the lease is given back. The caches are filled from the beginning, so that whoever takes the lease over
    /// can work at once.
    pub async fn run(&self, stop: &CancellationToken) {
        self.0.informers.follow(self.sources());
        let client = self.0.informers.client().in_root();
        let name = self.0.reconciler.name();
        let of_lease = client.clone().with_timeout(Some(LEASE_REQUEST));
        let keeper = ControllerLease::new(&of_lease, name, &self.0.identity);
        lease::hold(name, &keeper, Terms::default(), stop, |fence, token| self.clone().work(fence, token))
            .await;
    }

    /// What it follows.
    fn sources(&self) -> Vec<Source> {
        let mut sources = source::of_reconciler(&*self.0.reconciler, self.0.informers.catalog());
        if self.is_in_projects() {
            let (group, plural) = client::PROJECTS;
            sources.push(Source::in_plane("", group, plural));
        }
        sources
    }

    fn is_in_projects(&self) -> bool {
        role::is_for_projects(&*self.0.reconciler)
    }

    /// Works until the token is cancelled. When it returns, nothing of it runs any more.
    async fn work(self, fence: Fence, stop: CancellationToken) {
        let begun = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            records = self.begin() => records,
        };
        let inner = &self.0;
        let controller = inner.reconciler.name();
        tracing::info!(controller, holder = inner.identity, "the lease is held here; working");
        let backoff = Backoff::with_jitter(system_randomness());
        let queue = Arc::new(Queue::new(Place::plane, backoff));
        inner.running.begun(&queue);
        inner.reconciler.attach(bell(&queue));
        let member = Member::new(inner.reconciler.clone(), queue.clone(), |target| Some(Place::of(target)));
        let committer = Committer {
            client: inner.informers.client().fenced(&fence).with_timeout(Some(COMMIT)),
            catalog: inner.informers.catalog().clone(),
            reconciler: inner.reconciler.clone(),
            instance: inner.identity.clone(),
            writes: inner.running.writes.clone(),
        };
        let planner = Arc::new(Planner::new(
            inner.informers.clone(),
            (member.clone(), committer, begun),
            inner.running.clone(),
            self.is_in_projects(),
            stop.clone(),
        ));
        let attempt: Attempt<Place> = Arc::new(move |place| {
            let planner = planner.clone();
            Box::pin(async move { planner.attempt(&place).await.map_err(Failure) })
        });
        inner.informers.join(&member);
        let settings = inner.reconciler.settings();
        workers::run(queue.clone(), settings, attempt, inner.running.stats.clone(), stop).await;
        inner.informers.leave(&member);
        queue.close();
        inner.running.ended();
        tracing::info!(controller, "stopped working");
    }

    /// Everything that has to be before the first plan: the records of what was begun, the first lists.
    async fn begin(&self) -> Records {
        let (informers, name) = (&self.0.informers, self.0.reconciler.name());
        let records = loop {
            match Records::load(informers.client(), name).await {
                Ok(records) => break records,
                Err(error) => {
                    tracing::warn!(controller = name, %error, "the external actions that were begun can't be read; trying again");
                    tokio::time::sleep(AGAIN).await;
                }
            }
        };
        let sources = self.sources();
        informers.until(|snapshot| sources.iter().all(|source| snapshot.is_whole(source))).await;
        records
    }
}

/// Queues objects because of something outside of the server. It does not keep the queue.
fn bell(queue: &Arc<Queue<Place>>) -> Bell {
    let queue = Arc::downgrade(queue);
    Arc::new(move |target| {
        if let Some(queue) = queue.upgrade() {
            queue.add(Place::of(target));
        }
    })
}
