//! Controllers that are shown changes: their queues, what their plans have read, and who waits in line.
//!
//! A host keeps [`Members`] under a lock and shows them every change, in order. What a change means for a controller is
//! decided here, wherever it runs.

use std::collections::BTreeSet;
use std::hash::Hash;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::dependencies::{Dependencies, Recent};
use crate::line::{Line, Lines};
use crate::queue::Queue;
use crate::read::Read;
use crate::reconciler::{Changed, DependsOn, Reconciler, Scope};
use crate::target::Target;

/// A controller that works here. `K` is what the host calls objects by.
pub struct Member<K> {
    /// The controller.
    pub reconciler: Arc<dyn Reconciler>,
    /// Its queue.
    pub queue: Arc<Queue<K>>,
    key_of: fn(&Target) -> Option<K>,
    scope: Scope,
    observes: Scope,
    depends_on: DependsOn,
    /// How long objects wait for further changes of what they have read.
    settling: Duration,
    /// Whether a status may let an object into a bucket that others wait for or have read.
    sees_status: bool,
    dependencies: Mutex<Dependencies<K>>,
    lines: Mutex<Lines<K>>,
}

/// What a host finds out about a changed object only if a controller needs it.
pub trait Found<K> {
    /// The buckets that the object is in now, as reads.
    fn entered(&self) -> Vec<Read>;

    /// Objects in the scope of a controller that refer to it, where the host has an index of them, so that plans need not
    /// register that they have read it.
    fn referrers(&self, member: &Member<K>, found: &mut dyn FnMut(&K));
}

/// A change of one object.
pub struct Change<'a, K> {
    /// The object.
    pub key: &'a K,
    /// What changed.
    pub changed: Changed<'a>,
    /// The reads that it touches.
    pub reads: Arc<[Read]>,
    /// What else can be found out.
    pub found: &'a dyn Found<K>,
}

impl<K: Clone + Ord + Hash> Member<K> {
    /// A controller with its queue. `key_of` says what the host calls an object by.
    pub fn new(
        reconciler: Arc<dyn Reconciler>,
        queue: Arc<Queue<K>>,
        key_of: fn(&Target) -> Option<K>,
    ) -> Arc<Member<K>> {
        Arc::new(Member {
            queue,
            key_of,
            scope: reconciler.scope(),
            observes: reconciler.observes(),
            depends_on: reconciler.depends_on(),
            settling: reconciler.settings().settling,
            sees_status: reconciler.depends_on() == DependsOn::Everything || reconciler.waits_in_line(),
            dependencies: Mutex::default(),
            lines: Mutex::default(),
            reconciler,
        })
    }

    /// Whether objects of a resource are its own.
    pub fn includes(&self, plane: &str, group: &str, plural: &str) -> bool {
        self.scope.includes(plane, group, plural)
    }

    /// Whether everything is its own.
    pub fn includes_everything(&self) -> bool {
        matches!(self.scope, Scope::Everything)
    }

    /// The lines that its objects wait in.
    pub fn lines(&self) -> MutexGuard<'_, Lines<K>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A key was planned; whether it still waits in line. Calls the next in its line, if `left` says that anything is left to
    /// be taken.
    pub fn planned(&self, key: &K, still_waits: bool, left: impl Fn(&Line) -> usize) {
        let next = self.lines().planned(key, still_waits, left);
        if let Some(next) = next {
            self.queue.add(next);
        }
    }

    /// Queues those whose plans have read something of this, except one that knows it.
    pub fn show_reads(&self, reads: &[Read], except: Option<&K>) {
        let mut readers = Vec::new();
        self.dependencies().touched(reads, |key| readers.push(key.clone()));
        readers.iter().filter(|reader| Some(*reader) != except).for_each(|reader| self.queue_reader(reader));
    }

    fn dependencies(&self) -> MutexGuard<'_, Dependencies<K>> {
        self.dependencies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queue_reader(&self, key: &K) {
        match self.settling.is_zero() {
            true => self.queue.add(key.clone()),
            false => self.queue.add_after(key.clone(), self.settling),
        }
    }

