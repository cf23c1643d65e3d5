//! The inventory of a NetBox as manifests: a pure function of what its API lists, with a report of what has no counterpart.
//!
//! Written after the documentation of NetBox 4; no NetBox was at hand.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Value, json};

/// The collections that are read, as paths of the API.
pub const COLLECTIONS: [&str; 8] = [
    "dcim/regions",
    "dcim/sites",
    "dcim/racks",
    "dcim/devices",
    "dcim/interfaces",
    "dcim/cables",
    "circuits/providers",
    "circuits/circuits",
];

/// What NetBox lists, by collection.
pub type Listed = BTreeMap<&'static str, Vec<Value>>;

/// Manifests, and what has none.
#[derive(Debug, Default)]
pub struct Converted {
    /// Objects, each after those that it refers to.
    pub objects: Vec<Value>,
    /// What was left out, with the reason.
    pub left_out: Vec<String>,
    /// What was assumed.
    pub assumed: BTreeSet<String>,
    devices: HashMap<i64, (&'static str, String)>,
    ports: HashMap<i64, String>,
    names: BTreeSet<(&'static str, String)>,
}

/// What a host has if NetBox does not say.
#[derive(Debug, Clone, Copy)]
pub struct Assumed {
    /// Cores.
    pub cores: i64,
    /// Memory in bytes.
    pub memory_bytes: i64,
}

/// Converts everything.
pub fn convert(listed: &Listed, assumed: Assumed) -> Converted {
    let mut converted = Converted::default();
    let all = |collection: &str| listed.get(collection).map(Vec::as_slice).unwrap_or_default();
    for region in all("dcim/regions") {
        let spec = json!({"displayName": text(region, "/name").unwrap_or("?")});
        converted.add("Region", slug(region), spec);
    }
    for provider in all("circuits/providers") {
        converted.assumed.insert("providers are of type Transit".to_owned());
        let spec = json!({"displayName": text(provider, "/name").unwrap_or("?"), "type": "Transit"});
        converted.add("Provider", slug(provider), spec);
    }
    for site in all("dcim/sites") {
        converted.site(site);
    }
    for rack in all("dcim/racks") {
        converted.rack(rack);
    }
    for device in all("dcim/devices") {
        converted.device(device, assumed);
    }
    for interface in all("dcim/interfaces") {
        converted.interface(interface);
    }
    for cable in all("dcim/cables") {
        converted.cable(cable);
    }
    for circuit in all("circuits/circuits") {
        converted.circuit(circuit);
    }
    converted
}

impl Converted {
    /// Adds an object, unless its name is taken.
    fn add(&mut self, kind: &'static str, name: String, spec: Value) -> bool {
        if name.is_empty() || !self.names.insert((kind, name.clone())) {
            self.leave_out(kind, &name, "its name is empty, or another one has it");
            return false;
        }
        self.objects.push(json!({"apiVersion": "inventory.miloapis.com/v1alpha1", "kind": kind,
            "metadata": {"name": name}, "spec": spec}));
        true
    }

    fn leave_out(&mut self, what: &str, name: &str, why: &str) {
        self.left_out.push(format!("{what} {name}: {why}"));
    }

    fn site(&mut self, site: &Value) {
        let name = slug(site);
        let Some(region) = text(site, "/region/slug") else {
            return self.leave_out("site", &name, "it has no region, and a Site needs one");
        };
        self.assumed.insert("sites are of type Datacenter".to_owned());
        let mut spec = json!({"displayName": text(site, "/name").unwrap_or(&name), "type": "Datacenter",
            "regionRef": {"name": label(region)}});
        if let Some(address) = text(site, "/physical_address") {
            spec["address"] = address.into();
        }
        self.add("Site", name, spec);
    }

    fn rack(&mut self, rack: &Value) {
        let (shown, site) =
            (text(rack, "/name").unwrap_or_default(), text(rack, "/site/slug").unwrap_or_default());
        let mut spec = json!({"siteRef": {"name": label(site)}, "name": shown,
            "heightU": rack["u_height"].as_i64().unwrap_or(42)});
        if let Some(location) = text(rack, "/location/name") {
            spec["cage"] = location.into();
        }
        identify(&mut spec, rack);
        self.add("Rack", format!("{}-{}", label(site), label(shown)), spec);
    }

    fn device(&mut self, device: &Value, assumed: Assumed) {
        let (id, shown) = (device["id"].as_i64().unwrap_or(0), text(device, "/name").unwrap_or_default());
        let name = if shown.is_empty() { format!("netbox-{id}") } else { label(shown) };
        let site = label(text(device, "/site/slug").unwrap_or_default());
        let mut spec = json!({"siteRef": {"name": site}});
        identify(&mut spec, device);
        if let Some(rack) = text(device, "/rack/name") {
            let rack = format!("{site}-{}", label(rack));
            let face = if text(device, "/face/value") == Some("rear") { "Rear" } else { "Front" };
            let mut placement = json!({"rackRef": {"name": rack}, "face": face});
            if let Some(unit) = device["position"].as_f64().filter(|unit| *unit >= 1.0) {
                // NetBox counts half units; ours are whole.
                placement["startUnit"] = json!(unit.floor() as i64);
                let height = device.pointer("/device_type/u_height").and_then(Value::as_f64).unwrap_or(1.0);
                placement["unitHeight"] = json!(height.ceil().max(1.0) as i64);
            }
            spec["placement"] = placement;
        }
        let role =
            text(device, "/role/slug").or_else(|| text(device, "/device_role/slug")).unwrap_or_default();
        let kind = match network_role(role) {
            Some(role) => {
                spec["role"] = role.into();
                if let Some(address) = text(device, "/primary_ip/address") {
                    spec["managementAddress"] = address.split('/').next().unwrap_or(address).into();
                }
                "NetworkDevice"
            }
            None => {
                let field = |name: &str| device["custom_fields"][name].as_i64();
                let cores = field("cpu_cores").unwrap_or(assumed.cores);
                let memory = field("memory_gb")
                    .and_then(|size| size.checked_mul(1 << 30))
                    .unwrap_or(assumed.memory_bytes);
                if field("cpu_cores").is_none() || field("memory_gb").is_none() {
                    self.assumed.insert(format!("hosts without the custom fields cpu_cores and memory_gb have {cores} cores and {memory} bytes"));
                }
                let architecture = device["custom_fields"]["cpu_arch"].as_str().unwrap_or("amd64");
                spec["hardware"] =
                    json!({"cpuCores": cores, "cpuArchitecture": architecture, "memoryBytes": memory});
                "Node"
            }
        };
        if self.add(kind, name.clone(), spec) {
            self.devices.insert(id, (kind, name));
        }
    }

    fn interface(&mut self, interface: &Value) {
        let shown = text(interface, "/name").unwrap_or_default();
        let kind = text(interface, "/type/value").unwrap_or_default();
        let device = interface["device"]["id"].as_i64().and_then(|id| self.devices.get(&id).cloned());
        let Some((device_kind, device)) = device else {
            return self.leave_out("interface", shown, "its device was left out");
        };
        if matches!(kind, "virtual" | "lag" | "bridge") || kind.starts_with("ieee802.11") {
            return self.leave_out(
                "interface",
                &format!("{device} {shown}"),
                "it is no connector of the device",
            );
        }
        let is_optical =
            ["sfp", "qsfp", "osfp", "cfp", "xfp", "-x", "-lr", "-sr"].iter().any(|part| kind.contains(part));
        let mut spec = json!({"deviceRef": {"kind": device_kind, "name": device}, "name": shown,
            "type": if is_optical { "Optical" } else { "Ethernet" }});
        let mac =
            text(interface, "/mac_address").or_else(|| text(interface, "/primary_mac_address/mac_address"));
        if let Some(mac) = mac {
            spec["macAddress"] = mac.to_lowercase().into();
        }
        let name = format!("{device}-{}", label(shown));
        if self.add("Port", name.clone(), spec) {
            self.ports.insert(interface["id"].as_i64().unwrap_or(0), name);
        }
    }

    fn cable(&mut self, cable: &Value) {
        let id = cable["id"].as_i64().unwrap_or(0);
        let name = format!("netbox-cable-{id}");
        let ends = ["a_terminations", "b_terminations"]
            .iter()
            .flat_map(|end| cable[*end].as_array().into_iter().flatten());
        let ends: Vec<Option<String>> = ends
            .map(|end| match end["object_type"].as_str() {
                Some("dcim.interface") => self.ports.get(&end["object_id"].as_i64()?).cloned(),
                _ => None,
            })
            .collect();
        let known: Vec<Value> = ends.iter().flatten().map(|port| json!({ "name": port })).collect();
        if known.len() != ends.len() || known.len() < 2 {
            return self.leave_out("cable", &name, "an end of it is no interface that was imported");
        }
        let media = match text(cable, "/type").unwrap_or_default() {
            kind if kind.starts_with("smf") => "FiberSMF",
            kind if kind.starts_with("mmf") || kind.starts_with("aoc") => "FiberMMF",
            kind if kind.starts_with("dac") => "DAC",
            "power" => "Power",
            _ => "Copper",
        };
        let state = if text(cable, "/status/value") == Some("planned") { "Planned" } else { "Connected" };
        let mut spec = json!({"endpoints": known, "media": media, "state": state});
        if let Some(shown) = text(cable, "/label") {
            spec["label"] = shown.into();
        }
        self.add("Cable", name, spec);
    }

    fn circuit(&mut self, circuit: &Value) {
        let cid = text(circuit, "/cid").unwrap_or_default();
        let site = |end: &str| {
            let termination = &circuit[end];
            let site = text(termination, "/site/slug").or_else(|| text(termination, "/termination/slug"));
            site.map(|site| json!({"kind": "Site", "name": label(site)}))
        };
        let (Some(a), Some(z)) = (site("termination_a"), site("termination_z")) else {
            return self.leave_out("circuit", cid, "an end of it is at no site");
        };
        let mut spec = json!({"providerRef": {"name": label(text(circuit, "/provider/slug").unwrap_or_default())},
            "type": "ProviderCircuit", "circuitID": cid, "aEnd": a, "zEnd": z});
        // NetBox counts in kbit/s.
        if let Some(mbps) = circuit["commit_rate"].as_i64().map(|rate| rate / 1000).filter(|mbps| *mbps > 0) {
            spec["bandwidthMbps"] = mbps.into();
        }
        self.add("Circuit", label(cid), spec);
    }
}

/// Serial number and asset tag.
fn identify(spec: &mut Value, of: &Value) {
    for (field, path) in [("serial", "/serial"), ("assetTag", "/asset_tag")] {
        if let Some(value) = text(of, path) {
            spec[field] = value.into();
        }
    }
}

/// The role of a network device, by the slug of a role; none for a host.
fn network_role(slug: &str) -> Option<&'static str> {
    let has = |words: &[&str]| words.iter().any(|word| slug.contains(word));
    match () {
        () if has(&["patch-panel"]) => Some("PatchPanel"),
        () if has(&["pdu"]) => Some("PDU"),
        () if has(&["firewall"]) => Some("Firewall"),
        () if has(&["router", "edge", "border"]) => Some("BorderRouter"),
        () if has(&["spine", "core", "distribution", "aggregation"]) => Some("Spine"),
        () if has(&["leaf", "tor", "access", "switch"]) => Some("Leaf"),
        () => None,
    }
}

fn text<'a>(value: &'a Value, path: &str) -> Option<&'a str> {
    value.pointer(path).and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn slug(value: &Value) -> String {
    label(text(value, "/slug").unwrap_or_default())
}

