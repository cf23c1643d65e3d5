//! `groundplane cluster`: clusters from bare metal, in a project.

mod create;
mod follow;
mod plan;
mod shown;

use cli::{Ask, Failure, Session, path_segment};
use http::Method;
use serde_json::{Value, json};

use crate::API;
use crate::edit::Edits;
use crate::output::{self, Form, text};
use crate::table::{self, CLUSTERS};

/// Make clusters from bare-metal hosts, and change, inspect and delete them.
///
/// Clusters are in a project: pass --project. A cluster is made from a template, on hosts that are free.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  groundplane --project acme cluster create web --template small --plan
  groundplane --project acme cluster create web --template small --size workers=3 --wait
  groundplane --project acme cluster describe web
  groundplane --project acme cluster scale web workers=5 --wait
  groundplane --project acme cluster upgrade web --release 4.20.1
  groundplane --project acme cluster kubeconfig web > web.kubeconfig
  groundplane --project acme cluster delete web";

#[derive(clap::Subcommand, Debug)]
enum Command {
    Create(create::Arguments),
    /// List clusters.
    #[command(after_help = "Examples:\n  groundplane --project acme cluster list -o wide")]
    List(List),
    /// Show a cluster: its node sets with their hosts, how far it is, and the one thing that it waits for.
    #[command(after_help = "Examples:\n  groundplane --project acme cluster describe web")]
    Describe(Describe),
    /// Change the number of hosts of node sets.
    ///
    /// Hosts that are too many leave: those named with --leave first. They are cleaned before others get them.
    #[command(after_help = "Examples:\n  groundplane --project acme cluster scale web workers=5 --wait\n  \
        groundplane --project acme cluster scale web workers=2 --leave node004")]
    Scale(Scale),
    /// Change the release of a cluster.
    ///
    /// Without --release, the releases that its template offers are listed.
    #[command(after_help = "Examples:\n  groundplane --project acme cluster upgrade web\n  \
        groundplane --project acme cluster upgrade web --release 4.20.1 --wait")]
    Upgrade(Upgrade),
    /// Delete clusters. Their hosts are cleaned and become free.
    #[command(after_help = "Examples:\n  groundplane --project acme cluster delete web --wait")]
    Delete(Delete),
    /// Print the kubeconfig of the cluster's administrator.
    #[command(after_help = "Examples:\n  groundplane --project acme cluster kubeconfig web > web.kubeconfig")]
    Kubeconfig(Kubeconfig),
    /// Show what happened to a cluster.
    #[command(after_help = "Examples:\n  groundplane --project acme cluster events web")]
    Events(Events),
}

#[derive(clap::Args, Debug)]
struct List {
    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,

    /// Label selector, such as team=web.
    #[arg(long, short = 'l', value_name = "LABELS")]
    selector: Option<String>,
}

#[derive(clap::Args, Debug)]
struct Describe {
    /// Name or display name.
    #[arg(value_name = "NAME")]
    name: String,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

#[derive(clap::Args, Debug)]
struct Scale {
    /// Name or display name.
    #[arg(value_name = "NAME")]
    name: String,

    /// Node sets and their numbers of hosts.
    #[arg(value_name = "NODESET=SIZE", required = true)]
    sizes: Vec<String>,

    /// Host that leaves first. Repeatable.
    #[arg(long, value_name = "HOST")]
    leave: Vec<String>,

    #[command(flatten)]
    waiting: follow::Waiting,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
}

#[derive(clap::Args, Debug)]
struct Upgrade {
    /// Name or display name.
    #[arg(value_name = "NAME")]
    name: String,

    /// Release of the template.
    #[arg(long, value_name = "RELEASE")]
    release: Option<String>,

    #[command(flatten)]
    waiting: follow::Waiting,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
}

#[derive(clap::Args, Debug)]
struct Delete {
    /// Names or display names.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,

    #[command(flatten)]
    waiting: follow::Waiting,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
}

#[derive(clap::Args, Debug)]
struct Kubeconfig {
    /// Name or display name.
    #[arg(value_name = "NAME")]
    name: String,

    /// Print the password of the administrator instead.
    #[arg(long)]
    password: bool,
}

#[derive(clap::Args, Debug)]
struct Events {
    /// Name or display name.
    #[arg(value_name = "NAME")]
    name: String,
}

impl Arguments {
    /// What is to be edited: nothing.
    pub fn edits(&self) -> Option<Edits> {
        None
    }
}

/// Runs a subcommand.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    if session.global.project.as_ref().is_none_or(String::is_empty) {
        return Err(Failure::usage("clusters are in a project, and none was named")
            .hint("pass --project NAME, or set GROUNDPLANE_PROJECT"));
    }
    match arguments.command {
        Command::Create(arguments) => create::run(&arguments, session).await,
        Command::List(list) => {
            table::list(&CLUSTERS, &[], list.selector.as_deref(), list.output, session, |_| true).await
        }
        Command::Describe(describe) => {
            let cluster = find(&describe.name, session).await?;
            match describe.output {
                Form::Json | Form::Yaml => output::value(describe.output, &cluster, session),
                _ => shown::describe(&cluster, session),
            }
        }
        Command::Scale(arguments) => scale(&arguments, session).await,
        Command::Upgrade(arguments) => upgrade(&arguments, session).await,
        Command::Delete(arguments) => delete(&arguments, session).await,
        Command::Kubeconfig(arguments) => kubeconfig(&arguments, session).await,
        Command::Events(arguments) => events(&arguments, session).await,
    }
}

