//! What is known of a cluster: its placement, the hosts that it holds, its template.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use krm::Object;
use krm::kind::{QueryContext, Resource};
use krm::time::Moment;
use reconcile::context::Context;
use reconcile::plan::Write;
use reconcile::target::Target;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::kinds::cluster_placement::ClusterPlacement;
use crate::kinds::cluster_template::{ClusterTemplate, Release};
use crate::kinds::host_claim::Claimant;
use crate::kinds::{Cluster, Host, HostClaim, HostClass};
use crate::states::{ClusterPhase, HostPhase};

/// Hosts whose progress the status tells, at most.
const MOST_TOLD: usize = 32;

/// A host that the cluster holds.
pub struct Held {
    /// The node set that it is for.
    pub node_set: String,
    /// The host.
    pub host: Arc<Host>,
    /// Its claim.
    pub claim: Arc<Object>,
    /// How long it may take to be installed.
    pub limit: Duration,
}

/// Everything that the states of a cluster are decided on.
pub struct Facts<'a> {
    pub target: &'a Target,
    pub object: &'a Arc<Object>,
    pub cluster: Cluster,
    pub template: Option<Arc<ClusterTemplate>>,
    pub placement: Option<(ClusterPlacement, Arc<Object>)>,
    pub held: Vec<Held>,
    /// Whether it was ready before: it has an API that somebody uses.
    pub was_ready: bool,
    pub now: Moment,
}

