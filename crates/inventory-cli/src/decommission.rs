//! `groundplane inventory decommission`: takes a device out with everything that belongs to it.

use cli::{Failure, Session};
use serde_json::{Value, json};

use crate::change::{Device, Plan, PlanFlags, name_of, named};

/// Decommission a node or network device with everything that belongs to it, in one commit.
///
/// Its cables are deleted, links are freed of those cables or deleted if they end at the device, and its rack units or slot
/// become free. The object stays with its ports, as Retired, or is deleted with --delete. Virtual machines, circuits and
/// devices in its slots are not touched: if there are any, the command says so and does nothing, unless --with-dependents.
///
/// Without a terminal, --yes is required.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Device, as KIND/NAME, or NAME if it is unambiguous.
    #[arg(value_name = "KIND/NAME")]
    device: String,

    /// Delete the device and its ports instead of keeping it as Retired.
    #[arg(long)]
    delete: bool,

    /// Also delete its virtual machines and the circuits at its ports, and take the devices in its slots out of them.
    #[arg(long)]
    with_dependents: bool,

    #[command(flatten)]
    plan: PlanFlags,
}

const EXAMPLES: &str = "\
Examples:
  groundplane inventory decommission node/fra1-a01-node03 --dry-run
  groundplane inventory decommission node/fra1-a01-node03 --yes --message \"end of lease\"
  groundplane inventory decommission networkdevice/fra1-a01-leaf1 --delete";

/// Plans and carries out a decommissioning.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?;
    let device = Device::find(&arguments.device, &client).await?;
    let name = device.name.as_str();
    let mut plan = Plan::default();
    let mut machines = Vec::new();
    if device.kind == "Node" {
        machines = named("virtualmachines", "spec.hostRef.name", name, &client).await?;
    }
    let mut circuits: Vec<Value> = Vec::new();
    for port in &device.ports {
        for end in ["aEnd", "zEnd"] {
            let field = format!("spec.{end}.name");
            let mut found = named("circuits", &field, name_of(port), &client).await?;
            found.retain(|circuit| circuit["spec"][end]["kind"] == "Port");
            circuits.extend(found);
        }
    }
    let mut slotted: Vec<(&str, Value)> = Vec::new();
    for (kind, plural) in [("Node", "nodes"), ("NetworkDevice", "networkdevices")] {
        let mut found = named(plural, "spec.inSlot.deviceRef.name", name, &client).await?;
        found.retain(|inside| inside["spec"]["inSlot"]["deviceRef"]["kind"] == device.kind);
        slotted.extend(found.into_iter().map(|inside| (kind, inside)));
    }
    let mut dependents: Vec<String> =
        machines.iter().map(|one| format!("virtualmachine/{}", name_of(one))).collect();
    dependents.extend(circuits.iter().map(|one| format!("circuit/{}", name_of(one))));
    dependents.extend(slotted.iter().map(|(kind, one)| format!("{}/{}", kind.to_lowercase(), name_of(one))));
    if !dependents.is_empty() && !arguments.with_dependents {
        return Err(Failure::other(format!("{} {name} still has {}", device.kind, dependents.join(", ")))
            .hint("move them first, or pass --with-dependents to include them in the plan"));
    }
    machines.iter().for_each(|machine| plan.delete("VirtualMachine", name_of(machine)));
    circuits.iter().for_each(|circuit| plan.delete("Circuit", name_of(circuit)));
    for (kind, inside) in &slotted {
        plan.patch(kind, name_of(inside), json!({"spec": {"inSlot": null}}));
    }
    links(&device, &client, &mut plan).await?;
    device.cables.iter().for_each(|cable| plan.delete("Cable", name_of(cable)));
    if arguments.delete {
        // A port that leads through the panel, or is fed by an inlet, goes before the one that it refers to.
        let refers = |port: &Value| {
            !port["spec"]["passThrough"].is_null() || !port["spec"]["power"]["inletRef"].is_null()
        };
        let (first, last): (Vec<&Value>, Vec<&Value>) = device.ports.iter().partition(|port| refers(port));
        first.into_iter().chain(last).for_each(|port| plan.delete("Port", name_of(port)));
        plan.delete(device.kind, name);
    } else {
        let mut spec = json!({"lifecycle": "Retired", "placement": null, "inSlot": null});
        if device.kind == "Node" {
            spec["assignment"] = Value::Null;
        }
        plan.patch(device.kind, name, json!({"spec": spec}));
    }
    if let Some(serial) = device.object["spec"]["serial"].as_str() {
        plan.notes.push(format!("{} {name} has the serial number {serial}", device.kind));
    }
    plan.run(&format!("Decommission {} {name}", device.kind), &arguments.plan, &client, session).await
}

/// Links lose the cables that go; those that end at the device go too.
async fn links(device: &Device, client: &cli::Client, plan: &mut Plan) -> Result<(), Failure> {
    let mut gone: Vec<String> = Vec::new();
    if device.kind == "NetworkDevice" {
        for link in named("links", "spec.endpoints.name", &device.name, client).await? {
            let ends = link["spec"]["endpoints"].as_array().into_iter().flatten();
            if ends.into_iter().any(|end| end["kind"] == device.kind && end["name"] == device.name.as_str()) {
                plan.delete("Link", name_of(&link));
                gone.push(name_of(&link).to_owned());
            }
        }
    }
    let cables: Vec<&str> = device.cables.iter().map(name_of).collect();
    for cable in &cables {
        for link in named("links", "spec.cableRefs.name", cable, client).await? {
            if gone.iter().any(|known| known == name_of(&link)) {
                continue;
            }
            let mut left = link["spec"]["cableRefs"].as_array().cloned().unwrap_or_default();
            left.retain(|one| !one["name"].as_str().is_some_and(|name| cables.contains(&name)));
            gone.push(name_of(&link).to_owned());
            plan.patch("Link", name_of(&link), json!({"spec": {"cableRefs": left}}));
        }
    }
    Ok(())
}
