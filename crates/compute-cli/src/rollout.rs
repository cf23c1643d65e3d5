//! `compute rollout`: follows, lists, takes back, restarts, pauses and resumes rollouts.

pub mod history;
pub mod restart;
mod undo;

use cli::{Failure, Session};
use serde_json::{Value, json};

use crate::api::{Compute, name};
use crate::deploy::Wait;
use crate::text::at;

/// Follow a rollout, list the revisions of a workload, or take one back.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    /// Name of the workload whose rollout is followed. A workload that is called like a subcommand: rollout status NAME.
    #[arg(required = true)]
    #[arg(value_name = "WORKLOAD")]
    name: Option<String>,

    #[command(flatten)]
    wait: Wait,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Follow the rollout of a workload until it is done.
    #[command(after_help = "Examples:\n  groundplane compute rollout status web --timeout 5m")]
    Status {
        /// Name of the workload.
        #[arg(value_name = "WORKLOAD")]
        name: String,
        #[command(flatten)]
        wait: Wait,
    },
    History(history::Arguments),
    Undo(undo::Arguments),
    Restart(restart::Arguments),
    /// Keep instances as they are though the workload changes.
    #[command(after_help = "Examples:\n  groundplane compute rollout pause web")]
    Pause {
        /// Name of the workload.
        #[arg(value_name = "WORKLOAD")]
        name: String,
    },
    /// Go on with a rollout that is paused, or that waits after its first instance (--canary).
    #[command(after_help = "Examples:\n  groundplane compute rollout resume web")]
    Resume {
        /// Name of the workload.
        #[arg(value_name = "WORKLOAD")]
        name: String,
        #[command(flatten)]
        wait: Wait,
    },
}

const EXAMPLES: &str = "\
Examples:
  groundplane compute rollout web
  groundplane compute rollout history web --diff
  groundplane compute rollout undo web --to-revision 7
  groundplane compute rollout restart web --city DFW";

/// Runs a command about rollouts.
pub async fn run(arguments: Arguments, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    let (name, wait) = match arguments.command {
        Some(Command::History(arguments)) => return history::run(&arguments, compute, session).await,
        Some(Command::Undo(arguments)) => return undo::run(&arguments, compute, session).await,
        Some(Command::Restart(arguments)) => return restart::run(&arguments, compute, session).await,
        Some(Command::Pause { name }) => return pause(&name, compute, session).await,
        Some(Command::Resume { name, wait }) => return resume(&name, &wait, compute, session).await,
        Some(Command::Status { name, wait }) => (name, wait),
        None => (arguments.name.unwrap_or_default(), arguments.wait),
    };
    wait.limit()?;
    let workload = compute.workload(&name).await?;
    let revision = &workload["metadata"]["generation"];
    session.console.say(&format!("Rolling workload {name:?}  rev #{revision}"));
    wait.follow(&workload, compute, session).await
}

async fn pause(name: &str, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    let before = compute.workload(name).await?;
    let mut workload = before.clone();
    if workload["spec"]["rollout"]["paused"] == true {
        session.console.say(&format!("Workload {name:?} is paused already."));
        return Ok(());
    }
    workload["spec"]["rollout"]["paused"] = json!(true);
    compute.change(&before, &workload, Some("rollout paused"), false).await?;
    session.console.say(&format!("Paused workload {name:?}: its instances stay as they are."));
    let command = compute.program.command(&format!("rollout resume {name}"));
    session.console.say(&format!("Go on with: {command}"));
    Ok(())
}

async fn resume(name: &str, wait: &Wait, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    wait.limit()?;
    let before = compute.workload(name).await?;
    let mut workload = before.clone();
    let hash = at(&workload, "/status/templateHash").to_owned();
    if !go_on(&mut workload, &hash) {
        session.console.say(&format!("Nothing of workload {name:?} is paused."));
        return Ok(());
    }
    let written = compute.change(&before, &workload, Some("rollout resumed"), false).await?;
    session.console.say(&format!("Resumed the rollout of workload {:?}.", self::name(&written)));
    wait.follow(&written, compute, session).await
}

/// Ends a pause, and lets all instances follow the one that tries the new version. Tells whether there was something to do.
fn go_on(workload: &mut Value, hash: &str) -> bool {
    let waits = at(workload, "/status/rollout/phase") == "Canary";
    let rollout = &mut workload["spec"]["rollout"];
    let mut changed = false;
    if rollout["paused"] == true {
        rollout["paused"] = json!(false);
        changed = true;
    }
    if waits && !hash.is_empty() && rollout["promoted"] != hash {
        rollout["promoted"] = json!(hash);
        changed = true;
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resuming_ends_a_pause_and_promotes_what_is_tried() {
        let mut paused = json!({"spec": {"rollout": {"paused": true}}});
        assert!(go_on(&mut paused, "abc"));
        assert_eq!(paused["spec"]["rollout"], json!({"paused": false}));
        let mut tried =
            json!({"spec": {"rollout": {"canary": true}}, "status": {"rollout": {"phase": "Canary"}}});
        assert!(go_on(&mut tried, "abc"));
        assert_eq!(tried["spec"]["rollout"]["promoted"], "abc");
        assert!(!go_on(&mut tried, "abc"));
    }
}
