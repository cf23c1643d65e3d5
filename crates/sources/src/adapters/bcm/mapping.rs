//! Devices and categories of BCM as hosts and classes.

use std::collections::HashMap;

use serde_json::Value;

use crate::observation::{BmcRecord, ClassRecord, HostRecord, Secret};

/// What devices refer to and inherit from.
pub struct Around<'a> {
    categories: HashMap<&'a str, &'a Value>,
    partitions: HashMap<&'a str, &'a Value>,
    racks: HashMap<&'a str, &'a str>,
    url: String,
}

impl<'a> Around<'a> {
    /// By their identifiers.
    pub fn new(
        categories: &'a [Value],
        racks: &'a [Value],
        partitions: &'a [Value],
        url: &str,
    ) -> Around<'a> {
        let by_uuid =
            |all: &'a [Value]| all.iter().filter_map(|one| Some((one["uuid"].as_str()?, one))).collect();
        let racks = racks.iter().filter_map(|rack| Some((rack["uuid"].as_str()?, rack["name"].as_str()?)));
        Around {
            categories: by_uuid(categories),
            partitions: by_uuid(partitions),
            racks: racks.collect(),
            url: url.to_owned(),
        }
    }

    /// The host of a device.
    pub fn host(&self, device: &Value) -> Result<HostRecord, String> {
        let uuid = reference(&device["uuid"]).ok_or("the device has no uuid")?;
        let hostname = device["hostname"]
            .as_str()
            .filter(|name| !name.is_empty())
            .ok_or("the device has no hostname")?;
        let notes = Notes::read(device["notes"].as_str().unwrap_or_default());
        let rack = reference(&device["rackPosition"]["rack"]);
        let rack = match rack {
            Some(rack) => self.racks.get(rack).map(|name| (*name).to_owned()),
            None => Some(String::new()),
        };
        let mac = device["mac"].as_str().filter(|mac| bmc::inventory::mac(mac).is_some());
        Ok(HostRecord {
            id: uuid.to_owned(),
            name: hostname.to_owned(),
            class: self.class_of(&notes, device),
            bmc: self.bmc(device),
            rack,
            boot_mac: mac.map(str::to_owned),
            boot_ip: boot_ip(device),
            title: notes.title,
            description: Some(notes.body),
            link: Some(format!("{}/base-view/device/{uuid}", self.url)),
            hardware: None,
            held_back: None,
        })
    }

    /// The category that the notes of a device name, else its own.
    fn class_of(&self, notes: &Notes, device: &Value) -> Option<String> {
        let Some(named) = &notes.class else { return reference(&device["category"]).map(str::to_owned) };
        let is_it = |category: &&&Value| {
            let class = class(category);
            class.is_some_and(|class| class.id == *named || class.name == *named)
        };
        let found = self.categories.values().find(is_it).and_then(|category| category["uuid"].as_str());
        Some(found.unwrap_or(named).to_owned())
    }

    fn bmc(&self, device: &Value) -> BmcRecord {
        let category = reference(&device["category"]).and_then(|uuid| self.categories.get(uuid));
        let partition = reference(&device["partition"]).and_then(|uuid| self.partitions.get(uuid));
        let holders = [Some(device), category.copied(), partition.copied()];
        let setting = |field: &str| {
            let values = holders.iter().flatten().map(|holder| &holder["bmcSettings"][field]);
            values.filter_map(Value::as_str).find(|text| !text.is_empty()).map(str::to_owned)
        };
        BmcRecord {
            url: bmc_url(device),
            user: setting("userName"),
            password: setting("password").and_then(|password| Secret::unmasked(&password)),
            // BCM keeps no CA of BMCs.
            insecure: Some(true),
        }
    }
}

/// The class of a category.
pub fn class(category: &Value) -> Option<ClassRecord> {
    let (id, name) = (reference(&category["uuid"])?, category["name"].as_str()?);
    let notes = Notes::read(category["notes"].as_str().unwrap_or_default());
    Some(ClassRecord {
        id: id.to_owned(),
        name: notes.class.unwrap_or_else(|| name.to_owned()),
        title: Some(notes.title.unwrap_or_else(|| format!("BCM {name} category"))),
        description: Some(if notes.body.is_empty() {
            format!("Hosts of the BCM category `{name}`.")
        } else {
            notes.body
        }),
    })
}

/// Notes: settings in YAML between lines of `---`, then Markdown.
struct Notes {
    class: Option<String>,
    title: Option<String>,
    body: String,
}

impl Notes {
    fn read(notes: &str) -> Notes {
        let split = notes.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---"));
        let (settings, body) = match split {
            Some((settings, body)) => (Some(settings), body.trim_start_matches('-').trim()),
            None => (None, notes.trim()),
        };
        let settings = settings.map(|settings| krm::decode::read_apply(settings.as_bytes()));
        let (class, body) = match settings {
            None => (None, body),
            // What can't be read is all description.
            Some(Err(_)) => (None, notes.trim()),
            Some(Ok((settings, _))) => {
                (settings.get("host_class").and_then(Value::as_str).map(str::to_owned), body)
            }
        };
        let title = body.lines().find(|line| line.starts_with('#'));
        let title = title.map(|line| line.trim_start_matches('#').trim().to_owned());
        Notes { class, title, body: body.to_owned() }
    }
}

/// The identifier that a field refers to. None is zeros, nothing or null.
fn reference(value: &Value) -> Option<&str> {
    value.as_str().filter(|uuid| !uuid.bytes().all(|byte| matches!(byte, b'0' | b'-')))
}

fn interfaces(device: &Value) -> impl Iterator<Item = &Value> {
    device["interfaces"].as_array().map(Vec::as_slice).unwrap_or_default().iter()
}

fn is_kind(interface: &Value, kind: &str) -> bool {
    interface["childType"].as_str().is_some_and(|found| found.eq_ignore_ascii_case(kind))
}

fn boot_ip(device: &Value) -> Option<String> {
    let physical = || interfaces(device).filter(|interface| is_kind(interface, "NetworkPhysicalInterface"));
    let named = physical().find(|interface| interface["name"] == "BOOTIF");
    let mac = device["mac"].as_str().and_then(bmc::inventory::mac);
    let same = |interface: &&Value| {
        let own = interface["mac"].as_str().and_then(bmc::inventory::mac);
        own.is_some() && own == mac
    };
    let found = named.or_else(|| physical().find(same))?;
    found["ip"].as_str().filter(|ip| *ip != "0.0.0.0").map(str::to_owned)
}

fn bmc_url(device: &Value) -> Option<String> {
    if let Some(address) = device["extra_values"]["osac_bmc_address"].as_str() {
        return Some(address.to_owned());
    }
    let found = interfaces(device).find(|interface| is_kind(interface, "NetworkBmcInterface"))?;
    let (name, ip) = (found["name"].as_str()?, found["ip"].as_str().filter(|ip| *ip != "0.0.0.0")?);
    let kind = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let scheme = match kind {
        "rf" => "redfish-virtualmedia",
        "ipmi" => "ipmi",
        "ilo" => "ilo5-virtualmedia",
        "drac" => "idrac-virtualmedia",
        _ => return None,
    };
    Some(format!("{scheme}://{ip}"))
}
