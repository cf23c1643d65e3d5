//! The drivers: one file or folder each.

pub mod network;
pub mod simulated;

use std::sync::Arc;

use crate::driver::NodeDriver;
use crate::kinds::provisioner::ProvisionerType;

/// The driver of a type of provisioner.
pub fn of(kind: ProvisionerType) -> Arc<dyn NodeDriver> {
    match kind {
        ProvisionerType::Simulated => Arc::new(simulated::Simulated),
    }
}
