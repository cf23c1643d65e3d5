//! `groundplane task`: run actions on designs, and follow them.

mod change;
mod create;
mod plan;
mod show;
mod tree;
mod watch;

use cli::{Ask, Failure, Session, path_segment};
use serde_json::Value;

use crate::output::{self, Form, number, or_dash, text};

/// Turn designs into running machines: plan, run, follow and cancel tasks.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  groundplane task plan deploy_nodes -n site --node node1
  groundplane task create prepare_nodes -n site --watch
  groundplane task create deploy_nodes -n site --rack r1 --plan --yes
  groundplane task list -n site
  groundplane task show deploy-nodes-7f3a -n site
  groundplane task cancel deploy-nodes-7f3a -n site";

#[derive(clap::Subcommand, Debug)]
enum Command {
    Create(create::Arguments),
    Plan(plan::Arguments),
    /// List tasks, newest first.
    #[command(
        after_help = "Examples:\n  groundplane task list -n site\n  groundplane task list -n site --running"
    )]
    List(List),
    Show(show::Arguments),
    Watch(watch::Arguments),
    /// Cancel a task. No further step begins, and machines are left as they are.
    #[command(
        after_help = "Examples:\n  groundplane task cancel deploy-nodes-7f3a -n site --message 'wrong rack'"
    )]
    Cancel(change::Arguments),
    /// Run a task again on the nodes that failed.
    #[command(after_help = "Examples:\n  groundplane task retry deploy-nodes-7f3a -n site")]
    Retry(change::Arguments),
}

#[derive(clap::Args, Debug)]
struct List {
    /// Show only tasks that have not ended.
    #[arg(long)]
    running: bool,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

/// Runs a subcommand.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    match arguments.command {
        Command::Create(arguments) => create::run(arguments, session).await,
        Command::Plan(arguments) => plan::run(&arguments, session).await,
        Command::List(list) => self::list(&list, session).await,
        Command::Show(arguments) => show::run(&arguments, session).await,
        Command::Watch(arguments) => watch::run(&arguments, session).await,
        Command::Cancel(arguments) => change::cancel(&arguments, session).await,
        Command::Retry(arguments) => change::retry(&arguments, session).await,
    }
}

pub use plan::design;

/// The lines of a task without nodes.
pub fn lines_of(task: &Value) -> Vec<String> {
    tree::lines(task, &[], 0)
}

/// Path of the tasks of the namespace.
async fn path(session: &mut Session) -> Result<String, Failure> {
    Ok(crate::task_path(&session.namespace().await?))
}

/// A task by its name.
async fn one(name: &str, session: &mut Session) -> Result<Value, Failure> {
    let path = format!("{}/{}", path(session).await?, path_segment(name));
    session.client().await?.value(&Ask::get(path)).await
}

/// The node tasks of a task.
async fn children(name: &str, session: &mut Session) -> Result<Vec<Value>, Failure> {
    let ask = Ask::get(path(session).await?).query("fieldSelector", format!("spec.parent.name={name}"));
    let list = session.client().await?.value(&ask).await?;
    Ok(list["items"].as_array().cloned().unwrap_or_default())
}

/// The name of a task for other commands.
fn named(task: &Value) -> String {
    format!("task.orchestration.groundplane.dev/{}", text(task, "/metadata/name"))
}

/// Whether a task has ended.
fn has_ended(task: &Value) -> bool {
    matches!(text(task, "/status/phase"), "Complete" | "Terminated")
}

async fn list(list: &List, session: &mut Session) -> Result<(), Failure> {
    let ask = Ask::get(path(session).await?);
    let mut all = session.client().await?.value(&ask).await?;
    let mut tasks = all["items"].as_array().cloned().unwrap_or_default();
    tasks.retain(|task| task.pointer("/spec/parent").is_none() && !(list.running && has_ended(task)));
    // Times are to the second; of the same one, what was written last is newer.
    let age = |task: &Value| {
        let written = text(task, "/metadata/resourceVersion").parse::<u64>().unwrap_or(0);
        std::cmp::Reverse((text(task, "/metadata/creationTimestamp").to_owned(), written))
    };
    tasks.sort_by_key(age);
    match list.output {
        Form::Json | Form::Yaml => {
            all["items"] = tasks.into();
            output::value(list.output, &all, session)
        }
        Form::Name => tasks.iter().try_for_each(|task| output::line(&named(task), session)),
        Form::Table if tasks.is_empty() => {
            session.console.say("No tasks found.");
            Ok(())
        }
        Form::Table => {
            let heading =
                ["NAME", "ACTION", "DESIGN", "REVISION", "PHASE", "RESULT", "NODES", "FAILED", "CREATED"];
            let mut rows = vec![heading.map(str::to_owned).to_vec()];
            rows.extend(tasks.iter().map(|task| {
                let count = |name: &str| match task.pointer("/status/nodes") {
                    Some(nodes) => number(nodes, name).to_string(),
                    None => "-".to_owned(),
                };
                vec![
                    text(task, "/metadata/name").to_owned(),
                    text(task, "/spec/action").to_owned(),
                    text(task, "/spec/design").to_owned(),
                    task.pointer("/status/revision").map_or("-".to_owned(), ToString::to_string),
                    or_dash(text(task, "/status/phase")),
                    or_dash(text(task, "/status/result")),
                    count("/total"),
                    count("/failed"),
                    text(task, "/metadata/creationTimestamp").to_owned(),
                ]
            }));
            output::table(&rows, session)
        }
    }
}
