//! Impact: what loses power, network or redundancy if something goes.
//!
//! A device has *network* while a way leads from it out of all that is ours, through switches, panels and circuits that are
//! there. A transit or peering circuit leads out, and so does one whose other end is a site; a circuit between two ports of
//! ours is a way like a cable, so that a site without a way out of its own loses network with the site it gets it from. Where
//! no circuit leads out, those between us count as the ways out; where there are none, the border routers, else the
//! firewalls, the spines or the leaves. A device *loses redundancy* when something appears whose failure alone would cut it
//! off, and there was no such thing before.

mod failure;
mod network;
mod power_left;

use std::collections::{BTreeMap, BTreeSet};

use krm::kind::{Answered, Look, Questioned};
use krm::status::Status;
use serde::Serialize;

use super::shown;
use crate::kinds::{GROUP, cable, circuit, port};
use failure::Failure;

/// What would be lost.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Impact {
    /// What goes.
    pub fails: Vec<String>,
    /// Devices without power then.
    pub loses_power: Vec<String>,
    /// Devices with fewer feeds than before, and one at least.
    pub loses_power_redundancy: Vec<String>,
    /// Devices that no way leads out from then.
    pub loses_network: Vec<String>,
    /// Devices that a single further failure would cut off then, and would not have before.
    pub loses_network_redundancy: Vec<String>,
    /// What each of those hangs on then.
    pub depends_on: Vec<Dependence>,
    /// Virtual machines on what goes or is without power or network.
    pub machines: Vec<String>,
    /// Links that run over what goes.
    pub links: Vec<String>,
    /// Circuits that end at what goes.
    pub circuits: Vec<String>,
}

/// A device, and what it did not hang on before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dependence {
    /// The device.
    pub device: String,
    /// What would cut it off alone.
    pub on: Vec<String>,
}

/// What is lost if an object goes. `None` when it is of a kind that can't.
pub fn of(kind: &str, name: &str, feed: Option<&str>, look: &dyn Look) -> Option<Impact> {
    let mut failure = Failure::of(kind, name, feed, look)?;
    let mut impact = Impact { fails: failure.names(), ..Impact::default() };
    let power = power_left::without(&mut failure, look);
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

/// Machines, links and circuits that go with it.
fn beyond(impact: &mut Impact, failure: &Failure, look: &dyn Look) {
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
    /// What a terminal shows.
    pub fn text(&self) -> String {
        let told = [
            ("Without power", &self.loses_power),
            ("Without network", &self.loses_network),
            ("Power without redundancy", &self.loses_power_redundancy),
            ("Network without redundancy", &self.loses_network_redundancy),
            ("Machines that go with it", &self.machines),
            ("Links that run over it", &self.links),
            ("Circuits that end at it", &self.circuits),
        ];
        let hangs: BTreeMap<&str, &[String]> =
            self.depends_on.iter().map(|one| (one.device.as_str(), one.on.as_slice())).collect();
        let mut text = match self.fails.as_slice() {
            [one] => format!("If {one} goes:\n"),
            many => format!("If these {} go:\n  {}\n", many.len(), many.join("\n  ")),
        };
        let mut is_harmless = true;
        for (title, list) in told.into_iter().filter(|(_, list)| !list.is_empty()) {
            is_harmless = false;
            text.push_str(&format!("{title} ({})\n", list.len()));
            for name in list {
                let on = hangs.get(name.as_str());
                match on.filter(|_| std::ptr::eq(list, &self.loses_network_redundancy)) {
                    Some(on) => text.push_str(&format!("  {name} hangs on {}\n", on.join(", "))),
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
pub fn answer(kind: &'static str) -> impl Fn(&Questioned<'_>, &dyn Look) -> Result<Answered, Status> {
    move |asked, look| {
        if asked.name == "-" {
            return Err(Status::bad_request(format!("say which {kind} would go")));
        }
        let Some(impact) = of(kind, asked.name, asked.option("feed"), look) else {
            return Err(Status::bad_request(format!("what goes with a {kind} is not known")));
        };
        shown(asked, &impact, || impact.text(), None)
    }
}
