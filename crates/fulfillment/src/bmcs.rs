//! The BMCs of hosts: the one place where a Host becomes a driver.
//!
//! Whatever of ours drives a BMC goes through [`Bmcs`]:
//!
//! * [`Bmcs::read`] gives what can be read, and needs no claim.
//! * [`Bmcs::drive`] gives the whole driver to who holds the claim on the host, in the epoch in which it was taken. The claim is
//!   read again, as it is now on all servers, right before the driver is handed out.
//!
//! The address comes from the Host, the password from the Secret that it is sealed in, and both are read at each call. Failed
//! logins are counted in BMCLogin objects, so that all processes share the count. Calls to one BMC take turns, since all
//! controllers share its gate. A session is kept for the next call and ended when it was not used for a while.
//!
//! A controller that uses it adds [`ROLE`] to its role, and takes the claim in the commit of its plan, before the action that
//! drives. [`ongoing::Ongoing`] carries calls on that take longer than an action may.

mod connection;
mod failure;
mod ledger;
pub mod ongoing;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bmc::bios::Bios;
use bmc::boot::BootOverride;
use bmc::firmware::FirmwareLevel;
use bmc::inventory::Inventory;
use bmc::media::Media;
use bmc::power::PowerState;
use bmc::sensors::{LogEntry, Reading};
use bmc::{Address, Answer, Bmc, Environment};
use krm::Object;
use krm::kind::{Resource, SEALED_NAMESPACE};
use reconcile::gate::{Gates, Limits, Pass};
use reconcile::objects::Objects;
use reconcile::reconciler::Execution;
use reconcile::role::Rule;
use reconcile::target::Target;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

pub use connection::{Connection, Drivers, NetworkDrivers, Opened};
pub use failure::Failure;

use crate::kinds::host_claim::{Claimant, judge};
use crate::kinds::{Host, HostClaim};
use ledger::StoredLedger;

/// What a controller has to be allowed for its logins to be counted.
pub const ROLE: Rule = Rule::new(crate::GROUP, &["bmclogins"], &["create", "update"]);

/// Limits of a BMC: one call at a time.
const LIMITS: Limits =
    Limits { concurrency: 1, interval: Duration::ZERO, failures: 5, pause: Duration::from_secs(60) };

/// How long a session is kept that nobody uses. BMCs end it themselves after a few minutes.
const IDLE: Duration = Duration::from_secs(240);

/// How long a driver waits for its turn: others read the BMC, or it failed and is left alone.
const TURN: Duration = Duration::from_secs(120);

/// The BMCs of hosts, for one controller.
pub struct Bmcs {
    drivers: Arc<dyn Drivers>,
    ledger: Arc<StoredLedger>,
    environment: Environment,
    open: Mutex<HashMap<String, Kept>>,
}

/// A driver that is kept for the next call.
struct Kept {
    connection: Connection,
    opened: Opened,
    used: Instant,
}

/// What a call is made with. An action makes one of its [`Execution`] and may take it along into a task.
#[derive(Clone)]
pub struct Access {
    objects: Arc<dyn Objects>,
    gates: Gates,
}

impl Access {
    /// That of an action.
    pub fn of(execution: &Execution) -> Access {
        Access { objects: execution.objects.clone(), gates: execution.gates.clone() }
    }

    /// The objects.
    pub fn objects(&self) -> &Arc<dyn Objects> {
        &self.objects
    }
}

/// A claim under which a BMC is driven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Under {
    /// The holder of the claim, or its delegate.
    pub who: Claimant,
    /// Epoch of the claim.
    pub epoch: i64,
}

impl Bmcs {
    /// For a controller, whose name is recorded with its logins.
    pub fn new(controller: &'static str, drivers: Arc<dyn Drivers>) -> Bmcs {
        let ledger = Arc::new(StoredLedger::new(controller));
        let environment = Environment::new(ledger.clone());
        Bmcs { drivers, ledger, environment, open: Mutex::default() }
    }

    /// Whether drivers for an address exist; what is wrong with it, if not.
    pub fn check(url: &str) -> Result<Address, Failure> {
        url.parse::<Address>().map_err(Failure::from)
    }

