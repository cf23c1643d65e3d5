//! A Redfish service with any number of systems: full resources, sessions, accounts, power with delays, and faults on
//! request. It shares no code with the client that it tests.
//!
//! `/sim/state` and `/sim/faults` are its own: state to read, faults to set.

mod body;
mod change;
mod faults;
mod login;
mod model;
mod serve;
mod tree;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use faults::Fault;
use model::Model;
use serve::{Identity, Served};

/// What to simulate.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where to listen. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// Number of systems.
    pub systems: usize,
    /// The administrator.
    pub user: String,
    /// The administrator's password.
    pub password: String,
    /// Whether to speak TLS.
    pub tls: bool,
    /// How long a change of power takes.
    pub power_delay: Duration,
    /// After how many failed logins an account is locked; never if `None`.
    pub lockout_after: Option<u32>,
    /// Members per page of a collection; all on one if `None`.
    pub page: Option<usize>,
    /// Whether changes need If-Match, boot overrides go to `Settings`, BIOS attributes into the resource itself, images
    /// are inserted by PATCH, and links are missing.
    pub is_awkward: bool,
    /// Whether actions are answered with a task.
    pub has_tasks: bool,
    /// Whether there are sessions; else the password comes with every request.
    pub has_sessions: bool,
    /// Vendor in the service root.
    pub vendor: String,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            listen: ([127, 0, 0, 1], 0).into(),
            systems: 1,
            user: "admin".to_owned(),
            password: "password".to_owned(),
            tls: true,
            power_delay: Duration::from_millis(50),
            lockout_after: None,
            page: None,
            is_awkward: false,
            has_tasks: false,
            has_sessions: true,
            vendor: "Contoso".to_owned(),
        }
    }
}

/// A service that runs until it is dropped.
pub struct Simulator {
    address: SocketAddr,
    served: Arc<Served>,
    serving: JoinHandle<()>,
}

impl Simulator {
    /// Starts one.
    pub async fn start(options: Options) -> std::io::Result<Simulator> {
        let listener = TcpListener::bind(options.listen).await?;
        let address = listener.local_addr()?;
        let identity = match options.tls {
            true => Some(Identity::new(address)?),
            false => None,
        };
        let served = Arc::new(Served {
            model: Mutex::new(Model::new(&options)),
            identity: Mutex::new(identity),
            options,
        });
        let serving = tokio::spawn(serve::serve(listener, served.clone()));
        Ok(Simulator { address, served, serving })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its URL.
    pub fn url(&self) -> String {
        let scheme = if self.served.options.tls { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Its certificate, which signs itself, as PEM.
    pub fn certificate(&self) -> String {
        let identity = self.served.identity.lock().unwrap_or_else(PoisonError::into_inner);
        identity.as_ref().map(|identity| identity.pem.clone()).unwrap_or_default()
    }

    /// From now on it presents another certificate.
    pub fn change_certificate(&self) -> std::io::Result<()> {
        let identity = Identity::new(self.address)?;
        *self.served.identity.lock().unwrap_or_else(PoisonError::into_inner) = Some(identity);
        Ok(())
    }

    /// Adds a fault.
    pub fn fault(&self, fault: Fault) {
        self.model().faults.push(fault);
    }

    /// Works properly again.
    pub fn clear_faults(&self) {
        self.model().faults.clear();
    }

    /// Whether a system, counted from 1, is on.
    pub fn is_on(&self, system: usize) -> bool {
        let mut model = self.model();
        model.settle();
        model.systems.get(system - 1).is_some_and(|system| system.is_on)
    }

    /// How often a system was reset, powered on or off.
    pub fn resets(&self, system: usize) -> u32 {
        self.model().systems.get(system - 1).map_or(0, |system| system.resets)
    }

    /// How many logins failed.
    pub fn failed_logins(&self) -> u32 {
        self.model().failed_logins
    }

    /// How many logins succeeded.
    pub fn logins(&self) -> u32 {
        self.model().logins
    }

    /// How many sessions are open.
    pub fn sessions(&self) -> usize {
        self.model().sessions.len()
    }

    /// Ends all sessions, as a restart does.
    pub fn end_sessions(&self) {
        self.model().sessions.clear();
    }

    /// How many requests came in.
    pub fn requests(&self) -> u64 {
        self.model().requests
    }

    /// The most requests that were answered at the same time.
    pub fn most_at_once(&self) -> u64 {
        self.model().most_running
    }

    /// The administrator's password.
    pub fn password(&self) -> String {
        self.model().accounts.first().map(|account| account.password.clone()).unwrap_or_default()
    }

    fn model(&self) -> MutexGuard<'_, Model> {
        self.served.model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
