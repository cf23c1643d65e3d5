//! `groundplane host describe`: a host with its place in the inventory and who holds it.

use cli::{Failure, Session};
use serde_json::Value;

use crate::find;
use crate::output::{self, Form, text};
use crate::table::{self, HOSTS};

/// Show a host: its hardware, where the inventory has it, who holds it, and its conditions.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane host describe node001\n  groundplane host describe node001 -o yaml"
)]
pub struct Arguments {
    /// Name or identifier.
    #[arg(value_name = "NAME")]
    name: String,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

/// Shows the host.
pub async fn run(arguments: &Arguments, session: &mut Session) -> Result<(), Failure> {
    let host = find::one(&HOSTS, &arguments.name, session).await?;
    if matches!(arguments.output, Form::Json | Form::Yaml) {
        return output::value(arguments.output, &host, session);
    }
    output::fields(&described(&host), session)
}

fn described(host: &Value) -> Vec<(&'static str, String)> {
    let owned = |pointer: &str| text(host, pointer).to_owned();
    vec![
        ("ID", table::identifier(host)),
        ("Name", table::name(host)),
        ("Title", owned("/spec/title")),
        ("Class", owned("/spec/class")),
        ("Labels", labels(host)),
        ("Power", power(host)),
        ("State", table::word(host, "/status/state", "HOST_STATE_")),
        ("Cluster", cluster(host)),
        ("Hub", owned("/status/hub")),
        ("Holder", holder(host)),
        ("BMC", owned("/spec/bmc/url")),
        ("BMC user", owned("/spec/bmc/user")),
        ("BMC password", password(host)),
        ("Boot MAC", owned("/spec/bootMac")),
        ("Boot IP", owned("/spec/bootIp")),
        ("Serial", owned("/spec/hardware/serial")),
        ("Hardware", hardware(host)),
        ("Rack", owned("/spec/rack")),
        ("Node", node(host)),
        ("Placement", placement(host)),
        ("Ports", ports(host)),
        ("Power feeds", feeds(host)),
        ("Source", owned("/spec/bcmLink")),
        ("Conditions", conditions(host)),
        ("Created", owned("/metadata/creationTimestamp")),
        ("Description", owned("/spec/description")),
    ]
}

fn labels(host: &Value) -> String {
    let labels = host.pointer("/metadata/labels").and_then(Value::as_object);
    let pairs = labels
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()));
    pairs.collect::<Vec<_>>().join("\n")
}

fn power(host: &Value) -> String {
    let state = |pointer: &str| table::word(host, pointer, "HOST_POWER_STATE_");
    match (state("/status/powerState"), state("/spec/powerState")) {
        (observed, wanted) if wanted == "-" || wanted == observed => observed,
        (observed, wanted) => format!("{observed} (desired: {wanted})"),
    }
}

fn cluster(host: &Value) -> String {
    match (text(host, "/status/cluster"), text(host, "/status/project")) {
        ("", _) => "-".to_owned(),
        (cluster, "") => cluster.to_owned(),
        (cluster, project) => format!("{cluster} of project {project}"),
    }
}

fn holder(host: &Value) -> String {
    let Some(claim) = host.pointer("/status/claim") else { return "-".to_owned() };
    let mut told = format!("{} (epoch {})", text(claim, "/holder"), claim["epoch"]);
    match text(claim, "/delegate") {
        "" => {}
        delegate => told.push_str(&format!("\ndelegated to {delegate}")),
    }
    match text(claim, "/outsideDriver") {
        "" => {}
        driver => told.push_str(&format!("\ndriven by {driver}")),
    }
    told
}

fn password(host: &Value) -> String {
    match host.pointer("/spec/bmc/passwordRef/generation").and_then(Value::as_i64) {
        Some(1) => "sealed".to_owned(),
        Some(generation) => format!("sealed (changed {} times)", generation - 1),
        None => String::new(),
    }
}

