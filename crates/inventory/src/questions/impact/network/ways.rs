//! The ways from a device: by its ports, and inside its chassis.

use krm::kind::Look;

use super::super::failure::in_slots_of;
use super::things::{Thing, Things};
use crate::kinds::device::Device;
use crate::kinds::network_device::DeviceRole;
use crate::kinds::port::{self, PortType};
use crate::kinds::{NetworkDevice, Node, Port};
use crate::questions::trace::{self, By, Hop};

/// Where a way leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leads {
    /// To a device.
    To(Thing),
    /// To a device in a slot of this one, or around it.
    InChassis(Thing),
    /// To a device beyond a circuit.
    Beyond(Thing),
    /// Out of all that is ours; perhaps with a device of ours at the other end of the circuit too.
    Out(Option<Thing>),
}

/// A way from a device.
#[derive(Debug, Clone)]
pub struct Way {
    /// Where it leads.
    pub leads: Leads,
    /// What it runs over, in order: cables, panels, circuits; of one that leads out, also what is at its other end.
    pub over: Vec<Thing>,
    /// The ports on it.
    pub ports: Vec<Thing>,
}

impl Way {
    /// The device at its other end.
    pub fn to(&self) -> Option<Thing> {
        match self.leads {
            Leads::To(device) | Leads::InChassis(device) | Leads::Beyond(device) => Some(device),
            Leads::Out(_) => None,
        }
    }

    /// Whether nothing of it goes.
    pub fn is_open(&self, things: &Things<'_>) -> bool {
        !self.over.iter().chain(&self.ports).any(|thing| things.is_gone(*thing))
    }
}

/// All ways from a device.
pub fn ways(device: &str, things: &mut Things<'_>, look: &dyn Look) -> Vec<Way> {
    let mut found = Vec::new();
    for port in look.in_bucket::<Port>(port::ON_DEVICE, device) {
        if port.spec.kind == PortType::Power {
            continue;
        }
        let begun = Begun { ports: vec![things.number(&port_key(&port.metadata.name))], ..Begun::default() };
        for next in &trace::from(&port, look).next {
            begun.clone().follow(next, &mut found, things, look);
        }
    }
    for near in in_slots(device, look) {
        let leads = Leads::InChassis(things.number(&near));
        found.push(Way { leads, over: Vec::new(), ports: Vec::new() });
    }
    found
}

/// The devices in the slots of a device, and the one whose slot it is in.
pub fn in_slots(device: &str, look: &dyn Look) -> Vec<String> {
    let mut near = in_slots_of(device, look);
    let holder = match device.split_once('/') {
        Some(("Node", name)) => look.find::<Node>(name).and_then(|node| holder(&*node)),
        Some(("NetworkDevice", name)) => look.find::<NetworkDevice>(name).and_then(|device| holder(&*device)),
        _ => None,
    };
    near.extend(holder);
    near
}

fn holder(device: &impl Device) -> Option<String> {
    device.in_slot().map(|slot| slot.device_ref.key())
}

/// What a network device is for.
pub fn role(device: &str, look: &dyn Look) -> Option<DeviceRole> {
    Some(look.find::<NetworkDevice>(device.strip_prefix("NetworkDevice/")?)?.spec.role)
}

/// Whether traffic only goes through it, as through a panel, or none does at all.
pub fn is_thoroughfare(device: &str, look: &dyn Look) -> bool {
    !is_device(device) || matches!(role(device, look), Some(DeviceRole::PatchPanel | DeviceRole::PDU))
}

fn is_device(device: &str) -> bool {
    device.starts_with("Node/") || device.starts_with("NetworkDevice/")
}

/// A way as far as it was followed.
#[derive(Clone, Default)]
struct Begun {
    over: Vec<Thing>,
    ports: Vec<Thing>,
    is_beyond: bool,
    leads_out: bool,
}

impl Begun {
    fn follow(mut self, hop: &Hop, found: &mut Vec<Way>, things: &mut Things<'_>, look: &dyn Look) {
        self.ports.push(things.number(&port_key(&hop.port)));
        match &hop.by {
            Some(By::Cable { name, .. }) => self.over.push(things.number(&format!("Cable/{name}"))),
            Some(By::Circuit { name, leads_out, .. }) => {
                self.over.push(things.number(&format!("Circuit/{name}")));
                self.is_beyond = true;
                self.leads_out |= leads_out;
            }
            _ => {}
        }
        let device = things.number(&hop.device);
        if !hop.next.is_empty() {
            // It goes on, so this is a panel.
            self.over.push(device);
            for next in &hop.next {
                self.clone().follow(next, found, things, look);
            }
            return;
        }
        let leads = match self.is_beyond {
            true if self.leads_out || is_thoroughfare(&hop.device, look) => {
                let far = Some(device).filter(|_| is_device(&hop.device));
                self.over.extend(far);
                Leads::Out(far)
            }
            true => Leads::Beyond(device),
            false => Leads::To(device),
        };
        self.over.sort_unstable();
        self.over.dedup();
        found.push(Way { leads, over: self.over, ports: self.ports });
    }
}

fn port_key(name: &str) -> String {
    format!("Port/{name}")
}
