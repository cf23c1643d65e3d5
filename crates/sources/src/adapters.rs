//! The adapters that ship, by the name in `spec.adapter`.

pub mod bcm;
pub mod ironic;
pub mod netbox;
pub mod redfish;

use std::sync::Arc;
use std::time::Duration;

use crate::adapter::{Adapter, Fault, FaultKind};
use crate::http::{Credentials, Verify};
use crate::kinds::source::{AdapterKind, SourceSpec};

/// The adapter of a Source.
pub fn of(name: &str, spec: &SourceSpec, credentials: &Credentials) -> Result<Arc<dyn Adapter>, Fault> {
    tracing::debug!(source = name, adapter = ?spec.adapter, "the adapter is made");
    Ok(match spec.adapter {
        AdapterKind::Ironic => Arc::new(ironic::Ironic::new(spec, credentials)?),
        AdapterKind::BCM => Arc::new(bcm::Bcm::new(spec, credentials)?),
        AdapterKind::Redfish => Arc::new(redfish::Redfish::new(spec, credentials)?),
        AdapterKind::Custom => {
            let why = "the adapter is Custom: start the program that has it, not groundplane sync";
            return Err(Fault::new(FaultKind::Config, why));
        }
        AdapterKind::NetBox => Arc::new(netbox::NetBox::new(spec, credentials)?),
    })
}

/// How long a request may take.
fn timeout(spec: &SourceSpec) -> Duration {
    let seconds = spec.option("timeoutSeconds").and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(30).clamp(1, 600))
}

/// How the certificate of the system is verified: `options.verify` is `name` (the default) or `chain`.
fn verify(spec: &SourceSpec, usual: Verify) -> Verify {
    match spec.option("verify") {
        Some("chain") => Verify::Chain,
        Some("name") => Verify::Name,
        _ => usual,
    }
}
