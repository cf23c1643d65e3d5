//! Follows a rollout city by city, until it is done, fails, or takes too long.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cli::{Failure, Session};
use client::ListOptions;
use compute::names;
use compute::rollout::has_template;
use compute::shown::{self, DeploymentPhase};
use krm::Object;
use serde_json::Value;

use crate::api::{self, Compute, city};
use crate::text::{at, list, number, took};

/// Exit code of a rollout that failed.
const FAILED: u8 = 3;
/// Exit code of a rollout that took too long.
const TIMED_OUT: u8 = 4;
/// How often is looked without an event.
const TICK: Duration = Duration::from_secs(1);
/// How long a rollout may stand still before it is shown as blocked.
const STALL: Duration = Duration::from_secs(30);
/// Lines of a failed instance that are shown.
const LINES: usize = 10;

/// Follows the rollout of a workload. Prints a line for each change in a city.
pub async fn until_done(
    name: &str,
    limit: Duration,
    compute: &Compute,
    session: &mut Session,
) -> Result<(), Failure> {
    session.console.say("Waiting for rollout. Ctrl-C to detach (rollout continues in background).\n");
    let begun = Instant::now();
    let selector = format!("{}={name}", names::WORKLOAD_NAME);
    let mut changes = compute
        .client()
        .inner()
        .resource(&format!("{}/{}", compute::GROUP, compute::VERSION), "workloaddeployments")
        .in_namespace("default")
        .watch(ListOptions::labelled(&selector));
    let mut progress = Progress::default();
    loop {
        let workload = compute.workload(name).await?;
        let deployments = compute.deployments(Some(&workload)).await?;
        let current: Vec<&Value> = deployments.iter().filter(|one| is_current(&workload, one)).collect();
        for line in progress.news(&current) {
            session.console.say(&line);
        }
        match verdict(&workload, &deployments) {
            Verdict::Done => {
                session.console.say(&format!("Rollout complete in {}.", took(begun.elapsed().as_secs())));
                return addresses(&deployments, session);
            }
            Verdict::Paused => {
                let command = compute.program.command(&format!("rollout resume {name}"));
                session.console.say(&format!("The rollout is paused. Go on with: {command}"));
                return Ok(());
            }
            Verdict::Canary => {
                let (on, back) = (
                    compute.program.command(&format!("rollout resume {name}")),
                    compute.program.command(&format!("rollout undo {name}")),
                );
                session.console.say("The new version runs on one instance; the others wait.");
                session.console.say(&format!("Let them follow with: {on}\nTake it back with:    {back}"));
                return Ok(());
            }
            Verdict::Failed { deployment, reason, message } => {
                return failed(name, deployment, &reason, &message, compute, session).await;
            }
            Verdict::Going => {}
        }
        if begun.elapsed() >= limit {
            let command = compute.program.command(&format!("rollout status {name}"));
            session.console.say(&format!(
                "The rollout is not done after {}. It goes on; follow it with: {command}",
                took(limit.as_secs())
            ));
            return Err(Failure::Exit(TIMED_OUT));
        }
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {
                session.console.say("\nDetached. Rollout continues in background.");
                return Ok(());
            }
            _ = next_change(&mut changes) => {}
            () = tokio::time::sleep(TICK) => {}
        }
    }
}

/// Waits for something to look at. What is wrong with a watch shows in the lists, too.
async fn next_change(changes: &mut client::Watch<Object>) {
    if changes.next().await.is_err() {
        std::future::pending::<()>().await;
    }
}

enum Verdict {
    Going,
    Done,
    Paused,
    Canary,
    Failed { deployment: Option<Value>, reason: String, message: String },
}

/// What the workload says of its rollout, once it has seen the last change.
fn verdict(workload: &Value, deployments: &[Value]) -> Verdict {
    let is_seen = workload["status"]["observedGeneration"] == workload["metadata"]["generation"];
    if !is_seen {
        return Verdict::Going;
    }
    let are_done = !deployments.is_empty()
        && deployments.iter().all(|deployment| shown::deployment(deployment).0 == DeploymentPhase::Done);
    let rollout = &workload["status"]["rollout"];
    match at(rollout, "/phase") {
        "Paused" => Verdict::Paused,
        "Canary" if are_done => Verdict::Canary,
        "Done" if are_done => Verdict::Done,
        "Blocked" => {
            let is_blocked = |one: &&Value| shown::deployment(one).0 == DeploymentPhase::Blocked;
            Verdict::Failed {
                deployment: deployments.iter().find(is_blocked).cloned(),
                reason: at(rollout, "/reason").to_owned(),
                message: at(rollout, "/message").to_owned(),
            }
        }
        _ => Verdict::Going,
    }
}

