//! Hosts: a BareMetalHost with the credentials of its BMC, and the Agent that registers once it has booted.

use std::sync::Arc;

use krm::Object;
use serde_json::{Value, json};

use super::{AGENTS, BARE_METAL_HOSTS, METAL3, SECRETS, encoded, holds, text};
use crate::hubs::{Call, Link};
use crate::kinds::host_class::Cleaning;
use crate::provisioners::{self, HostFacts, HostStep, HubFacts, labels};
use crate::states::HostPhase;

/// Brings a host into its cluster: Metal3 boots it, its Agent is labelled and approved, and the cluster binds it.
pub fn install(hub: &HubFacts, host: &HostFacts, link: &Link) -> HostStep {
    let found = link.object(BARE_METAL_HOSTS, &host.name);
    if let Some(step) = found.as_ref().and_then(|found| conflict(host, found)) {
        return step;
    }
    if found.as_ref().is_some_and(|found| found.is_deleting()) {
        return step(
            Vec::new(),
            HostPhase::Waiting,
            "an earlier BareMetalHost of its name is being deleted",
            None,
        );
    }
    let mut calls = objects(hub, host, true, link);
    let Some(found) = found else {
        return step(calls, HostPhase::Waiting, "Metal3 does not know it yet", None);
    };
    let agent = agent_of(&host.name, link);
    if let Some(agent) = &agent {
        calls.extend(admission(host, agent));
    }
    let (phase, message) = match text(&found, "status.provisioning.state") {
        "" | "unmanaged" | "registering" | "match profile" | "inspecting" | "preparing" => {
            (HostPhase::Registering, trouble(&found).unwrap_or_else(|| "Metal3 registers it".to_owned()))
        }
        "ready" | "available" | "provisioning" => {
            (HostPhase::Booting, trouble(&found).unwrap_or_else(|| "it boots".to_owned()))
        }
        "provisioned" | "externally provisioned" => match agent {
            None => (
                HostPhase::Booting,
                trouble(&found).unwrap_or_else(|| "its agent has not registered".to_owned()),
            ),
            Some(agent) => joined(&agent),
        },
        other => (HostPhase::Registering, format!("Metal3 says {other}")),
    };
    let is_on = found.at("status.poweredOn").and_then(Value::as_bool);
    HostStep { calls, phase, message, is_on }
}

/// How far an agent is with its installation.
fn joined(agent: &Object) -> (HostPhase, String) {
    if is_bound(agent) && holds(agent, "Installed") {
        return (HostPhase::Installed, String::new());
    }
    let info = text(agent, "status.debugInfo.stateInfo");
    let state = text(agent, "status.debugInfo.state");
    let message = match (is_bound(agent), info.is_empty()) {
        (_, false) => format!("{state}: {info}"),
        (true, true) => format!("its agent is {}", if state.is_empty() { "bound" } else { state }),
        (false, true) => "its agent waits to be bound to the cluster".to_owned(),
    };
    (HostPhase::Installing, message)
}

/// Takes a host out of its cluster, cleans its drives, and has Metal3 forget it.
pub fn clean(hub: &HubFacts, host: &HostFacts, link: &Link) -> HostStep {
    let agent = agent_of(&host.name, link);
    let found = link.object(BARE_METAL_HOSTS, &host.name);
    let is_on = found.as_ref().and_then(|found| found.at("status.poweredOn")).and_then(Value::as_bool);
    if let Some(step) = found.as_ref().and_then(|found| conflict(host, found)) {
        return step;
    }
    // Without the labels its cluster does not take it again, and its pool shrinks.
    let dismissal = agent.as_ref().and_then(|agent| dismissal(agent));
    if dismissal.is_some() || agent.as_ref().is_some_and(|agent| is_bound(agent)) {
        let calls = dismissal.into_iter().collect();
        return step(calls, HostPhase::Leaving, "its cluster has not let go of it", is_on);
    }
    if host.is_clean {
        return forget(host, found.as_deref(), agent.as_deref(), link);
    }
    if host.cleaning == Cleaning::Full {
        let why = "its class asks for full cleaning, and Metal3 erases metadata only: erase its drives by other means, then \
                   release it by force";
        return step(Vec::new(), HostPhase::CleaningFailed, why, is_on);
    }
    let calls = objects(hub, host, false, link);
    let Some(found) = found else {
        return step(calls, HostPhase::Cleaning, "Metal3 gets to know it again", is_on);
    };
    let state = text(&found, "status.provisioning.state");
    let asks_for_nothing = found.at("spec.customDeploy").is_none() && found.at("spec.image").is_none();
    match (state, trouble(&found)) {
        ("ready" | "available", _) if asks_for_nothing => step(calls, HostPhase::Cleaned, "", is_on),
        (_, Some(why)) if asks_for_nothing => step(calls, HostPhase::CleaningFailed, &why, is_on),
        _ => step(calls, HostPhase::Cleaning, &format!("Metal3 is {state}"), is_on),
    }
}

