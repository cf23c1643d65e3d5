//! Impact analysis: what loses power, network connectivity or redundancy if objects fail.
//!
//! Only what is in service counts, before and after: a path through a switch that has failed already, or over a cable that is
//! only planned, is no path.
//!
//! A device has *network* while a path leads from it to an uplink, through switches, patch panels and circuits that have
//! not failed. Uplinks are transit and peering circuits, and circuits that terminate at a site. A circuit between two
//! ports of the inventory is a path like a cable, so a site without an uplink of its own loses network together with the
//! site that connects it. Where there is no uplink, circuits between ports stand in for one; without those, the border
//! routers, else the firewalls, spines or leaves. A device *loses redundancy* when it gets a new single point of failure.
//!
//! Power follows the watts: see [`crate::power`]. What is overloaded above its full rating trips.

mod network;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use krm::kind::{Answered, QueryContext, Questioned, Resource};
use krm::status::Status;
use serde::Serialize;

use super::{Stated, shown, shows};
use crate::failure::Failure;
use crate::kinds::device::Lifecycle;
use crate::kinds::{GROUP, Provider, cable, circuit, port};
use crate::power::{self, Overload};
use crate::state::{AsIf, Fleet, InService, Target};

/// The impact of a failure.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Impact {
    /// The objects that were asked about.
    pub targets: Vec<String>,
    /// The states that were assumed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub as_if: Vec<Stated>,
    /// The objects that fail.
    pub fails: Vec<String>,
    /// Devices that lose all power.
    pub loses_power: Vec<String>,
    /// Devices that lose some but not all of their power supplies or feeds.
    pub loses_power_redundancy: Vec<String>,
    /// Feeds and ports that get more load than they may carry.
    pub overloaded: Vec<Overload>,
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
    /// Other circuits that terminate at ports that fail.
    pub circuits: Vec<String>,
    /// Devices, cables and circuits that were not counted, because they are not in service.
    pub out_of_service: Vec<Stated>,
    /// The states of objects in this answer that are in service but not `Active`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub states: BTreeMap<String, Lifecycle>,
}

/// A device and its new single points of failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dependence {
    /// The device.
    pub device: String,
    /// Objects whose failure alone would now disconnect it.
    pub on: Vec<String>,
}

/// The impact of the failure of all these objects at once.
pub fn of(targets: &[Target], as_if: &AsIf, all: &dyn QueryContext) -> Impact {
    let fleet = Fleet::new(all, as_if);
    let look = fleet.in_service();
    let mut failure = Failure::of(targets, &look);
    let mut impact = Impact {
        targets: targets.iter().map(Target::key).collect(),
        as_if: as_if.all().map(|(name, state)| Stated { name: name.to_owned(), state }).collect(),
        fails: failure.names(),
        ..Impact::default()
    };
    // What cannot fail any more is told with what is out of service.
    let already = targets.iter().filter(|target| !shows(&target.key(), &look)).map(Target::key);
    let already: Vec<String> = already.collect();
    let power = power::after(&mut failure, &look);
    impact.loses_power = power.dark.into_iter().collect();
    impact.loses_power_redundancy = power.weakened.into_iter().collect();
    impact.overloaded = power.overloaded;
    let network = network::without(&failure, &look);
    impact.loses_network = network.cut_off;
    for (device, on) in network.weakened {
        impact.loses_network_redundancy.push(device.clone());
        impact.depends_on.push(Dependence { device, on });
    }
    impact.beyond(targets, &failure, &look);
    impact.leave_out_withheld(all);
    impact.tell_states(&already, &look);
    impact
}

