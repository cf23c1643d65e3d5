//! A connection to one hub.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use client::{Client, DeleteOptions, Patch};
use krm::Object;
use reconcile::target::Target;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::{Hubs, access_of, watching};
use crate::kinds::{ClusterPlacement, Host, Hub};
use crate::provisioners::{Provisioner, Watched, labels};

/// Field manager of everything that is written to hubs.
pub const MANAGER: &str = "fulfillment-controller";
/// How long one call may take.
const CALL: Duration = Duration::from_secs(8);

/// What a connection is made with.
#[derive(Clone)]
pub struct Credentials {
    /// Changes with anything of it.
    pub version: String,
    /// Kubeconfig of the hub.
    pub kubeconfig: String,
    /// Namespace that everything is in.
    pub namespace: String,
    /// What provisions clusters there.
    pub provisioner: &'static dyn Provisioner,
}

/// Whether a hub answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reachability {
    /// Nothing is known yet.
    Connecting,
    /// Everything was seen, and it answers.
    Reachable,
    /// It does not answer, for this reason.
    CutOff {
        /// Since when.
        since: SystemTime,
        /// Why.
        why: String,
    },
    /// It refuses what we ask of it, for this reason.
    Refused(String),
}

/// A change of an object of a hub.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Call {
    /// Server-side apply of an object.
    Apply(Value),
    /// A JSON merge patch of an object.
    Merge {
        /// The resource.
        plural: String,
        /// Name of the object.
        name: String,
        /// The patch.
        patch: Value,
    },
    /// The deletion of an object.
    Delete {
        /// The resource.
        plural: String,
        /// Name of the object.
        name: String,
        /// Only the object with this uid.
        uid: String,
    },
}

/// A connection to a hub. What it has seen can be read at any time.
pub struct Link {
    hub: String,
    credentials: Credentials,
    client: OnceCell<Client>,
    hubs: Weak<Hubs>,
    stop: CancellationToken,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    objects: BTreeMap<(&'static str, String), Arc<Object>>,
    synced: BTreeSet<&'static str>,
    trouble: BTreeMap<&'static str, String>,
    cut_off: Option<(SystemTime, String)>,
    has_answered: bool,
    interested: BTreeSet<Target>,
}

impl Link {
    /// Connects, in the background.
    pub(super) fn begin(
        hub: &str,
        credentials: Credentials,
        hubs: Weak<Hubs>,
        interested: BTreeSet<Target>,
    ) -> Arc<Link> {
        let link = Arc::new(Link {
            hub: hub.to_owned(),
            credentials,
            client: OnceCell::new(),
            hubs,
            stop: CancellationToken::new(),
            seen: Mutex::new(Seen { interested, ..Seen::default() }),
        });
        watching::begin(&link);
        link
    }

    /// Ends it.
    pub(super) fn end(&self) {
        self.stop.cancel();
    }

    pub(super) fn stopped(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// The version of its credentials.
    pub fn version(&self) -> &str {
        &self.credentials.version
    }

    /// Namespace that everything is in.
    pub fn namespace(&self) -> &str {
        &self.credentials.namespace
    }

    pub(super) fn watches(&self) -> &'static [Watched] {
        self.credentials.provisioner.watches()
    }

    /// The client, made at first use.
    pub async fn client(&self) -> Result<Client, String> {
        let made = self.client.get_or_try_init(|| async {
            let access = access_of(&self.credentials.kubeconfig).await.map_err(|error| error.to_string())?;
            let client =
                Client::called(access, "groundplane-fulfillment").map_err(|error| error.to_string())?;
            Ok::<Client, String>(client.with_timeout(Some(CALL)))
        });
        made.await.cloned()
    }

    /// An object, as it was seen last.
    pub fn object(&self, plural: &'static str, name: &str) -> Option<Arc<Object>> {
        self.lock().objects.get(&(plural, name.to_owned())).cloned()
    }

    /// The objects of a resource.
    pub fn objects(&self, plural: &'static str) -> Vec<Arc<Object>> {
        let seen = self.lock();
        let from = (plural, String::new());
        seen.objects.range(from..).take_while(|(key, _)| key.0 == plural).map(|(_, it)| it.clone()).collect()
    }

    /// Whether it answers.
    pub fn reachability(&self) -> Reachability {
        let seen = self.lock();
        if let Some((since, why)) = &seen.cut_off {
            return Reachability::CutOff { since: *since, why: why.clone() };
        }
        if let Some((plural, why)) = seen.trouble.iter().next() {
            return Reachability::Refused(format!("{plural}: {why}"));
        }
        let is_synced = self.watches().iter().all(|watched| seen.synced.contains(watched.plural));
        match is_synced && seen.has_answered {
            true => Reachability::Reachable,
            false => Reachability::Connecting,
        }
    }

    /// Whether everything was seen, so that what is absent does not exist. It may be cut off since.
    pub fn is_synced(&self) -> bool {
        let seen = self.lock();
        self.watches().iter().all(|watched| seen.synced.contains(watched.plural))
    }

    /// Somebody wants to know when it changes.
    pub(super) fn interest(&self, who: &Target) {
        let mut seen = self.lock();
        if !seen.interested.contains(who) {
            seen.interested.insert(who.clone());
        }
    }

