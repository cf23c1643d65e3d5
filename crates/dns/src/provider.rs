//! What a reconciler asks of whoever serves a zone.

use std::future::Future;
use std::pin::Pin;

use crate::error::Error;
use crate::name::DnsName;
use crate::records::Addresses;

/// An answer that comes later.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// What came of asking for records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ensured {
    /// They were there already; nothing was written.
    Unchanged,
    /// They were written.
    Changed,
}

/// Serves one zone. Every operation may be repeated: what is as it should be is not written again.
///
/// Only the names that are passed in are touched. Names outside of the zone are refused.
pub trait Provider: Send + Sync {
    /// Makes these names resolve to exactly these addresses.
    fn ensure<'a>(&'a self, wanted: &'a [Addresses]) -> Later<'a, Ensured>;

    /// Removes all addresses of these names.
    fn remove<'a>(&'a self, names: &'a [DnsName]) -> Later<'a, Ensured>;

    /// The addresses that the authoritative server has for a name; none when it has no such name.
    fn lookup<'a>(&'a self, name: &'a DnsName) -> Later<'a, Addresses>;

    /// Whether the server answers, serves the zone, and would take our changes. Writes nothing.
    fn check(&self) -> Later<'_, ()>;
}

/// Refuses names outside of a zone.
pub(crate) fn within_zone<'n>(
    zone: &DnsName,
    names: impl IntoIterator<Item = &'n DnsName>,
) -> Result<(), Error> {
    match names.into_iter().find(|name| !name.is_in(zone)) {
        Some(name) => Err(Error::OutsideZone { name: name.clone(), zone: zone.clone() }),
        None => Ok(()),
    }
}
