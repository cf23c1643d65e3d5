//! The work: machines of a cluster-scoped kind with a structural schema, 1,024 bytes each as they are sent.

use serde_json::json;

/// Where the definition is made.
pub const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// The definition's name.
pub const DEFINITION: &str = "machines.bench.groundplane.dev";
/// The definition.
pub const DEFINED: &str = include_str!("definition.json");
/// Where the machines are.
pub const MACHINES: &str = "/apis/bench.groundplane.dev/v1/machines";

/// How many bytes a machine has as it is sent.
pub const SENT: usize = 1_024;
/// Values of the label `site`, and of `rack`.
pub const SITES: usize = 10;
pub const RACKS: usize = 500;

const ROLES: [&str; 3] = ["compute", "control", "storage"];

/// Machine `number` as it is created or applied; `turn` changes what it says.
pub fn machine(number: usize, turn: u64) -> Vec<u8> {
    let mut machine = json!({
        "apiVersion": "bench.groundplane.dev/v1",
        "kind": "Machine",
        "metadata": {"name": name(number), "labels": {
            "site": format!("site-{}", number % SITES),
            "rack": rack(number),
            "role": ROLES[number % ROLES.len()],
        }},
        "spec": {
            "rack": rack(number),
            "power": power(turn),
            "position": number % 42 + 1,
            "serial": format!("SN{number:012}"),
            "model": "PowerBlade R760",
            "vendor": "Example",
            "asset": format!("A-{number:06}"),
            "owner": "bench",
            "firmware": "2.19.1",
            "purchased": "2026-03-01",
            "warranty": "2031-03-01",
            "bmc": {"address": format!("10.{}.{}.{}", number >> 16, number >> 8 & 255, number & 255), "port": 623},
            "interfaces": [
                {"name": "eth0", "mac": format!("02:00:00:{:02x}:{:02x}:{:02x}", number >> 16, number >> 8 & 255, number & 255), "speed": 25_000},
                {"name": "eth1", "mac": format!("02:00:01:{:02x}:{:02x}:{:02x}", number >> 16, number >> 8 & 255, number & 255), "speed": 25_000},
            ],
            "disks": ["nvme0n1", "nvme1n1"],
            "turn": turn,
            "notes": "",
        },
    });
    let missing = SENT.saturating_sub(machine.to_string().len());
    machine["spec"]["notes"] = ".".repeat(missing).into();
    machine.to_string().into_bytes()
}

/// A merge patch of a machine.
pub fn patch(turn: u64) -> Vec<u8> {
    json!({"spec": {"power": power(turn), "turn": turn}}).to_string().into_bytes()
}

/// A merge patch of its status.
pub fn status(turn: u64) -> Vec<u8> {
    json!({"status": {"phase": "Ready", "seen": turn}}).to_string().into_bytes()
}

fn power(turn: u64) -> &'static str {
    if turn.is_multiple_of(2) { "on" } else { "off" }
}

/// The rack of a machine.
pub fn rack(number: usize) -> String {
    format!("rack-{:03}", number % RACKS)
}

/// Where a machine is. Names stand in another order than the machines are made in.
pub fn path(number: usize) -> String {
    format!("{MACHINES}/{}", name(number))
}

fn name(number: usize) -> String {
    format!("m-{:016x}", Random(number as u64).next())
}

/// Numbers that look random and are the same in every run (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}