/// Nothing of a clean host stays in the hub.
fn forget(host: &HostFacts, found: Option<&Object>, agent: Option<&Object>, link: &Link) -> HostStep {
    let mut calls = Vec::new();
    if found.is_some() {
        calls.extend(provisioners::remove(link, BARE_METAL_HOSTS, &host.name));
        let message = "Metal3 forgets it";
        let phase = if calls.is_empty() { HostPhase::Cleaning } else { HostPhase::Cleaned };
        return step(calls, phase, message, None);
    }
    calls.extend(agent.and_then(|agent| provisioners::remove(link, AGENTS, agent.name())));
    calls.extend(provisioners::remove(link, SECRETS, &secret_name(host)));
    let is_left = agent.is_some() || link.object(SECRETS, &secret_name(host)).is_some();
    match is_left && calls.is_empty() {
        true => step(calls, HostPhase::Cleaning, "its objects are being deleted", None),
        false => step(calls, HostPhase::Cleaned, "", None),
    }
}

fn step(calls: Vec<Call>, phase: HostPhase, message: &str, is_on: Option<bool>) -> HostStep {
    HostStep { calls, phase, message: message.to_owned(), is_on }
}

/// A BareMetalHost of the same name that is not ours is left alone.
fn conflict(host: &HostFacts, found: &Object) -> Option<HostStep> {
    if found.label(labels::HOST_ID) == Some(&host.id) {
        return None;
    }
    let why = format!("the hub has a BareMetalHost {} that is of another host", host.name);
    Some(step(Vec::new(), HostPhase::Failed, &why, None))
}

/// What Metal3 reports as an error.
fn trouble(found: &Object) -> Option<String> {
    (text(found, "status.operationalStatus") == "error").then(|| {
        let (kind, message) = (text(found, "status.errorType"), text(found, "status.errorMessage"));
        format!("{kind}: {message}")
    })
}

fn secret_name(host: &HostFacts) -> String {
    format!("{}-bmc", host.name)
}

/// The agent that registered for a BareMetalHost.
fn agent_of(bare_metal: &str, link: &Link) -> Option<Arc<Object>> {
    link.objects(AGENTS).into_iter().find(|agent| agent.label(labels::BARE_METAL_HOST) == Some(bare_metal))
}

fn is_bound(agent: &Object) -> bool {
    agent.at("spec.clusterDeploymentName.name").and_then(Value::as_str).is_some_and(|name| !name.is_empty())
}

/// Labels and approves an agent, as the annotations of the BareMetalHost ask the assisted installer to.
fn admission(host: &HostFacts, agent: &Object) -> Option<Call> {
    let mut wanted =
        vec![(labels::CLUSTER_ID, host.cluster.as_str()), (labels::NODE_SET, host.node_set.as_str())];
    wanted.push((labels::CLASS_ID, &host.class.0));
    let wanted: Vec<(&str, &str)> = wanted.into_iter().filter(|(_, value)| labels::is_value(value)).collect();
    let is_labelled = wanted.iter().all(|(key, value)| agent.label(key) == Some(value));
    let is_approved = agent.at("spec.approved") == Some(&Value::Bool(true));
    if is_labelled && is_approved {
        return None;
    }
    let patch = json!({"metadata": {"labels": labels::of(&wanted)}, "spec": {"approved": true}});
    Some(Call::Merge { plural: AGENTS.to_owned(), name: agent.name().to_owned(), patch })
}

