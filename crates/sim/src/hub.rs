//! A hub: plays Metal3, the assisted installer and HyperShift on any Kubernetes API that serves their kinds.
//!
//! It follows the documented states of BareMetalHosts, Agents, HostedClusters and NodePools, each after a delay, and can be
//! told to misbehave. It knows nothing of who makes these objects.

mod agents;
mod clusters;
mod machines;
mod world;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use client::{Client, Event, ListOptions};
use krm::Object;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use self::world::World;

/// How a simulated hub behaves.
#[derive(Debug, Clone)]
pub struct Options {
    /// Namespace that it looks at.
    pub namespace: String,
    /// How long each step takes: registering, booting, installing, cleaning and so on.
    pub step: Duration,
    /// What it does wrong from the beginning.
    pub faults: BTreeSet<Fault>,
}

/// Something that a hub does wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The BareMetalHost of this name never boots.
    NeverBoots(String),
    /// The BareMetalHost of this name can't be cleaned.
    FailsCleaning(String),
    /// Control planes never become available.
    NoControlPlanes,
    /// What is deleted stays.
    StuckFinalizers,
}

impl std::str::FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Fault, String> {
        let named = |name: &str| name.to_owned();
        match text.split_once('=') {
            Some(("never-boots", name)) => Ok(Fault::NeverBoots(named(name))),
            Some(("fails-cleaning", name)) => Ok(Fault::FailsCleaning(named(name))),
            None if text == "no-control-planes" => Ok(Fault::NoControlPlanes),
            None if text == "stuck-finalizers" => Ok(Fault::StuckFinalizers),
            _ => Err(format!(
                "{text:?} is not one of never-boots=NAME, fails-cleaning=NAME, no-control-planes, stuck-finalizers"
            )),
        }
    }
}

/// The kinds that it plays: API version and resource.
const KINDS: [(&str, &str); 4] = [
    ("metal3.io/v1alpha1", "baremetalhosts"),
    ("agent-install.openshift.io/v1beta1", "agents"),
    ("hypershift.openshift.io/v1beta1", "hostedclusters"),
    ("hypershift.openshift.io/v1beta1", "nodepools"),
];
/// How often it looks for what is due.
const TICK: Duration = Duration::from_millis(50);

/// A simulated hub. It ends when this is dropped.
pub struct Simulator {
    faults: Arc<Mutex<BTreeSet<Fault>>>,
    tasks: Vec<JoinHandle<()>>,
}

impl Simulator {
    /// Starts one on a Kubernetes API.
    pub fn start(client: &Client, options: &Options) -> Simulator {
        let faults = Arc::new(Mutex::new(options.faults.clone()));
        let (told, changes) = mpsc::unbounded_channel();
        let mut tasks = Vec::new();
        for (api_version, plural) in KINDS {
            let all = client.resource(api_version, plural).in_namespace(&options.namespace);
            let told = told.clone();
            tasks.push(tokio::spawn(async move {
                let mut watch = all.watch(ListOptions::default());
                loop {
                    let change = match watch.next().await {
                        Ok(Event::Added(object) | Event::Changed(object)) => {
                            (plural, Object::name(&object).to_owned(), Some(object))
                        }
                        Ok(Event::Deleted { key, .. }) => (plural, key.name, None),
                        Ok(Event::Synced) => continue,
                        Err(_) => {
                            tokio::time::sleep(Duration::from_millis(500)).await;
                            continue;
                        }
                    };
                    if told.send(change).is_err() {
                        return;
                    }
                }
            }));
        }
        let world = World::new(client.clone(), options.namespace.clone(), options.step, faults.clone());
        tasks.push(tokio::spawn(play(world, changes)));
        Simulator { faults, tasks }
    }

    /// Does something wrong from now on.
    pub fn fault(&self, fault: Fault) {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).insert(fault);
    }

    /// Does everything right again.
    pub fn mend(&self) {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

type Change = (&'static str, String, Option<Object>);

async fn play(mut world: World, mut changes: mpsc::UnboundedReceiver<Change>) {
    loop {
        tokio::select! {
            change = changes.recv() => {
                let Some((plural, name, object)) = change else { return };
                world.saw(plural, name, object);
                continue;
            }
            () = tokio::time::sleep(TICK) => {}
        }
        machines::step(&mut world).await;
        agents::step(&mut world).await;
        clusters::step(&mut world).await;
    }
}
