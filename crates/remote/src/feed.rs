//! The informers of a process: which sources are followed, what is in the cache, and who is shown what changes.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use client::Client;
use krm::Object;
use krm::kind::Kind;
use reconcile::context::World;
use reconcile::gate::Gates;
use reconcile::member::{Change, Found, Member, Members};
use reconcile::metadata;
use reconcile::read::{self, Read};
use reconcile::reconciler::Changed;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::cache::{Size, Snapshot, version_of};
use crate::catalog::Catalog;
use crate::informer;
use crate::place::Place;
use crate::source::Source;
use crate::world::{CacheWorld, Missing};

/// How often discovery is asked whether kinds came or went, once a plan has asked for a kind that the program does not link.
const DISCOVERY: Duration = Duration::from_secs(30);

/// Follows what reconcilers read, and shows them what changes. Clones share it.
#[derive(Clone)]
pub struct Informers(Arc<Inner>);

struct Inner {
    client: Client,
    catalog: Arc<Catalog>,
    shared: Mutex<Shared>,
    /// Tells that the snapshot is another.
    changed: watch::Sender<u64>,
    stop: CancellationToken,
    tasks: TaskTracker,
    gates: Gates,
}

struct Shared {
    snapshot: Snapshot,
    followed: BTreeSet<Source>,
    members: Members<Place>,
    asks_discovery: bool,
}

impl Informers {
    /// Informers on a server, which follow nothing yet, until `stop` is cancelled.
    pub fn new(client: Client, catalog: Arc<Catalog>, stop: CancellationToken) -> Informers {
        let shared = Shared {
            snapshot: Snapshot::default(),
            followed: BTreeSet::new(),
            members: Members::default(),
            asks_discovery: false,
        };
        Informers(Arc::new(Inner {
            client,
            catalog,
            shared: Mutex::new(shared),
            changed: watch::Sender::new(0),
            stop,
            tasks: TaskTracker::new(),
            gates: Gates::default(),
        }))
    }

    /// How much is in memory.
    pub fn size(&self) -> Size {
        self.snapshot().size()
    }

    /// What is followed and can't be at the moment, with the reasons.
    pub fn problems(&self) -> Vec<String> {
        let snapshot = self.snapshot();
        let problems = snapshot
            .followed
            .iter()
            .filter_map(|(source, followed)| Some(format!("{source}: {}", followed.problem.as_ref()?)));
        problems.collect()
    }

    /// The gates in front of endpoints, shared by all controllers of this process.
    pub fn gates(&self) -> &Gates {
        &self.0.gates
    }

    /// The kinds.
    pub(crate) fn catalog(&self) -> &Arc<Catalog> {
        &self.0.catalog
    }

    /// The client.
    pub(crate) fn client(&self) -> &Client {
        &self.0.client
    }

