//! BMCs that speak Redfish, without a system in between: every computer system behind them is a host.

use std::sync::Arc;
use std::time::Duration;

use bmc::redfish::{Options, Redfish as Driver};
use bmc::scan::Targets;
use bmc::trust::Trust;
use bmc::{Address, Bmc, Cause, Environment, inventory};
use fulfillment::kinds::hardware::{Cpu, Drive, Firmware, Hardware, Nic};
use tokio::sync::Semaphore;
use tokio::time::{MissedTickBehavior, interval};

use super::timeout;
use crate::adapter::{Adapter, Capabilities, Fault, FaultKind, Later, Page, Probe};
use crate::http::Credentials;
use crate::kinds::source::SourceSpec;
use crate::observation::{BmcRecord, ClassRecord, HostRecord, Secret};

/// BMCs of one page.
const PAGE: usize = 64;

/// BMCs at a list of addresses.
pub struct Redfish {
    targets: Vec<String>,
    port: u16,
    is_plain: bool,
    trust: Trust,
    is_insecure: bool,
    credentials: Option<(String, String)>,
    class: Option<String>,
    deadline: Duration,
    rate: u32,
    concurrency: usize,
    environment: Environment,
}

impl Redfish {
    /// The BMCs of a Source.
    pub fn new(spec: &SourceSpec, credentials: &Credentials) -> Result<Redfish, Fault> {
        let wrong = |why: String| Fault::new(FaultKind::Config, why);
        let targets: Targets =
            spec.endpoint.parse().map_err(|error: bmc::Error| wrong(format!("spec.endpoint: {error}")))?;
        let number = |name: &str, usual: u32| match spec.option(name) {
            None => Ok(usual),
            Some(text) => text
                .parse()
                .map_err(|_| wrong(format!("spec.options.{name}: {text:?} is not a valid number"))),
        };
        let is_plain = spec.option("scheme") == Some("http");
        let trust = match credentials.get("ca.crt") {
            Some(authorities) => Trust::Authorities(authorities.as_bytes().to_vec()),
            None => Trust::FirstUse,
        };
        let login = credentials.get("username").zip(credentials.get("password"));
        Ok(Redfish {
            targets: targets.hosts().to_vec(),
            port: u16::try_from(number("port", if is_plain { 80 } else { 443 })?)
                .map_err(|_| wrong("spec.options.port: is no port".to_owned()))?,
            is_plain,
            is_insecure: !matches!(trust, Trust::Authorities(_)),
            trust,
            credentials: login.map(|(user, password)| (user.to_owned(), password.to_owned())),
            class: spec.option("class").map(str::to_owned),
            deadline: timeout(spec),
            rate: number("rate", 20)?.max(1),
            concurrency: number("concurrency", 16)?.max(1) as usize,
            environment: Environment::local(),
        })
    }

    fn authority(&self, host: &str) -> String {
        let shown = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let usual = if self.is_plain { 80 } else { 443 };
        if self.port == usual { shown } else { format!("{shown}:{}", self.port) }
    }

    async fn read(&self, host: &str) -> Result<inventory::Inventory, bmc::Error> {
        let scheme = if self.is_plain { "redfish+http" } else { "redfish" };
        let address: Address = format!("{scheme}://{}", self.authority(host)).parse()?;
        let login = self.credentials.as_ref().map(|(user, password)| bmc::Credentials::new(user, password));
        let mut options = Options::new(self.trust.clone(), login);
        options.limits.request = self.deadline;
        let driver = Driver::new(&address, options, &self.environment)?;
        let read = driver.inventory().await;
        // The session is ended; one that can't be ends by itself.
        let _ = driver.close().await;
        read
    }