impl Impact {
    /// Adds the virtual machines, links and circuits that are affected.
    fn beyond(&mut self, targets: &[Target], failure: &Failure, look: &dyn QueryContext) {
        let (mut machines, mut links, mut circuits) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let (mut cables, mut ports) = (failure.cables.clone(), failure.ports.clone());
        let names = |found: Vec<std::sync::Arc<krm::Object>>| {
            found.into_iter().map(|object| object.name().to_owned()).collect::<Vec<String>>()
        };
        for provider in targets.iter().filter(|target| target.kind == Provider::KIND) {
            machines.extend(names(look.having(
                GROUP,
                "virtualmachines",
                "spec.providerRef.name",
                &provider.name,
            )));
        }
        for device in failure.devices.iter().chain(&self.loses_network) {
            if let Some(node) = device.strip_prefix("Node/") {
                machines.extend(names(look.having(GROUP, "virtualmachines", "spec.hostRef.name", node)));
            }
        }
        for device in &failure.devices {
            for port in look.places(port::ON_DEVICE, device) {
                cables.extend(look.places(cable::IN_PORT, &port.name).into_iter().map(|cable| cable.name));
                ports.insert(port.name);
            }
            if let Some((kind @ ("NetworkDevice" | "Site"), name)) = device.split_once('/') {
                let mut at = look.having(GROUP, "links", "spec.endpoints.name", name);
                at.retain(|link| {
                    let ends = link.at("spec.endpoints").and_then(serde_json::Value::as_array);
                    ends.into_iter().flatten().any(|end| end["kind"] == kind && end["name"] == name)
                });
                links.extend(names(at));
            }
        }
        for cable in &cables {
            links.extend(names(look.having(GROUP, "links", "spec.cableRefs.name", cable)));
        }
        for port in &ports {
            circuits.extend(look.places(circuit::AT_PORT, port).into_iter().map(|circuit| circuit.name));
        }
        self.machines = machines.into_iter().collect();
        self.links = links.into_iter().collect();
        // What fails is not affected by itself.
        self.circuits = circuits.difference(&failure.circuits).cloned().collect();
    }

    /// Leaves out devices and single points of failure that are known by name only: ports, cables and circuits tell the names
    /// of what may not be read.
    fn leave_out_withheld(&mut self, look: &dyn QueryContext) {
        let shown: BTreeSet<String> = self.named().filter(|name| shows(name, look)).cloned().collect();
        let lists = [
            &mut self.loses_power,
            &mut self.loses_power_redundancy,
            &mut self.loses_network,
            &mut self.loses_network_redundancy,
        ];
        for list in lists {
            list.retain(|name| shown.contains(name));
        }
        for dependence in &mut self.depends_on {
            dependence.on.retain(|name| shown.contains(name));
        }
        self.depends_on.retain(|one| shown.contains(&one.device) && !one.on.is_empty());
    }

    /// The devices and single points of failure that are affected.
    fn named(&self) -> impl Iterator<Item = &String> {
        let lists = [
            &self.loses_power,
            &self.loses_power_redundancy,
            &self.loses_network,
            &self.loses_network_redundancy,
        ];
        lists.into_iter().flatten().chain(self.depends_on.iter().flat_map(|one| &one.on))
    }

    /// Tells what was not counted, and the states of what was.
    fn tell_states(&mut self, already: &[String], look: &InService<'_>) {
        let fleet = look.fleet();
        let state = |name: &str| name.split_once('/').and_then(|(kind, name)| fleet.mark(kind, name));
        self.states = self
            .named()
            .chain(&self.fails)
            .filter_map(|name| Some((name.clone(), state(name)?)))
            .filter(|(_, state)| state.is_in_service())
            .collect();
        let mut out = look.left_out();
        out.extend(already.iter().filter_map(|name| Some((name.clone(), state(name)?))));
        self.out_of_service = out.into_iter().map(|(name, state)| Stated { name, state }).collect();
    }
}

/// Answers `…/<plural>/<name>/impact` for one kind. The option `also` names further objects that fail.
pub fn answer(kind: &'static str) -> impl Fn(&Questioned<'_>, &dyn QueryContext) -> Result<Answered, Status> {
    move |asked, look| {
        if asked.name == "-" {
            return Err(Status::bad_request(format!("name the {kind} to analyze")));
        }
        let feed = asked.option("feed").filter(|_| kind == "Rack").map(str::to_owned);
        let mut targets = vec![Target { feed, ..Target::new(kind, asked.name) }.found(look)?];
        for also in asked.values("also") {
            targets.push(Target::parse(also).map_err(Status::bad_request)?.found(look)?);
        }
        let impact = of(&targets, &AsIf::asked(asked, look)?, look);
        shown(asked, &impact, || impact.text(look.is_incomplete()), None)
    }
}