/// A name as the name of an object.
fn label(name: &str) -> String {
    let plain = name.chars().map(|letter| match letter.to_ascii_lowercase() {
        letter @ ('a'..='z' | '0'..='9') => letter,
        _ => '-',
    });
    plain.collect::<String>().trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_netbox_becomes_manifests_and_what_has_no_counterpart_is_told() {
        let device = |id: i64, name: &str, role: &str| {
            json!({"id": id, "name": name, "role": {"slug": role}, "site": {"slug": "fra1"}, "serial": format!("S{id}"),
                "rack": {"name": "A 01"}, "position": 5.0, "device_type": {"u_height": 1.0}, "custom_fields": {}})
        };
        let interface = |id: i64, device: i64, kind: &str| json!({"id": id, "device": {"id": device}, "name": format!("eth{id}"), "type": {"value": kind}});
        let end = |id: i64| json!([{"object_type": "dcim.interface", "object_id": id}]);
        let listed = Listed::from([
            ("dcim/regions", vec![json!({"name": "Europe", "slug": "eu"})]),
            (
                "dcim/sites",
                vec![
                    json!({"name": "Frankfurt", "slug": "fra1", "region": {"slug": "eu"}}),
                    json!({"name": "Lost", "slug": "lost"}),
                ],
            ),
            ("dcim/racks", vec![json!({"name": "A 01", "site": {"slug": "fra1"}, "u_height": 47})]),
            ("dcim/devices", vec![device(1, "node1", "server"), device(2, "tor1", "tor-switch")]),
            (
                "dcim/interfaces",
                vec![
                    interface(10, 1, "1000base-t"),
                    interface(11, 2, "25gbase-x-sfp28"),
                    interface(12, 1, "virtual"),
                ],
            ),
            (
                "dcim/cables",
                vec![
                    json!({"id": 7, "type": "dac-passive", "a_terminations": end(10), "b_terminations": end(11)}),
                    json!({"id": 8, "a_terminations": end(10), "b_terminations": [{"object_type": "dcim.frontport", "object_id": 3}]}),
                ],
            ),
        ]);
        let converted = convert(&listed, Assumed { cores: 1, memory_bytes: 1 << 30 });
        let kinds: Vec<&str> =
            converted.objects.iter().filter_map(|object| object["kind"].as_str()).collect();
        assert_eq!(kinds, ["Region", "Site", "Rack", "Node", "NetworkDevice", "Port", "Port", "Cable"]);
        assert_eq!(converted.objects[2]["metadata"]["name"], "fra1-a-01");
        assert_eq!(converted.objects[3]["spec"]["placement"]["rackRef"]["name"], "fra1-a-01");
        assert_eq!(converted.objects[7]["spec"]["media"], "DAC");
        assert_eq!(converted.left_out.len(), 3, "{:?}", converted.left_out);
        assert!(converted.assumed.iter().any(|one| one.contains("cpu_cores")));
    }
}
