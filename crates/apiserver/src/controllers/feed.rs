//! The feed: one watch on the store, which queues what changes for all controllers of this process.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use krm::Object;
use krm::kind::Kind;
use reconcile::context::World;
use reconcile::line::Line;
use reconcile::member::{Change, Found, Member, Members};
use reconcile::metadata::says_the_same;
use reconcile::read::{self, Read};
use reconcile::reconciler::Changed;
use reconcile::target::Target;
use serde_json::Value;
use store::{Entry, Key, Revision, Snapshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::world::{ServerWorld, metadata, target_of};
use crate::api::Api;
use crate::definitions;
use crate::encode;
use crate::index;
use crate::keys;

/// How long objects are looked at in one go. Requests that came meanwhile wait for so long.
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
    members: Members<Key>,
}

impl Feed {
    /// Shows a controller everything in its scope, and from now on every change. Leave with [`Feed::leave`].
    pub async fn join(&self, api: &Api, member: &Arc<Member<Key>>) {
        let is_first = {
            let mut state = self.lock();
            state.members.join(member);
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
    pub fn leave(&self, member: &Arc<Member<Key>>) {
        self.lock().members.leave(member);
    }

    /// Registers what the plan of a key has read at a revision, and the line that it waits in, since when. `false` if some
    /// of it has changed since.
    pub fn register(
        &self,
        member: &Member<Key>,
        key: &Key,
        reads: BTreeSet<Read>,
        line: Option<(&Line, u64)>,
        at: Revision,
    ) -> bool {
        self.lock().members.register(member, key, reads, line, at.get())
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
                state.members.begin_at(snapshot.revision().get());
                state.members.all().to_vec()
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
        let sees_status = self.lock().members.see_status();
        let Some(seen) = SeenChange::new(api, key, (before, after), sees_status) else { return };
        let look = seen.world.look(&seen.target.plane);
        let changed = Changed {
            target: &seen.target,
            before: seen.metadata.0.as_ref(),
            after: seen.metadata.1.as_ref(),
            is_status_only: seen.is_status_only,
            look: &*look,
            world: &seen.world,
        };
        let change = Change { key, changed, reads: seen.reads().into(), found: &seen };
        self.lock().members.show(revision.get(), &change);
    }
}

/// A change of one object, and what is known of it.
struct SeenChange {
    target: Target,
    metadata: (Option<Object>, Option<Object>),
    objects: (Option<Object>, Option<Object>),
    is_status_only: bool,
    kind: Option<Arc<Kind>>,
    snapshot: Snapshot,
    world: ServerWorld,
    referrers: OnceCell<Vec<Key>>,
}

impl SeenChange {
    fn new(
        api: &Api,
        key: &Key,
        (before, after): (Option<&Entry>, Option<&Entry>),
        sees_status: bool,
    ) -> Option<SeenChange> {
        let target = target_of(key)?;
        let of = |entry: Option<&Entry>| entry.and_then(|entry| metadata(api, key, entry));
        let metadata = (of(before), of(after));
        let catalog = api.kinds().of(&super::world::plane_of(&target.plane));
        let kind = catalog.resource(&target.at.group, &target.at.plural).cloned();
        let is_status_only = match (&metadata, &kind) {
            ((Some(before), Some(after)), Some(kind)) if kind.generations => says_the_same(before, after),
            _ => false,
        };
        let is_seen = !is_status_only || sees_status;
        let whole = |entry: Option<&Entry>| {
            let object = entry.filter(|entry| is_seen && !entry.is_sealed())?;
            let object = encode::read(object.bytes()).ok()?;
            Some(api.kinds().in_storage_version(key, object))
        };
        let snapshot = api.store().latest();
        let world = ServerWorld::new(api, snapshot.clone());
        let objects = match &kind {
            // Labels and owners are all that it can be found by.
            Some(kind) if is_found_by_metadata(kind) => match is_seen {
                true => metadata.clone(),
                false => (None, None),
            },
            // It was found by the same before.
            Some(kind) if is_status_only && kind.is_found_by_spec => (None, whole(after)),
            _ => (whole(before), whole(after)),
        };
        let referrers = OnceCell::new();
        Some(SeenChange { target, metadata, objects, is_status_only, kind, snapshot, world, referrers })
    }

    /// The reads that it touches.
    fn reads(&self) -> Vec<Read> {
        let (plane, at) = (&*self.target.plane, &self.target.at);
        let objects = [self.objects.0.as_ref(), self.objects.1.as_ref()];
        let mut reads = read::touched(plane, at, self.kind.as_deref(), objects);
        if at.group == definitions::GROUP && at.plural == definitions::PLURAL {
            for object in objects.into_iter().flatten() {
                let text = |path: &str| object.at(path).and_then(Value::as_str).unwrap_or_default();
                reads.push(Read::served(plane, text("spec.group"), text("spec.names.kind")));
            }
        }
        reads
    }
}

impl Found<Key> for SeenChange {
    fn entered(&self) -> Vec<Read> {
        let (Some(kind), Some(object)) = (&self.kind, &self.objects.1) else { return Vec::new() };
        let plane = &*self.target.plane;
        let values = kind.buckets.iter().flat_map(|(bucket, values)| {
            values(object).into_iter().map(move |value| Read::bucket(plane, *bucket, &value))
        });
        values.collect()
    }

    /// The store has an index of declared references.
    fn referrers(&self, member: &Member<Key>, found: &mut dyn FnMut(&Key)) {
        // The same for all controllers.
        let referrers = self.referrers.get_or_init(|| {
            let plane = super::world::plane_of(&self.target.plane);
            self.snapshot.having(&index::referring_to(&plane, &self.target.at)).cloned().collect()
        });
        referrers.iter().filter(|referrer| includes(member, referrer)).for_each(found);
    }
}

/// Whether objects of a kind can be found by nothing but labels and owners.
fn is_found_by_metadata(kind: &Kind) -> bool {
    let by_metadata = |field: &String| matches!(field.as_str(), "metadata.name" | "metadata.namespace");
    kind.conversion.is_none()
        && kind.selected.is_none()
        && kind.buckets.is_empty()
        && kind.references.is_empty()
        && kind.stored().selectable.iter().all(by_metadata)
        && !(kind.group == definitions::GROUP && kind.names.plural == definitions::PLURAL)
}

/// Whether an object is a controller's own.
fn includes(member: &Member<Key>, key: &Key) -> bool {
    keys::parts(key).is_some_and(|parts| member.includes(parts.plane, parts.group, parts.plural))
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
async fn show_all(api: &Api, member: &Member<Key>, snapshot: &Snapshot) {
    api.caught_up(snapshot.version()).await;
    let world = ServerWorld::new(api, snapshot.clone());
    let mut stretch = Stretch::begin();
    // Of those that may have to wait in line, the first to come are the first to be planned.
    let mut in_order: Vec<(u64, &Key)> = Vec::new();
    for (key, entry) in snapshot.list(b"") {
        if member.reconciler.waits_in_line() && includes(member, key) {
            in_order.push((entry.born(), key));
            continue;
        }
        if includes(member, key)
            && let Some(target) = target_of(key)
        {
            let needs_metadata = member.includes_everything();
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