/// Whether the status of a deployment is about what the workload wants now.
fn is_current(workload: &Value, deployment: &Value) -> bool {
    let is_held_back = matches!(at(workload, "/status/rollout/phase"), "Paused" | "Canary");
    let is_seen = deployment["status"]["observedGeneration"] == deployment["metadata"]["generation"];
    let object = Object::from_value(deployment.clone()).unwrap_or_default();
    is_seen && (is_held_back || has_template(&workload["spec"]["template"], &object))
}

async fn failed(
    name: &str,
    deployment: Option<Value>,
    reason: &str,
    message: &str,
    compute: &Compute,
    session: &mut Session,
) -> Result<(), Failure> {
    let place = deployment.as_ref().map(|deployment| format!(" in {}", city(deployment))).unwrap_or_default();
    session.console.say(&format!("Rollout failed{place}: {}", sentence(reason, message)));
    let instance =
        deployment.as_ref().map(|one| at(one, "/status/failure/instance").to_owned()).unwrap_or_default();
    if !instance.is_empty()
        && let Some(instance) = compute.find(&api::path("instances", &instance)).await?
    {
        let lines: Vec<&str> = list(&instance, "/status/lastLines").filter_map(Value::as_str).collect();
        if !lines.is_empty() {
            session.console.say(&format!("Last lines of {}:", api::name(&instance)));
            lines
                .iter()
                .skip(lines.len().saturating_sub(LINES))
                .for_each(|line| session.console.say(&format!("  {line}")));
        }
    }
    session.console.say(&format!("Next: {}", next_step(name, reason, compute)));
    Err(Failure::Exit(FAILED))
}

/// A failure in plain words.
pub fn sentence(reason: &str, message: &str) -> String {
    let words = match reason {
        "ImageUnavailable" => "the image can't be pulled",
        "InstanceCrashing" => "the instance crashes",
        "ConfigurationError" => "the configuration is wrong",
        "SourceNotFound" | "SourceTooLarge" | "SourceUnauthorized" => "a ConfigMap or Secret can't be used",
        "NetworkNotFound" | "NetworkFailedToCreate" => "the network does not exist",
        "QuotaExceeded" | "QuotaNotGranted" => "quota exceeded",
        "NoMatchingLocation" | "NoMatchingLocations" => "no location for it",
        "ServiceRevoked" => "access to compute was revoked",
        "MachineNotReady" => "the machine can't run containers",
        _ => "instances can't be started",
    };
    if message.is_empty() { words.to_owned() } else { format!("{words} — {message}") }
}

fn next_step(name: &str, reason: &str, compute: &Compute) -> String {
    let words = match reason {
        "QuotaExceeded" | "QuotaNotGranted" => "quota".to_owned(),
        "NoMatchingLocation" | "NoMatchingLocations" => "cities".to_owned(),
        "ServiceRevoked" => "access".to_owned(),
        "MachineNotReady" if !compute.program.is_plugin() => return "groundplane doctor".to_owned(),
        "ImageUnavailable" | "InstanceCrashing" | "ConfigurationError" => format!("rollout undo {name}"),
        _ => format!("status {name}"),
    };
    compute.program.command(&words)
}

/// Where the workload can be reached, a URL in a line: the last line of a deploy.
fn addresses(deployments: &[Value], session: &mut Session) -> Result<(), Failure> {
    for url in urls(deployments) {
        crate::output::line(url, session)?;
    }
    Ok(())
}

/// The addresses of these deployments as URLs, each once: placements in one city share theirs.
pub fn urls(deployments: &[Value]) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for address in deployments.iter().flat_map(|deployment| list(deployment, "/status/addresses")) {
        let url = at(address, "/url");
        if !url.is_empty() && !found.contains(&url) {
            found.push(url);
        }
    }
    found
}

/// What was shown of each city, and since when nothing has changed there.
#[derive(Default)]
struct Progress {
    shown: BTreeMap<(String, String), (Counts, Instant)>,
    has_header: bool,
}

#[derive(Clone, PartialEq, Eq)]
struct Counts {
    updated: i64,
    ready: i64,
    old: i64,
    phase: &'static str,
}

