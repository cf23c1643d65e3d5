//! The network driver: configures switch ports for a node. The one that ships records what is intended.
//!
//! A driver for real switches implements [`NetworkDriver`]: it gets the same ports, makes each switch so, reads it back, and
//! answers with what it found.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::action::Step;
use crate::driver::{Call, Finished, Found, Progress, Working};
use crate::work::NodeWork;

/// Generator of the records of ports.
pub const GENERATOR: &str = "network:ports";

/// Configures switch ports.
pub trait NetworkDriver: Send + Sync {
    /// Configures the ports of a node as intended.
    fn configure<'a>(&'a self, call: &'a Call, ports: Vec<IntendedPort>) -> Working<'a>;
}

/// The intended state of the switch port that a port of a node is connected to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IntendedPort {
    /// Port of the node: alias or device name.
    pub port: String,
    /// What the system calls it.
    pub device: String,
    /// Name of the link of the design.
    pub link: Option<String>,
    /// Largest packet.
    pub mtu: i64,
    /// Bonding mode, if the port is part of a bond.
    pub bond: Option<String>,
    /// VLAN that is carried untagged, if any.
    pub untagged: Option<i64>,
    /// VLANs that are carried with tags.
    pub tagged: Vec<i64>,
}

/// The intended ports of a node. While it is installed, ports carry the native network alone, and are not bonded.
pub fn intended(node: &NodeWork, step: Step) -> Vec<IntendedPort> {
    let is_production = step == Step::ConfigPortProduction;
    let mut ports = Vec::new();
    for interface in node.interfaces.iter().filter(|interface| !interface.is_untouched) {
        let native = interface.networks.iter().find(|network| network.is_native).map(|network| network.vlan);
        let tagged = interface.networks.iter().filter(|network| !network.is_native && network.vlan != 0);
        let tagged: Vec<i64> = tagged.map(|network| network.vlan).filter(|_| is_production).collect();
        for slave in &interface.slaves {
            ports.push(IntendedPort {
                port: slave.name.clone(),
                device: slave.device.clone(),
                link: interface.link.clone(),
                mtu: interface.mtu,
                bond: interface.bond.as_ref().map(|bond| bond.mode.clone()).filter(|_| is_production),
                untagged: native,
                tagged: tagged.clone(),
            });
        }
    }
    ports
}

/// Records what is intended.
pub struct Recording;

impl NetworkDriver for Recording {
    fn configure<'a>(&'a self, call: &'a Call, ports: Vec<IntendedPort>) -> Working<'a> {
        Box::pin(async move {
            let state = if call.step == Step::ConfigPortProduction { "production" } else { "provisioning" };
            let message = match ports.len() {
                1 => format!("recorded the intended {state} state of 1 switch port"),
                many => format!("recorded the intended {state} state of {many} switch ports"),
            };
            let data = json!({"state": state, "ports": ports}).to_string();
            let found =
                Found { generator: GENERATOR.to_owned(), format: "application/json".to_owned(), data };
            Progress::Done(Finished { message, found: vec![found], ..Finished::default() })
        })
    }
}
