//! The reconciler runtime: queue, workers, deadlines, back-off, counters and leases.
//!
//! It knows neither HTTP nor store. A host (the API server, a remote process, a simulation) feeds it keys and gives it
//! something to attempt; time is tokio's, so that it can be paused, and randomness comes from outside.

pub mod backoff;
pub mod lease;
pub mod queue;
pub mod stats;
pub mod workers;
