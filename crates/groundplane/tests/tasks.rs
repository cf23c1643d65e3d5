//! Tasks, as people run them: a site of ours, a simulated provisioner, failures, cancellation, a killed server.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "tasks/simulated.rs"]
mod simulated;
#[path = "tasks/site.rs"]
mod site;
