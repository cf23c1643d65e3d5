//! Address records in name servers that belong to somebody else: made, checked, resolved and removed.
//!
//! [`Provider`] is what a reconciler needs. Implementations: [`Rfc2136`] (dynamic updates signed with TSIG, as BIND,
//! Knot and PowerDNS take them), [`Exec`] (a program of the operator's) and [`Manual`] (nobody; records are somebody
//! else's business).

mod error;
mod exec;
mod manual;
mod name;
mod provider;
mod records;
mod rfc2136;
mod verify;

pub use error::Error;
pub use exec::Exec;
pub use manual::Manual;
pub use name::{DnsName, InvalidName};
pub use provider::{Ensured, Later, Provider};
pub use records::Addresses;
pub use rfc2136::key::{Algorithm, InvalidKey, TsigKey};
pub use rfc2136::{Rfc2136, Settings};
pub use verify::{Mismatch, PROBE_LABEL, verify};
