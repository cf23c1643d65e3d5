//! libvirt: virtual machines as systems, by virsh on their host, over SSH.
//!
//! Tested by the command lines that it makes and by recorded answers; not against a running libvirt.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

use crate::boot::{BootDevice, BootOverride, Persistence};
use crate::contract::{Answer, Bmc, Outcome};
use crate::error::{Cause, Error, Result};
use crate::power::{PowerAction, PowerState};
use crate::readback::{self, Patience};
use crate::{Address, Protocol};

/// Longest run of one command.
const DEADLINE: Duration = Duration::from_secs(30);

/// Runs a program with arguments and input, and gives what it printed; `Err` is what it printed as an error.
pub trait Runner: Send + Sync {
    /// Runs it.
    fn run<'a>(
        &'a self,
        program: &'a str,
        arguments: &'a [String],
        input: &'a str,
    ) -> std::pin::Pin<Box<dyn Future<Output = std::result::Result<String, String>> + Send + 'a>>;
}

/// Runs programs as processes.
#[derive(Debug, Clone, Copy)]
pub struct Processes;

impl Runner for Processes {
    fn run<'a>(
        &'a self,
        program: &'a str,
        arguments: &'a [String],
        input: &'a str,
    ) -> std::pin::Pin<Box<dyn Future<Output = std::result::Result<String, String>> + Send + 'a>> {
        Box::pin(async move {
            let mut command = Command::new(program);
            command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.kill_on_drop(true).spawn().map_err(|error| error.to_string())?;
            if let Some(mut stdin) = child.stdin.take() {
                // A program that does not read its input closes it.
                let _ = stdin.write_all(input.as_bytes()).await;
            }
            let ended = timeout(DEADLINE, child.wait_with_output()).await;
            let output = ended.map_err(|_| format!("no answer within {} s", DEADLINE.as_secs()))?;
            let output = output.map_err(|error| error.to_string())?;
            match output.status.success() {
                true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
                false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            }
        })
    }
}

/// A virtual machine. SSH uses the keys and known hosts of the user who runs this process.
pub struct Libvirt {
    address: Address,
    domain: String,
    patience: Patience,
    runner: Arc<dyn Runner>,
}

impl Libvirt {
    /// For an address such as `qemu+ssh://root@kvm1/system?domain=node1`.
    pub fn new(address: &Address, patience: Patience, runner: Arc<dyn Runner>) -> Result<Libvirt> {
        let wrong =
            |why: &str| Err(Error::new(address, "set up libvirt", Cause::Invalid { why: why.to_owned() }));
        if address.protocol() != Protocol::Libvirt || address.path() != "/system" {
            return wrong("the address must be qemu+ssh://[USER@]HOST[:PORT]/system?domain=NAME");
        }
        let Some(domain) = address.parameter("domain").filter(|name| is_plain(name)) else {
            return wrong("the parameter domain must be made of letters, digits, \".\", \"_\" and \"-\"");
        };
        if address.user().is_some_and(|user| !is_plain(user)) {
            return wrong("the user must be made of letters, digits, \".\", \"_\" and \"-\"");
        }
        Ok(Libvirt { address: address.clone(), domain: domain.to_owned(), patience, runner })
    }

    /// The command line that runs a virsh command on the host. Names were checked, so the remote shell sees words.
    fn command(&self, virsh: &[&str]) -> Vec<String> {
        let destination = match self.address.user() {
            Some(user) => format!("{user}@{}", self.address.host()),
            None => self.address.host().to_owned(),
        };
        let port = self.address.port().to_string();
        let ssh = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-p", &port, "--", &destination];
        let virsh = ["virsh", "--connect", "qemu:///system"].iter().chain(virsh);
        ssh.iter().chain(virsh).map(|word| (*word).to_owned()).collect()
    }

    async fn virsh(&self, action: &str, words: &[&str], input: &str) -> Result<String> {
        let ran = self.runner.run("ssh", &self.command(words), input).await;
        ran.map_err(|why| {
            let program = format!("virsh {}", words.first().unwrap_or(&""));
            Error::new(&self.address, action, Cause::Program { program, why })
        })
    }

    async fn read_power(&self) -> Result<PowerState> {
        let state = self.virsh("read the power state", &["domstate", &self.domain], "").await?;
        match state.trim() {
            "running" | "idle" | "blocked" | "paused" | "pmsuspended" => Ok(PowerState::On),
            "in shutdown" => Ok(PowerState::PoweringOff),
            "shut off" | "crashed" => Ok(PowerState::Off),
            other => {
                let why = format!("domstate answers \"{other}\"");
                Err(Error::new(&self.address, "read the power state", Cause::WrongShape { why }))
            }
        }
    }

