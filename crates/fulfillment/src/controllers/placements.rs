//! The placement controller: makes clusters in hubs, and their names in DNS, and removes both.

mod observed;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use dns::{Addresses, DnsName};
use krm::Object;
use krm::condition::Finding;
use krm::kind::{Planes, QueryContext, Resource};
use reconcile::context::Context;
use reconcile::plan::{Action, Deletion, Plan, Write};
use reconcile::reconciler::{Bell, DependsOn, Executing, Execution, Outcome, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use reconcile::workers::Settings;
use serde::Deserialize;
use serde_json::{Value, json};

use super::naming::{Named, Naming};
use super::reach::{self, Reached};
use crate::hubs::Hubs;
use crate::kinds::host_claim::HostClaim;
use crate::kinds::{Cluster, ClusterPlacement, DnsZone, Host};
use crate::provisioners::{ClusterFacts, addresses};

/// Reconciles placements.
pub struct PlacementController {
    hubs: Arc<Hubs>,
    naming: Arc<Naming>,
}

impl PlacementController {
    /// A controller with these connections.
    pub fn new(hubs: Arc<Hubs>) -> PlacementController {
        PlacementController { hubs, naming: Arc::new(Naming::default()) }
    }
}

impl Reconciler for PlacementController {
    fn name(&self) -> &'static str {
        "placement-controller"
    }

    fn description(&self) -> &'static str {
        "Makes clusters in hubs and their names in DNS, tells how far they are, and removes both with the cluster."
    }

    fn scope(&self) -> Scope {
        Scope::of::<ClusterPlacement>(Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![
            Rule::new(crate::GROUP, &["clusterplacements"], &["update", "delete"]),
            Rule::new(crate::GROUP, &["clusterplacements/status", "clusters/status"], &["update"]),
        ]
    }

    fn settings(&self) -> Settings {
        Settings { workers: 8, ..Settings::new(self.name()) }
    }

    fn depends_on(&self) -> DependsOn {
        // Whether its cluster has all of its hosts is in the status of that.
        DependsOn::Everything
    }

    fn attach(&self, bell: Bell) {
        self.naming.attach(bell.clone());
        self.hubs.attach("clusterplacements", bell);
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let Ok(placement) = ClusterPlacement::deserialize(&Value::Object(object.0.clone())) else {
            return Plan::nothing();
        };
        if placement.spec.retired == Some(true) {
            return self.retire(target, object, &placement, context);
        }
        let found = context.look(&placement.spec.project).get(&Cluster::address("", &placement.spec.cluster));
        let cluster =
            found.as_ref().and_then(|found| Cluster::deserialize(&Value::Object(found.0.clone())).ok());
        match (found, cluster.filter(|cluster| cluster.identifier() == placement.metadata.name)) {
            (Some(found), Some(cluster)) => {
                self.make(target, object, &placement, (&found, &cluster), context)
            }
            _ => {
                // Its cluster is gone without having said so: with its project, for example.
                let mut retired = Object::clone(object);
                retired.set_at("spec.retired", true.into());
                let mut plan = Plan::nothing();
                plan.change(&target.plane, object, retired);
                plan
            }
        }
    }

    fn plan_absent(&self, target: &Target, _: &Context<'_>) -> Plan {
        self.naming.forget(&target.at.name);
        Plan::nothing()
    }

    fn execute<'a>(&'a self, action: &'a Action, execution: &'a Execution) -> Executing<'a> {
        Box::pin(async move {
            if let Some(outcome) = self.naming.execute(action, &execution.target).await {
                return outcome;
            }
            let done = reach::execute(&self.hubs, action, &execution.target).await;
            done.unwrap_or_else(|| Outcome::Failed(format!("unknown action {:?}", action.name)))
        })
    }
}

