//! A BMC that speaks IPMI 2.0 over RMCP+: cipher suites 3 and 17, chassis, boot options, users, event log and a serial
//! console that echoes. It shares no code with the client that it tests; ipmitool works with it.

mod commands;
mod crypto;
mod session;
mod wire;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// What to simulate.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where to listen. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// The administrator.
    pub user: String,
    /// The administrator's password.
    pub password: String,
    /// Cipher suites: 3, 17 or both.
    pub suites: Vec<u8>,
    /// How long a change of power takes.
    pub power_delay: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            listen: ([127, 0, 0, 1], 0).into(),
            user: "admin".to_owned(),
            password: "password".to_owned(),
            suites: vec![3, 17],
            power_delay: Duration::from_millis(50),
        }
    }
}

/// What the BMC does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Accepts changes of power and makes none.
    PowerLies,
    /// Answers nothing.
    Silent,
    /// Drops every second packet that comes in.
    Lossy,
    /// Answers that the node is busy.
    Busy,
}

/// The machine.
pub(crate) struct Machine {
    pub(crate) is_on: bool,
    pub(crate) becomes: Option<(bool, Instant)>,
    pub(crate) controls: Vec<u8>,
    pub(crate) boot_flags: [u8; 5],
    pub(crate) is_identified: bool,
    pub(crate) password: Vec<u8>,
    pub(crate) failed_logins: u32,
    pub(crate) fault: Option<Fault>,
    pub(crate) packets: u64,
}

impl Machine {
    pub(crate) fn settle(&mut self) {
        let now = Instant::now();
        if let Some((on, _)) = self.becomes.take_if(|(_, at)| *at <= now) {
            self.is_on = on;
        }
    }
}

/// A BMC that runs until it is dropped.
pub struct Simulator {
    address: SocketAddr,
    machine: Arc<Mutex<Machine>>,
    serving: JoinHandle<()>,
}

impl Simulator {
    /// Starts one.
    pub async fn start(options: Options) -> std::io::Result<Simulator> {
        let socket = UdpSocket::bind(options.listen).await?;
        let address = socket.local_addr()?;
        let machine = Arc::new(Mutex::new(Machine {
            is_on: false,
            becomes: None,
            controls: Vec::new(),
            boot_flags: [0; 5],
            is_identified: false,
            password: options.password.clone().into_bytes(),
            failed_logins: 0,
            fault: None,
            packets: 0,
        }));
        let serving = tokio::spawn(session::serve(socket, options, machine.clone()));
        Ok(Simulator { address, machine, serving })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether the machine is on.
    pub fn is_on(&self) -> bool {
        let mut machine = self.machine();
        machine.settle();
        machine.is_on
    }

    /// The chassis control commands that came in.
    pub fn controls(&self) -> Vec<u8> {
        self.machine().controls.clone()
    }

    /// How many logins failed.
    pub fn failed_logins(&self) -> u32 {
        self.machine().failed_logins
    }

    /// The administrator's password.
    pub fn password(&self) -> String {
        String::from_utf8_lossy(&self.machine().password).into_owned()
    }

    /// Sets a fault, or works properly again.
    pub fn fault(&self, fault: Option<Fault>) {
        self.machine().fault = fault;
    }

    fn machine(&self) -> MutexGuard<'_, Machine> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
