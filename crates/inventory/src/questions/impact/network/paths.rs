//! The paths from a device: through its ports, and inside its chassis.

use krm::kind::QueryContext;

use super::elements::{Element, Elements};
use crate::failure::in_slots_of;
use crate::kinds::device::Device;
use crate::kinds::network_device::DeviceRole;
use crate::kinds::port::{self, PortType};
use crate::kinds::{NetworkDevice, Node, Port};
use crate::questions::shows;
use crate::questions::trace::{self, By, Hop};

/// Where a path ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathEnd {
    /// At a device.
    To(Element),
    /// At a device in a slot of this one, or at the chassis that holds it.
    InChassis(Element),
    /// At a device beyond a circuit.
    Beyond(Element),
    /// At an uplink, possibly with a device of the inventory at the far end.
    Out(Option<Element>),
}

/// A path from a device.
#[derive(Debug, Clone)]
pub struct Path {
    /// Where it ends.
    pub leads: PathEnd,
    /// The cables, patch panels and circuits on it, sorted; for an uplink also its far end.
    pub over: Vec<Element>,
    /// The ports on it.
    pub ports: Vec<Element>,
}

impl Path {
    /// The device at its end.
    pub fn to(&self) -> Option<Element> {
        match self.leads {
            PathEnd::To(device) | PathEnd::InChassis(device) | PathEnd::Beyond(device) => Some(device),
            PathEnd::Out(_) => None,
        }
    }

    /// Whether none of its elements has failed.
    pub fn is_open(&self, elements: &Elements<'_>) -> bool {
        !self.over.iter().chain(&self.ports).any(|element| elements.has_failed(*element))
    }
}

/// All paths from a device.
pub fn paths(device: &str, elements: &mut Elements<'_>, look: &dyn QueryContext) -> Vec<Path> {
    let mut found = Vec::new();
    for port in look.in_bucket::<Port>(port::ON_DEVICE, device) {
        if port.spec.kind == PortType::Power {
            continue;
        }
        let begun = PartialPath {
            ports: vec![elements.number(&port_key(&port.metadata.name))],
            ..PartialPath::default()
        };
        for next in &trace::from(&port, look).next {
            begun.clone().follow(next, &mut found, elements, look);
        }
    }
    for near in slot_neighbors(device, look) {
        let leads = PathEnd::InChassis(elements.number(&near));
        found.push(Path { leads, over: Vec::new(), ports: Vec::new() });
    }
    found
}

/// The devices in the slots of a device, and the device whose slot it occupies.
pub fn slot_neighbors(device: &str, look: &dyn QueryContext) -> Vec<String> {
    let mut near = in_slots_of(device, look);
    let holder = match device.split_once('/') {
        Some(("Node", name)) => look.find::<Node>(name).and_then(|node| holder(&*node)),
        Some(("NetworkDevice", name)) => look.find::<NetworkDevice>(name).and_then(|device| holder(&*device)),
        _ => None,
    };
    near.extend(holder.filter(|holder| shows(holder, look)));
    near
}

fn holder(device: &impl Device) -> Option<String> {
    device.mounting().in_slot.as_ref().map(|slot| slot.device_ref.key())
}

/// The role of a network device.
pub fn role(device: &str, look: &dyn QueryContext) -> Option<DeviceRole> {
    Some(look.find::<NetworkDevice>(device.strip_prefix("NetworkDevice/")?)?.spec.role)
}

/// Whether it only passes cables through, like a patch panel, or carries no traffic at all.
pub fn is_passive(device: &str, look: &dyn QueryContext) -> bool {
    !is_device(device) || matches!(role(device, look), Some(DeviceRole::PatchPanel | DeviceRole::PDU))
}

fn is_device(device: &str) -> bool {
    device.starts_with("Node/") || device.starts_with("NetworkDevice/")
}

/// A path under construction.
#[derive(Clone, Default)]
struct PartialPath {
    over: Vec<Element>,
    ports: Vec<Element>,
    is_beyond: bool,
    leads_out: bool,
}

impl PartialPath {
    fn follow(
        mut self,
        hop: &Hop,
        found: &mut Vec<Path>,
        elements: &mut Elements<'_>,
        look: &dyn QueryContext,
    ) {
        self.ports.push(elements.number(&port_key(&hop.port)));
        match &hop.by {
            Some(By::Cable { name, .. }) => self.over.push(elements.number(&format!("Cable/{name}"))),
            Some(By::Circuit { name, leads_out, .. }) => {
                self.over.push(elements.number(&format!("Circuit/{name}")));
                self.is_beyond = true;
                self.leads_out |= leads_out;
            }
            _ => {}
        }
        let device = elements.number(&hop.device);
        if !hop.next.is_empty() {
            // The path continues, so this is a patch panel.
            self.over.push(device);
            for next in &hop.next {
                self.clone().follow(next, found, elements, look);
            }
            return;
        }
        let leads = match self.is_beyond {
            true if self.leads_out || is_passive(&hop.device, look) => {
                let far = Some(device).filter(|_| is_device(&hop.device));
                self.over.extend(far);
                PathEnd::Out(far)
            }
            true => PathEnd::Beyond(device),
            false => PathEnd::To(device),
        };
        self.over.sort_unstable();
        self.over.dedup();
        found.push(Path { leads, over: self.over, ports: self.ports });
    }
}

fn port_key(name: &str) -> String {
    format!("Port/{name}")
}