fn hardware(host: &Value) -> String {
    let list = |pointer: &str| host.pointer(pointer).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut lines = Vec::new();
    let model = [text(host, "/spec/hardware/manufacturer"), text(host, "/spec/hardware/model")];
    lines.push(model.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" "));
    let cpus = list("/spec/hardware/cpus");
    if !cpus.is_empty() {
        let cores: i64 = cpus.iter().filter_map(|cpu| cpu["cores"].as_i64()).sum();
        lines.push(format!("{} CPUs, {cores} cores", cpus.len()));
    }
    if let Some(bytes) = host.pointer("/spec/hardware/memoryBytes").and_then(Value::as_i64) {
        lines.push(format!("{} GiB memory", bytes >> 30));
    }
    for (pointer, noun) in
        [("/spec/hardware/nics", "network interfaces"), ("/spec/hardware/drives", "drives")]
    {
        let count = list(pointer).len();
        if count > 0 {
            lines.push(format!("{count} {noun}"));
        }
    }
    for firmware in list("/spec/hardware/firmware") {
        lines.push(format!("{} {}", text(&firmware, "/component"), text(&firmware, "/version")));
    }
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

fn node(host: &Value) -> String {
    match (text(host, "/status/node/name"), text(host, "/status/node/foundBy")) {
        ("", _) => "-".to_owned(),
        (name, by) => {
            format!("{name} (found by {})", if by == "MAC" { by.to_owned() } else { by.to_lowercase() })
        }
    }
}

fn placement(host: &Value) -> String {
    let at = |field: &str| text(host, &format!("/status/placement/{field}"));
    let number = |field: &str| host.pointer(&format!("/status/placement/{field}")).and_then(Value::as_i64);
    let mut parts = Vec::new();
    if !at("site").is_empty() {
        parts.push(format!("site {}", at("site")));
    }
    if !at("rack").is_empty() {
        parts.push(format!("rack {}", at("rack")));
    }
    if let (Some(start), Some(units)) = (number("startUnit"), number("units")) {
        parts.push(match units {
            1 => format!("U{start}"),
            units => format!("U{start} to U{}", start + units - 1),
        });
    }
    parts.join(", ")
}

fn ports(host: &Value) -> String {
    let ports = host.pointer("/status/placement/ports").and_then(Value::as_array);
    let lines = ports.into_iter().flatten().map(|port| {
        let to = match text(port, "/connectedTo") {
            "" => String::new(),
            other => format!(" to {other}"),
        };
        format!("{} {}{to}", text(port, "/name"), text(port, "/mac")).trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn feeds(host: &Value) -> String {
    let feeds = host.pointer("/status/placement/feeds").and_then(Value::as_array);
    feeds.into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
}

fn conditions(host: &Value) -> String {
    let conditions = host.pointer("/status/conditions").and_then(Value::as_array);
    let lines = conditions.into_iter().flatten().map(|condition| {
        let (kind, status) = (text(condition, "/type"), text(condition, "/status"));
        let (reason, message) = (text(condition, "/reason"), text(condition, "/message"));
        let colon = if message.is_empty() { "" } else { ": " };
        format!("{kind} {status} ({reason}){colon}{message}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_host_is_told_with_its_place_and_its_holder_and_without_its_password() {
        let host = json!({
            "metadata": {"name": "node001"},
            "spec": {"powerState": "HOST_POWER_STATE_ON", "bmc": {"passwordRef": {"generation": 3}}},
            "status": {
                "powerState": "HOST_POWER_STATE_OFF", "claim": {"holder": "User/alice", "epoch": 4, "outsideDriver": "Metal3"},
                "node": {"name": "n1", "foundBy": "Serial"},
                "placement": {"site": "fra1", "rack": "a01", "startUnit": 3, "units": 2, "feeds": ["A", "B"],
                    "ports": [{"name": "eth0", "mac": "52:54:00:aa:bb:01", "connectedTo": "leaf1 swp1"}]},
            },
        });
        let told = described(&host);
        let of = |name: &str| {
            told.iter().find(|(found, _)| *found == name).map(|(_, value)| value.as_str()).unwrap()
        };
        assert_eq!(of("Power"), "OFF (desired: ON)");
        assert_eq!(of("Holder"), "User/alice (epoch 4)\ndriven by Metal3");
        assert_eq!(of("BMC password"), "sealed (changed 2 times)");
        assert_eq!(of("Node"), "n1 (found by serial)");
        assert_eq!(of("Placement"), "site fra1, rack a01, U3 to U4");
        assert_eq!(of("Ports"), "eth0 52:54:00:aa:bb:01 to leaf1 swp1");
        assert_eq!(of("Power feeds"), "A, B");
    }
}
