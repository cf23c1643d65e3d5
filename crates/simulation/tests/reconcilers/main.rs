//! Reconcilers with a planted bug, one of each class, which the simulation finds; and the same without it, which it does not
//! fault. Then all that is right, at once: the same seed gives the same trace.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod double_action;
mod lost_update;
mod missed_event;
mod objects;
mod same;
mod stale_leader;
mod stuck_queue;