impl PlacementController {
    fn make(
        &self,
        target: &Target,
        object: &Arc<Object>,
        placement: &ClusterPlacement,
        (found, cluster): (&Arc<Object>, &Cluster),
        context: &Context<'_>,
    ) -> Plan {
        let mut plan = Plan::nothing();
        let (root, now) = (context.root(), context.now().to_string());
        let Some(hub) = &placement.spec.hub else { return plan };
        let mut new = Object::clone(object);
        let reached = match reach::reach(&self.hubs, hub, target, &root) {
            Ok(reached) => reached,
            Err(unreached) => {
                plan.actions.extend(unreached.action);
                if unreached.reason != "Connecting" {
                    Finding::fails("Available", unreached.reason, unreached.message.clone())
                        .tell(&mut new, &now);
                    plan.change(&target.plane, object, new);
                }
                return plan.waiting_for(unreached.message);
            }
        };
        let Reached { link, facts, provisioner } = reached;
        let zone = placement
            .spec
            .zone
            .as_deref()
            .and_then(|zone| (&root as &dyn QueryContext).find::<DnsZone>(zone));
        let hosts = hosts_of(cluster, &root);
        let wanted = ClusterFacts {
            id: placement.metadata.name.clone(),
            name: cluster.display_name.clone().unwrap_or_else(|| cluster.metadata.name.clone()),
            alias: placement.spec.alias.clone().unwrap_or_default(),
            port: placement.spec.port.unwrap_or_default(),
            domain: zone.as_ref().map(|zone| zone.spec.domain.clone()).unwrap_or_default(),
            image: super::image_of(cluster, &root).unwrap_or_default(),
            node_sets: cluster.spec.node_sets.keys().map(|set| (set.clone(), count(&hosts, set))).collect(),
        };
        let is_begun = cluster.status.as_ref().is_some_and(|status| {
            use crate::states::ClusterPhase::{Claiming, Placing};
            !matches!(status.phase, None | Some(Placing | Claiming))
        });
        if !is_begun {
            return plan.waiting_for("the cluster to have all of its hosts");
        }
        let mut step = provisioner.cluster(&facts, &wanted, &link);
        let calls = std::mem::take(&mut step.calls);
        plan.actions.extend(reach::calls(hub, link.version(), &calls));
        observed::write(&mut new, &step, &wanted, &now);
        observed::hand_out(found, cluster, &step, &placement.spec.project, context, &mut plan);
        if let Some(zone) = &zone {
            match names(&wanted, &facts.ip, &hosts) {
                Err(why) => Finding::fails("Resolves", "InvalidName", why).tell(&mut new, &now),
                Ok(records) => {
                    let named = self.naming.known(&placement.metadata.name, &records);
                    if let Some(finding) = named.finding() {
                        finding.tell(&mut new, &now);
                    }
                    plan.again_after(named.pause());
                    plan.actions.extend(named.action(zone, &records, &root));
                }
            }
        }
        plan.change(&target.plane, object, new);
        plan
    }