impl<'a> Facts<'a> {
    /// Reads what is known; nothing if the object can't be read.
    pub fn gather(target: &'a Target, object: &'a Arc<Object>, context: &Context<'_>) -> Option<Facts<'a>> {
        let cluster = Cluster::deserialize(&Value::Object(object.0.clone())).ok()?;
        let root = context.root();
        let world: &dyn QueryContext = &root;
        let template = world.find::<ClusterTemplate>(&cluster.spec.template);
        let placement = root.get(&ClusterPlacement::address("", cluster.identifier()));
        let placement = placement.and_then(|found| {
            Some((ClusterPlacement::deserialize(&Value::Object(found.0.clone())).ok()?, found))
        });
        let claims = root.having(crate::GROUP, HostClaim::PLURAL, "spec.holder.uid", &cluster.metadata.uid);
        let held = claims.into_iter().filter_map(|claim| {
            let typed = HostClaim::deserialize(&Value::Object(claim.0.clone())).ok()?;
            let host = world.find::<Host>(claim.name())?;
            let class = host.spec.class.as_deref().and_then(|class| world.find::<HostClass>(class));
            let limit = class.map_or(Duration::from_secs(5400), |class| class.provisioning_limit());
            Some(Held { node_set: typed.spec.node_set.unwrap_or_default(), host, claim, limit })
        });
        let held = held.collect();
        let was_ready = cluster.status.as_ref().is_some_and(|status| status.release.is_some());
        Some(Facts { target, object, template, placement, held, was_ready, cluster, now: context.now() })
    }

    /// Since when the cluster is in a state, if it is.
    pub fn since_of(&self, phase: ClusterPhase) -> Option<Moment> {
        let status = self.cluster.status.as_ref()?;
        let since = status.phase_since.as_deref().filter(|_| status.phase == Some(phase))?;
        Moment::parse(since).ok()
    }

    /// Whether it had all of its hosts once, and is being made since.
    pub fn has_begun(&self) -> bool {
        let phase = self.cluster.status.as_ref().and_then(|status| status.phase);
        !matches!(phase, None | Some(ClusterPhase::Placing | ClusterPhase::Claiming))
    }

    /// The release that the cluster is to run.
    pub fn release(&self) -> Option<&Release> {
        self.template.as_ref()?.release(self.cluster.spec.release.as_deref())
    }

    /// The image that the cluster is to run.
    pub fn image(&self) -> Option<String> {
        let parameter = || {
            let given = self.cluster.spec.template_parameters.get("release_image")?;
            given.fields.get("value")?.as_str().map(str::to_owned)
        };
        self.release().map(|release| release.image.clone()).or_else(parameter)
    }

    /// Who holds its hosts.
    pub fn claimant(&self) -> Claimant {
        let Cluster { metadata, .. } = &self.cluster;
        Claimant::cluster(&self.target.plane, &metadata.name, &metadata.uid)
    }

    /// Hosts of a node set that are to stay.
    pub fn staying(&self, set: &str) -> Vec<&Held> {
        self.held.iter().filter(|held| held.node_set == set && !self.is_replaced(held)).collect()
    }

    /// Whether another host is to take the place of this one.
    pub fn is_replaced(&self, held: &Held) -> bool {
        let asked = held.host.spec.quarantine.as_ref().is_some_and(|it| it.replace == Some(true));
        asked || self.has_failed(held)
    }

    /// Whether a host could not be installed in time.
    pub fn has_failed(&self, held: &Held) -> bool {
        let Some(provisioning) = held.provisioning() else { return false };
        if provisioning.cluster != self.cluster.identifier() {
            return false;
        }
        match provisioning.phase {
            HostPhase::Failed => true,
            HostPhase::Installed => false,
            _ => Moment::parse(&provisioning.since)
                .is_ok_and(|since| super::elapsed(since, self.now) >= held.limit),
        }
    }

    /// Whether a host is part of the cluster.
    pub fn is_installed(&self, held: &Held) -> bool {
        held.provisioning()
            .is_some_and(|it| it.phase == HostPhase::Installed && it.cluster == self.cluster.identifier())
    }

    /// A condition of the placement: whether it holds, its reason and message.
    pub fn placed(&self, kind: &str) -> Option<(bool, &str, &str)> {
        let status = self.placement.as_ref()?.0.status.as_ref()?;
        let found = status.conditions.iter().find(|condition| condition.kind == kind)?;
        Some((found.status == "True", &found.reason, &found.message))
    }

    /// The write that hands a host over to be cleaned.
    pub fn hand_over(&self, held: &Held, why: &str) -> Write {
        let mut claim = Object::clone(&held.claim);
        claim.set_at("spec.holder", json!(Claimant::cleaner()));
        claim.set_at("spec.reason", why.into());
        if let Some(spec) = claim.0.get_mut("spec").and_then(Value::as_object_mut) {
            ["delegate", "nodeSet"].iter().for_each(|field| drop(spec.remove(*field)));
        }
        Write::Update(String::new(), claim)
    }

    /// Writes the hosts of each node set into the status.
    pub fn tell_nodes(&self, status: &mut Value) {
        let mut sets: BTreeMap<&str, Vec<&Held>> =
            self.cluster.spec.node_sets.keys().map(|name| (name.as_str(), Vec::new())).collect();
        for held in &self.held {
            sets.entry(&held.node_set).or_default().push(held);
        }
        let nodes = |set: &str| {
            self.placement.as_ref().and_then(|(it, _)| it.status.as_ref()?.nodes.get(set).copied())
        };
        let told = sets.into_iter().map(|(name, held)| {
            let spec = self.cluster.spec.node_sets.get(name);
            let installed = held.iter().filter(|held| self.is_installed(held)).count();
            let mut hosts: Vec<&str> = held.iter().map(|held| held.host.metadata.name.as_str()).collect();
            hosts.sort_unstable();
            let under_way = held.iter().filter(|held| !self.is_installed(held)).take(MOST_TOLD);
            let progress: Vec<String> = under_way
                .map(|held| {
                    format!("{}: {}", held.host.metadata.name, held.told()).chars().take(200).collect()
                })
                .collect();
            let size = nodes(name).unwrap_or_else(|| i32::try_from(installed).unwrap_or_default());
            let mut set = json!({"size": size, "installed": installed});
            if let Some(class) = spec.and_then(|spec| spec.host_class.as_ref()) {
                set["hostClass"] = class.as_str().into();
            }
            if !hosts.is_empty() {
                set["hosts"] = json!(hosts);
            }
            if !progress.is_empty() {
                set["progress"] = json!(progress);
            }
            (name.to_owned(), set)
        });
        status["nodeSets"] = Value::Object(told.collect());
    }

    /// Writes where the cluster is reached into the status.
    pub fn tell_addresses(&self, status: &mut Value) {
        let Some((placement, _)) = &self.placement else { return };
        let observed = placement.status.as_ref();
        let host = observed.and_then(|status| status.api_host.as_deref());
        let port = observed.and_then(|status| status.api_port);
        let api = host.zip(port).map(|(host, port)| format!("https://{host}:{port}").into());
        super::set(status, "apiUrl", api);
        let console = observed.and_then(|status| status.console_host.as_deref());
        super::set(status, "consoleUrl", console.map(|host| format!("https://{host}").into()));
    }
}

impl Held {
    /// How far it is.
    pub fn provisioning(&self) -> Option<&crate::kinds::host::HostProvisioning> {
        self.host.status.as_ref()?.provisioning.as_ref()
    }

    /// How far it is, for people.
    pub fn told(&self) -> String {
        match self.provisioning() {
            None => "Waiting".to_owned(),
            Some(it) if it.message.is_empty() => format!("{:?}", it.phase),
            Some(it) => format!("{:?}, {}", it.phase, it.message),
        }
    }
}
