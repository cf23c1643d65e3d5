//! The state of the simulated machines.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::Options;
use super::faults::Fault;

/// Everything that changes.
pub struct Model {
    pub systems: Vec<System>,
    pub accounts: Vec<Account>,
    /// Token by number of the session.
    pub sessions: BTreeMap<u64, String>,
    pub tasks: Vec<Instant>,
    pub faults: Vec<Fault>,
    pub failed_logins: u32,
    pub logins: u32,
    pub requests: u64,
    /// Requests that are being answered, and the most there were.
    pub running: u64,
    pub most_running: u64,
    last_session: u64,
}

/// A system.
pub struct System {
    pub is_on: bool,
    /// What power becomes, and when.
    pub becomes: Option<(bool, Instant)>,
    pub resets: u32,
    pub boot_enabled: String,
    pub boot_target: String,
    pub boot_mode: String,
    pub is_identified: bool,
    pub bios: BTreeMap<String, Value>,
    pub staged: BTreeMap<String, Value>,
    pub image: Option<String>,
    /// Counts changes, for ETags.
    pub changes: u64,
}

/// An account.
pub struct Account {
    pub name: String,
    pub password: String,
    pub failures: u32,
    pub locked_until: Option<Instant>,
    pub changes: u64,
}

/// How long an account stays locked.
const LOCKED: Duration = Duration::from_secs(300);

impl Model {
    pub fn new(options: &Options) -> Model {
        let account = Account {
            name: options.user.clone(),
            password: options.password.clone(),
            failures: 0,
            locked_until: None,
            changes: 1,
        };
        Model {
            systems: (0..options.systems).map(|_| System::new()).collect(),
            accounts: vec![account],
            sessions: BTreeMap::new(),
            tasks: Vec::new(),
            faults: Vec::new(),
            failed_logins: 0,
            logins: 0,
            requests: 0,
            running: 0,
            most_running: 0,
            last_session: 0,
        }
    }

    pub fn has(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }

    /// Makes the changes whose time has come.
    pub fn settle(&mut self) {
        let now = Instant::now();
        self.systems.iter_mut().for_each(|system| system.settle(now));
    }

    /// Whether name and password are right; counts, and locks accounts.
    pub fn check(&mut self, user: &str, password: &str, lockout_after: Option<u32>) -> bool {
        let now = Instant::now();
        let account = self.accounts.iter_mut().find(|account| account.name == user);
        let is_right = account.is_some_and(|account| {
            if account.locked_until.is_some_and(|until| until > now) {
                return false;
            }
            let is_right = account.password == password;
            account.failures = if is_right { 0 } else { account.failures + 1 };
            if lockout_after.is_some_and(|most| account.failures >= most) {
                account.locked_until = Some(now + LOCKED);
            }
            is_right
        });
        match is_right {
            true => self.logins += 1,
            false => self.failed_logins += 1,
        }
        is_right
    }

    pub fn open_session(&mut self, token: String) -> u64 {
        self.last_session += 1;
        self.sessions.insert(self.last_session, token);
        self.last_session
    }

    /// What tests and people read.
    pub fn state(&mut self) -> Value {
        self.settle();
        let systems: Vec<Value> = self.systems.iter().map(System::state).collect();
        json!({
            "systems": systems,
            "faults": self.faults,
            "sessions": self.sessions.len(),
            "logins": self.logins,
            "failedLogins": self.failed_logins,
            "requests": self.requests,
        })
    }
}

impl System {
    fn new() -> System {
        let text = |name: &str, value: &str| (name.to_owned(), Value::from(value));
        System {
            is_on: false,
            becomes: None,
            resets: 0,
            boot_enabled: "Disabled".to_owned(),
            boot_target: "None".to_owned(),
            boot_mode: "UEFI".to_owned(),
            is_identified: false,
            bios: BTreeMap::from([
                text("BootMode", "Uefi"),
                text("ProcTurboMode", "Enabled"),
                ("NumLock".to_owned(), Value::from(true)),
                ("PowerLimitWatts".to_owned(), Value::from(800)),
            ]),
            staged: BTreeMap::new(),
            image: None,
            changes: 1,
        }
    }

    fn settle(&mut self, now: Instant) {
        let Some((on, _)) = self.becomes.take_if(|(_, at)| *at <= now) else { return };
        self.is_on = on;
        self.changes += 1;
        if on {
            self.boots();
        }
    }

    /// Staged attributes take effect, and an override for one boot is used up.
    pub fn boots(&mut self) {
        self.bios.append(&mut self.staged);
        if self.boot_enabled == "Once" {
            self.boot_enabled = "Disabled".to_owned();
            self.boot_target = "None".to_owned();
        }
    }

    pub fn power(&self) -> &'static str {
        match (self.is_on, self.becomes) {
            (_, Some((true, _))) if !self.is_on => "PoweringOn",
            (_, Some((false, _))) if self.is_on => "PoweringOff",
            (true, _) => "On",
            (false, _) => "Off",
        }
    }

    fn state(&self) -> Value {
        json!({
            "power": self.power(),
            "resets": self.resets,
            "boot": { "enabled": self.boot_enabled, "target": self.boot_target, "mode": self.boot_mode },
            "identified": self.is_identified,
            "image": self.image,
            "bios": self.bios,
            "staged": self.staged,
        })
    }
}