    /// Queues what a change means for it.
    fn show(&self, change: &Change<'_, K>) {
        let Change { key, changed, reads, found } = change;
        let (plane, at) = (&*changed.target.plane, &changed.target.at);
        if self.observes.includes(plane, &at.group, &at.plural) {
            let mut queue =
                |target: Target| (self.key_of)(&target).into_iter().for_each(|key| self.queue.add(key));
            self.reconciler.affected(changed, &mut queue);
        }
        let entered = if self.lines().is_empty() { Vec::new() } else { found.entered() };
        for read in entered {
            let called = self.lines().call(read);
            called.into_iter().for_each(|called| self.queue.add(called));
        }
        if changed.is_status_only && self.depends_on == DependsOn::Spec {
            return;
        }
        if self.includes(plane, &at.group, &at.plural) && self.reconciler.concerns(changed) {
            self.queue.add((*key).clone());
        }
        // Generic controllers are told what a change affects.
        if self.includes_everything() {
            return;
        }
        found.referrers(self, &mut |referrer| {
            if referrer != *key {
                self.queue_reader(referrer);
            }
        });
        self.show_reads(reads, Some(*key));
    }
}

/// The controllers that work in a process, and what the latest changes have touched.
pub struct Members<K> {
    all: Vec<Arc<Member<K>>>,
    recent: Recent,
}

impl<K> Default for Members<K> {
    fn default() -> Members<K> {
        Members { all: Vec::new(), recent: Recent::default() }
    }
}

impl<K: Clone + Ord + Hash> Members<K> {
    /// Shows a controller every change from now on.
    pub fn join(&mut self, member: &Arc<Member<K>>) {
        self.all.push(member.clone());
    }

    /// Shows a controller nothing more.
    pub fn leave(&mut self, member: &Arc<Member<K>>) {
        self.all.retain(|found| !Arc::ptr_eq(found, member));
    }

    /// All of them.
    pub fn all(&self) -> &[Arc<Member<K>>] {
        &self.all
    }

    /// Begins anew at a revision: what was changed before it is not known.
    pub fn begin_at(&mut self, revision: u64) {
        self.recent = Recent::since(revision);
    }

    /// Whether any of them depends on statuses.
    pub fn see_status(&self) -> bool {
        self.all.iter().any(|member| member.sees_status)
    }

    /// Registers what the plan of a key has read at a revision, and the line that it waits in, since when. `false` if some
    /// of it has changed since. No change must be shown meanwhile: what comes next finds the reads registered.
    pub fn register(
        &self,
        member: &Member<K>,
        key: &K,
        mut reads: BTreeSet<Read>,
        line: Option<(&Line, u64)>,
        at: u64,
    ) -> bool {
        if let Some((line, since)) = line {
            // Whoever waits in line is called, not queued with all others by whatever becomes free.
            reads.remove(&line.read());
            member.lines().stand(line, key, since);
        }
        member.dependencies().set(key, &reads);
        reads.extend(line.map(|(line, _)| line.read()));
        !self.recent.has_touched(at, &reads)
    }

    /// Shows a change, which made this revision.
    pub fn show(&mut self, revision: u64, change: &Change<'_, K>) {
        if !change.changed.is_status_only || self.see_status() {
            self.recent.push(revision, change.reads.clone());
        }
        for member in &self.all {
            // A controller that panics must not keep the others from seeing the change.
            let shown = std::panic::catch_unwind(AssertUnwindSafe(|| member.show(change)));
            if shown.is_err() {
                let (controller, object) = (member.reconciler.name(), change.changed.target);
                tracing::error!(controller, %object, "panicked when it was shown a change");
            }
        }
    }

    /// Shows that something was touched that is no object.
    pub fn show_reads(&mut self, revision: u64, reads: Vec<Read>) {
        self.all.iter().for_each(|member| member.show_reads(&reads, None));
        self.recent.push(revision, reads.into());
    }
}
