//! `compute deploy`: makes or changes a workload, and follows its rollout.

mod ask;
mod diff;
mod manifest;
mod settings;

use std::time::Duration;

use cli::{Ask, Failure, Session};
use http::Method;
use serde_json::{Value, json};

pub use self::diff::{lines as diff_lines, places};
pub use self::settings::Scale;
use self::settings::Settings;
use crate::api::{self, Compute, is_same, name};
use crate::catalog::city_codes;
use crate::gate::confirmed;
use crate::output::line;
use crate::text::{at, list, number};
use crate::watch;

/// How long the first city of a project is waited for.
const FIRST_CITY: Duration = Duration::from_secs(10);

/// Deploy a workload: create it, or change what you name and keep the rest.
///
/// Every setting that a deploy does not mention stays as it is. Shows what will change and asks before it does it, unless
/// --yes is set or there is no terminal. Then follows the rollout city by city; Ctrl-C detaches, and the rollout goes on. A
/// rollout that fails ends the command with exit code 3, the reason, and the last lines of the instance; instances of the
/// version before go on.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Name of the workload.
    #[arg(value_name = "WORKLOAD")]
    name: Option<String>,

    #[command(flatten)]
    settings: Settings,

    /// File with the workload as YAML or JSON, - for standard input. Replaces the whole specification.
    #[arg(long, short, value_name = "FILE", conflicts_with = "settings")]
    file: Option<String>,

    /// Show what would change, checked by the server, and change nothing.
    #[arg(long)]
    dry_run: bool,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,

    /// Also write the workload to this file, without what the server adds.
    #[arg(long, value_name = "FILE")]
    save: Option<String>,

    #[command(flatten)]
    wait: Wait,

    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
}

/// How long a rollout is followed.
#[derive(clap::Args, Debug, Clone)]
pub struct Wait {
    /// Return as soon as the change is made.
    #[arg(long, visible_alias = "detach")]
    no_wait: bool,

    /// Stop following after this time, such as 90s, 15m or 1h, with exit code 4. The rollout goes on.
    #[arg(long, value_name = "TIME", default_value = "15m")]
    timeout: String,
}

impl Wait {
    /// Follows the rollout of a workload, if that is wanted.
    pub async fn follow(
        &self,
        workload: &Value,
        compute: &Compute,
        session: &mut Session,
    ) -> Result<(), Failure> {
        if self.no_wait {
            let command = compute.program.command(&format!("rollout status {}", name(workload)));
            session.console.say(&format!("Rollout started. Follow it with: {command}"));
            return Ok(());
        }
        watch::until_done(name(workload), self.limit()?, compute, session).await
    }

    /// The time limit.
    pub fn limit(&self) -> Result<Duration, Failure> {
        cli::duration(&self.timeout).filter(|limit| !limit.is_zero()).ok_or_else(|| {
            Failure::usage(format!("--timeout {}: use a time such as 90s, 15m or 1h", self.timeout))
        })
    }
}

const EXAMPLES: &str = "\
Examples:
  groundplane compute deploy web --image ghcr.io/acme/web:1.4.2 --city DFW,IAD --min 2 --port 8080
  groundplane compute deploy web --image ghcr.io/acme/web:1.4.3        a new version; all else stays
  groundplane compute deploy web --env LOG_LEVEL=debug --env OLD-       set one variable, remove another
  groundplane compute deploy web --secret api-db:/etc/db --dry-run
  groundplane compute deploy -f workload.yaml --yes --timeout 5m";

/// Deploys.
pub async fn run(arguments: Arguments, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    // Before anything is done.
    arguments.wait.limit()?;
    let (before, after) = match &arguments.file {
        Some(file) => from_manifest(file, &arguments, compute, session).await?,
        None => from_settings(&arguments, compute, session).await?,
    };
    if before.is_none() {
        await_cities(compute).await?;
    }
    // What the server would make of it, with defaults.
    let checked = write(before.as_ref(), &after, None, true, compute).await?;
    if before.as_ref().is_some_and(|before| is_same(before, &checked)) {
        session.console.say("No changes detected.");
        return match arguments.dry_run {
            true => Ok(()),
            false => arguments.wait.follow(&after, compute, session).await,
        };
    }
    ensure_network(&after, &arguments, compute, session).await?;
    show(before.as_ref(), &checked, &arguments, session)?;
    if arguments.dry_run {
        return Ok(());
    }
    if !arguments.yes && session.console.can_ask && !confirmed("Apply? (Y/n): ", true, session) {
        session.console.say("Aborted.");
        return Ok(());
    }
    let written = write(before.as_ref(), &after, arguments.message.as_deref(), false, compute).await?;
    let what = if before.is_some() { "updated" } else { "created" };
    session.console.say(&format!("  workload/{} {what}", name(&written)));
    if let Some(file) = &arguments.save {
        manifest::save(file, &written, &compute.program)?;
        session.console.say(&format!("Saved {file}"));
    }
    arguments.wait.follow(&written, compute, session).await
}

