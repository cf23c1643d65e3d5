//! Runs reconcilers in the server: plans on a snapshot, commits, executes.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use krm::Object;
use krm::kind::QueryContext;
use krm::status::Status;
use reconcile::actions::{Actions, Journal};
use reconcile::backoff::{Backoff, Randomness};
use reconcile::context::{Context, Refused};
use reconcile::lease::{self, Later, Terms};
use reconcile::line::Line;
use reconcile::member::Member;
use reconcile::objects::Objects;
use reconcile::operation::Operations;
use reconcile::plan::{Plan, Write};
use reconcile::queue::Queue;
use reconcile::read::Read;
use reconcile::reconciler::{Bell, Freshness, Reconciler, Scope};
use reconcile::target::Target;
use reconcile::workers::{self, Attempt, Failure, Next};
use store::{Key, Revision, Snapshot};
use tokio_util::sync::CancellationToken;

use super::commit::Committer;
use super::lease::StoreLease;
use super::records::Records;
use super::running::{Controllers, Overdue, Running};
use super::world::{ServerWorld, key_of, target_of};
use crate::api::{Api, store_failure};
use crate::client::Client;
use crate::index;

/// How often a plan may follow another within one attempt, because writes were refused.
const ROUNDS: usize = 3;

/// Pause before an object is planned again because something changed while it was planned. Without one, a plan would follow
/// the other for as long as the state at hand lacks what the feed has shown.
const BEHIND: Duration = Duration::from_millis(5);

/// Runs a reconciler whenever this server holds its lease, until the server stops or the store is closed. Without a holder,
/// it runs on every server.
pub async fn run(reconciler: Arc<dyn Reconciler>, api: Api, holder: Option<String>) {
    let controllers = api.controllers().clone();
    let Some(running) = controllers.begin(reconciler.name()) else { return };
    let client = Client::controller(&api, &*reconciler);
    let (stop, running) = (controllers.stopping(), Arc::new(running));
    let Some(holder) = holder else {
        return on_its_threads(&controllers, reconciler, client, running, stop).await;
    };
    let name = lease_of(reconciler.name());
    let keeper = StoreLease { api, name: name.clone(), holder };
    lease::hold(&name, &keeper, Terms::default(), &stop, |fence, token| {
        on_its_threads(&controllers, reconciler.clone(), client.fenced(fence), running.clone(), token)
    })
    .await;
}

/// The lease of a controller in the store, whether it runs in a server or beside it.
pub fn lease_of(controller: &str) -> String {
    format!("controller/{controller}")
}

/// Runs a reconciler with a lease that is held already, until the server stops or the store is closed.
pub async fn run_fenced(reconciler: Arc<dyn Reconciler>, api: Api, fence: store::Fence) {
    let controllers = api.controllers().clone();
    let Some(running) = controllers.begin(reconciler.name()) else { return };
    let client = Client::controller(&api, &*reconciler).fenced(fence);
    let stop = controllers.stopping();
    on_its_threads(&controllers, reconciler, client, Arc::new(running), stop).await;
}

/// Runs a reconciler on the threads of controllers, unless clients wait for what it does.
async fn on_its_threads(
    controllers: &Controllers,
    reconciler: Arc<dyn Reconciler>,
    client: Client,
    running: Arc<Running>,
    stop: CancellationToken,
) {
    let is_awaited = reconciler.is_awaited();
    let work = work(reconciler, client, running, stop);
    match is_awaited {
        true => work.await,
        false => controllers.on_their_threads(work).await,
    }
}

/// Runs a reconciler until the token is cancelled or the store is closed. When it returns, nothing of it runs any more.
async fn work(
    reconciler: Arc<dyn Reconciler>,
    client: Client,
    running: Arc<Running>,
    stop: CancellationToken,
) {
    let api = client.api().clone();
    let queue = Arc::new(Queue::new(super::lane, Backoff::with_jitter(randomness(&api))));
    running.begun(&queue);
    reconciler.attach(bell(&queue));
    let member = Member::new(reconciler.clone(), queue.clone(), key_of);
    let host = Arc::new(Host {
        committer: Committer::new(client, reconciler.name(), reconciler.reporter(), running.writes().clone()),
        member: member.clone(),
        written: AtomicU64::new(0),
        waiting: running.waiting().clone(),
        overdue: running.overdue(),
        stop: stop.clone(),
        reconciler,
        api: api.clone(),
    });
    let settings = host.reconciler.settings();
    let attempt: Attempt<Key> = Arc::new(move |key| {
        let host = host.clone();
        Box::pin(async move { host.attempt(&key).await.map_err(|status| Failure(status.to_string())) })
    });
    let working = workers::run(queue.clone(), settings, attempt, running.stats().clone(), stop.clone());
    let following = async {
        let fed = async {
            api.controllers().feed().join(&api, &member).await;
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = api.controllers().feed().closed() => {}
            () = fed => {}
        }
        queue.close();
    };
    tokio::join!(working, following);
    api.controllers().feed().leave(&member);
    running.ended();
}

