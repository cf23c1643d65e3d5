//! Hosts from other systems, through the real binary: a real Ironic, simulated BCMs, BMCs and a NetBox.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "sources/bcm.rs"]
mod bcm;
#[path = "sources/ironic.rs"]
mod ironic;
#[path = "sources/netbox.rs"]
mod netbox;
#[path = "sources/place.rs"]
mod place;
#[path = "sources/redfish.rs"]
mod redfish;
