//! `compute logs`: what the instances of a workload have written, merged by time.

mod line;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::time::Duration;

use cli::{Ask, Failure, Session};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use self::line::{Line, Lines};
use crate::api::{self, Compute, city, name};
use crate::text::at;

/// How often new instances are looked for while logs are followed.
const LOOK: Duration = Duration::from_secs(1);
/// Lines that are read ahead of the terminal.
const AHEAD: usize = 1024;

/// Print the logs of a workload: of all its instances, merged by time.
///
/// With --follow, new lines are printed as they are written, and new instances are taken in, so that it can be left open
/// during a rollout. Ctrl-C ends it.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Name of the workload, or of one instance.
    #[arg(value_name = "WORKLOAD")]
    name: String,

    /// Go on with new lines.
    #[arg(long, short)]
    follow: bool,

    /// Only lines of the last time, such as 90s, 15m or 1h.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// The run before the present one, of containers that were restarted.
    #[arg(long, conflicts_with = "follow")]
    previous: bool,

    /// Only instances in this city.
    #[arg(long, value_name = "CODE")]
    city: Option<String>,

    /// Only this instance.
    #[arg(long, value_name = "INSTANCE")]
    instance: Option<String>,

    /// Container, where instances have several.
    #[arg(long, short, value_name = "NAME")]
    container: Option<String>,

    /// Last lines of each instance; -1 for all.
    #[arg(long, value_name = "NUMBER", default_value_t = 200, allow_negative_numbers = true)]
    tail: i64,

    /// Print the time of each line.
    #[arg(long)]
    timestamps: bool,

    /// Print lines without the instance before them.
    #[arg(long)]
    no_prefix: bool,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Text)]
    output: Form,
}

/// An output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// For people.
    Text,
    /// An object in each line.
    Json,
}

const EXAMPLES: &str = "\
Examples:
  groundplane compute logs web
  groundplane compute logs web --follow --city DFW
  groundplane compute logs web --since 10m --timestamps
  groundplane compute logs web-default-dfw-0 --previous";

/// What comes from the logs of instances.
enum News {
    Line(Line),
    Ended(String),
    Failed(String, Failure),
}

/// Prints logs.
pub async fn run(arguments: &Arguments, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    if let Some(since) = &arguments.since
        && cli::duration(since).is_none()
    {
        return Err(Failure::usage(format!("--since {since}: use a time such as 90s, 15m or 1h")));
    }
    let instances = chosen(arguments, compute).await?;
    if arguments.follow {
        return follow(arguments, instances, compute, session).await;
    }
    let (sender, mut news) = mpsc::channel(AHEAD);
    instances.iter().for_each(|instance| start(arguments, instance, compute, &sender));
    drop(sender);
    let (mut lines, mut failures) = (Vec::new(), Vec::new());
    while let Some(one) = news.recv().await {
        match one {
            News::Line(line) => lines.push(line),
            News::Ended(_) => {}
            News::Failed(instance, failure) => failures.push((instance, failure)),
        }
    }
    lines.sort_by(|one, other| one.at.cmp(&other.at));
    for line in &lines {
        print(line, arguments, session)?;
    }
    // What one instance can't tell does not hide what the others do.
    let is_all = failures.len() == instances.len();
    match failures.pop() {
        Some((_, failure)) if is_all && !instances.is_empty() => Err(failure),
        Some(last) => {
            failures.push(last);
            for (instance, failure) in failures {
                session.console.say(&format!("{instance}: {}", failure.text()));
            }
            Ok(())
        }
        None => {
            if lines.is_empty() {
                session.console.say("Nothing was written.");
            }
            Ok(())
        }
    }
}

/// The instances that are meant.
async fn chosen(arguments: &Arguments, compute: &Compute) -> Result<Vec<Value>, Failure> {
    let mut instances = match compute.find_workload(&arguments.name).await? {
        Some(workload) => compute.instances(Some(&workload)).await?,
        None => match compute.find(&api::path("instances", &arguments.name)).await? {
            Some(instance) => vec![instance],
            None => return Err(compute.workload(&arguments.name).await.err().unwrap_or(Failure::Exit(1))),
        },
    };
    if let Some(wanted) = &arguments.city {
        instances.retain(|instance| city(instance).eq_ignore_ascii_case(wanted));
    }
    if let Some(wanted) = &arguments.instance {
        instances.retain(|instance| name(instance) == wanted);
        if instances.is_empty() {
            let command = compute.program.command(&format!("instances --workload {}", arguments.name));
            return Err(Failure::other(format!("workload {:?} has no instance {wanted:?}", arguments.name))
                .hint(format!("\"{command}\" lists those that there are")));
        }
    }
    Ok(instances)
}

