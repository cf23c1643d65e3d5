//! Stories of BMCs: simulated, real emulators, hostile ones.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

mod hostile;
mod ipmi;
mod lockout;
mod others;
mod redfish;
mod rotation;
mod scan;
mod sushy;

use std::time::Duration;

use bmc::redfish::{Options, Patience, Redfish};
use bmc::trust::Trust;
use bmc::{Address, Credentials, Environment};
use sim::redfish::Simulator;

/// Short, since simulators are fast.
pub const PATIENCE: Patience =
    Patience { limit: Duration::from_secs(2), interval: Duration::from_millis(20) };

/// The address of one system of a simulator.
pub fn address(simulator: &Simulator, system: usize) -> Address {
    format!("{}/redfish/v1/Systems/{system}", simulator.url()).parse().unwrap()
}

/// Options that trust the simulator's certificate.
pub fn options(simulator: &Simulator, user: &str, password: &str) -> Options {
    let trust = Trust::Authorities(simulator.certificate().into_bytes());
    let mut options = Options::new(trust, Some(Credentials::new(user, password)));
    options.patience = PATIENCE;
    options.limits.rate = 100_000;
    options
}

/// A driver of the first system, as the administrator.
pub fn driver(simulator: &Simulator, environment: &Environment) -> Redfish {
    Redfish::new(&address(simulator, 1), options(simulator, "admin", "password"), environment).unwrap()
}