/// Queues objects because of something outside of the store. It does not keep the queue.
fn bell(queue: &Arc<Queue<Key>>) -> Bell {
    let queue = Arc::downgrade(queue);
    Arc::new(move |target| {
        if let (Some(queue), Some(key)) = (queue.upgrade(), key_of(target)) {
            queue.add(key);
        }
    })
}

/// The server's randomness, for back-off. It does not keep the server: the queue has it.
fn randomness(api: &Api) -> Randomness {
    let source = api.store().environment().randomness.clone();
    Arc::new(move || {
        let mut bytes = [0; 8];
        // Without randomness pauses are shorter; nothing else depends on it.
        let _ = source.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    })
}

/// When an object was created, as its place in a line says.
fn born(snapshot: &Snapshot, key: &Key) -> u64 {
    snapshot.get(key).map_or(0, |entry| entry.born())
}

/// What objects wait for, by key.
pub type Waiting = Arc<Mutex<std::collections::BTreeMap<Key, String>>>;

struct Host {
    api: Api,
    reconciler: Arc<dyn Reconciler>,
    committer: Committer,
    member: Arc<Member<Key>>,
    /// Revision of the controller's last commit: plans wait until they see it.
    written: AtomicU64,
    waiting: Waiting,
    overdue: Overdue,
    stop: CancellationToken,
}

impl Host {
    async fn attempt(self: &Arc<Self>, key: &Key) -> Result<Next, Status> {
        let outcome = self.try_once(key).await;
        if outcome.is_err() && self.reconciler.waits_in_line() {
            // It keeps its place and tries again; meanwhile others may take what is there.
            self.planned(key, true);
        }
        outcome
    }

    async fn try_once(self: &Arc<Self>, key: &Key) -> Result<Next, Status> {
        let Some(target) = target_of(key) else { return Ok(Next::Done) };
        let mut refused: Vec<Refused> = Vec::new();
        for _ in 0..ROUNDS {
            let snapshot = self.snapshot().await?;
            let (plan, reads) = self.plan(&target, snapshot.clone(), std::mem::take(&mut refused)).await?;
            let is_current = match self.reconciler.scope() {
                // Generic controllers read metadata of everything; they are told what a change affects.
                Scope::Everything => true,
                _ => {
                    let feed = self.api.controllers().feed();
                    let line = plan.line.as_ref().map(|line| (line, born(&snapshot, key)));
                    feed.register(&self.member, key, reads, line, snapshot.revision())
                }
            };
            let (next, still_waits) = (plan.again, plan.line.is_some());
            self.wait_for(key, plan.waiting.clone());
            refused = self.carry_out(&target, plan, &snapshot).await?;
            if self.reconciler.waits_in_line() {
                self.planned(key, still_waits);
            }
            if refused.is_empty() {
                return Ok(match (is_current, next) {
                    // Something changed while it was planned, or is known to the feed before it is at hand.
                    (false, _) => Next::After(BEHIND),
                    (true, Some(pause)) => Next::After(pause),
                    (true, None) => Next::Done,
                });
            }
        }
        match refused.into_iter().next() {
            Some(first) => Err(first.status),
            None => Ok(Next::Done),
        }
    }

    /// A state of the store that contains the controller's own last commit.
    async fn snapshot(&self) -> Result<Snapshot, Status> {
        let store = self.api.store();
        let snapshot = match self.reconciler.freshness() {
            Freshness::Current => store.current().await.map_err(|error| store_failure(&error))?,
            Freshness::Latest => store.latest(),
        };
        let own = self.written.load(Ordering::Acquire);
        if snapshot.revision().get() >= own {
            return Ok(snapshot);
        }
        self.api.caught_up(Revision::new(own).end()).await;
        Ok(store.latest())
    }

    async fn plan(
        self: &Arc<Self>,
        target: &Target,
        snapshot: Snapshot,
        refused: Vec<Refused>,
    ) -> Result<(Plan, BTreeSet<Read>), Status> {
        if !self.reconciler.settings().is_heavy || self.api.store().environment().is_single_threaded {
            return Ok(self.plan_now(target, snapshot, &refused));
        }
        let (host, target) = (self.clone(), target.clone());
        let planning = tokio::task::spawn_blocking(move || host.plan_now(&target, snapshot, &refused));
        planning.await.map_err(Status::internal)
    }

