//! The feed: one watch on the store, which queues what changes for all controllers of this process.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use krm::Object;
use krm::kind::Kind;
use reconcile::context::World;
use reconcile::dependencies::{Dependencies, Recent};
use reconcile::line::{Line, Lines};
use reconcile::metadata::says_the_same;
use reconcile::queue::Queue;
use reconcile::read::{self, Read};
use reconcile::reconciler::{Changed, DependsOn, Reconciler, Scope};
use reconcile::target::Target;
use serde_json::Value;
use store::{Entry, Key, Revision, Snapshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::world::{ServerWorld, key_of, metadata, target_of};
use crate::api::Api;
use crate::definitions;
use crate::encode;
use crate::index;
use crate::keys;

/// How long objects are looked at in one go.
const AT_A_STRETCH: Duration = Duration::from_millis(2);

/// Pause after the store could not be read.
const PAUSE: Duration = Duration::from_secs(1);

/// Shows changes to the controllers that work in this process.
#[derive(Clone, Default)]
pub struct Feed(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Cancelled once the store is followed.
    following: CancellationToken,
    closed: CancellationToken,
}

#[derive(Default)]
struct State {
    is_running: bool,
    members: Vec<Arc<Member>>,
    recent: Recent,
}

/// A controller that works here.
pub struct Member {
    reconciler: Arc<dyn Reconciler>,
    queue: Arc<Queue<Key>>,
    scope: Scope,
    observes: Scope,
    depends_on: DependsOn,
    /// How long objects wait for further changes of what they have read.
    settling: Duration,
    dependencies: Mutex<Dependencies<Key>>,
    /// Whether a status may let an object into a bucket that others wait for or have read.
    sees_status: bool,
    lines: Mutex<Lines<Key>>,
}

impl Member {
    /// A controller with its queue.
    pub fn new(reconciler: Arc<dyn Reconciler>, queue: Arc<Queue<Key>>) -> Arc<Member> {
        Arc::new(Member {
            queue,
            scope: reconciler.scope(),
            observes: reconciler.observes(),
            depends_on: reconciler.depends_on(),
            settling: reconciler.settings().settling,
            dependencies: Mutex::default(),
            sees_status: reconciler.depends_on() == DependsOn::Everything || reconciler.waits_in_line(),
            lines: Mutex::default(),
            reconciler,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Dependencies<Key>> {
        self.dependencies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lines that its objects wait in.
    pub fn lines(&self) -> MutexGuard<'_, Lines<Key>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A key was planned; whether it still waits in line. Calls the next in its line, if anything is left to be taken.
    pub fn planned(&self, api: &Api, key: &Key, still_waits: bool) {
        let left = |line: &Line| {
            let bucket = index::in_bucket(&super::world::plane_of(&line.plane), line.bucket, &line.value);
            api.store().latest().count_having(&bucket)
        };
        let next = self.lines().planned(key, still_waits, left);
        if let Some(next) = next {
            self.queue.add(next);
        }
    }

    fn includes(&self, key: &Key) -> bool {
        keys::parts(key).is_some_and(|parts| self.scope.includes(parts.plane, parts.group, parts.plural))
    }

    /// Queues a key after a pause.
    pub fn again(&self, key: &Key, pause: Duration) {
        self.queue.add_after(key.clone(), pause);
    }

    fn queue_reader(&self, key: &Key) {
        match self.settling.is_zero() {
            true => self.queue.add(key.clone()),
            false => self.queue.add_after(key.clone(), self.settling),
        }
    }
}

impl Feed {
    /// Shows a controller everything in its scope, and from now on every change. Leave with [`Feed::leave`].
    pub async fn join(&self, api: &Api, member: &Arc<Member>) {
        let is_first = {
            let mut state = self.lock();
            state.members.push(member.clone());
            !std::mem::replace(&mut state.is_running, true)
        };
        if is_first {
            let (feed, api) = (self.clone(), api.clone());
            tokio::spawn(async move {
                feed.follow(&api).await;
                feed.0.closed.cancel();
            });
        }
        // Only then does everything that changes after the snapshot below come through the feed.
        tokio::select! {
            biased;
            () = self.closed() => return,
            () = self.0.following.cancelled() => {}
        }
        if let Some(snapshot) = current(api).await {
            show_all(api, member, &snapshot).await;
        }
    }

    /// Shows a controller nothing more.
    pub fn leave(&self, member: &Arc<Member>) {
        self.lock().members.retain(|found| !Arc::ptr_eq(found, member));
    }

    /// Registers what the plan of a key has read at a revision, and the line that it waits in, since when. `false` if some
    /// of it has changed since.
    pub fn register(
        &self,
        member: &Member,
        key: &Key,
        mut reads: BTreeSet<Read>,
        line: Option<(&Line, u64)>,
        at: Revision,
    ) -> bool {
        // Under this lock no change is shown: what comes next finds the reads registered.
        let state = self.lock();
        if let Some((line, since)) = line {
            // Whoever waits in line is called, not queued with all others by whatever becomes free.
            reads.remove(&line.read());
            member.lines().stand(line, key, since);
        }
        member.lock().set(key, &reads);
        reads.extend(line.map(|(line, _)| line.read()));
        !state.recent.has_touched(at.get(), &reads)
    }

    /// Waits until the store is closed.
    pub async fn closed(&self) {
        self.0.closed.cancelled().await;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn follow(&self, api: &Api) {
        let mut is_again = false;
        loop {
            let Some(snapshot) = current(api).await else { return };
            let Ok(mut watch) = api.store().watch(b"", snapshot.version()) else { continue };
            let members = {
                let mut state = self.lock();
                state.recent = Recent::since(snapshot.revision().get());
                state.members.clone()
            };
            self.0.following.cancel();
            // Something may have been missed: everything is looked at again.
            if is_again {
                for member in &members {
                    show_all(api, member, &snapshot).await;
                }
            }
            is_again = true;
            drop(snapshot);
            loop {
                let events = match watch.next().await {
                    Ok(events) => events,
                    Err(store::Error::Closed) => return,
                    Err(_) => break,
                };
                // Plans see definitions and rights as of the change.
                if let Some(last) = events.last() {
                    api.caught_up(last.version()).await;
                }
                let mut stretch = Stretch::begin();
                for event in &events {
                    let (before, after) = (event.before().map(|it| &**it), event.after().map(|it| &**it));
                    self.show(api, event.key(), before, after, event.version().revision());
                    stretch.give_way().await;
                }
            }
        }
    }

    fn show(&self, api: &Api, key: &Key, before: Option<&Entry>, after: Option<&Entry>, revision: Revision) {
        let sees_status = self.lock().members.iter().any(|member| member.sees_status);
        let Some(change) = Change::new(api, key, (before, after), sees_status) else { return };
        let reads: Arc<[Read]> = change.reads().into();
        let mut state = self.lock();
        if !change.is_status_only || sees_status {
            state.recent.push(revision.get(), reads.clone());
        }
        for member in &state.members {
            // A controller that panics must not keep the others from seeing the change.
            let shown = std::panic::catch_unwind(AssertUnwindSafe(|| change.show(member, &reads)));
            if shown.is_err() {
                let controller = member.reconciler.name();
                tracing::error!(controller, object = %key, "panicked when it was shown a change");
            }
        }
    }
}

/// A change of one object.
struct Change<'a> {
    key: &'a Key,
    target: Target,
    metadata: (Option<Object>, Option<Object>),
    objects: (Option<Object>, Option<Object>),
    is_status_only: bool,
    kind: Option<Arc<Kind>>,
    snapshot: Snapshot,
    world: ServerWorld,
}

impl<'a> Change<'a> {
    fn new(
        api: &Api,
        key: &'a Key,
        (before, after): (Option<&Entry>, Option<&Entry>),
        sees_status: bool,
    ) -> Option<Change<'a>> {
        let target = target_of(key)?;
        let of = |entry: Option<&Entry>| entry.and_then(|entry| metadata(api, key, entry));
        let metadata = (of(before), of(after));
        let catalog = api.kinds().of(&super::world::plane_of(&target.plane));
        let kind = catalog.resource(&target.at.group, &target.at.plural).cloned();
        let is_status_only = match (&metadata, &kind) {
            ((Some(before), Some(after)), Some(kind)) if kind.generations => says_the_same(before, after),
            _ => false,
        };
        let whole = |entry: Option<&Entry>| match is_status_only && !sees_status {
            true => None,
            false => {
                let object = entry.filter(|entry| !entry.is_sealed())?;
                let object = encode::read(object.bytes()).ok()?;
                Some(api.kinds().in_storage_version(key, object))
            }
        };
        let snapshot = api.store().latest();
        let world = ServerWorld::new(api, snapshot.clone());
        let objects = (whole(before), whole(after));
        Some(Change { key, target, metadata, objects, is_status_only, kind, snapshot, world })
    }

    /// The reads that it touches.
    fn reads(&self) -> Vec<Read> {
        let (plane, at) = (&*self.target.plane, &self.target.at);
        let mut reads = Vec::new();
        read::touched_by_place(plane, at, &mut reads);
        for object in [&self.objects.0, &self.objects.1].into_iter().flatten() {
            if let Some(kind) = &self.kind {
                read::touched_by_content(plane, kind, object, &mut reads);
            }
            if at.group == definitions::GROUP && at.plural == definitions::PLURAL {
                let text = |path: &str| object.at(path).and_then(Value::as_str).unwrap_or_default();
                reads.push(Read::served(plane, text("spec.group"), text("spec.names.kind")));
            }
        }
        reads.sort_unstable();
        reads.dedup();
        reads
    }

    /// The buckets that the object is in now, where objects of a controller may wait for one.
    fn entered(&self, member: &Member) -> Vec<Read> {
        let (Some(kind), Some(object)) = (&self.kind, &self.objects.1) else { return Vec::new() };
        if member.lines().is_empty() {
            return Vec::new();
        }
        let plane = &*self.target.plane;
        let values = kind.buckets.iter().flat_map(|(bucket, values)| {
            values(object).into_iter().map(move |value| Read::bucket(plane, *bucket, &value))
        });
        values.collect()
    }

    /// Queues what it means for a controller.
    fn show(&self, member: &Member, reads: &[Read]) {
        let look = self.world.look(&self.target.plane);
        let changed = Changed {
            target: &self.target,
            before: self.metadata.0.as_ref(),
            after: self.metadata.1.as_ref(),
            is_status_only: self.is_status_only,
            look: &*look,
            world: &self.world,
        };
        let at = &self.target.at;
        if member.observes.includes(&self.target.plane, &at.group, &at.plural) {
            member.reconciler.affected(&changed, &mut |target| {
                if let Some(key) = key_of(&target) {
                    member.queue.add(key);
                }
            });
        }
        for entered in self.entered(member) {
            let called = member.lines().call(entered);
            if let Some(called) = called {
                member.queue.add(called);
            }
        }
        if self.is_status_only && member.depends_on == DependsOn::Spec {
            return;
        }
        if member.includes(self.key) && member.reconciler.concerns(&changed) {
            member.queue.add(self.key.clone());
        }
        if matches!(member.scope, Scope::Everything) {
            return;
        }
        // Declared references need not be registered: the store has an index of them.
        let plane = super::world::plane_of(&self.target.plane);
        for referrer in self.snapshot.having(&index::referring_to(&plane, at)) {
            if referrer != self.key && member.includes(referrer) {
                member.queue_reader(referrer);
            }
        }
        let mut readers = Vec::new();
        member.lock().touched(reads, |key| readers.push(key.clone()));
        for reader in readers.iter().filter(|reader| *reader != self.key) {
            member.queue_reader(reader);
        }
    }
}

async fn current(api: &Api) -> Option<Snapshot> {
    loop {
        match api.store().current().await {
            Ok(snapshot) => return Some(snapshot),
            Err(store::Error::Closed) => return None,
            Err(error) => {
                tracing::warn!(%error, "controllers wait for the store");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Queues everything in the scope of a controller, and everything that it finds affected.
async fn show_all(api: &Api, member: &Member, snapshot: &Snapshot) {
    api.caught_up(snapshot.version()).await;
    let world = ServerWorld::new(api, snapshot.clone());
    let mut stretch = Stretch::begin();
    // Of those that may have to wait in line, the first to come are the first to be planned.
    let mut in_order: Vec<(u64, &Key)> = Vec::new();
    for (key, entry) in snapshot.list(b"") {
        if member.reconciler.waits_in_line() && member.includes(key) {
            in_order.push((entry.born(), key));
            continue;
        }
        if member.includes(key)
            && let Some(target) = target_of(key)
        {
            let needs_metadata = matches!(member.scope, Scope::Everything);
            let found = needs_metadata.then(|| metadata(api, key, entry)).flatten();
            let is_concerned = match &found {
                None => !needs_metadata,
                Some(found) => {
                    let look = world.look(&target.plane);
                    member.reconciler.concerns(&Changed {
                        target: &target,
                        before: None,
                        after: Some(found),
                        is_status_only: false,
                        look: &*look,
                        world: &world,
                    })
                }
            };
            if is_concerned {
                member.queue.add(key.clone());
            }
        }
        stretch.give_way().await;
    }
    in_order.sort_unstable();
    in_order.into_iter().for_each(|(_, key)| member.queue.add(key.clone()));
}

/// Work that lets other tasks run now and then: the renewal of leases among them, which would otherwise expire while
/// hundreds of thousands of objects are looked at in one go.
struct Stretch(Instant);

impl Stretch {
    fn begin() -> Stretch {
        Stretch(Instant::now())
    }

    async fn give_way(&mut self) {
        if self.0.elapsed() > AT_A_STRETCH {
            tokio::task::yield_now().await;
            self.0 = Instant::now();
        }
    }
}