/// Gives a project that has no city yet a moment: where compute was just enabled, its cities follow.
async fn await_cities(compute: &Compute) -> Result<(), Failure> {
    let begun = std::time::Instant::now();
    while city_codes(compute).await?.is_empty() && begun.elapsed() < FIRST_CITY {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

async fn from_manifest(
    file: &str,
    arguments: &Arguments,
    compute: &Compute,
    session: &mut Session,
) -> Result<(Option<Value>, Value), Failure> {
    let mut after = manifest::read(file, session)?;
    if let Some(given) = &arguments.name
        && given != name(&after)
    {
        return Err(Failure::usage(format!("{file} is workload {:?}, not {given:?}", name(&after))));
    }
    let before = compute.find_workload(name(&after)).await?;
    if let Some(before) = &before {
        for field in ["resourceVersion", "uid"] {
            after["metadata"][field] = before["metadata"][field].clone();
        }
    }
    Ok((before, after))
}

async fn from_settings(
    arguments: &Arguments,
    compute: &Compute,
    session: &mut Session,
) -> Result<(Option<Value>, Value), Failure> {
    let mut settings = arguments.settings.clone();
    let name = match &arguments.name {
        Some(name) => name.clone(),
        None if session.console.can_ask && settings.image.is_none() => {
            ask::for_all(&mut settings, compute, session).await?
        }
        None => {
            return Err(Failure::usage(
                "workload name and --image are required, or use -f to specify a manifest file",
            ));
        }
    };
    let before = compute.find_workload(&name).await?;
    let after = match &before {
        Some(before) => settings.changed(before)?,
        None => settings.new_workload(&name)?,
    };
    Ok((before, after))
}

/// Writes the workload, guarded by the version that it was read at.
async fn write(
    before: Option<&Value>,
    after: &Value,
    message: Option<&str>,
    dry_run: bool,
    compute: &Compute,
) -> Result<Value, Failure> {
    match before {
        Some(before) => compute.change(before, after, message, dry_run).await,
        None => compute.create(after, message, dry_run).await,
    }
}

fn show(
    before: Option<&Value>,
    after: &Value,
    arguments: &Arguments,
    session: &mut Session,
) -> Result<(), Failure> {
    if arguments.dry_run {
        for text in diff::lines(before, after) {
            line(&text, session)?;
        }
        return Ok(());
    }
    match before {
        None => {
            session.console.say(&format!("Workload {:?} does not exist: creating it.", name(after)));
            for placement in list(after, "/spec/placements") {
                session.console.say(&format!(
                    "  Placement {:?}: {}, min={}",
                    at(placement, "/name"),
                    diff::places(placement),
                    number(placement, "/scaleSettings/minReplicas")
                ));
            }
        }
        Some(_) => {
            for text in diff::lines(before, after) {
                session.console.say(&format!("  {text}"));
            }
        }
    }
    if is_in_several_places(after) && !before.is_some_and(is_in_several_places) {
        session.console.say("  Traffic between cities is not carried: each city has an address of its own.");
    }
    Ok(())
}

/// Whether a workload can be in more than one city.
fn is_in_several_places(workload: &Value) -> bool {
    let mut cities: Vec<&str> = Vec::new();
    for placement in list(workload, "/spec/placements") {
        if placement.get("locationSelector").is_some() {
            return true;
        }
        let named = list(placement, "/cityCodes").filter_map(Value::as_str);
        let located = list(placement, "/locations").map(|location| at(location, "/name"));
        cities.extend(named.chain(located));
    }
    cities.sort_unstable();
    cities.dedup();
    cities.len() > 1
}

/// The networks of the workload; a missing one is made if somebody agrees.
async fn ensure_network(
    workload: &Value,
    arguments: &Arguments,
    compute: &Compute,
    session: &mut Session,
) -> Result<(), Failure> {
    for interface in list(workload, "/spec/template/spec/networkInterfaces") {
        let network = at(interface, "/network/name");
        if network.is_empty() || compute.find(&api::networks(network)).await?.is_some() {
            continue;
        }
        let project = &compute.project;
        if arguments.dry_run {
            session.console.say(&format!(
                "Network {network:?} does not exist in project {project}; a deploy asks whether to create it."
            ));
            continue;
        }
        if !arguments.yes {
            if !session.console.can_ask {
                return Err(Failure::other(format!(
                    "network {network:?} not found in project {project} — use --yes to auto-create or create it first"
                )));
            }
            session.console.say(&format!("  Network {network:?} does not exist in project {project}."));
            if !confirmed("  Create it now? (Y/n): ", true, session) {
                session.console.say("Aborted.");
                return Err(Failure::Exit(0));
            }
        }
        let object = json!({
            "apiVersion": "networking.datumapis.com/v1alpha", "kind": "Network",
            "metadata": {"name": network, "namespace": "default"}, "spec": {"ipam": {"mode": "Auto"}},
        });
        compute.client().value(&Ask::new(Method::POST, api::networks("")).json(&object)).await?;
        session.console.say(&format!("  network/{network} created"));
    }
    Ok(())
}
