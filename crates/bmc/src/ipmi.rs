//! IPMI 2.0 over RMCP+, with cipher suites 17 (HMAC-SHA256) and 3 (HMAC-SHA1), both with AES-CBC-128.

mod chassis;
mod cipher;
mod console;
mod handshake;
mod logs;
mod message;
mod packet;
mod session;
mod users;

use std::net::SocketAddr;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::boot::BootOverride;
use crate::contract::{Answer, Bmc, Outcome};
use crate::credentials::{Credentials, Password};
use crate::error::{Cause, Error, Result};
use crate::firmware::FirmwareLevel;
use crate::inventory::{Inventory, Manager, System};
use crate::login::LoginGuard;
use crate::power::{PowerAction, PowerState};
use crate::sensors::LogEntry;
use crate::{Address, Environment};

pub use crate::readback::Patience;
pub use cipher::Suite;
pub use console::Console;
use message::Command;
use session::Session;

/// BMCs end sessions that are idle for a minute; ours are not used that long.
const IDLE: Duration = Duration::from_secs(40);

/// How a BMC is spoken to over IPMI.
#[derive(Debug, Clone)]
pub struct Options {
    /// Who logs in, at administrator level. IPMI takes passwords of at most 20 bytes and names of at most 16.
    pub credentials: Credentials,
    /// Cipher suites, tried in this order. Defaults to 17, then 3.
    pub suites: Vec<Suite>,
    /// How long one answer is waited for before the request is sent again. Defaults to one second, doubled each time.
    pub timeout: Duration,
    /// How often a request is sent. Defaults to 4.
    pub tries: u32,
    /// How long a change of power may take until the BMC reports it.
    pub patience: Patience,
    /// Whether the BMC reports the boot device alone, and not for how long and in which mode it is overridden. Only the
    /// device is read back then. Defaults to false.
    pub boot_device_alone: bool,
    /// Name of the BMC in the ledger of logins. Defaults to the host of the address.
    pub ledger_key: Option<String>,
}

impl Options {
    /// Defaults, with credentials.
    pub fn new(credentials: Credentials) -> Options {
        Options {
            credentials,
            suites: vec![Suite::Sha256, Suite::Sha1],
            timeout: Duration::from_secs(1),
            tries: 4,
            patience: Patience::default(),
            boot_device_alone: false,
            ledger_key: None,
        }
    }
}

/// A BMC that speaks IPMI. Nothing is sent before the first call.
pub struct Ipmi {
    address: Address,
    options: Options,
    environment: Environment,
    guard: LoginGuard,
    /// The session, and when it was used last. One request at a time.
    session: Mutex<Option<(Session, Instant)>>,
}

/// What a BMC says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Version of the BMC's firmware.
    pub firmware: String,
    /// Number of the manufacturer, as IANA assigned it.
    pub manufacturer: u32,
    /// Number of the product, as the manufacturer assigned it.
    pub product: u16,
}

impl Ipmi {
    /// For an address.
    pub fn new(address: &Address, options: Options, environment: &Environment) -> Result<Ipmi> {
        let Credentials { user, password } = &options.credentials;
        let wrong =
            |why: &str| Err(Error::new(address, "set up IPMI", Cause::Invalid { why: why.to_owned() }));
        if user.len() > 16 {
            return wrong("IPMI takes user names of at most 16 bytes");
        }
        if password.reveal().len() > 20 {
            return wrong("IPMI takes passwords of at most 20 bytes");
        }
        if options.suites.is_empty() {
            return wrong("at least one cipher suite is needed");
        }
        let guard = LoginGuard::new(address, options.ledger_key.as_deref(), environment);
        Ok(Ipmi {
            address: address.clone(),
            options,
            environment: environment.clone(),
            guard,
            session: Mutex::default(),
        })
    }

    /// What the BMC says about itself.
    pub async fn device(&self) -> Result<Device> {
        let data = self.request("read the device ID", Command::GET_DEVICE_ID, &[]).await?;
        let byte = |at: usize| data.get(at).copied().unwrap_or_default();
        if data.len() < 11 {
            let why = format!("the device ID has {} bytes", data.len());
            return Err(self.failed("read the device ID", Cause::WrongShape { why }));
        }
        Ok(Device {
            firmware: format!("{}.{:02x}", byte(2) & 0x7f, byte(3)),
            manufacturer: u32::from_le_bytes([byte(6), byte(7), byte(8) & 0x0f, 0]),
            product: u16::from_le_bytes([byte(9), byte(10)]),
        })
    }