    pub(super) fn interested(&self) -> BTreeSet<Target> {
        self.lock().interested.clone()
    }

    /// Makes a change. It may be repeated.
    pub async fn call(&self, call: &Call) -> Result<(), String> {
        let client = self.client().await?;
        let of = |plural: &str| {
            let watched = self.watches().iter().find(|watched| watched.plural == plural);
            watched.ok_or_else(|| format!("{plural} are not used on this hub"))
        };
        let collection = |watched: &Watched| {
            let all = client.resource(watched.api_version, watched.plural).managed_by(MANAGER);
            if watched.is_namespaced { all.in_namespace(self.namespace()) } else { all }
        };
        let failed = |what: String, error: client::Error| format!("{what}: {error}");
        match call {
            Call::Apply(value) => {
                let object = Object::from_value(value.clone()).ok_or("not an object")?;
                let watched = self.watches().iter().find(|watched| {
                    watched.kind == object.kind() && watched.api_version == object.api_version()
                });
                let watched = watched.ok_or_else(|| format!("{} is not used on this hub", object.kind()))?;
                let what = format!("applying {} {}", object.kind(), object.name());
                collection(watched).apply(&object, true).await.map_err(|error| failed(what, error))?;
            }
            Call::Merge { plural, name, patch } => {
                let what = format!("patching {plural} {name}");
                match collection(of(plural)?).patch(name, &Patch::Merge(patch.clone())).await {
                    Err(error) if error.is_not_found() => {}
                    done => drop(done.map_err(|error| failed(what, error))?),
                }
            }
            Call::Delete { plural, name, uid } => {
                let what = format!("deleting {plural} {name}");
                let options = DeleteOptions { uid: Some(uid.clone()), ..DeleteOptions::default() };
                match collection(of(plural)?).delete(name, &options).await {
                    Err(error) if error.is_not_found() || error.is_conflict() => {}
                    done => done.map_err(|error| failed(what, error))?,
                }
            }
        }
        Ok(())
    }

    /// Takes in an object, or that it is gone.
    pub(super) fn saw(&self, plural: &'static str, name: &str, object: Option<Object>) {
        let mut concerned = BTreeSet::new();
        {
            let mut seen = self.lock();
            let key = (plural, name.to_owned());
            let before = match object {
                Some(object) => {
                    self.concerned(&seen, &object, &mut concerned);
                    seen.objects.insert(key, Arc::new(object))
                }
                None => seen.objects.remove(&key),
            };
            if let Some(before) = before {
                self.concerned(&seen, &before, &mut concerned);
            }
            if !seen.synced.contains(plural) {
                // Whoever waits is told once all of it was seen.
                return;
            }
        }
        self.ring(&concerned);
    }

    /// All objects of a resource were seen.
    pub(super) fn synced(&self, plural: &'static str) {
        let is_news = {
            let mut seen = self.lock();
            let is_new = seen.synced.insert(plural);
            seen.trouble.remove(plural).is_some() || is_new
        };
        if is_news {
            self.ring_all();
        }
    }

    /// The hub refuses to show the objects of a resource.
    pub(super) fn troubled(&self, plural: &'static str, why: String) {
        let is_news = self.lock().trouble.insert(plural, why.clone()).as_ref() != Some(&why);
        if is_news {
            self.ring_all();
        }
    }

    /// The hub answered a probe, or did not.
    pub(super) fn probed(&self, answer: Result<(), String>) {
        let is_news = {
            let mut seen = self.lock();
            match answer {
                Ok(()) => {
                    let was_new = !seen.has_answered;
                    seen.has_answered = true;
                    seen.cut_off.take().is_some() || was_new
                }
                Err(why) => match &mut seen.cut_off {
                    Some((_, before)) => {
                        *before = why;
                        false
                    }
                    None => {
                        seen.cut_off = Some((SystemTime::now(), why));
                        true
                    }
                },
            }
        };
        if is_news {
            self.ring_all();
        }
    }

    /// The objects of ours that an object of the hub is about.
    fn concerned(&self, seen: &Seen, object: &Object, concerned: &mut BTreeSet<Target>) {
        let name_of = |label: &str| object.label(label).map(crate::identity::name_of);
        if let Some(cluster) = name_of(labels::CLUSTER_ID) {
            concerned.insert(Target::of::<ClusterPlacement>("", "", &cluster));
        }
        let of_bare_metal = || {
            let bare_metal = object.label(labels::BARE_METAL_HOST)?;
            let found = seen.objects.get(&("baremetalhosts", bare_metal.to_owned()))?;
            found.label(labels::HOST_ID).map(crate::identity::name_of)
        };
        if let Some(host) = name_of(labels::HOST_ID).or_else(of_bare_metal) {
            concerned.insert(Target::of::<Host>("", "", &host));
        }
        if object.label(labels::HUB_ID).is_some() {
            concerned.insert(Target::of::<Hub>("", "", &self.hub));
        }
    }

    fn ring_all(&self) {
        let mut all = self.interested();
        all.insert(Target::of::<Hub>("", "", &self.hub));
        self.ring(&all);
    }

    fn ring(&self, targets: &BTreeSet<Target>) {
        if let Some(hubs) = self.hubs.upgrade().filter(|_| !self.stop.is_cancelled()) {
            hubs.ring(targets);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