/// Takes the labels of its cluster from an agent: the assisted installer never does.
fn dismissal(agent: &Object) -> Option<Call> {
    agent.label(labels::CLUSTER_ID)?;
    let patch = json!({"metadata": {"labels": {labels::CLUSTER_ID: null, labels::NODE_SET: null}}});
    Some(Call::Merge { plural: AGENTS.to_owned(), name: agent.name().to_owned(), patch })
}

/// The objects of a host in the hub, with or without something to install.
fn objects(hub: &HubFacts, host: &HostFacts, installs: bool, link: &Link) -> Vec<Call> {
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/basic-auth",
        "metadata": {"name": secret_name(host), "namespace": hub.namespace, "labels": labels::of(&[
            (labels::HOST_ID, &host.id), (labels::HOST_NAME, &host.name), (labels::INFRA_ENV, &hub.namespace),
        ])},
        "data": {"username": encoded(&host.bmc_user), "password": encoded(&host.bmc_password)},
    });
    let cluster = if installs { host.cluster.as_str() } else { "" };
    let set = if installs { host.node_set.as_str() } else { "" };
    let own = labels::of(&[
        (labels::HOST_ID, &host.id),
        (labels::HOST_NAME, &host.name),
        (labels::CLUSTER_ID, cluster),
        (labels::CLASS_ID, &host.class.0),
        (labels::CLASS_NAME, &host.class.1),
        (labels::INFRA_ENV, &hub.namespace),
    ]);
    let mut annotations = json!({
        "bmac.agent-install.openshift.io/hostname": host.name,
        "inspect.metal3.io": "disabled",
    });
    let passed_on = [
        (labels::CLUSTER_ID, cluster),
        (labels::NODE_SET, set),
        (labels::CLASS_ID, &*host.class.0),
        (labels::CLASS_NAME, &*host.class.1),
    ];
    for (key, value) in passed_on.iter().filter(|(_, value)| labels::is_value(value)) {
        annotations[format!("{}{key}", labels::AGENT_LABEL)] = (*value).into();
    }
    let mut spec = json!({
        "online": true,
        "automatedCleaningMode": cleaning_mode(host.cleaning),
        "bootMACAddress": host.boot_mac.to_lowercase(),
        "bmc": {
            "address": host.bmc_url,
            "credentialsName": secret_name(host),
            "disableCertificateVerification": host.bmc_insecure,
        },
    });
    if installs {
        spec["customDeploy"] = json!({"method": "start_assisted_install"});
    }
    if let Some(device) = &host.root_device {
        spec["rootDeviceHints"] = json!({"deviceName": device});
    }
    let bare_metal = json!({
        "apiVersion": METAL3, "kind": "BareMetalHost",
        "metadata": {"name": host.name, "namespace": hub.namespace, "labels": own, "annotations": annotations},
        "spec": spec,
    });
    let mut calls: Vec<Call> = provisioners::ensure(link, SECRETS, secret).into_iter().collect();
    let lingers = |found: Arc<Object>| {
        !installs && (found.at("spec.customDeploy").is_some() || found.label(labels::CLUSTER_ID).is_some())
    };
    // What is no longer wanted of it does not show in a comparison with what is.
    match link.object(BARE_METAL_HOSTS, &host.name).is_some_and(lingers) {
        true => calls.push(Call::Apply(bare_metal)),
        false => calls.extend(provisioners::ensure(link, BARE_METAL_HOSTS, bare_metal)),
    }
    calls
}

/// How Metal3 cleans drives, before and after each use.
fn cleaning_mode(cleaning: Cleaning) -> &'static str {
    match cleaning {
        Cleaning::None => "disabled",
        Cleaning::Metadata | Cleaning::Full => "metadata",
    }
}
