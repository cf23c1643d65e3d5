//! `groundplane task watch`: follows a task until it ends.

use std::io::Write as _;
use std::time::Duration;

use cli::{Failure, Session};

use super::{children, has_ended, one, tree};
use crate::output::text;

/// Exit code of a task that failed.
const FAILED: u8 = 3;
/// Pause between two looks.
const TICK: Duration = Duration::from_millis(500);
/// Nodes that are shown at once.
const NODES: usize = 20;

/// Follow a task until it ends: a live tree in a terminal, else a line for each change.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane task watch deploy-nodes-7f3a -n site")]
pub struct Arguments {
    /// Name of the task.
    #[arg(value_name = "NAME")]
    name: String,
}

/// Follows the task.
pub async fn run(arguments: &Arguments, session: &mut Session) -> Result<(), Failure> {
    follow(&arguments.name, session).await
}

/// Follows a task until it ends. The exit code is 3 if it failed or was cancelled.
pub async fn follow(name: &str, session: &mut Session) -> Result<(), Failure> {
    let is_live = session.console.err_is_terminal;
    let mut drawn = 0;
    let mut before: Vec<String> = Vec::new();
    loop {
        let task = one(name, session).await?;
        let children = children(name, session).await?;
        let lines = tree::lines(&task, &children, NODES);
        match is_live {
            true => {
                // Up to the first line, and down from there.
                let up = if drawn > 0 { format!("\u{1b}[{drawn}A\u{1b}[J") } else { String::new() };
                let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
                let mut out = std::io::stderr();
                out.write_all(format!("{up}{text}").as_bytes())?;
                out.flush()?;
                drawn = lines.len();
            }
            false => {
                for line in lines.iter().filter(|line| !before.contains(line)) {
                    session.console.say(line);
                }
                before = lines;
            }
        }
        if has_ended(&task) {
            return match text(&task, "/status/result") {
                "Success" => Ok(()),
                _ => {
                    session.console.say(&format!("Look at it with: groundplane task show {name}"));
                    Err(Failure::Exit(FAILED))
                }
            };
        }
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {
                session.console.say("Detached. The task goes on.");
                return Ok(());
            }
            () = tokio::time::sleep(TICK) => {}
        }
    }
}
