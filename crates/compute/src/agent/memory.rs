//! What the agent knows of the runtime: the last report of each instance.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use containers::{Error, InstanceId, InstanceSpec, InstanceState, Runtime};
use krm::kind::Resource;
use reconcile::reconciler::Bell;
use reconcile::target::Target;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinHandle;

use super::addresses::Addresses;
use super::{GRACE, id_of};
use crate::kinds::Instance;

/// Labels by which an instance is found again in the runtime.
pub const PROJECT: &str = "compute.datumapis.com/project";
/// Its namespace.
pub const NAMESPACE: &str = "compute.datumapis.com/namespace";
/// Its name.
pub const NAME: &str = "compute.datumapis.com/name";
/// Pause before the runtime is asked again after a failure.
const PAUSE: Duration = Duration::from_secs(1);

/// What is known of an instance.
#[derive(Debug, Clone)]
pub enum Observation {
    /// Nothing yet.
    Nothing,
    /// What the runtime reported last.
    State(Box<InstanceState>),
    /// The runtime refused it.
    Refused(Error),
    /// It is being stopped and removed.
    Ending,
    /// Nothing of it is left.
    Removed,
}

/// What is known of all instances, by id, which is the uid of the object.
pub struct Memory {
    runtime: Arc<dyn Runtime>,
    addresses: Option<Arc<Addresses>>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    known: BTreeMap<String, Observation>,
    targets: BTreeMap<String, Target>,
    /// Ids that an object has or had: one that was made again is another instance.
    ids: BTreeMap<Target, BTreeSet<String>>,
    usage: BTreeMap<String, Measured>,
    bell: Option<Bell>,
    following: Option<JoinHandle<()>>,
}

impl Inner {
    fn forget(&mut self, id: &str, target: &Target) {
        self.known.remove(id);
        self.targets.remove(id);
        if let Some(ids) = self.ids.get_mut(target) {
            ids.remove(id);
            if ids.is_empty() {
                self.ids.remove(target);
            }
        }
    }
}

/// What an instance uses: CPU time at a moment, and the rate since the moment before.
#[derive(Clone)]
struct Measured {
    cpu_time: Duration,
    at: SystemTime,
    rate: Option<(i64, SystemTime)>,
}

impl Memory {
    /// Nothing is known of a runtime. Instances that end are taken from the addresses first.
    pub fn new(runtime: Arc<dyn Runtime>, addresses: Option<Arc<Addresses>>) -> Memory {
        Memory { runtime, addresses, inner: Mutex::default() }
    }

    /// Completes when an instance has no connections any more, or they have taken too long.
    async fn drain(&self, id: &InstanceId) {
        if let Some(addresses) = &self.addresses {
            addresses.drain(id).await;
        }
    }

    /// What is known of an instance.
    pub fn known(&self, id: &str) -> Observation {
        self.lock().known.get(id).cloned().unwrap_or(Observation::Nothing)
    }

    /// Notes where the object of an instance is.
    pub fn place(&self, id: &str, target: &Target) {
        let mut inner = self.lock();
        if inner.targets.get(id) != Some(target) {
            inner.targets.insert(id.to_owned(), target.clone());
            inner.ids.entry(target.clone()).or_default().insert(id.to_owned());
        }
    }

    /// The ids of what may run for an object, except for one id. What is known to be gone is forgotten.
    pub fn others(&self, target: &Target, except: &str) -> Vec<String> {
        let mut inner = self.lock();
        let Some(ids) = inner.ids.get(target) else { return Vec::new() };
        let ids: Vec<String> = ids.iter().filter(|id| *id != except).cloned().collect();
        let mut left = Vec::new();
        for id in ids {
            match inner.known.get(&id) {
                Some(Observation::Ending) => {}
                Some(Observation::State(_) | Observation::Refused(_)) => left.push(id),
                Some(Observation::Removed | Observation::Nothing) | None => inner.forget(&id, target),
            }
        }
        left
    }

    /// Follows the runtime from now on: each report has the object planned again.
    pub fn follow(self: Arc<Self>, bell: Bell) {
        let following = tokio::spawn(self.clone().report_all());
        let mut inner = self.lock();
        inner.bell = Some(bell);
        if let Some(before) = inner.following.replace(following) {
            before.abort();
        }
    }

