//! Impact analysis: what loses power, network connectivity or redundancy if an object fails.
//!
//! A device has *network* while a path leads from it to an uplink, through switches, patch panels and circuits that have
//! not failed. Uplinks are transit and peering circuits, and circuits that terminate at a site. A circuit between two
//! ports of the inventory is a path like a cable, so a site without an uplink of its own loses network together with the
//! site that connects it. Where there is no uplink, circuits between ports stand in for one; without those, the border
//! routers, else the firewalls, spines or leaves. A device *loses redundancy* when it gets a new single point of failure.

mod failure;
mod network;
mod power;

use std::collections::{BTreeMap, BTreeSet};

use krm::kind::{Answered, QueryContext, Questioned};
use krm::status::Status;
use serde::Serialize;

use super::shown;
use crate::kinds::{GROUP, cable, circuit, port};
use failure::Failure;

/// The impact of a failure.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Impact {
    /// The objects that fail.
    pub fails: Vec<String>,
    /// Devices that lose all power.
    pub loses_power: Vec<String>,
    /// Devices that lose some but not all of their feeds.
    pub loses_power_redundancy: Vec<String>,
    /// Devices without a path to an uplink.
    pub loses_network: Vec<String>,
    /// Devices with a new single point of failure.
    pub loses_network_redundancy: Vec<String>,
    /// The new single points of failure of each of those.
    pub depends_on: Vec<Dependence>,
    /// Virtual machines on nodes that fail or lose power or network.
    pub machines: Vec<String>,
    /// Links over cables or devices that fail.
    pub links: Vec<String>,
    /// Circuits that fail or terminate at ports that fail.
    pub circuits: Vec<String>,
}

/// A device and its new single points of failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dependence {
    /// The device.
    pub device: String,
    /// Objects whose failure alone would now disconnect it.
    pub on: Vec<String>,
}

/// The impact of an object's failure; `None` for kinds that are not supported.
pub fn of(kind: &str, name: &str, feed: Option<&str>, look: &dyn QueryContext) -> Option<Impact> {
    let mut failure = Failure::of(kind, name, feed, look)?;
    let mut impact = Impact { fails: failure.names(), ..Impact::default() };
    let power = power::without(&mut failure, look);
    impact.loses_power = power.dark.into_iter().collect();
    impact.loses_power_redundancy = power.weakened.into_iter().collect();
    let network = network::without(&failure, look);
    impact.loses_network = network.cut_off;
    for (device, on) in network.weakened {
        impact.loses_network_redundancy.push(device.clone());
        impact.depends_on.push(Dependence { device, on });
    }
    beyond(&mut impact, &failure, look);
    Some(impact)
}

/// Adds the virtual machines, links and circuits that are affected.
fn beyond(impact: &mut Impact, failure: &Failure, look: &dyn QueryContext) {
    let (mut machines, mut links, mut circuits) =
        (BTreeSet::new(), BTreeSet::new(), failure.circuits.clone());
    let (mut cables, mut ports) = (failure.cables.clone(), failure.ports.clone());
    for device in failure.devices.iter().chain(&impact.loses_network) {
        if let Some(node) = device.strip_prefix("Node/") {
            let hosted = look.having(GROUP, "virtualmachines", "spec.hostRef.name", node);
            machines.extend(hosted.iter().map(|machine| machine.name().to_owned()));
        }
    }
    for device in &failure.devices {
        for port in look.places(port::ON_DEVICE, device) {
            cables.extend(look.places(cable::IN_PORT, &port.name).into_iter().map(|cable| cable.name));
            ports.insert(port.name);
        }
        if let Some(name) = device.strip_prefix("NetworkDevice/") {
            let at = look.having(GROUP, "links", "spec.endpoints.name", name);
            let ends_here = |link: &&std::sync::Arc<krm::Object>| {
                let ends = link.at("spec.endpoints").and_then(serde_json::Value::as_array);
                ends.into_iter().flatten().any(|end| end["kind"] == "NetworkDevice" && end["name"] == name)
            };
            links.extend(at.iter().filter(ends_here).map(|link| link.name().to_owned()));
        }
    }
    for cable in &cables {
        let over = look.having(GROUP, "links", "spec.cableRefs.name", cable);
        links.extend(over.iter().map(|link| link.name().to_owned()));
    }
    for port in &ports {
        circuits.extend(look.places(circuit::AT_PORT, port).into_iter().map(|circuit| circuit.name));
    }
    impact.machines = machines.into_iter().collect();
    impact.links = links.into_iter().collect();
    impact.circuits = circuits.into_iter().collect();
}

impl Impact {
    /// Text output.
    pub fn text(&self) -> String {
        let told = [
            ("Lose power", &self.loses_power),
            ("Lose network", &self.loses_network),
            ("Lose power redundancy", &self.loses_power_redundancy),
            ("Lose network redundancy", &self.loses_network_redundancy),
            ("Virtual machines affected", &self.machines),
            ("Links affected", &self.links),
            ("Circuits affected", &self.circuits),
        ];
        let hangs: BTreeMap<&str, &[String]> =
            self.depends_on.iter().map(|one| (one.device.as_str(), one.on.as_slice())).collect();
        let mut text = match self.fails.as_slice() {
            [one] => format!("If {one} fails:\n"),
            many => format!("If these {} fail:\n  {}\n", many.len(), many.join("\n  ")),
        };
        let mut is_harmless = true;
        for (title, list) in told.into_iter().filter(|(_, list)| !list.is_empty()) {
            is_harmless = false;
            text.push_str(&format!("{title} ({})\n", list.len()));
            for name in list {
                let on = hangs.get(name.as_str());
                match on.filter(|_| std::ptr::eq(list, &self.loses_network_redundancy)) {
                    Some(on) => text.push_str(&format!("  {name} depends on {}\n", on.join(", "))),
                    None => text.push_str(&format!("  {name}\n")),
                }
            }
        }
        if is_harmless {
            text.push_str("Nothing else loses power, network or redundancy.\n");
        }
        text
    }
}

/// Answers `…/<plural>/<name>/impact` for one kind.
pub fn answer(kind: &'static str) -> impl Fn(&Questioned<'_>, &dyn QueryContext) -> Result<Answered, Status> {
    move |asked, look| {
        if asked.name == "-" {
            return Err(Status::bad_request(format!("name the {kind} to analyze")));
        }
        let Some(impact) = of(kind, asked.name, asked.option("feed"), look) else {
            return Err(Status::bad_request(format!("impact analysis does not support {kind}")));
        };
        shown(asked, &impact, || impact.text(), None)
    }
}
