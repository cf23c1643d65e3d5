//! A rack of the demo fleet: two feeds, two PDUs, two leaf switches, a patch panel and hosts.

use serde_json::json;

use super::Fleet;

const HEIGHT: u32 = 42;

/// A rack with its power, into which devices are placed.
pub struct Ground {
    site: String,
    rack: String,
    next_outlet: std::cell::Cell<u32>,
}

/// A rack with two feeds and a PDU on each.
pub fn empty(fleet: &mut Fleet, site: &str, label: &str, row: &str) -> Ground {
    let rack = format!("{site}-{}", label.to_lowercase());
    let (serial, tag) = fleet.tags("RK");
    let feed = |name: &str| json!({"name": name, "phase": "ThreePhase", "voltage": 415, "ampsRated": 32});
    let spec = json!({
        "siteRef": {"name": site},
        "cage": "C-01",
        "row": row,
        "name": label,
        "heightU": HEIGHT,
        "powerFeeds": [feed("A"), feed("B")],
        "serial": serial,
        "assetTag": tag,
        "lifecycle": "Active",
    });
    fleet.add("Rack", &rack, spec);
    for feed in ["a", "b"] {
        let pdu = format!("{rack}-pdu-{feed}");
        let (serial, tag) = fleet.tags("PD");
        let spec = json!({
            "siteRef": {"name": site}, "role": "PDU", "placement": {"rackRef": {"name": rack}, "face": "Rear"},
            "serial": serial, "assetTag": tag, "lifecycle": "Active",
        });
        fleet.add("NetworkDevice", &pdu, spec);
        let power = json!({"power": {"feed": feed.to_uppercase()}});
        let source = fleet.port(
            &format!("{rack}-feed-{feed}"),
            ("Rack", &rack),
            "Power",
            &format!("feed {feed}"),
            power,
        );
        let inlet = fleet.port(&format!("{pdu}-in"), ("NetworkDevice", &pdu), "Power", "inlet", json!({}));
        fleet.cable(&format!("{pdu}-supply"), [&source, &inlet], "Power", 2);
    }
    Ground { site: site.to_owned(), rack, next_outlet: std::cell::Cell::new(1) }
}

/// Two power supplies of a device, one on each PDU.
fn supply(fleet: &mut Fleet, ground: &Ground, kind: &str, device: &str) {
    let number = ground.next_outlet.get();
    ground.next_outlet.set(number + 1);
    for (index, feed) in (1..).zip(["a", "b"]) {
        let pdu = format!("{}-pdu-{feed}", ground.rack);
        let outlet = json!({"power": {"inletRef": {"name": format!("{pdu}-in")}, "ratedWatts": 2300}});
        let outlet = fleet.port(
            &format!("{pdu}-out{number}"),
            ("NetworkDevice", &pdu),
            "Power",
            &format!("outlet {number}"),
            outlet,
        );
        let psu = fleet.port(
            &format!("{device}-psu{index}"),
            (kind, device),
            "Power",
            &format!("PSU{index}"),
            json!({}),
        );
        fleet.cable(&format!("{psu}--{pdu}"), [&outlet, &psu], "Power", 2);
    }
}

/// A network device of one unit in a rack, with its power: its name, role and cluster; its unit and watts.
pub fn device(fleet: &mut Fleet, ground: &Ground, what: (&str, &str, Option<&str>), place: (u32, u32)) {
    let (name, role, cluster) = what;
    let (serial, tag) = fleet.tags("NW");
    let mut spec = json!({
        "siteRef": {"name": ground.site},
        "role": role,
        "placement": {"rackRef": {"name": ground.rack}, "startUnit": place.0, "unitHeight": 1, "face": "Front"},
        "serial": serial,
        "assetTag": tag,
        "lifecycle": "Active",
    });
    if let Some(cluster) = cluster {
        spec["clusterRef"] = json!({"name": cluster});
        spec["managementAddress"] = json!(format!("10.{}.0.{}", fleet.chance.below(200), place.0));
    }
    if place.1 > 0 {
        spec["drawnWatts"] = json!(place.1);
    }
    fleet.add("NetworkDevice", name, spec);
    if place.1 > 0 {
        supply(fleet, ground, "NetworkDevice", name);
    }
}

