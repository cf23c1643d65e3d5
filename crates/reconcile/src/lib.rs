//! The reconciler runtime: plans with recorded reads, queue, workers, deadlines, back-off, counters and leases; and the
//! trait of a module, which brings kinds and their reconcilers into a program.
//!
//! It knows neither HTTP nor store. A host (the API server, a remote process, a simulation) shows it changes, commits what
//! plans write, and executes their actions; time is tokio's, so that it can be paused, and randomness comes from outside.

pub mod actions;
pub mod backoff;
pub mod context;
pub mod dependencies;
pub mod feature;
pub mod gate;
pub mod lease;
pub mod line;
pub mod member;
pub mod metadata;
pub mod metrics;
pub mod module;
pub mod objects;
pub mod operation;
pub mod plan;
pub mod queue;
pub mod read;
pub mod reconciler;
pub mod role;
pub mod state;
pub mod stats;
pub mod target;
pub mod workers;
pub mod writes;