    /// Opens the serial console of the system (Serial over LAN) in a session of its own. A BMC has one console: another
    /// one that is open is an error, and stays open.
    pub async fn console(&self) -> Result<Console> {
        let session = self.open().await?;
        Console::open(session).await
    }

    /// One request that may be sent twice.
    async fn request(&self, action: &str, command: Command, data: &[u8]) -> Result<Vec<u8>> {
        self.exchange(action, command, data, true).await
    }

    /// One request, in the session or a new one. `may_repeat` says whether the BMC may see it twice.
    async fn exchange(
        &self,
        action: &str,
        command: Command,
        data: &[u8],
        may_repeat: bool,
    ) -> Result<Vec<u8>> {
        let mut slot = self.session.lock().await;
        if let Some((mut session, used)) = slot.take()
            && used.elapsed() < IDLE
        {
            match session.request(action, command, data, may_repeat).await {
                // The BMC has ended the session, or was restarted.
                Err(error) if may_repeat && matches!(error.cause(), Cause::TimedOut { .. }) => {}
                answer => {
                    if is_alive(&answer) {
                        *slot = Some((session, Instant::now()));
                    }
                    return answer;
                }
            }
        }
        let mut session = self.open().await.map_err(|error| error.during(action))?;
        let answer = session.request(action, command, data, may_repeat).await;
        if is_alive(&answer) {
            *slot = Some((session, Instant::now()));
        }
        answer
    }

    async fn open(&self) -> Result<Session> {
        let target = self.resolve().await?;
        self.guard
            .attempt(Session::open(&self.address, target, &self.options, self.environment.random.as_ref()))
            .await
    }

    async fn resolve(&self) -> Result<SocketAddr> {
        let found = tokio::net::lookup_host((self.address.host(), self.address.port())).await;
        let failed =
            |why: String| self.failed("resolve the host name", Cause::NameResolution { why }).unsent();
        let mut found = found.map_err(|error| failed(error.to_string()))?;
        found.next().ok_or_else(|| failed("the name has no address".to_owned()))
    }

    fn failed(&self, action: &str, cause: Cause) -> Error {
        Error::new(&self.address, action, cause)
    }
}

/// Whether the session answered, be it with a refusal.
fn is_alive<T>(answer: &Result<T>) -> bool {
    match answer {
        Ok(_) => true,
        Err(error) => !matches!(error.cause(), Cause::TimedOut { .. } | Cause::Unreachable { .. }),
    }
}

impl Bmc for Ipmi {
    fn address(&self) -> &Address {
        &self.address
    }

    fn power(&self) -> Answer<'_, PowerState> {
        Box::pin(self.read_power())
    }

    fn set_power(&self, action: PowerAction) -> Answer<'_, Outcome> {
        Box::pin(self.change_power(action))
    }

    fn boot(&self) -> Answer<'_, BootOverride> {
        Box::pin(self.read_boot())
    }

    fn set_boot(&self, wanted: BootOverride) -> Answer<'_, Outcome> {
        Box::pin(self.change_boot(wanted))
    }

    fn firmware(&self) -> Answer<'_, Vec<FirmwareLevel>> {
        Box::pin(async {
            let version = self.device().await?.firmware;
            let level =
                FirmwareLevel { component: "BMC".to_owned(), name: None, version, is_updateable: None };
            Ok(vec![level])
        })
    }

    fn inventory(&self) -> Answer<'_, Inventory> {
        Box::pin(async {
            let device = self.device().await?;
            let power = self.read_power().await?;
            let firmware = self.firmware().await?;
            Ok(Inventory {
                manager: Manager {
                    vendor: Some(format!("IANA {}", device.manufacturer)),
                    model: Some(format!("product {}", device.product)),
                    firmware: Some(device.firmware),
                    uuid: None,
                },
                systems: vec![System { path: "system".to_owned(), power: Some(power), ..System::default() }],
                firmware,
                unread: vec!["hardware: IPMI does not describe it".to_owned()],
            })
        })
    }

    fn log(&self, limit: usize) -> Answer<'_, Vec<LogEntry>> {
        Box::pin(self.read_log(limit))
    }

    fn set_password<'a>(&'a self, user: &'a str, password: &'a Password) -> Answer<'a, ()> {
        Box::pin(self.change_password(user, password))
    }

    fn identify(&self, on: bool) -> Answer<'_, Outcome> {
        Box::pin(self.change_light(on))
    }

    fn close(&self) -> Answer<'_, ()> {
        Box::pin(async {
            if let Some((session, _)) = self.session.lock().await.take() {
                session.close().await;
            }
            Ok(())
        })
    }
}