    async fn change_power(&self, action: PowerAction) -> Result<Outcome> {
        let name = action.to_string();
        let before = self.read_power().await?;
        if action.is_idempotent() && before == action.leads_to() {
            return Ok(Outcome::Unchanged);
        }
        match action {
            PowerAction::On => self.virsh(&name, &["start", &self.domain], "").await?,
            PowerAction::GracefulOff => self.virsh(&name, &["shutdown", &self.domain], "").await?,
            PowerAction::ForceOff => self.virsh(&name, &["destroy", &self.domain], "").await?,
            PowerAction::Reset => self.virsh(&name, &["reset", &self.domain], "").await?,
            PowerAction::Cycle => {
                if before != PowerState::Off {
                    self.virsh(&name, &["destroy", &self.domain], "").await?;
                    self.verify_power(&name, PowerState::Off).await?;
                }
                self.virsh(&name, &["start", &self.domain], "").await?
            }
        };
        self.verify_power(&name, action.leads_to()).await?;
        Ok(Outcome::Changed)
    }

    async fn verify_power(&self, name: &str, wanted: PowerState) -> Result<PowerState> {
        let read = || Box::pin(self.read_power()) as _;
        readback::until(&self.address, name, wanted, self.patience, read, |state| *state == wanted).await
    }

    async fn read_boot(&self) -> Result<BootOverride> {
        let xml = self.virsh("read the boot device", &["dumpxml", "--inactive", &self.domain], "").await?;
        let device = match first_boot(&xml) {
            Some("network") => BootDevice::Pxe,
            Some("hd") => BootDevice::Disk,
            Some("cdrom") => BootDevice::Cd,
            _ => BootDevice::Default,
        };
        Ok(BootOverride::always(device))
    }

    async fn change_boot(&self, wanted: BootOverride) -> Result<Outcome> {
        let action = format!("set boot device to {wanted}");
        let unsupported = |what: &str| {
            Err(Error::new(&self.address, &action, Cause::Unsupported { what: format!("{what} by libvirt") }))
        };
        let order = match wanted.device {
            BootDevice::Pxe => ["network", "hd"],
            BootDevice::Disk => ["hd", "network"],
            BootDevice::Cd => ["cdrom", "hd"],
            _ => return unsupported("this boot device"),
        };
        if wanted.persistence == Persistence::Once {
            return unsupported("an override for one boot");
        }
        if wanted.mode.is_some() {
            return unsupported("a change of the firmware");
        }
        if self.read_boot().await?.satisfies(&wanted) {
            return Ok(Outcome::Unchanged);
        }
        let xml =
            self.virsh(&action, &["dumpxml", "--inactive", "--security-info", &self.domain], "").await?;
        let Some(changed) = with_boot_order(&xml, order) else {
            return unsupported("a boot order per device");
        };
        self.virsh(&action, &["define", "/dev/stdin"], &changed).await?;
        let found = self.read_boot().await?;
        match found.satisfies(&wanted) {
            true => Ok(Outcome::Changed),
            false => {
                let (wanted, found) = (wanted.to_string(), found.to_string());
                Err(Error::new(&self.address, &action, Cause::NotVerified { wanted, found }))
            }
        }
    }
}

impl Bmc for Libvirt {
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
}

/// A name that no shell or option parser takes for something else.
fn is_plain(name: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !name.is_empty() && !name.starts_with('-') && name.bytes().all(is_word)
}

/// The `<os>` element, from `<os` to `</os>`.
fn os_element(xml: &str) -> Option<(usize, usize)> {
    let start = xml.find("<os>").or_else(|| xml.find("<os "))?;
    let end = xml.get(start..)?.find("</os>")? + start;
    Some((start, end))
}

fn first_boot(xml: &str) -> Option<&str> {
    let (start, end) = os_element(xml)?;
    let os = xml.get(start..end)?;
    let boot = os.get(os.find("<boot dev=")? + "<boot dev=".len()..)?;
    let quote = boot.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    boot.get(1..)?.split(quote).next()
}

/// The definition with another boot order; `None` when devices have an order of their own, which excludes this one.
fn with_boot_order(xml: &str, order: [&str; 2]) -> Option<String> {
    if xml.contains("<boot order=") {
        return None;
    }
    let (start, end) = os_element(xml)?;
    let mut os = xml.get(start..end)?.to_owned();
    while let Some(at) = os.find("<boot dev=") {
        let length = os.get(at..)?.find('>')? + 1;
        os.replace_range(at..at + length, "");
    }
    let boots: String = order.iter().map(|device| format!("<boot dev='{device}'/>")).collect();
    Some(format!("{}{os}{boots}{}", xml.get(..start)?, xml.get(end..)?))
}
