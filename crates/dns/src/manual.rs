//! No provider: somebody else keeps the records, and nothing waits for them.

use crate::error::Error;
use crate::name::DnsName;
use crate::provider::{Ensured, Later, Provider};
use crate::records::Addresses;

/// Writes nothing. For sites whose records are kept by hand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manual;

impl Provider for Manual {
    fn ensure<'a>(&'a self, _wanted: &'a [Addresses]) -> Later<'a, Ensured> {
        Box::pin(async { Ok(Ensured::Unchanged) })
    }

    fn remove<'a>(&'a self, _names: &'a [DnsName]) -> Later<'a, Ensured> {
        Box::pin(async { Ok(Ensured::Unchanged) })
    }

    fn lookup<'a>(&'a self, name: &'a DnsName) -> Later<'a, Addresses> {
        Box::pin(async move { Err(Error::NoProvider { name: name.clone() }) })
    }

    fn check(&self) -> Later<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}