async fn follow(
    arguments: &Arguments,
    instances: Vec<Value>,
    compute: &Compute,
    session: &mut Session,
) -> Result<(), Failure> {
    let (sender, mut news) = mpsc::channel(AHEAD);
    let mut followed = BTreeSet::new();
    for instance in &instances {
        followed.insert(at(instance, "/metadata/uid").to_owned());
        start(arguments, instance, compute, &sender);
    }
    let mut look = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => return Ok(()),
            one = news.recv() => match one {
                Some(News::Line(line)) => {
                    print(&line, arguments, session)?;
                    session.console.out.flush()?;
                }
                // It has not started yet, or is gone: it is looked for again.
                Some(News::Ended(uid) | News::Failed(uid, _)) => drop(followed.remove(&uid)),
                None => return Ok(()),
            },
            _ = look.tick() => {
                let Ok(instances) = chosen(arguments, compute).await else { continue };
                for instance in &instances {
                    let uid = at(instance, "/metadata/uid").to_owned();
                    let is_ending = instance["metadata"].get("deletionTimestamp").is_some();
                    if !is_ending && followed.insert(uid) {
                        start(arguments, instance, compute, &sender);
                    }
                }
            }
        }
    }
}

/// Reads the log of an instance in the background.
fn start(arguments: &Arguments, instance: &Value, compute: &Compute, news: &mpsc::Sender<News>) {
    let ask = Ask::get(format!("{}/log", api::path("instances", name(instance))))
        .accept("text/plain, */*")
        .query("timestamps", "true")
        .query_if("follow", arguments.follow.then_some("true"))
        .query_if("previous", arguments.previous.then_some("true"))
        .query_if("container", arguments.container.clone())
        .query_if("tailLines", (arguments.tail >= 0).then(|| arguments.tail.to_string()))
        .query_if(
            "sinceSeconds",
            arguments.since.as_deref().and_then(cli::duration).map(|since| since.as_secs().to_string()),
        );
    let (client, news) = (compute.client().inner().clone(), news.clone());
    let (instance, uid) = (name(instance).to_owned(), at(instance, "/metadata/uid").to_owned());
    let is_followed = arguments.follow;
    tokio::spawn(async move {
        let mut body = match client.open(&ask).await {
            Ok(body) => body,
            Err(error) => {
                let who = if is_followed { uid } else { instance };
                let _ = news.send(News::Failed(who, error.into())).await;
                return;
            }
        };
        let mut lines = Lines::default();
        while let Some(Ok(frame)) = body.frame().await {
            let Ok(bytes) = frame.into_data() else { continue };
            for line in lines.push(&bytes, &instance) {
                if news.send(News::Line(line)).await.is_err() {
                    return;
                }
            }
        }
        let _ = news.send(News::Ended(uid)).await;
    });
}

fn print(line: &Line, arguments: &Arguments, session: &mut Session) -> Result<(), Failure> {
    let Line { at, instance, text } = line;
    let shown = match arguments.output {
        Form::Json => json!({"time": at, "instance": instance, "message": text}).to_string(),
        Form::Text => {
            let prefix = match arguments.no_prefix || *instance == arguments.name {
                true => String::new(),
                false => format!("[{}] ", short(instance, &arguments.name)),
            };
            let time = if arguments.timestamps { format!("{at} ") } else { String::new() };
            format!("{prefix}{time}{text}")
        }
    };
    Ok(writeln!(session.console.out, "{shown}")?)
}

/// An instance without the name of its workload, which all of them begin with.
fn short<'a>(instance: &'a str, workload: &str) -> &'a str {
    instance.strip_prefix(workload).and_then(|rest| rest.strip_prefix('-')).unwrap_or(instance)
}
