//! A controller that is shown changes: its queue, and what its plans have read.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reconcile::dependencies::Dependencies;
use reconcile::queue::Queue;
use reconcile::read::Read;
use reconcile::reconciler::{Changed, DependsOn, Reconciler, Scope};

use crate::place::Place;

/// A controller that works here.
pub(crate) struct Member {
    pub reconciler: Arc<dyn Reconciler>,
    pub queue: Arc<Queue<Place>>,
    scope: Scope,
    observes: Scope,
    depends_on: DependsOn,
    /// How long objects wait for further changes of what they have read.
    settling: Duration,
    dependencies: Mutex<Dependencies<Place>>,
}

impl Member {
    pub fn new(reconciler: Arc<dyn Reconciler>, queue: Arc<Queue<Place>>) -> Arc<Member> {
        Arc::new(Member {
            queue,
            scope: reconciler.scope(),
            observes: reconciler.observes(),
            depends_on: reconciler.depends_on(),
            settling: reconciler.settings().settling,
            dependencies: Mutex::default(),
            reconciler,
        })
    }

    /// What a key's last plan has read; with the lock of the feed, so that no change comes between.
    pub fn dependencies(&self) -> MutexGuard<'_, Dependencies<Place>> {
        self.dependencies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it wants to know of changes of a status alone.
    pub fn wants_statuses(&self) -> bool {
        self.depends_on == DependsOn::Everything
    }

    /// Whether an object is one of its own.
    pub fn includes(&self, place: &Place) -> bool {
        let target = place.target();
        self.scope.includes(&target.plane, &target.at.group, &target.at.plural)
    }

    /// Queues what a change means for it.
    pub fn show(&self, place: &Place, changed: &Changed<'_>, reads: &[Read]) {
        let (plane, at) = (&changed.target.plane, &changed.target.at);
        if self.observes.includes(plane, &at.group, &at.plural) {
            self.reconciler.affected(changed, &mut |target| self.queue.add(Place::of(&target)));
        }
        if changed.is_status_only && !self.wants_statuses() {
            return;
        }
        if self.scope.includes(plane, &at.group, &at.plural) && self.reconciler.concerns(changed) {
            self.queue.add(place.clone());
        }
        self.show_reads(reads, Some(place));
    }

    /// Queues those whose plans have read something of this, except one that knows it.
    pub fn show_reads(&self, reads: &[Read], except: Option<&Place>) {
        let mut readers = Vec::new();
        self.dependencies().touched(reads, |place| readers.push(place.clone()));
        for reader in readers.into_iter().filter(|reader| Some(reader) != except) {
            match self.settling.is_zero() {
                true => self.queue.add(reader),
                false => self.queue.add_after(reader, self.settling),
            }
        }
    }
}