impl Progress {
    /// Lines for the cities in which something has changed.
    fn news(&mut self, deployments: &[&Value]) -> Vec<String> {
        let mut lines = Vec::new();
        for deployment in deployments {
            let key = (at(deployment, "/spec/placementName").to_owned(), city(deployment).to_owned());
            let (phase, blocked) = shown::deployment(deployment);
            let updated = number(deployment, "/status/updatedReplicas");
            let counts = Counts {
                updated,
                ready: number(deployment, "/status/readyReplicas"),
                old: (number(deployment, "/status/replicas") - updated).max(0),
                phase: word(phase),
            };
            let now = Instant::now();
            let before = self.shown.get(&key);
            let is_stalled = before.is_some_and(|(before, since)| {
                Counts { phase: counts.phase, ..before.clone() } == counts
                    && now.duration_since(*since) > STALL
                    && matches!(phase, DeploymentPhase::Pending | DeploymentPhase::Updating)
            });
            let counts = if is_stalled { Counts { phase: "Blocked", ..counts } } else { counts };
            if before.is_some_and(|(before, _)| *before == counts) {
                continue;
            }
            if !self.has_header {
                lines.push(format!(
                    "  {:<12}{:<7}{:<10}{:<8}{:<6}PHASE",
                    "PLACEMENT", "CITY", "UPDATED", "READY", "OLD"
                ));
                self.has_header = true;
            }
            let Counts { updated, ready, old, phase } = &counts;
            lines.push(format!("  {:<12}{:<7}{updated:<10}{ready:<8}{old:<6}{phase}", key.0, key.1));
            if is_stalled {
                let condition = list(deployment, "/status/conditions").find(|one| one["type"] == "Available");
                let (reason, message) =
                    condition.map_or(("", ""), |one| (at(one, "/reason"), at(one, "/message")));
                lines.push(format!("    Blocked reason: {}", sentence(reason, message)));
            } else if let Some((reason, message)) = blocked {
                lines.push(format!("    Blocked reason: {}", sentence(&reason, &message)));
            }
            let since = before.filter(|_| is_stalled).map_or(now, |(_, since)| *since);
            self.shown.insert(key, (counts, since));
        }
        lines
    }
}

fn word(phase: DeploymentPhase) -> &'static str {
    match phase {
        DeploymentPhase::Pending => "Pending",
        DeploymentPhase::Updating => "Updating",
        DeploymentPhase::Blocked => "Blocked",
        DeploymentPhase::Done => "Done",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn deployment(updated: i64, ready: i64, replicas: i64) -> Value {
        json!({"metadata": {"generation": 1, "labels": {(names::CITY_CODE): "DFW"}},
            "spec": {"placementName": "default", "cityCode": "DFW"},
            "status": {"observedGeneration": 1, "desiredReplicas": 2, "replicas": replicas,
                "currentReplicas": ready.min(updated), "updatedReplicas": updated, "readyReplicas": ready}})
    }

    #[test]
    fn a_line_is_printed_only_when_something_changed() {
        let mut progress = Progress::default();
        let first = progress.news(&[&deployment(0, 0, 0)]);
        assert_eq!(first[0], "  PLACEMENT   CITY   UPDATED   READY   OLD   PHASE");
        assert_eq!(first[1], "  default     DFW    0         0       0     Pending");
        assert!(progress.news(&[&deployment(0, 0, 0)]).is_empty());
        assert_eq!(
            progress.news(&[&deployment(1, 1, 2)]),
            ["  default     DFW    1         1       1     Updating"]
        );
        assert_eq!(
            progress.news(&[&deployment(2, 2, 2)]),
            ["  default     DFW    2         2       0     Done"]
        );
    }

    #[test]
    fn a_rollout_is_not_done_before_the_change_was_seen() {
        let mut workload = json!({"metadata": {"generation": 2}, "status": {"observedGeneration": 1, "deployments": 1, "rollout": {"phase": "Done"}}});
        let done = [deployment(2, 2, 2)];
        assert!(matches!(verdict(&workload, &done), Verdict::Going));
        workload["status"]["observedGeneration"] = json!(2);
        assert!(matches!(verdict(&workload, &done), Verdict::Done));
        workload["status"]["rollout"] = json!({"phase": "Updating"});
        assert!(matches!(verdict(&workload, &done), Verdict::Going), "a city is still missing");
        workload["status"]["rollout"] =
            json!({"phase": "Blocked", "reason": "ImageUnavailable", "message": "not found"});
        let mut bad = deployment(0, 0, 1);
        bad["status"]["failure"] =
            json!({"instance": "web-0", "reason": "ImageUnavailable", "message": "not found"});
        assert!(matches!(verdict(&workload, &[bad]), Verdict::Failed { deployment: Some(_), .. }));
    }
}
