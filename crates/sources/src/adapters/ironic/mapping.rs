//! A node of Ironic and its ports as a host.

use fulfillment::kinds::hardware::{Cpu, Drive, Hardware, Nic};
use serde_json::Value;

use crate::http::Credentials;
use crate::kinds::source::SourceSpec;
use crate::observation::{BmcRecord, HostRecord, Secret};

/// How nodes are read.
#[derive(Debug, Clone)]
pub struct Settings {
    url: String,
    /// Provision states whose nodes are left out.
    excluded: Vec<String>,
    credentials: Credentials,
}

impl Settings {
    /// The settings of a Source.
    pub fn of(spec: &SourceSpec, credentials: &Credentials, url: &str) -> Settings {
        let excluded = spec.option("excludeStates").unwrap_or_default();
        let excluded =
            excluded.split(',').map(|state| state.trim().to_owned()).filter(|state| !state.is_empty());
        Settings { url: url.to_owned(), excluded: excluded.collect(), credentials: credentials.clone() }
    }

    /// Whether passwords of BMCs are configured.
    pub fn has_passwords(&self) -> bool {
        self.credentials.get("bmc.password").is_some()
    }

    /// The host of a node. Nothing if it is left out.
    pub fn host(&self, node: &Value, ports: &[Value]) -> Result<Option<HostRecord>, String> {
        let uuid = node["uuid"].as_str().filter(|uuid| !uuid.is_empty()).ok_or("the node has no uuid")?;
        let state = node["provision_state"].as_str().unwrap_or_default();
        if self.excluded.iter().any(|excluded| excluded == state) {
            return Ok(None);
        }
        let name = text(&node["name"]).filter(|name| !name.is_empty()).unwrap_or_else(|| uuid.to_owned());
        let mut ports: Vec<&Value> = ports.iter().collect();
        ports.sort_by_key(|port| (port["created_at"].as_str(), port["uuid"].as_str()));
        let boot = ports.iter().find(|port| port["pxe_enabled"] == true);
        let is_flagged = |flag: &str| node[flag] == true;
        let held_back = match (is_flagged("retired"), is_flagged("maintenance")) {
            (true, _) => Some(reason(node, "retired_reason", "retired")),
            (_, true) => Some(reason(node, "maintenance_reason", "maintenance")),
            _ => None,
        };
        Ok(Some(HostRecord {
            id: uuid.to_owned(),
            name,
            class: Some(text(&node["resource_class"]).unwrap_or_default()),
            bmc: self.bmc(node),
            rack: text(&node["extra"]["rack"]).or_else(|| text(&node["properties"]["rack"])),
            boot_mac: boot.and_then(|port| text(&port["address"])),
            boot_ip: boot
                .and_then(|port| text(&port["extra"]["ip"]))
                .or_else(|| text(&node["extra"]["boot_ip"])),
            title: text(&node["extra"]["title"]),
            description: Some(text(&node["description"]).unwrap_or_default()),
            link: Some(format!("{}/v1/nodes/{uuid}", self.url)),
            hardware: hardware(node, &ports),
            held_back,
        }))
    }

    fn bmc(&self, node: &Value) -> BmcRecord {
        let info = &node["driver_info"];
        let driver = node["driver"].as_str().unwrap_or_default();
        let (prefix, url) = match driver {
            "ipmi" => ("ipmi", ipmi_url(info)),
            "redfish" | "idrac" | "ilo" | "ilo5" => ("redfish", redfish_url(node, driver)),
            _ => return BmcRecord::default(),
        };
        let own = |what: &str| text(&info[format!("{prefix}_{what}")]);
        let class = text(&node["resource_class"]).unwrap_or_default();
        let uuid = node["uuid"].as_str().unwrap_or_default();
        let configured = |what: &str| {
            let keys =
                [format!("bmc.{uuid}.{what}"), format!("bmc.class.{class}.{what}"), format!("bmc.{what}")];
            keys.iter().find_map(|key| self.credentials.get(key).map(str::to_owned))
        };
        let password = own("password").and_then(|password| Secret::unmasked(&password));
        let is_unverified = match &info["redfish_verify_ca"] {
            Value::Bool(verifies) => !verifies,
            Value::String(text) => text.eq_ignore_ascii_case("false"),
            _ => false,
        };
        BmcRecord {
            url,
            user: own("username").or_else(|| configured("username")),
            password: password
                .or_else(|| configured("password").and_then(|password| Secret::unmasked(&password))),
            insecure: Some(is_unverified),
        }
    }
}

