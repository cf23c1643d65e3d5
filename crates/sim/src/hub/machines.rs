//! Metal3: BareMetalHosts register, boot what they are asked to, are cleaned, and go.

use krm::Object;
use serde_json::json;

use super::Fault;
use super::world::{World, text};

const AT: (&str, &str) = ("metal3.io/v1alpha1", "baremetalhosts");
const FINALIZER: &str = "baremetalhost.metal3.io";

/// Moves every machine on whose time has come.
pub async fn step(world: &mut World) {
    for machine in world.all(AT.1) {
        let (name, state) =
            (machine.name().to_owned(), text(&machine, "status.provisioning.state").to_owned());
        if machine.is_deleting() {
            remove(world, &machine, &state).await;
            continue;
        }
        if !machine.finalizers().contains(&FINALIZER) {
            world.hold(AT, &machine, FINALIZER).await;
            continue;
        }
        let wants = machine.at("spec.customDeploy").is_some() || machine.at("spec.image").is_some();
        let (next, is_on) = match (state.as_str(), wants) {
            ("", _) => ("registering", false),
            ("registering", _) => ("preparing", false),
            ("preparing", _) => ("available", false),
            ("available", true) => ("provisioning", true),
            ("provisioning", _) if world.has(&Fault::NeverBoots(name.clone())) => continue,
            ("provisioning", true) => ("provisioned", true),
            ("provisioning" | "provisioned", false) => ("deprovisioning", true),
            ("deprovisioning", _) if world.has(&Fault::FailsCleaning(name.clone())) => {
                if world.is_due(AT.1, &name, "deprovisioning")
                    && text(&machine, "status.operationalStatus") != "error"
                {
                    let status = status("deprovisioning", true, Some("the drives do not answer"));
                    world.patch_status(AT, &name, status).await;
                }
                continue;
            }
            ("deprovisioning", _) => ("available", false),
            _ => continue,
        };
        // What is new is seen at once; everything else takes its time.
        let is_new = state.is_empty();
        if is_new || world.is_due(AT.1, &name, &format!("{state}/{wants}")) {
            world.patch_status(AT, &name, status(next, is_on, None)).await;
        }
    }
}

async fn remove(world: &mut World, machine: &Object, state: &str) {
    if world.has(&Fault::StuckFinalizers) || !world.is_due(AT.1, machine.name(), &format!("{state}/deleting"))
    {
        return;
    }
    if machine.finalizers().contains(&FINALIZER) {
        world.let_go(AT, machine, FINALIZER).await;
    }
}

fn status(state: &str, is_on: bool, error: Option<&str>) -> serde_json::Value {
    json!({
        "operationalStatus": if error.is_some() { "error" } else { "OK" },
        "errorType": error.map(|_| "preparation error"),
        "errorMessage": error.unwrap_or_default(),
        "errorCount": i32::from(error.is_some()),
        "provisioningFailCount": 0,
        "poweredOn": is_on,
        "provisioning": {"state": state, "ID": "00000000-0000-4000-8000-000000000001", "image": {"url": ""}},
    })
}