/// A rack of hosts, cabled to its two leaf switches, which are cabled to the spines through a panel.
#[expect(clippy::too_many_arguments, reason = "all of it is what a rack of the fleet is")]
pub fn build(
    fleet: &mut Fleet,
    site: &str,
    cluster: &str,
    label: &str,
    row: &str,
    index: u32,
    hosts: u32,
    spines: &[String],
) {
    let ground = empty(fleet, site, label, row);
    let panel = format!("{}-panel", ground.rack);
    device(fleet, &ground, (&panel, "PatchPanel", None), (HEIGHT, 0));
    let leaves: Vec<String> = (1..=2_u32).map(|number| format!("{}-leaf{number}", ground.rack)).collect();
    for (number, leaf) in (1_u32..).zip(&leaves) {
        device(fleet, &ground, (leaf, "Leaf", Some(cluster)), (HEIGHT - number, 350));
        for (position, spine) in (1_u32..).zip(spines) {
            let speed = json!({"speed": "100G"});
            let up = fleet.port(
                &format!("{leaf}-up{position}"),
                ("NetworkDevice", leaf),
                "Optical",
                &format!("et-0/0/{}", 47 + position),
                speed,
            );
            // A spine has two ports for each rack: one for each of its leaves.
            let down = format!("{spine}-down{index}-{number}");
            let way = format!("{panel}-{number}-{position}");
            let fibre = (number - 1) * 2 + position;
            let rear = fleet.port(
                &format!("{way}-rear"),
                ("NetworkDevice", &panel),
                "PatchPanel",
                &format!("rear {fibre}"),
                json!({}),
            );
            let through = json!({"passThrough": {"portRef": {"name": rear}, "position": 1}});
            let front = fleet.port(
                &format!("{way}-front"),
                ("NetworkDevice", &panel),
                "PatchPanel",
                &format!("front {fibre}"),
                through,
            );
            fleet.cable(&format!("{up}--panel"), [&up, &front], "FiberSMF", 1);
            fleet.cable(&format!("{up}--{spine}"), [&rear, &down], "FiberSMF", 15 + index % 8 * 2);
        }
    }
    for host in 1..=hosts.min(19) {
        build_host(fleet, &ground, cluster, host, &leaves);
    }
    // RackOccupancy for the next hosts.
    for leaf in &leaves {
        for spare in hosts.min(19) + 1..=hosts.min(19) + 2 {
            let (name, label) = (format!("{leaf}-xe{spare}"), format!("xe-0/0/{spare}"));
            fleet.port(&name, ("NetworkDevice", leaf), "Optical", &label, json!({"speed": "25G"}));
        }
    }
}

fn build_host(fleet: &mut Fleet, ground: &Ground, cluster: &str, number: u32, leaves: &[String]) {
    let name = format!("{}-node{number:02}", ground.rack);
    let (serial, tag) = fleet.tags("SV");
    let cores = [32, 64, 96][fleet.chance.below(3) as usize];
    let is_arm = fleet.chance.below(4) == 0;
    let role = if number == 1 { "ControlPlane" } else { "Worker" };
    let spec = json!({
        "siteRef": {"name": ground.site},
        "hardware": {
            "cpuCores": cores,
            "cpuArchitecture": if is_arm { "arm64" } else { "amd64" },
            "memoryBytes": i64::from(cores) * 8 * (1 << 30),
            "disks": [{"name": "nvme0n1", "sizeBytes": 3_840_755_982_336_i64, "type": "NVMe"}],
        },
        "addresses": [
            {"type": "Internal", "address": format!("10.{}.{}.{}", fleet.chance.below(250), fleet.chance.below(250), 10 + number)},
            {"type": "Hostname", "address": format!("{name}.example.com")},
        ],
        "assignment": {"clusterRef": {"name": cluster}, "role": role},
        "placement": {
            "rackRef": {"name": ground.rack}, "startUnit": number * 2 - 1, "unitHeight": 2, "face": "Front", "fullDepth": true,
        },
        "serial": serial,
        "assetTag": tag,
        "lifecycle": "Active",
        "drawnWatts": 400 + cores * 3,
    });
    fleet.add("Node", &name, spec);
    supply(fleet, ground, "Node", &name);
    for (index, leaf) in (0_u32..).zip(leaves) {
        let mac = format!(
            "02:{:02x}:{:02x}:{:02x}:{number:02x}:{index:02x}",
            fleet.chance.below(256),
            fleet.chance.below(256),
            fleet.chance.below(256)
        );
        let near = fleet.port(
            &format!("{name}-eth{index}"),
            ("Node", &name),
            "Optical",
            &format!("eth{index}"),
            json!({"speed": "25G", "macAddress": mac}),
        );
        let far = fleet.port(
            &format!("{leaf}-xe{number}"),
            ("NetworkDevice", leaf),
            "Optical",
            &format!("xe-0/0/{number}"),
            json!({"speed": "25G"}),
        );
        fleet.cable(&format!("{near}--{leaf}"), [&near, &far], "DAC", 2);
    }
    if number % 4 == 2 {
        let spec = json!({
            "hostRef": {"name": name},
            "allocation": {"vcpus": 8, "memoryBytes": 17_179_869_184_i64, "disks": [{"name": "root", "sizeBytes": 107_374_182_400_i64, "type": "SSD"}]},
        });
        fleet.add("VirtualMachine", &format!("{name}-vm1"), spec);
    }
}
