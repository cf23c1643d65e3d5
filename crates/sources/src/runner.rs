//! The synchronizer of one Source, against the public API of a server: lists, plans, writes, listens.

mod cycle;
mod grpc;
pub mod metrics;
mod running;
mod server;
mod status;
mod wire;

pub use cycle::{Cycle, Outcome};
pub use metrics::Metrics;
pub use running::{Settings, run};
pub use server::Server;