    /// Removes a cluster from its hub and from DNS. The placement goes when nothing is left.
    fn retire(
        &self,
        target: &Target,
        object: &Arc<Object>,
        placement: &ClusterPlacement,
        context: &Context<'_>,
    ) -> Plan {
        let mut plan = Plan::nothing();
        let (root, now) = (context.root(), context.now().to_string());
        let mut remains: Vec<String> = Vec::new();
        let mut trouble: Option<(&'static str, String)> = None;
        let wanted = ClusterFacts {
            id: placement.metadata.name.clone(),
            alias: placement.spec.alias.clone().unwrap_or_default(),
            ..ClusterFacts::default()
        };
        if let Some(hub) = &placement.spec.hub {
            match reach::reach(&self.hubs, hub, target, &root) {
                Ok(Reached { link, facts, provisioner }) => {
                    let step = provisioner.retire(&facts, &wanted, &link);
                    plan.actions.extend(reach::calls(hub, link.version(), &step.calls));
                    remains.extend(step.remains);
                }
                Err(unreached) if unreached.reason == "HubGone" => {}
                Err(unreached) => {
                    plan.actions.extend(unreached.action);
                    remains.push(format!("what hub {hub} has of it"));
                    if unreached.reason != "Connecting" {
                        trouble = Some((unreached.reason, unreached.message));
                    }
                }
            }
        }
        let zone = placement
            .spec
            .zone
            .as_deref()
            .and_then(|zone| (&root as &dyn QueryContext).find::<DnsZone>(zone));
        if let Some(zone) = zone {
            let wanted = ClusterFacts { domain: zone.spec.domain.clone(), ..wanted };
            match names(&wanted, "", &[]) {
                Err(why) => {
                    tracing::warn!(placement = placement.metadata.name, why, "a cluster without names")
                }
                Ok(records) => {
                    let named = self.naming.known(&placement.metadata.name, &records);
                    if !matches!(named, Named::AsWanted) {
                        let all = records.iter().map(|record| record.name.to_string());
                        remains.push(format!("DNS names {}", all.collect::<Vec<_>>().join(", ")));
                        plan.again_after(named.pause());
                        if let Named::Failed(why, _) = &named {
                            trouble.get_or_insert(("DnsFailed", why.clone()));
                        }
                        plan.actions.extend(named.action(&zone, &records, &root));
                    }
                }
            }
        }
        if remains.is_empty() {
            let version = Some(object.resource_version().to_owned());
            let deletion = Deletion { uid: Some(object.uid().to_owned()), version, ..Deletion::default() };
            plan.write(Write::Delete(target.clone(), deletion));
            return plan;
        }
        let mut new = Object::clone(object);
        let (reason, why) = trouble.unwrap_or(("Removing", String::new()));
        let message =
            if why.is_empty() { remains.join(", ") } else { format!("{}: {why}", remains.join(", ")) };
        Finding::fails("Removed", reason, message.clone()).tell(&mut new, &now);
        new.set_at("status.remains", json!(remains));
        plan.change(&target.plane, object, new);
        plan.waiting_for(message)
    }
}

/// The hosts that a cluster holds, each with its node set and address.
fn hosts_of(cluster: &Cluster, root: &dyn QueryContext) -> Vec<(String, Option<String>)> {
    let claims = root.having(crate::GROUP, HostClaim::PLURAL, "spec.holder.uid", &cluster.metadata.uid);
    let host = |claim: &Arc<Object>| {
        let set = claim.at("spec.nodeSet").and_then(Value::as_str).unwrap_or_default().to_owned();
        let address = root.find::<Host>(claim.name()).and_then(|host| host.spec.boot_ip.clone());
        (set, address)
    };
    claims.iter().map(host).collect()
}

fn count(hosts: &[(String, Option<String>)], set: &str) -> i32 {
    i32::try_from(hosts.iter().filter(|(of, _)| of == set).count()).unwrap_or(i32::MAX)
}

/// The names of a cluster and their addresses: the API at the hub, applications at the hosts.
fn names(
    cluster: &ClusterFacts,
    hub: &str,
    hosts: &[(String, Option<String>)],
) -> Result<Vec<Addresses>, String> {
    let name = |prefix: &str| -> Result<DnsName, String> {
        let text = format!("{prefix}.{}.{}", cluster.alias, cluster.domain);
        text.parse().map_err(|invalid: dns::InvalidName| invalid.to_string())
    };
    let hub: Vec<IpAddr> = match hub {
        "" => Vec::new(),
        hub => vec![hub.parse().map_err(|_| format!("{hub:?} is not an IP address"))?],
    };
    let hosts = addresses(hosts.iter().filter_map(|(_, address)| address.as_deref()));
    Ok(vec![
        Addresses::new(name("api")?, hub.clone()),
        Addresses::new(name("api-int")?, hub),
        Addresses::new(name("*.apps")?, hosts),
    ])
}

/// How often names that are as wanted are looked at again.
pub const AGAIN: Duration = Duration::from_secs(600);