/// A cluster by its name or display name.
async fn find(name: &str, session: &mut Session) -> Result<Value, Failure> {
    crate::find::one(&CLUSTERS, name, session).await
}

async fn patch(
    cluster: &Value,
    patch: &Value,
    message: Option<&str>,
    session: &mut Session,
) -> Result<Value, Failure> {
    let ask = Ask::new(Method::PATCH, crate::find::path_of(&CLUSTERS, cluster))
        .query("fieldManager", "groundplane")
        .message(message)
        .body("application/merge-patch+json", patch.to_string());
    session.client().await?.value(&ask).await
}

async fn scale(arguments: &Scale, session: &mut Session) -> Result<(), Failure> {
    let cluster = find(&arguments.name, session).await?;
    let sizes = create::sizes(&arguments.sizes)?;
    let mut sets = json!({});
    for (set, size) in &sizes {
        let Some(has) = cluster["spec"]["nodeSets"].get(set) else {
            let all =
                cluster["spec"]["nodeSets"].as_object().map(|sets| sets.keys().cloned().collect::<Vec<_>>());
            let all = all.unwrap_or_default().join(", ");
            return Err(Failure::other(format!("the cluster has no node set {set:?}; it has {all}")));
        };
        sets[set] = json!({"size": size, "leaveFirst": arguments.leave});
        let (before, after) = (has["size"].as_i64().unwrap_or_default(), i64::from(*size));
        output::line(&format!("node set {set}: {before} → {after} hosts"), session)?;
    }
    let done =
        patch(&cluster, &json!({"spec": {"nodeSets": sets}}), arguments.message.as_deref(), session).await?;
    output::line(&format!("{} scaled", CLUSTERS.named(&done)), session)?;
    follow::if_asked(&arguments.waiting, &done, session).await
}

async fn upgrade(arguments: &Upgrade, session: &mut Session) -> Result<(), Failure> {
    let cluster = find(&arguments.name, session).await?;
    let Some(release) = &arguments.release else {
        let template = path_segment(text(&cluster, "/spec/template"));
        let root = session.client().await?.inner().in_root();
        let template: Value = root.value(&Ask::get(format!("{API}/clustertemplates/{template}"))).await?;
        let running = text(&cluster, "/status/release");
        for release in template["releases"].as_array().into_iter().flatten() {
            let name = text(release, "/name");
            let mark = if name == running { " (running)" } else { "" };
            output::line(&format!("{name}{mark}"), session)?;
        }
        return Ok(());
    };
    let change = json!({"spec": {"release": release}});
    let done = patch(&cluster, &change, arguments.message.as_deref(), session).await?;
    output::line(&format!("{} is upgraded to {release}", CLUSTERS.named(&done)), session)?;
    follow::if_asked(&arguments.waiting, &done, session).await
}

async fn delete(arguments: &Delete, session: &mut Session) -> Result<(), Failure> {
    let mut failures = Vec::new();
    for name in &arguments.names {
        let cluster = match find(name, session).await {
            Ok(cluster) => cluster,
            Err(failure) => {
                failures.push(failure);
                continue;
            }
        };
        let ask = Ask::new(Method::DELETE, crate::find::path_of(&CLUSTERS, &cluster));
        session.client().await?.value(&ask.message(arguments.message.as_deref())).await?;
        output::line(&format!("{} is being deleted", CLUSTERS.named(&cluster)), session)?;
        if let Err(failure) = follow::if_asked(&arguments.waiting, &cluster, session).await {
            failures.push(failure);
        }
    }
    Failure::all(failures)
}

async fn kubeconfig(arguments: &Kubeconfig, session: &mut Session) -> Result<(), Failure> {
    let cluster = find(&arguments.name, session).await?;
    let field = if arguments.password { "password" } else { "kubeconfig" };
    if cluster.pointer(&format!("/status/{field}Ref")).is_none() {
        let phase = text(&cluster, "/status/phase");
        return Err(Failure::other(format!(
            "the {field} of the cluster isn't yet available; the cluster is {phase}"
        ))
        .hint(format!("\"groundplane cluster describe {}\" tells how far it is", arguments.name)));
    }
    let path = format!("{}/credentials", crate::find::path_of(&CLUSTERS, &cluster));
    let found = session.client().await?.value(&Ask::get(path)).await?;
    let value = found["values"][format!("status.{field}")].as_str();
    output::line(value.unwrap_or_default().trim_end(), session)
}

async fn events(arguments: &Events, session: &mut Session) -> Result<(), Failure> {
    let cluster = find(&arguments.name, session).await?;
    let uid = text(&cluster, "/metadata/uid").to_owned();
    let ask = Ask::get("/api/v1/events").query("fieldSelector", format!("involvedObject.uid={uid}"));
    let found = session.client().await?.value(&ask).await?;
    let mut rows =
        vec![vec!["LAST SEEN".to_owned(), "TYPE".to_owned(), "REASON".to_owned(), "MESSAGE".to_owned()]];
    for event in found["items"].as_array().into_iter().flatten() {
        let seen = ["/series/lastObservedTime", "/lastTimestamp", "/eventTime"];
        let seen = seen.iter().map(|pointer| text(event, pointer)).find(|time| !time.is_empty());
        let message = [text(event, "/message"), text(event, "/note")].into_iter().find(|it| !it.is_empty());
        rows.push(vec![
            seen.unwrap_or("-").to_owned(),
            text(event, "/type").to_owned(),
            text(event, "/reason").to_owned(),
            message.unwrap_or_default().to_owned(),
        ]);
    }
    if rows.len() == 1 {
        return output::line("Nothing was recorded in the last hour.", session);
    }
    output::table(&rows, session)
}