    async fn report_all(self: Arc<Self>) {
        let mut events = self.runtime.events();
        loop {
            // Events that were missed, and what ran before, are found by a list.
            match self.runtime.list().await {
                Ok(states) => states.into_iter().for_each(|state| self.report(state)),
                Err(error) => {
                    tracing::warn!(%error, "the runtime can't be listed");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            }
            loop {
                match events.recv().await {
                    Ok(event) if event.removed => self.note(event.id.as_str(), None),
                    Ok(event) => match self.runtime.observe(&event.id).await {
                        Ok(state) => self.report(state),
                        Err(Error::NotFound { .. }) => self.note(event.id.as_str(), None),
                        Err(error) => tracing::warn!(%error, "an instance can't be observed"),
                    },
                    Err(RecvError::Lagged(_)) => break,
                    Err(RecvError::Closed) => return,
                }
            }
        }
    }

    /// Makes sure that an instance runs.
    pub async fn ensure(&self, spec: InstanceSpec, target: &Target) {
        let id = spec.id.clone();
        self.place(id.as_str(), target);
        if matches!(self.known(id.as_str()), Observation::Removed) {
            // It was removed to be started anew: what is reported from now on counts.
            self.lock().known.remove(id.as_str());
        }
        match self.runtime.ensure(spec).await {
            Ok(()) => match self.runtime.observe(&id).await {
                Ok(state) => self.report(state),
                Err(error) => self.set(id.as_str(), Observation::Refused(error)),
            },
            Err(error) => self.set(id.as_str(), Observation::Refused(error)),
        }
    }

    /// What an instance uses, in thousandths of a core, and when it was measured.
    pub fn usage(&self, id: &str) -> Option<(i64, SystemTime)> {
        self.lock().usage.get(id)?.rate
    }

    /// Measures an instance, unless that was done a moment ago.
    pub async fn measure(&self, id: &str, pause: Duration) {
        let Some(at) = id_of(id) else { return };
        let now = SystemTime::now();
        let before = self.lock().usage.get(id).cloned();
        let passed = before.as_ref().map(|before| now.duration_since(before.at).unwrap_or_default());
        if passed.is_some_and(|passed| passed < pause) {
            return;
        }
        let Ok(usage) = self.runtime.usage(&at).await else { return };
        let rate = before.zip(passed).map(|(before, passed)| {
            // After a restart of a container, time begins anew.
            let used = usage.cpu_time.saturating_sub(before.cpu_time);
            ((used.as_secs_f64() / passed.as_secs_f64().max(0.001) * 1000.0).round() as i64, now)
        });
        self.lock().usage.insert(id.to_owned(), Measured { cpu_time: usage.cpu_time, at: now, rate });
    }

    /// Stops an instance, in the background.
    pub fn stop(self: Arc<Self>, id: String, target: &Target) {
        self.place(&id, target);
        tokio::spawn(async move {
            let Some(at) = id_of(&id) else { return };
            self.drain(&at).await;
            if let Err(error) = self.runtime.stop(&at, GRACE).await {
                tracing::warn!(%error, "an instance can't be stopped");
            }
            match self.runtime.observe(&at).await {
                Ok(state) => self.report(state),
                Err(_) => self.note(&id, None),
            }
        });
    }

    /// Stops and removes an instance, in the background.
    pub fn remove(self: Arc<Self>, id: String, target: &Target) {
        self.place(&id, target);
        if matches!(self.known(&id), Observation::Ending) {
            return;
        }
        self.lock().known.insert(id.clone(), Observation::Ending);
        tokio::spawn(async move {
            let Some(at) = id_of(&id) else { return self.set(&id, Observation::Removed) };
            self.drain(&at).await;
            loop {
                match self.runtime.stop(&at, GRACE).await {
                    Ok(()) | Err(Error::NotFound { .. }) => {}
                    Err(error) => tracing::warn!(%error, "an instance can't be stopped"),
                }
                match self.runtime.remove(&at).await {
                    Ok(()) => return self.set(&id, Observation::Removed),
                    Err(error) => tracing::warn!(%error, "an instance can't be removed"),
                }
                tokio::time::sleep(PAUSE).await;
            }
        });
    }

    fn report(&self, state: InstanceState) {
        let label = |key: &str| state.labels.get(key).cloned().unwrap_or_default();
        let id = state.id.as_str().to_owned();
        let target = Target::new(label(PROJECT), Instance::address(&label(NAMESPACE), &label(NAME)));
        self.place(&id, &target);
        self.note(&id, Some(state));
    }

    /// Takes in what the runtime says of an instance; nothing if it is not there.
    fn note(&self, id: &str, state: Option<InstanceState>) {
        let before = self.known(id);
        let known = match (before, state) {
            // Until it is removed, it is ending, whatever is reported.
            (Observation::Ending | Observation::Removed, _) => return,
            (_, Some(state)) => Observation::State(Box::new(state)),
            (_, None) => Observation::Nothing,
        };
        self.set(id, known);
    }

    fn set(&self, id: &str, known: Observation) {
        let mut inner = self.lock();
        let is_same = match (inner.known.get(id), &known) {
            (Some(Observation::State(old)), Observation::State(new)) => old == new,
            (Some(Observation::Refused(old)), Observation::Refused(new)) => old == new,
            _ => false,
        };
        if matches!(known, Observation::Removed) {
            inner.usage.remove(id);
        }
        if let Some((addresses, id)) = self.addresses.as_ref().zip(id_of(id)) {
            match &known {
                Observation::State(state) => addresses.note(&id, Some(state)),
                _ => addresses.note(&id, None),
            }
        }
        inner.known.insert(id.to_owned(), known);
        let rung = inner.bell.clone().zip(inner.targets.get(id).cloned()).filter(|_| !is_same);
        drop(inner);
        if let Some((bell, target)) = rung {
            bell(&target);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
