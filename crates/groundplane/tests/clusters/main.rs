//! Clusters from bare metal on the real binary: a hub that is another server with a simulated Metal3 and HyperShift, and BIND.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "../../../dns/tests/server/mod.rs"]
#[allow(dead_code, reason = "these tests don't do everything that the others do")]
mod bind;
mod faults;
mod life;
mod many;
mod site;

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