fn reason(node: &Value, field: &str, usual: &str) -> String {
    text(&node[field]).filter(|text| !text.is_empty()).unwrap_or_else(|| usual.to_owned())
}

fn ipmi_url(info: &Value) -> Option<String> {
    let address = text(&info["ipmi_address"])?;
    let address = if address.contains(':') { format!("[{address}]") } else { address };
    Some(match text(&info["ipmi_port"]).filter(|port| !port.is_empty()) {
        Some(port) => format!("ipmi://{address}:{port}"),
        None => format!("ipmi://{address}"),
    })
}

fn redfish_url(node: &Value, driver: &str) -> Option<String> {
    let info = &node["driver_info"];
    let address = text(&info["redfish_address"])?;
    let (scheme, host) = address.split_once("://").unwrap_or(("https", &address));
    let boots_by_network = node["boot_interface"].as_str().is_some_and(|boot| boot.contains("pxe"));
    let kind = match (driver, boots_by_network) {
        ("idrac", _) => "idrac-virtualmedia",
        (_, true) => "redfish",
        _ => "redfish-virtualmedia",
    };
    let transport = if scheme == "http" { "+http" } else { "+https" };
    let system = text(&info["redfish_system_id"]).unwrap_or_default();
    let path = if system.is_empty() || system.starts_with('/') { system } else { format!("/{system}") };
    Some(format!("{kind}{transport}://{}{path}", host.trim_end_matches('/')))
}

/// What properties of the node and inspection say of its hardware. Nothing if they say nothing.
fn hardware(node: &Value, ports: &[&Value]) -> Option<Hardware> {
    let properties = &node["properties"];
    let number = |name: &str| match &properties[name] {
        Value::String(text) => text.trim().parse::<i64>().ok(),
        value => value.as_i64(),
    };
    let architecture = text(&properties["cpu_arch"]).map(|architecture| match architecture.as_str() {
        "x86_64" => "amd64".to_owned(),
        "aarch64" => "arm64".to_owned(),
        _ => architecture,
    });
    let cores = number("cpus").and_then(|cores| i32::try_from(cores).ok()).filter(|cores| *cores > 0);
    let cpus = cores.map(|cores| Cpu { model: None, architecture, cores, threads: None });
    let nic = |(at, port): (usize, &&Value)| {
        let mac = text(&port["address"]).and_then(|mac| bmc::inventory::mac(&mac))?;
        let name = text(&port["name"]).filter(|name| !name.is_empty()).unwrap_or_else(|| format!("port{at}"));
        Some(Nic { name, mac: Some(mac), speed_bps: None })
    };
    let gigabytes = number("local_gb").filter(|size| *size > 0);
    let drive = gigabytes.and_then(|size| size.checked_mul(1 << 30)).map(|size_bytes| Drive {
        name: "root".to_owned(),
        serial: None,
        model: None,
        kind: None,
        size_bytes,
    });
    let hardware = Hardware {
        serial: text(&properties["serial_number"])
            .or_else(|| text(&node["extra"]["serial"]))
            .filter(|s| !s.is_empty()),
        manufacturer: text(&properties["vendor"]).filter(|vendor| !vendor.is_empty()),
        model: text(&properties["model"]).filter(|model| !model.is_empty()),
        cpus: cpus.into_iter().collect(),
        memory_bytes: number("memory_mb").filter(|size| *size > 0).and_then(|size| size.checked_mul(1 << 20)),
        nics: ports.iter().enumerate().filter_map(nic).collect(),
        drives: drive.into_iter().collect(),
        firmware: Vec::new(),
    };
    (hardware != Hardware::default()).then_some(hardware)
}

/// A text, or a number as a text.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