    /// Everything that is followed, now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.lock().snapshot.clone()
    }

    /// Follows sources from now on, those that are not followed yet.
    pub(crate) fn follow(&self, sources: impl IntoIterator<Item = Source>) {
        let mut shared = self.lock();
        for source in sources {
            if !shared.followed.insert(source.clone()) {
                continue;
            }
            shared.snapshot.note(&source, |_| {});
            let (informers, stop) = (self.clone(), self.0.stop.clone());
            self.0.tasks.spawn(async move {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => {}
                    () = informer::follow(&informers, &source) => {}
                }
            });
        }
    }

    /// Follows what was missing, and waits until it is there. What can't be had for now is an error.
    pub(crate) async fn supply(&self, missing: &Missing, patience: Duration) -> Result<(), String> {
        if let Some(why) = missing.unanswerable {
            return Err(why.to_owned());
        }
        for plane in &missing.planes {
            self.discover(plane).await.map_err(|error| format!("discovery: {error}"))?;
            self.keep_discovering();
        }
        self.follow(missing.sources.iter().cloned());
        let are_whole = self.until(|snapshot| missing.sources.iter().all(|source| snapshot.is_whole(source)));
        if tokio::time::timeout(patience, are_whole).await.is_ok() {
            return Ok(());
        }
        let snapshot = self.snapshot();
        let lacking = missing.sources.iter().filter(|source| !snapshot.is_whole(source)).map(|source| {
            let problem = snapshot.followed.get(source).and_then(|followed| followed.problem.clone());
            match problem {
                Some(problem) => format!("{source} can't be read: {problem}"),
                None => format!("{source} are not listed yet"),
            }
        });
        Err(lacking.collect::<Vec<_>>().join("; "))
    }

    /// Waits until a snapshot is as it should be.
    pub(crate) async fn until(&self, is_so: impl Fn(&Snapshot) -> bool) -> Snapshot {
        let mut changed = self.0.changed.subscribe();
        loop {
            changed.mark_unchanged();
            let snapshot = self.snapshot();
            if is_so(&snapshot) {
                return snapshot;
            }
            // The sender lives as long as this does.
            let _ = changed.changed().await;
        }
    }

    /// Shows a controller every object of its scope, and from now on every change.
    pub(crate) fn join(&self, member: &Arc<Member<Place>>) {
        let mut shared = self.lock();
        shared.members.join(member);
        for (place, _) in shared.snapshot.all() {
            let target = place.target();
            if member.includes(&target.plane, &target.at.group, &target.at.plural) {
                member.queue.add(place.clone());
            }
        }
    }

    /// Shows a controller nothing more.
    pub(crate) fn leave(&self, member: &Arc<Member<Place>>) {
        self.lock().members.leave(member);
    }

    /// Registers what the plan of an object has read in a snapshot. `false` if some of it has changed since.
    pub(crate) fn register(
        &self,
        member: &Member<Place>,
        place: &Place,
        reads: BTreeSet<Read>,
        at: u64,
    ) -> bool {
        self.lock().members.register(member, place, reads, None, at)
    }

    /// Takes a change of an object into the cache and shows it.
    pub(crate) fn changed(
        &self,
        source: &Source,
        place: &Place,
        after: Option<&Object>,
        version: Option<u64>,
    ) {
        let mut guard = self.lock();
        let shared = &mut *guard;
        if let Some(version) = version {
            shared.snapshot.note(source, |followed| followed.version = followed.version.max(version));
        }
        let before = shared.snapshot.get(place).cloned();
        let is_older = |after: &&Object| before.as_ref().is_some_and(|it| it.version >= version_of(after));
        let kind = self.0.catalog.resource(place.plane(), &source.group, &source.plural);
        // A server that lags behind another may list an object as it was.
        let (Some(kind), false) = (kind, after.as_ref().is_some_and(is_older)) else {
            return self.tell(guard);
        };
        let before = before.and_then(|entry| entry.object());
        if before.is_none() && after.is_none() {
            return self.tell(guard);
        }
        shared.snapshot.set(place, &kind, before.as_ref(), after);
        shared.snapshot.sequence += 1;
        self.show(shared, place, &kind, (before.as_ref(), after));
        self.tell(guard);
    }

    /// Shows controllers a change that is in the cache already.
    fn show(
        &self,
        shared: &mut Shared,
        place: &Place,
        kind: &Kind,
        (before, after): (Option<&Object>, Option<&Object>),
    ) {
        // Kinds that only discovery tells of count generations if their objects have one.
        let counts = |object: &Object| kind.generations && object.meta("generation").is_some();
        let is_status_only = match (before, after) {
            (Some(before), Some(after)) => counts(after) && metadata::says_the_same(before, after),
            _ => false,
        };
        let target = place.target();
        // Buckets and selectable fields may follow from the status.
        let sees_content = !is_status_only || shared.members.see_status();
        let reads =
            read::touched(&target.plane, &target.at, sees_content.then_some(kind), [before, after]).into();
        let of =
            |object: Option<&Object>| metadata::read(&serde_json::to_vec(&object?.0).unwrap_or_default());
        let metadata = (of(before), of(after));
        let world = CacheWorld::new(&self.0.catalog, shared.snapshot.clone(), false, &[]);
        let look = world.look(&target.plane);
        let changed = Changed {
            target: &target,
            before: metadata.0.as_ref(),
            after: metadata.1.as_ref(),
            is_status_only,
            look: &*look,
            world: &world,
        };
        let change = Change { key: place, changed, reads, found: &Registered };
        shared.members.show(shared.snapshot.sequence, &change);
    }

    /// The first list of a source is whole, or it was listed anew.
    pub(crate) fn listed(&self, source: &Source, version: u64) {
        let mut shared = self.lock();
        shared.snapshot.note(source, |followed| {
            (followed.is_whole, followed.problem) = (true, None);
            followed.version = followed.version.max(version);
        });
        self.tell(shared);
    }

    /// A source can't be followed for now.
    pub(crate) fn failed(&self, source: &Source, why: &str) {
        let mut shared = self.lock();
        shared.snapshot.note(source, |followed| followed.problem = Some(why.into()));
        self.tell(shared);
    }

    /// The resource is not served any more: it has no objects.
    pub(crate) fn emptied(&self, source: &Source) {
        let snapshot = self.snapshot();
        let gone: Vec<Place> = match source.prefix() {
            Some(prefix) => snapshot.under(&prefix).map(|(place, _)| place.clone()).collect(),
            None => snapshot.all().map(|(place, _)| place).filter(|it| source.has(it)).cloned().collect(),
        };
        for place in gone {
            self.changed(source, &place, None, None);
        }
        self.listed(source, 0);
    }

    /// Waits until nothing follows any more, after the stop.
    pub async fn ended(&self) {
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    async fn discover(&self, plane: &str) -> client::Result<()> {
        let reads = self.0.catalog.discover(&self.0.client, plane).await?;
        if reads.is_empty() {
            return Ok(());
        }
        let mut guard = self.lock();
        let shared = &mut *guard;
        shared.snapshot.sequence += 1;
        shared.members.show_reads(shared.snapshot.sequence, reads);
        self.tell(guard);
        Ok(())
    }

    fn keep_discovering(&self) {
        if std::mem::replace(&mut self.lock().asks_discovery, true) {
            return;
        }
        let (informers, stop) = (self.clone(), self.0.stop.clone());
        self.0.tasks.spawn(async move {
            while tokio::time::timeout(DISCOVERY, stop.cancelled()).await.is_err() {
                for plane in informers.0.catalog.planes() {
                    if let Err(error) = informers.discover(&plane).await {
                        tracing::warn!(plane, %error, "kinds can't be discovered; trying again");
                    }
                }
            }
        });
    }

    fn tell(&self, shared: MutexGuard<'_, Shared>) {
        drop(shared);
        self.0.changed.send_modify(|count| *count += 1);
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Here every read of a plan is registered, and nobody waits in line.
struct Registered;

impl Found<Place> for Registered {
    fn entered(&self) -> Vec<Read> {
        Vec::new()
    }

    fn referrers(&self, _: &Member<Place>, _: &mut dyn FnMut(&Place)) {}
}
