//! How the BMC of a host is reached, and the drivers that reach it.

use std::sync::Arc;

use bmc::ipmi::{self, Ipmi};
use bmc::libvirt::{Libvirt, Processes};
use bmc::redfish::{self, Redfish};
use bmc::trust::{Fingerprint, Trust};
use bmc::{Address, Bmc, Cause, Credentials, Environment, Error, Protocol};

use super::Failure;
use crate::kinds::Host;

/// How the BMC of a host is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// Where it is.
    pub address: Address,
    /// Who logs in.
    pub credentials: Option<Credentials>,
    /// Whom to trust.
    pub trust: Trust,
    /// Whether any certificate will do, so that none is pinned.
    pub(super) is_insecure: bool,
}

impl Connection {
    /// That of a host, with its password.
    pub fn of(host: &Host, password: Option<String>) -> Result<Connection, Failure> {
        let bmc = host.spec.bmc.clone().unwrap_or_default();
        let url = bmc.url.filter(|url| !url.is_empty()).ok_or(Failure::NoAddress)?;
        let address: Address = url.parse()?;
        let is_insecure = bmc.insecure.unwrap_or(false);
        let pinned = host.status.as_ref().and_then(|status| status.bmc.clone()).unwrap_or_default();
        let pinned = pinned.certificate.filter(|_| pinned.address.as_deref() == Some(&*address.authority()));
        let pin = bmc.certificate.filter(|pin| !pin.is_empty()).or(pinned);
        let trust = match pin {
            Some(pin) if !is_insecure => Trust::Pinned(pin.parse::<Fingerprint>()?),
            _ => Trust::FirstUse,
        };
        let user = bmc.user.unwrap_or_default();
        let credentials = password.map(|password| Credentials::new(user, password));
        if credentials.is_none() && matches!(address.protocol(), Protocol::Redfish | Protocol::Ipmi) {
            return Err(Failure::NoCredentials);
        }
        Ok(Connection { address, credentials, trust, is_insecure })
    }

    /// The BMC in the record of logins. Protocols of one BMC share its accounts; a port that is not the usual one leads to
    /// another BMC.
    pub fn ledger_key(&self) -> String {
        let usual = match self.address.protocol() {
            Protocol::Redfish => matches!(self.address.port(), 443 | 80),
            Protocol::Ipmi => self.address.port() == 623,
            Protocol::Libvirt => self.address.port() == 22,
            Protocol::Manual => true,
        };
        if usual { self.address.host().to_owned() } else { self.address.authority() }
    }

    /// Whether the certificate that is presented is to be pinned.
    pub(super) fn pins_first(&self) -> bool {
        !self.is_insecure && self.trust == Trust::FirstUse
    }
}

/// Opens drivers. The network has real ones; a simulation brings its own.
pub trait Drivers: Send + Sync {
    /// A driver that has not logged in yet.
    fn open(&self, connection: &Connection, environment: &Environment) -> bmc::Result<Opened>;
}

/// A driver.
#[derive(Clone)]
pub struct Opened {
    /// The driver.
    pub bmc: Arc<dyn Bmc>,
    redfish: Option<Arc<Redfish>>,
}

impl Opened {
    /// A driver that presents no certificate.
    pub fn of(bmc: Arc<dyn Bmc>) -> Opened {
        Opened { bmc, redfish: None }
    }

    /// The certificate that the BMC presented.
    pub(super) fn pin(&self) -> Option<Fingerprint> {
        self.redfish.as_ref()?.pin()
    }
}

/// Drivers that speak to BMCs over the network.
#[derive(Debug, Clone, Copy)]
pub struct NetworkDrivers;

impl Drivers for NetworkDrivers {
    fn open(&self, connection: &Connection, environment: &Environment) -> bmc::Result<Opened> {
        let Connection { address, credentials, trust, .. } = connection;
        let refuse = |cause: Cause| Err(Error::new(address, "open", cause));
        match address.protocol() {
            Protocol::Redfish => {
                let mut options = redfish::Options::new(trust.clone(), credentials.clone());
                options.ledger_key = Some(connection.ledger_key());
                let redfish = Arc::new(Redfish::new(address, options, environment)?);
                Ok(Opened { bmc: redfish.clone(), redfish: Some(redfish) })
            }
            Protocol::Ipmi => {
                let Some(credentials) = credentials.clone() else {
                    return refuse(Cause::Invalid { why: "IPMI needs a user and a password".to_owned() });
                };
                let mut options = ipmi::Options::new(credentials);
                options.ledger_key = Some(connection.ledger_key());
                Ok(Opened::of(Arc::new(Ipmi::new(address, options, environment)?)))
            }
            Protocol::Libvirt => {
                let patience = redfish::Patience::default();
                Ok(Opened::of(Arc::new(Libvirt::new(address, patience, Arc::new(Processes))?)))
            }
            Protocol::Manual => {
                refuse(Cause::Unsupported { what: "driving a machine without a BMC".to_owned() })
            }
        }
    }
}
