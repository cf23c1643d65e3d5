//! The assisted installer: an Agent for each machine that has booted, bound to NodePools, installed, and unbound.

use krm::Object;
use serde_json::{Map, Value, json};

use super::world::{World, condition, text};

const AT: (&str, &str) = ("agent-install.openshift.io/v1beta1", "agents");
const BARE_METAL: &str = "agent-install.openshift.io/bmh";
const PASSED_ON: &str = "bmac.agent-install.openshift.io.agent-label.";

/// Registers agents, binds those that pools select, and installs them.
pub async fn step(world: &mut World) {
    let agents = world.all(AT.1);
    let has_agent = |machine: &str| agents.iter().any(|agent| agent.label(BARE_METAL) == Some(machine));
    for machine in world.all("baremetalhosts") {
        let is_up = text(&machine, "status.provisioning.state") == "provisioned" && !machine.is_deleting();
        if is_up && !has_agent(machine.name()) && world.is_due("baremetalhosts", machine.name(), "registers")
        {
            register(world, &machine).await;
        }
    }
    let pools = world.all("nodepools");
    for pool in &pools {
        bind(world, pool, &agents).await;
    }
    for agent in &agents {
        let bound = text(agent, "spec.clusterDeploymentName.name");
        let is_installed = text(agent, "status.debugInfo.state") == "installed";
        match (bound.is_empty(), is_installed) {
            (false, false) if world.is_due(AT.1, agent.name(), "installing") => {
                tell(world, agent.name(), "installed", true).await;
            }
            (true, true) => tell(world, agent.name(), "known-unbound", false).await,
            _ => {}
        }
    }
}

async fn register(world: &mut World, machine: &Object) {
    let mut labels = Map::new();
    labels.insert(BARE_METAL.to_owned(), machine.name().into());
    for (key, value) in machine.annotations() {
        if let Some(label) = key.strip_prefix(PASSED_ON) {
            labels.insert(label.to_owned(), value.into());
        }
    }
    // Agents are named by the serial number of their machine.
    let name = format!("agent-{}", machine.name());
    let object = json!({
        "apiVersion": AT.0, "kind": "Agent",
        "metadata": {"name": name, "namespace": world.namespace, "labels": labels},
        "spec": {"approved": false, "role": "", "hostname": machine.name()},
    });
    world.create(AT, object).await;
}

/// Binds as many agents to a pool as it wants, and lets go of those that are too many.
async fn bind(world: &mut World, pool: &Object, agents: &[Object]) {
    let cluster = text(pool, "spec.clusterName").to_owned();
    let is_going =
        pool.is_deleting() || world.get("hostedclusters", &cluster).is_none_or(|hosted| hosted.is_deleting());
    let wanted = pool.at("spec.replicas").and_then(Value::as_u64).unwrap_or_default();
    let wanted = if is_going { 0 } else { usize::try_from(wanted).unwrap_or_default() };
    let selector = pool.at("spec.platform.agent.agentLabelSelector.matchLabels").and_then(Value::as_object);
    let selects = |agent: &Object| {
        selector.is_some_and(|all| all.iter().all(|(key, value)| agent.label(key) == value.as_str()))
    };
    let of_pool = |agent: &&Object| agent.annotation("sim/pool") == Some(pool.name());
    let is_bound = |agent: &&Object| !text(agent, "spec.clusterDeploymentName.name").is_empty();
    let mut bound: Vec<&Object> = agents.iter().filter(is_bound).filter(of_pool).collect();
    // Those that the pool no longer selects go first.
    bound.sort_by_key(|agent| selects(agent));
    let surplus = bound.len().saturating_sub(wanted);
    for agent in bound.iter().take(surplus) {
        if world.is_due(AT.1, agent.name(), "unbinding") {
            let patch = json!({
                "metadata": {"annotations": {"sim/pool": null}}, "spec": {"clusterDeploymentName": null},
            });
            world.patch(AT, agent.name(), patch).await;
        }
    }
    let free = agents.iter().filter(|agent| {
        !is_bound(agent)
            && selects(agent)
            && agent.at("spec.approved") == Some(&true.into())
            && !agent.is_deleting()
    });
    for agent in free.take(wanted.saturating_sub(bound.len())) {
        let patch = json!({
            "metadata": {"annotations": {"sim/pool": pool.name()}},
            "spec": {"clusterDeploymentName": {"name": cluster, "namespace": world.namespace}},
        });
        world.patch(AT, agent.name(), patch).await;
    }
}

async fn tell(world: &mut World, name: &str, state: &str, is_installed: bool) {
    let patch = json!({
        "conditions": [
            condition("Bound", is_installed, "Bound"),
            condition("Installed", is_installed, if is_installed { "InstallationCompleted" } else { "NotInstalled" }),
        ],
        "debugInfo": {"state": state, "stateInfo": ""},
    });
    world.patch_status(AT, name, patch).await;
}
