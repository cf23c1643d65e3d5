//! A cluster, for people.

use cli::{Failure, Session};
use serde_json::Value;

use crate::output::{self, text};
use crate::table;

/// Shows a cluster. The last line is the one thing that it waits for.
pub fn describe(cluster: &Value, session: &mut Session) -> Result<(), Failure> {
    let owned = |pointer: &str| text(cluster, pointer).to_owned();
    let phase = match (text(cluster, "/status/phase"), text(cluster, "/status/phaseSince")) {
        (phase, "") => phase.to_owned(),
        (phase, since) => format!("{phase}, since {since}"),
    };
    let fields = [
        ("ID", table::identifier(cluster)),
        ("Name", table::name(cluster)),
        ("Template", owned("/spec/template")),
        ("State", table::word(cluster, "/status/state", "CLUSTER_STATE_")),
        ("Phase", phase),
        ("Release", owned("/status/release")),
        ("API", owned("/status/apiUrl")),
        ("Console", owned("/status/consoleUrl")),
        ("Kubeconfig", table::sealed(cluster, "/status/kubeconfigRef")),
        ("Created", owned("/metadata/creationTimestamp")),
    ];
    output::fields(&fields, session)?;
    let mut rows = vec![["NODE SET", "CLASS", "WANTED", "INSTALLED", "HOSTS"].map(str::to_owned).to_vec()];
    let empty = serde_json::Map::new();
    for (name, wanted) in cluster["spec"]["nodeSets"].as_object().unwrap_or(&empty) {
        let has = &cluster["status"]["nodeSets"][name];
        let hosts: Vec<&str> =
            has["hosts"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut told = hosts.iter().take(8).copied().collect::<Vec<_>>().join(", ");
        if hosts.len() > 8 {
            told += &format!(" and {} more", hosts.len() - 8);
        }
        rows.push(vec![
            name.clone(),
            text(wanted, "/hostClass").to_owned(),
            wanted["size"].to_string(),
            has["installed"].as_i64().unwrap_or_default().to_string(),
            told,
        ]);
    }
    output::line("", session)?;
    output::table(&rows, session)?;
    for (_, set) in cluster["status"]["nodeSets"].as_object().unwrap_or(&empty) {
        for line in set["progress"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            output::line(&format!("  {line}"), session)?;
        }
    }
    let waits = text(cluster, "/status/waitingFor");
    let last = match (waits, text(cluster, "/status/phase")) {
        ("", "Ready") => "It waits for nothing.".to_owned(),
        ("", _) => "It waits for the platform to take it up.".to_owned(),
        (waits, _) => format!("It waits: {waits}."),
    };
    output::line(&format!("\n{last}"), session)
}
