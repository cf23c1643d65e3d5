//! The simulated engine: what each fault does, and that without faults it behaves as the embedded one.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "simulated/faults.rs"]
mod faults;
#[path = "simulated/same.rs"]
mod same;