    /// Opens the BMC of a host for reading. It needs no claim.
    pub async fn read(&self, host: &str, access: &Access) -> Result<Readable, Failure> {
        self.open(host, access).await.map(Readable)
    }

    /// Opens the BMC of a host for everything, under a claim. Waits for its turn, for two minutes at most: call it in a task,
    /// such as those of [`ongoing::Ongoing`].
    pub async fn drive(&self, host: &str, under: &Under, access: &Access) -> Result<Driven, Failure> {
        let begun = Instant::now();
        let session = loop {
            match self.open(host, access).await {
                Err(Failure::Resting(resting)) if begun.elapsed() < TURN => {
                    tokio::time::sleep(resting.pause.min(Duration::from_secs(5))).await;
                }
                opened => break opened?,
            }
        };
        let driven = Driven { session, host: host.to_owned(), under: under.clone(), access: access.clone() };
        driven.check().await?;
        Ok(driven)
    }

    /// A driver with other credentials than those that are stored: for the change of a password, by who drives the BMC. It
    /// is not kept.
    pub fn dial(&self, connection: &Connection, credentials: &bmc::Credentials) -> bmc::Result<Opened> {
        let connection = Connection { credentials: Some(credentials.clone()), ..connection.clone() };
        self.drivers.open(&connection, &self.environment)
    }

    async fn open(&self, host: &str, access: &Access) -> Result<Session, Failure> {
        self.ledger.use_objects(&access.objects);
        let connection = connect(host, access).await?;
        let gate = access.gates.of(&format!("bmc/{}", connection.ledger_key()), LIMITS);
        let pass = gate.enter().await.map_err(Failure::Resting)?;
        self.end_idle();
        let kept = self.kept().get_mut(host).filter(|kept| kept.connection == connection).map(|kept| {
            kept.used = Instant::now();
            kept.opened.clone()
        });
        let opened = match kept {
            Some(opened) => opened,
            None => {
                let opened = self.drivers.open(&connection, &self.environment)?;
                let new =
                    Kept { connection: connection.clone(), opened: opened.clone(), used: Instant::now() };
                if let Some(old) = self.kept().insert(host.to_owned(), new) {
                    old.close();
                }
                opened
            }
        };
        Ok(Session { opened, connection, pass: Some(pass) })
    }

    fn end_idle(&self) {
        let now = Instant::now();
        let idle = |(_, kept): &(&String, &mut Kept)| now.duration_since(kept.used) >= IDLE;
        let mut open = self.kept();
        let names: Vec<String> = open.iter_mut().filter(idle).map(|(name, _)| name.clone()).collect();
        names.iter().filter_map(|name| open.remove(name)).for_each(Kept::close);
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<String, Kept>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Ends the session in the background. If that fails, the BMC ends it after minutes.
    fn close(self) {
        tokio::spawn(async move { drop(self.opened.bmc.close().await) });
    }
}

/// Reads how to reach the BMC of a host, as it is now.
async fn connect(host: &str, access: &Access) -> Result<Connection, Failure> {
    let object = get::<Host>("", host, access).await?.ok_or(Failure::NoHost)?;
    let host = parse::<Host>(&object)?;
    let reference = host.spec.bmc.as_ref().and_then(|bmc| bmc.password_ref.clone());
    let password = match reference {
        None => None,
        Some(reference) => {
            let at = krm::kind::Address {
                group: String::new(),
                plural: "secrets".to_owned(),
                namespace: SEALED_NAMESPACE.to_owned(),
                name: reference.name,
            };
            let secret = access.objects.get(&Target::new("", at)).await.map_err(Failure::Store)?;
            let value = secret.as_ref().and_then(|secret| secret.at("data")?.get(&reference.key)?.as_str());
            value.and_then(|value| krm::base64::decode(value).ok()).and_then(|it| String::from_utf8(it).ok())
        }
    };
    Connection::of(&host, password)
}

async fn get<T: Resource>(
    namespace: &str,
    name: &str,
    access: &Access,
) -> Result<Option<Arc<Object>>, Failure> {
    let target = Target::new("", T::address(namespace, name));
    access.objects.get(&target).await.map_err(Failure::Store)
}

fn parse<T: for<'de> Deserialize<'de>>(object: &Object) -> Result<T, Failure> {
    let unreadable = |error: serde_json::Error| Failure::Unreadable(error.to_string());
    T::deserialize(&Value::Object(object.0.clone())).map_err(unreadable)
}

/// A turn at a BMC. Others wait until it is dropped.
struct Session {
    opened: Opened,
    connection: Connection,
    pass: Option<Pass>,
}

impl Session {
    /// The fingerprint of the certificate that is to be pinned, with the address that presented it.
    fn pin(&self) -> Option<(String, String)> {
        let pin = self.connection.pins_first().then(|| self.opened.pin()).flatten()?;
        Some((self.connection.address.authority(), pin.to_string()))
    }