    async fn list(&self, after: Option<&str>) -> Result<Page, Fault> {
        let first: usize = after.and_then(|after| after.parse().ok()).unwrap_or(0);
        let targets = &self.targets[first.min(self.targets.len())..self.targets.len().min(first + PAGE)];
        let slots = Arc::new(Semaphore::new(self.concurrency));
        let turns = tokio::sync::Mutex::new({
            let mut turns = interval(Duration::from_secs(1) / self.rate);
            turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
            turns
        });
        let one = |host: &String| {
            let (host, slots, turns) = (host.clone(), slots.clone(), &turns);
            async move {
                let _slot = slots.acquire().await;
                turns.lock().await.tick().await;
                let read = self.read(&host).await;
                (host, read)
            }
        };
        let mut page = Page::default();
        for (host, read) in futures_util::future::join_all(targets.iter().map(one)).await {
            match read {
                Ok(inventory) => self.take_in(&host, &inventory, &mut page),
                Err(error) => {
                    let authority = self.authority(&host);
                    // Nobody at home is no news in a subnet; a BMC that refuses us is.
                    if !matches!(
                        error.cause(),
                        Cause::Refused | Cause::Unreachable { .. } | Cause::TimedOut { .. }
                    ) {
                        page.unreadable.push((authority.clone(), error.to_string()));
                    }
                    page.unreachable.push(authority);
                }
            }
        }
        let next = first + PAGE;
        page.next = (next < self.targets.len()).then(|| next.to_string());
        Ok(page)
    }

    fn take_in(&self, host: &str, inventory: &inventory::Inventory, page: &mut Page) {
        for system in &inventory.systems {
            let id = system.uuid.clone().or_else(|| system.serial.clone());
            let Some(id) = id.filter(|id| !id.is_empty()) else {
                let at = format!("{}{}", self.authority(host), system.path);
                page.unreadable.push((at, "the system has neither a UUID nor a serial number".to_owned()));
                continue;
            };
            let class = self.class_of(system);
            page.classes.extend(class.clone());
            page.hosts.push(self.host(id, host, system, inventory, class));
        }
    }

    fn class_of(&self, system: &inventory::System) -> Option<ClassRecord> {
        let shown = match &self.class {
            Some(class) => class.clone(),
            None => [&system.manufacturer, &system.model]
                .into_iter()
                .flatten()
                .cloned()
                .collect::<Vec<_>>()
                .join(" "),
        };
        let id = crate::observation::label(&shown);
        (!id.is_empty()).then(|| ClassRecord { name: id.clone(), id, title: Some(shown), description: None })
    }

    fn host(
        &self,
        id: String,
        host: &str,
        system: &inventory::System,
        inventory: &inventory::Inventory,
        class: Option<ClassRecord>,
    ) -> HostRecord {
        let named = [&system.asset_tag, &system.serial].into_iter().flatten().find(|name| !name.is_empty());
        let scheme = if self.is_plain { "redfish-virtualmedia+http" } else { "redfish-virtualmedia" };
        let boot = system.nics.iter().find(|nic| nic.is_up == Some(true)).or(system.nics.first());
        HostRecord {
            name: named.cloned().unwrap_or_else(|| id.clone()),
            class: class.map(|class| class.id),
            bmc: BmcRecord {
                url: Some(format!("{scheme}://{}{}", self.authority(host), system.path)),
                user: self.credentials.as_ref().map(|(user, _)| user.clone()),
                password: self.credentials.as_ref().and_then(|(_, password)| Secret::unmasked(password)),
                insecure: Some(self.is_insecure),
            },
            boot_mac: boot.and_then(|nic| nic.mac.clone()),
            link: Some(format!(
                "{}://{}",
                if self.is_plain { "http" } else { "https" },
                self.authority(host)
            )),
            hardware: Some(hardware(system, inventory)),
            id,
            ..HostRecord::default()
        }
    }

    async fn look(&self) -> Result<Probe, Fault> {
        let first = self.targets.first().cloned().unwrap_or_default();
        let version = format!("Redfish, {} addresses from {first}", self.targets.len());
        let mut warnings = Vec::new();
        if self.credentials.is_none() {
            warnings.push(
                "there are no credentials: most BMCs tell nothing without username and password".to_owned(),
            );
        }
        match self.read(&first).await {
            Ok(_) => {}
            Err(error) if self.targets.len() == 1 => return Err(fault(&error)),
            Err(error) => warnings.push(format!("{error}")),
        }
        Ok(Probe { version, warnings })
    }

