//! Whether names resolve as they should, asked of the authoritative server.

use crate::error::Error;
use crate::provider::Provider;
use crate::records::Addresses;

/// The label by which a wildcard is resolved.
pub const PROBE_LABEL: &str = "dns-check";

/// A name that does not resolve as it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// What it should be.
    pub wanted: Addresses,
    /// What was found for it.
    pub found: Addresses,
}

/// Resolves every name, wildcards by [`PROBE_LABEL`], and tells which differ from what is wanted.
pub async fn verify(provider: &dyn Provider, wanted: &[Addresses]) -> Result<Vec<Mismatch>, Error> {
    let mut mismatches = Vec::new();
    for wanted in wanted {
        let name = wanted
            .name
            .instance_of_wildcard(PROBE_LABEL)
            .map_err(|invalid| Error::Message(invalid.to_string()))?;
        let found = provider.lookup(&name).await?;
        if found.addresses != wanted.addresses {
            mismatches.push(Mismatch { wanted: wanted.clone(), found });
        }
    }
    Ok(mismatches)
}
