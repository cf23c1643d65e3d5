//! Follows a cluster until it is ready or gone, with a line for each step and each host.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cli::{Ask, Failure, Session};
use serde_json::Value;

use crate::output::text;
use crate::table::CLUSTERS;

/// How long a step may be over before it is seen.
const TICK: Duration = Duration::from_millis(500);

/// Whether and for how long to wait.
#[derive(clap::Args, Debug)]
pub struct Waiting {
    /// Wait until it is done, and show every step. Ctrl-C ends the waiting, not the work.
    #[arg(long)]
    wait: bool,

    /// How long to wait, such as 90m.
    #[arg(long, value_name = "DURATION", default_value = "3h")]
    timeout: String,
}

/// Follows a cluster if that is asked for.
pub async fn if_asked(waiting: &Waiting, cluster: &Value, session: &mut Session) -> Result<(), Failure> {
    if !waiting.wait {
        return Ok(());
    }
    let limit = cli::duration(&waiting.timeout);
    let limit = limit.ok_or_else(|| {
        Failure::usage(format!("--timeout {:?} is not a duration, such as 90m", waiting.timeout))
    })?;
    let begun = Instant::now();
    let uid = text(cluster, "/metadata/uid").to_owned();
    let wanted = cluster["metadata"]["generation"].as_i64().unwrap_or_default();
    let path = crate::find::path_of(&CLUSTERS, cluster);
    let mut told = Progress::default();
    loop {
        let now = match session.client().await?.value(&Ask::get(path.as_str())).await {
            Err(failure) if failure.is_not_found() => {
                session.console.say("The cluster is gone.");
                return Ok(());
            }
            found => found?,
        };
        if text(&now, "/metadata/uid") != uid {
            session.console.say("The cluster is gone.");
            return Ok(());
        }
        for line in told.news(&now) {
            session.console.say(&line);
        }
        let is_deleted = now.pointer("/metadata/deletionTimestamp").is_some();
        let observed = now["status"]["conditions"].as_array().into_iter().flatten();
        let observed = observed.filter_map(|it| it["observedGeneration"].as_i64()).max().unwrap_or_default();
        if text(&now, "/status/phase") == "Ready" && observed >= wanted && !is_deleted {
            session.console.say(&format!("The cluster is ready after {} s.", begun.elapsed().as_secs()));
            return Ok(());
        }
        if begun.elapsed() >= limit {
            let waits = text(&now, "/status/waitingFor").to_owned();
            return Err(Failure::other(format!(
                "the cluster is not ready after {}; it waits: {waits}",
                waiting.timeout
            ))
            .hint("it goes on; \"groundplane cluster describe\" shows how far it is"));
        }
        tokio::time::sleep(TICK).await;
    }
}

/// What was printed about a cluster so far.
#[derive(Default)]
struct Progress {
    phase: String,
    hosts: BTreeMap<String, String>,
    installed: BTreeMap<String, i64>,
}

impl Progress {
    /// What is new.
    fn news(&mut self, cluster: &Value) -> Vec<String> {
        let mut lines = Vec::new();
        let (phase, waits) = (text(cluster, "/status/phase"), text(cluster, "/status/waitingFor"));
        if phase != self.phase {
            let what = if waits.is_empty() { String::new() } else { format!(": {waits}") };
            lines.push(format!("{phase}{what}"));
            phase.clone_into(&mut self.phase);
        }
        let empty = serde_json::Map::new();
        for (name, set) in cluster["status"]["nodeSets"].as_object().unwrap_or(&empty) {
            for line in set["progress"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                let (host, step) = line.split_once(": ").unwrap_or((line, ""));
                if self.hosts.insert(host.to_owned(), step.to_owned()).as_deref() != Some(step) {
                    lines.push(format!("  {line}"));
                }
            }
            let installed = set["installed"].as_i64().unwrap_or_default();
            if self.installed.insert(name.clone(), installed) != Some(installed) && installed > 0 {
                lines.push(format!("  node set {name}: {installed} hosts installed"));
            }
        }
        lines
    }
}