    async fn one(&self, id: &str) -> Result<Option<HostRecord>, Fault> {
        let mut after: Option<String> = None;
        loop {
            let page = self.list(after.as_deref()).await?;
            if let Some(found) = page.hosts.into_iter().find(|host| host.id == id) {
                return Ok(Some(found));
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(None),
            }
        }
    }
}

impl Adapter for Redfish {
    fn capabilities(&self) -> Capabilities {
        Capabilities { has_events: false, has_webhook: false, fetches_one: false }
    }

    fn page<'a>(&'a self, after: Option<&'a str>) -> Later<'a, Page> {
        Box::pin(self.list(after))
    }

    fn fetch<'a>(&'a self, id: &'a str) -> Later<'a, Option<HostRecord>> {
        Box::pin(self.one(id))
    }

    fn probe(&self) -> Later<'_, Probe> {
        Box::pin(self.look())
    }
}

fn fault(error: &bmc::Error) -> Fault {
    let kind = match error.cause() {
        Cause::NameResolution { .. } => FaultKind::Dns,
        Cause::Refused | Cause::Unreachable { .. } => FaultKind::Tcp,
        Cause::TimedOut { .. } => FaultKind::TimedOut,
        Cause::Untrusted { .. } | Cause::PinChanged { .. } | Cause::Tls { .. } => FaultKind::Tls,
        Cause::Unauthorized { .. } | Cause::LockoutGuard { .. } => FaultKind::Unauthorized,
        Cause::Forbidden { .. } => FaultKind::Forbidden,
        _ => FaultKind::WrongShape,
    };
    Fault::new(kind, error.to_string())
}

fn hardware(system: &inventory::System, inventory: &inventory::Inventory) -> Hardware {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let small = |number: Option<u32>| {
        number.and_then(|number| i32::try_from(number).ok()).filter(|number| *number > 0)
    };
    let modules: u64 = system.memory.iter().map(|module| module.mib).sum();
    let mib = if modules > 0 { modules } else { system.memory_mib.unwrap_or(0) };
    let architecture = |set: &Option<String>| match set.as_deref() {
        Some("x86-64") => Some("amd64".to_owned()),
        Some("ARM-A64") => Some("arm64".to_owned()),
        set => set.map(str::to_owned),
    };
    let cpu = |processor: &inventory::Processor| {
        Some(Cpu {
            model: given(&processor.model),
            architecture: architecture(&processor.instruction_set),
            cores: small(processor.cores)?,
            threads: small(processor.threads),
        })
    };
    let drive = |drive: &inventory::Drive| {
        let kind = match drive.protocol.as_deref() {
            Some("NVMe") => Some("NVMe".to_owned()),
            _ => given(&drive.media),
        };
        Some(Drive {
            name: drive.id.clone(),
            serial: given(&drive.serial),
            model: given(&drive.model),
            kind,
            size_bytes: drive.bytes.and_then(|bytes| i64::try_from(bytes).ok()).filter(|bytes| *bytes > 0)?,
        })
    };
    let nic = |nic: &inventory::Nic| Nic {
        name: nic.id.clone(),
        mac: nic.mac.clone(),
        speed_bps: nic.mbps.and_then(|mbps| i64::try_from(mbps).ok()?.checked_mul(1_000_000)),
    };
    let bios = system.bios_version.clone().map(|version| Firmware { component: "BIOS".to_owned(), version });
    let levels = inventory.firmware.iter().filter(|level| bios.is_none() || level.component != "BIOS");
    let levels =
        levels.map(|level| Firmware { component: level.component.clone(), version: level.version.clone() });
    let mut firmware: Vec<Firmware> =
        bios.clone().into_iter().chain(levels).filter(|one| !one.version.is_empty()).collect();
    firmware.sort_by(|one, other| one.component.cmp(&other.component));
    Hardware {
        serial: given(&system.serial),
        manufacturer: given(&system.manufacturer),
        model: given(&system.model),
        cpus: system.processors.iter().filter_map(cpu).collect(),
        memory_bytes: i64::try_from(mib << 20).ok().filter(|bytes| *bytes > 0),
        nics: system.nics.iter().map(nic).collect(),
        drives: system.drives.iter().filter_map(drive).collect(),
        firmware,
    }
}