    /// Tells the gate whether the BMC answered.
    fn ended<T>(mut self, result: &bmc::Result<T>) {
        let Some(pass) = self.pass.take() else { return };
        match result {
            Err(error) if error.is_transient() => pass.failed(),
            _ => pass.succeeded(),
        }
    }
}

/// A BMC for reading. Each call ends the turn.
pub struct Readable(Session);

macro_rules! reads {
    ($($(#[$about:meta])* $name:ident -> $what:ty),+ $(,)?) => {$(
        $(#[$about])*
        pub async fn $name(self) -> Result<$what, Failure> {
            let result = self.0.opened.bmc.$name().await;
            self.0.ended(&result);
            Ok(result?)
        }
    )+};
}

impl Readable {
    /// The power state, and the certificate to pin, if the BMC presented its first one.
    pub async fn power(self) -> Result<(PowerState, Option<(String, String)>), Failure> {
        let result = self.0.opened.bmc.power().await;
        let pin = self.0.pin();
        self.0.ended(&result);
        Ok((result?, pin))
    }

    reads! {
        /// The boot device.
        boot -> BootOverride,
        /// The virtual media.
        media -> Vec<Media>,
        /// The BIOS attributes.
        bios -> Bios,
        /// Versions of firmware.
        firmware -> Vec<FirmwareLevel>,
        /// The hardware.
        inventory -> Inventory,
        /// Readings of sensors.
        sensors -> Vec<Reading>,
    }

    /// The system event log, oldest first.
    pub async fn log(self, limit: usize) -> Result<Vec<LogEntry>, Failure> {
        let result = self.0.opened.bmc.log(limit).await;
        self.0.ended(&result);
        Ok(result?)
    }
}

/// A BMC that is driven under a claim. Others wait until it is dropped.
pub struct Driven {
    session: Session,
    host: String,
    under: Under,
    access: Access,
}

impl Driven {
    /// Whether the claim still stands, as it is now on all servers.
    pub async fn check(&self) -> Result<(), Failure> {
        let claim = get::<HostClaim>("", &self.host, &self.access).await?;
        let claim = claim.map(|claim| parse::<HostClaim>(&claim)).transpose()?;
        let verdict = judge(claim.as_ref(), &self.host, &self.under.who, self.under.epoch);
        verdict.map_err(|refusal| match refusal {
            krm::kind::Refusal::Conflict(why) => Failure::Claim(why),
            other => Failure::Claim(format!("{other:?}")),
        })
    }

    /// How the BMC is reached.
    pub fn connection(&self) -> &Connection {
        &self.session.connection
    }

    /// Ends the turn, after calls that were made through [`Bmcs::dial`].
    pub fn finished<T>(self, result: &bmc::Result<T>) {
        self.session.ended(result);
    }

    /// Makes one call. The claim was checked when the driver was opened; check again before a further call that changes
    /// something.
    pub async fn call<T>(
        self,
        call: impl for<'a> FnOnce(&'a dyn Bmc) -> Answer<'a, T> + Send,
    ) -> Result<T, Failure> {
        let result = call(&*self.session.opened.bmc).await;
        self.session.ended(&result);
        Ok(result?)
    }
}
