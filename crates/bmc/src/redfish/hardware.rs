//! Hardware inventory of all systems. A part that can't be read is reported, and the rest is still read.

use super::Redfish;
use super::power::parse;
use super::resource::{Resource, number, text};
use super::service::is_absent;
use crate::error::{Cause, Error, Result};
use crate::inventory::{Drive, Inventory, Manager, MemoryModule, Nic, Processor, System, mac};

impl Redfish {
    pub(super) async fn read_inventory(&self) -> Result<Inventory> {
        let root = self.service.root().await?.clone();
        let mut inventory = Inventory::default();
        inventory.manager.vendor = root.vendor();
        inventory.manager.uuid = root.text("UUID");
        let systems = root.link("Systems").unwrap_or("/redfish/v1/Systems").to_owned();
        // Without systems there is nothing to tell; everything below may be missing.
        for path in self.service.members(&systems).await? {
            let resource = self.service.get(&path).await?;
            let system = self.read_system(path, &resource, &mut inventory.unread).await?;
            inventory.systems.push(system);
        }
        inventory.systems.sort_by(|one, other| one.path.cmp(&other.path));
        let managers = root.link("Managers").map(str::to_owned);
        self.read_manager(managers, &mut inventory).await?;
        match self.read_firmware().await {
            Ok(levels) => inventory.firmware = levels,
            Err(error) => note(&mut inventory.unread, "firmware", error)?,
        }
        Ok(inventory)
    }

    async fn read_manager(&self, managers: Option<String>, inventory: &mut Inventory) -> Result<()> {
        let Some(managers) = managers else { return Ok(()) };
        let paths = match self.service.members(&managers).await {
            Ok(paths) => paths,
            Err(error) => return note(&mut inventory.unread, &managers, error),
        };
        let Some(first) = paths.first() else { return Ok(()) };
        match self.service.get(first).await {
            Ok(manager) => {
                let Manager { vendor, uuid, .. } = std::mem::take(&mut inventory.manager);
                let (model, firmware) = (manager.text("Model"), manager.text("FirmwareVersion"));
                inventory.manager = Manager { vendor, uuid, model, firmware };
                Ok(())
            }
            Err(error) => note(&mut inventory.unread, first, error),
        }
    }

    async fn read_system(&self, path: String, system: &Resource, unread: &mut Vec<String>) -> Result<System> {
        let gib = system.at(&["MemorySummary", "TotalSystemMemoryGiB"]).and_then(serde_json::Value::as_f64);
        let summary = gib.filter(|gib| (0.0..1e9).contains(gib));
        let mut found = System {
            name: system.text("Name"),
            uuid: system.text("UUID").map(|uuid| uuid.to_lowercase()),
            manufacturer: system.text("Manufacturer"),
            model: system.text("Model"),
            serial: system.text("SerialNumber"),
            sku: system.text("SKU"),
            asset_tag: system.text("AssetTag"),
            bios_version: system.text("BiosVersion"),
            power: system.text("PowerState").as_deref().and_then(parse),
            // In range: checked above.
            memory_mib: summary.map(|gib| (gib * 1024.0).round() as u64),
            ..System::default()
        };
        for (id, part) in self.parts(system, "Processors", unread).await? {
            if part.text("ProcessorType").is_none_or(|kind| kind == "CPU") && is_present(&part) {
                found.processors.push(processor(id, &part));
            }
        }
        for (id, part) in self.parts(system, "Memory", unread).await? {
            found.memory.extend(module(id, &part).filter(|_| is_present(&part)));
        }
        for (id, part) in self.parts(system, "EthernetInterfaces", unread).await? {
            found.nics.push(nic(id, &part));
        }
        for (_, controller) in self.parts(system, "Storage", unread).await? {
            for path in controller.links_at(&["Drives"]) {
                match self.service.get(&path).await {
                    Ok(part) => found.drives.push(drive(last(&path), &part)),
                    Err(error) => note(unread, &path, error)?,
                }
            }
        }
        if found.drives.is_empty() {
            for (_, controller) in self.parts(system, "SimpleStorage", unread).await? {
                found.drives.extend(simple_drives(&controller));
            }
        }
        found.path = path;
        Ok(found)
    }

    /// The members of a collection that a system links to.
    async fn parts(
        &self,
        system: &Resource,
        name: &str,
        unread: &mut Vec<String>,
    ) -> Result<Vec<(String, Resource)>> {
        let Some(path) = system.link(name) else { return Ok(Vec::new()) };
        let members = match self.service.members(path).await {
            Ok(members) => members,
            Err(error) => {
                note(unread, path, error)?;
                return Ok(Vec::new());
            }
        };
        let mut parts = Vec::with_capacity(members.len());
        for member in members {
            match self.service.get(&member).await {
                Ok(part) => parts.push((part.text("Id").unwrap_or_else(|| last(&member)), part)),
                Err(error) => note(unread, &member, error)?,
            }
        }
        Ok(parts)
    }
}

/// Notes a part that the BMC can't give. What concerns the BMC as a whole ends the reading.
fn note(unread: &mut Vec<String>, part: &str, error: Error) -> Result<()> {
    let is_of_the_part = is_absent(&error)
        || matches!(
            error.cause(),
            Cause::WrongShape { .. } | Cause::Refusal { .. } | Cause::Forbidden { .. }
        );
    if !is_of_the_part {
        return Err(error.during("read the inventory"));
    }
    unread.push(format!("{part}: {}", error.cause()));
    Ok(())
}

fn is_present(part: &Resource) -> bool {
    let state = part.at(&["Status", "State"]).and_then(text);
    state.is_none_or(|state| state != "Absent")
}

fn processor(id: String, part: &Resource) -> Processor {
    let count = |name: &str| part.number(name).and_then(|number| u32::try_from(number).ok());
    Processor {
        socket: part.text("Socket").unwrap_or(id),
        model: part.text("Model"),
        instruction_set: part.text("InstructionSet"),
        cores: count("TotalCores"),
        threads: count("TotalThreads"),
    }
}

fn module(id: String, part: &Resource) -> Option<MemoryModule> {
    let mib = part.number("CapacityMiB").filter(|mib| *mib > 0)?;
    Some(MemoryModule {
        slot: part.text("DeviceLocator").unwrap_or(id),
        mib,
        kind: part.text("MemoryDeviceType"),
        serial: part.text("SerialNumber"),
    })
}

fn nic(id: String, part: &Resource) -> Nic {
    let address = part.text("PermanentMACAddress").or_else(|| part.text("MACAddress"));
    Nic {
        id,
        mac: address.as_deref().and_then(mac),
        mbps: part.number("SpeedMbps").filter(|mbps| *mbps > 0),
        is_up: part.text("LinkStatus").map(|status| status == "LinkUp"),
    }
}

fn drive(id: String, part: &Resource) -> Drive {
    Drive {
        id: part.text("Id").unwrap_or(id),
        model: part.text("Model"),
        serial: part.text("SerialNumber"),
        bytes: part.number("CapacityBytes"),
        media: part.text("MediaType"),
        protocol: part.text("Protocol"),
    }
}

fn simple_drives(controller: &Resource) -> Vec<Drive> {
    let devices = controller.at(&["Devices"]).and_then(serde_json::Value::as_array);
    let devices = devices.map(Vec::as_slice).unwrap_or_default().iter();
    devices
        .map(|device| Drive {
            id: device.get("Name").and_then(text).unwrap_or_default(),
            model: device.get("Model").and_then(text),
            bytes: device.get("CapacityBytes").and_then(number),
            ..Drive::default()
        })
        .collect()
}

fn last(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}