    fn plan_now(&self, target: &Target, snapshot: Snapshot, refused: &[Refused]) -> (Plan, BTreeSet<Read>) {
        use reconcile::context::World;
        let records = Records { controller: self.reconciler.name(), api: &self.api, target };
        let operations = records.read(&snapshot);
        let since = key_of(target).map(|key| (born(&snapshot, &key), key));
        let turn = |line: &Line| {
            let lines = self.member.lines();
            since.as_ref().is_none_or(|(since, key)| lines.is_turn(line, key, *since))
        };
        let world = ServerWorld::new(&self.api, snapshot);
        let object = match self.reconciler.scope() {
            Scope::Everything => world.metadata(target).map(Arc::new),
            _ => world.look(&target.plane).get(&target.at),
        };
        let context = Context::new(&world, &target.plane, self.api.now());
        let context = context.after(refused).with_operations(operations).with_turn(&turn);
        let (mut plan, now) = match &object {
            Some(object) => (self.reconciler.plan(target, object, &context), context.now()),
            None => (self.reconciler.plan_absent(target, &context), context.now()),
        };
        let is_overdue = object.as_ref().is_some_and(|object| plan.judge_state(target, object, now));
        if let Some((_, key)) = &since {
            self.overdue.set(key, is_overdue);
        }
        let mut reads = context.into_reads();
        reads.remove(&Read::object(&target.plane, &target.at));
        // The store finds those that refer to a changed object: these reads need not be kept.
        let catalog = self.api.kinds().of(&super::world::plane_of(&target.plane));
        if let (Some(object), Some(kind)) = (&object, catalog.resource(&target.at.group, &target.at.plural)) {
            for reference in &kind.references {
                for (_, name) in reference.names(object) {
                    let to = reference.target(object, name);
                    let plane = if reference.in_root { "" } else { &*target.plane };
                    reads.remove(&Read::object(plane, &to));
                }
            }
        }
        (plan, reads)
    }

    /// Commits and executes a plan; returns the independent writes that were refused.
    async fn carry_out(
        &self,
        target: &Target,
        mut plan: Plan,
        snapshot: &Snapshot,
    ) -> Result<Vec<Refused>, Status> {
        let records = Records { controller: self.reconciler.name(), api: &self.api, target };
        let actions = Actions::of(&mut plan, records.read(snapshot), || self.api.new_uid());
        let record = actions.to_record().map(|operations| records.write(operations));
        if !plan.writes.is_empty() || record.is_some() {
            let revision = self.committer.together(plan.writes, plan.guards, record, snapshot).await?;
            self.note(revision);
        }
        let mut refused = Vec::new();
        if !plan.independent.is_empty() {
            let (revision, not) = self.committer.one_by_one(plan.independent, snapshot).await?;
            self.note(revision);
            refused = not;
        }
        let journal = StoreJournal { host: self, records, snapshot };
        let around = (self.api.controllers().gates(), &self.stop);
        actions.execute(&*self.reconciler, target, around, &journal).await?;
        Ok(refused)
    }

    /// A key was planned; whether it still waits in line.
    fn planned(&self, key: &Key, still_waits: bool) {
        self.member.planned(key, still_waits, |line| {
            let plane = super::world::plane_of(&line.plane);
            let bucket = index::in_bucket(&plane, line.bucket, &line.value);
            self.api.store().latest().count_having(&bucket)
        });
    }

    fn note(&self, revision: Option<Revision>) {
        if let Some(revision) = revision {
            self.written.fetch_max(revision.get(), Ordering::AcqRel);
        }
    }

    fn wait_for(&self, key: &Key, what: Option<String>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        match what {
            Some(what) => drop(waiting.insert(key.clone(), what)),
            None => drop(waiting.remove(key)),
        }
    }
}

/// Keeps operations in the store, beside the object.
struct StoreJournal<'a> {
    host: &'a Host,
    records: Records<'a>,
    snapshot: &'a Snapshot,
}

impl Journal for StoreJournal<'_> {
    type Error = Status;

    fn keep<'a>(&'a self, operations: &'a Operations) -> Later<'a, Result<(), Status>> {
        Box::pin(async move {
            let record = Some(self.records.write(operations));
            let kept = self.host.committer.together(Vec::new(), Vec::new(), record, self.snapshot).await?;
            self.host.note(kept);
            Ok(())
        })
    }

    fn again(&self, pause: Duration) {
        if let Some(key) = key_of(self.records.target) {
            self.host.member.queue.add_after(key, pause);
        }
    }

    fn objects(&self) -> Arc<dyn Objects> {
        Arc::new(ServerObjects { api: self.host.api.clone(), committer: self.host.committer.clone() })
    }

    fn failed(&self, why: String) -> Status {
        Status::internal(why)
    }
}

/// The objects of the store, for the actions of a controller.
struct ServerObjects {
    api: Api,
    committer: Committer,
}

impl Objects for ServerObjects {
    fn get<'a>(&'a self, target: &'a Target) -> Later<'a, Result<Option<Arc<Object>>, Status>> {
        Box::pin(async move {
            let snapshot = self.api.store().current().await.map_err(|error| store_failure(&error))?;
            Ok(ServerWorld::new(&self.api, snapshot).plane(&target.plane).get(&target.at))
        })
    }

    fn commit(&self, writes: Vec<Write>) -> Later<'_, Result<(), Status>> {
        Box::pin(async move {
            let snapshot = self.api.store().latest();
            self.committer.together(writes, Vec::new(), None, &snapshot).await?;
            Ok(())
        })
    }
}
