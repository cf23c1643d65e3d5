//! `groundplane hub`: the clusters that host the control planes of clusters.

use cli::{Failure, Session};
use serde_json::Value;

use crate::edit::{self, Edits};
use crate::output::{self, Form, text};
use crate::table::{self, HUBS};
use crate::{find, input};

/// Manage hubs: the Kubernetes clusters that host control planes and provision hosts.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  groundplane hub add hub1 --hub-kubeconfig hub1.kubeconfig --hub-namespace fulfillment --ip 192.0.2.10
  groundplane hub list
  groundplane hub describe hub1";

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Add a hub.
    ///
    /// The kubeconfig and the pull secret are moved into a Secret and never shown again.
    #[command(
        after_help = "Examples:\n  groundplane hub add hub1 --hub-kubeconfig hub1.kubeconfig --hub-namespace fulfillment\n  \
        groundplane hub add hub1 --hub-kubeconfig - --hub-namespace fulfillment --pull-secret pull.json --ip 192.0.2.10"
    )]
    Add(Add),
    /// List hubs.
    #[command(after_help = "Examples:\n  groundplane hub list\n  groundplane hub list -o wide")]
    List(List),
    /// Show a hub.
    #[command(after_help = "Examples:\n  groundplane hub describe hub1")]
    Describe(Describe),
    /// Say what is wrong with hubs, and what to do about it. Exits with 1 if anything is.
    #[command(after_help = "Examples:\n  groundplane hub doctor\n  groundplane hub doctor hub1")]
    Doctor(Doctor),
    #[command(after_help = "Examples:\n  groundplane hub edit hub1")]
    Edit(edit::Arguments),
    /// Delete hubs. A hub stays while hosts or clusters are on it.
    #[command(after_help = "Examples:\n  groundplane hub delete hub1")]
    Delete(Delete),
}

#[derive(clap::Args, Debug)]
struct Add {
    /// Identifier of the hub.
    #[arg(value_name = "ID")]
    id: String,

    /// File with the kubeconfig of the hub; - for the standard input.
    #[arg(long, value_name = "FILE")]
    hub_kubeconfig: String,

    /// Namespace of the hub that everything is created in.
    #[arg(long, value_name = "NAMESPACE")]
    hub_namespace: String,

    /// File with the credentials for pulling images, as a Docker configuration in JSON.
    #[arg(long, value_name = "FILE")]
    pull_secret: Option<String>,

    /// File with the public SSH key that is installed on hosts.
    #[arg(long, value_name = "FILE")]
    ssh_public_key: Option<String>,

    /// IP address of the hub, for DNS records of clusters.
    #[arg(long, value_name = "ADDRESS")]
    ip: Option<String>,

    /// DNS zone that the names of its clusters are in.
    #[arg(long, value_name = "ZONE")]
    zone: Option<String>,

    /// Name for people, a DNS label.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

#[derive(clap::Args, Debug)]
struct List {
    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,

    /// Label selector, such as site=fra1.
    #[arg(long, short = 'l', value_name = "LABELS")]
    selector: Option<String>,
}

#[derive(clap::Args, Debug)]
struct Describe {
    /// Name or identifier.
    #[arg(value_name = "NAME")]
    name: String,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

#[derive(clap::Args, Debug)]
struct Doctor {
    /// Names or identifiers. Defaults to all.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

#[derive(clap::Args, Debug)]
struct Delete {
    /// Names or identifiers.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
}

impl Arguments {
    /// What is to be edited, if that is asked for.
    pub fn edits(&self) -> Option<Edits> {
        match &self.command {
            Command::Edit(arguments) => Some(arguments.of(&HUBS)),
            _ => None,
        }
    }
}

/// Runs a subcommand.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    match arguments.command {
        Command::Add(add) => self::add(add, session).await,
        Command::List(list) => {
            table::list(&HUBS, &[], list.selector.as_deref(), list.output, session, |_| true).await
        }
        Command::Describe(describe) => self::describe(&describe, session).await,
        Command::Delete(delete) => {
            input::delete(&HUBS, &delete.names, delete.message.as_deref(), session).await
        }
        Command::Doctor(doctor) => self::doctor(&doctor, session).await,
        Command::Edit(_) => Ok(()),
    }
}

/// What to do about a hub, by the reason of its condition.
fn advice(reason: &str) -> &'static str {
    match reason {
        "HubUnreachable" => {
            "check that the server reaches its address, and that its API runs; nothing has to be repeated"
        }
        "HubRefuses" => {
            "check that Metal3, the assisted installer and HyperShift are installed there, and that the user of the kubeconfig may \
             read and write their objects, Secrets and Roles in its namespace"
        }
        "HubIncomplete" => "set what is missing with \"groundplane hub edit\"",
        "Connecting" | "Preparing" => "wait a moment; if it stays so, see the log of the server",
        _ => "see \"groundplane controllers\" for whether the hub-controller runs",
    }
}

async fn doctor(doctor: &Doctor, session: &mut Session) -> Result<(), Failure> {
    let mut hubs = Vec::new();
    for name in &doctor.names {
        hubs.push(find::one(&HUBS, name, session).await?);
    }
    if doctor.names.is_empty() {
        let list = session.client().await?.value(&cli::Ask::get(format!("{}/hubs", crate::API))).await?;
        hubs = list["items"].as_array().cloned().unwrap_or_default();
    }
    if hubs.is_empty() {
        return Err(Failure::other("there is no hub").hint("\"groundplane hub add\" adds one"));
    }
    let mut sick = 0;
    for hub in &hubs {
        let conditions = hub["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let find = |kind: &str| conditions.iter().find(|it| it["type"] == kind).cloned().unwrap_or_default();
        let (ready, reachable) = (find("Ready"), find("Reachable"));
        if ready["status"] == "True" {
            output::line(&format!("{}: ready", HUBS.named(hub)), session)?;
            continue;
        }
        sick += 1;
        let (reason, message) = (text(&ready, "/reason"), text(&ready, "/message"));
        let since = text(&reachable, "/lastTransitionTime");
        let since = if since.is_empty() { String::new() } else { format!(" since {since}") };
        let reason = if reason.is_empty() { "Unknown" } else { reason };
        output::line(&format!("{}: {reason}{since}: {message}", HUBS.named(hub)), session)?;
        output::line(&format!("  {}", advice(reason)), session)?;
    }
    match sick {
        0 => Ok(()),
        sick => Err(Failure::other(format!("{sick} of {} hubs can't be used", hubs.len()))),
    }
}

async fn add(add: Add, session: &mut Session) -> Result<(), Failure> {
    let mut read = |path: &Option<String>| path.as_deref().map(|path| input::file(path, session)).transpose();
    let kubeconfig = read(&Some(add.hub_kubeconfig.clone()))?;
    let (pull_secret, key) = (read(&add.pull_secret)?, read(&add.ssh_public_key)?);
    let mut hub = input::object("Hub", &add.id);
    hub["spec"] = input::given([
        ("kubeconfig", kubeconfig.map(Value::from)),
        ("namespace", Some(add.hub_namespace.into())),
        ("pullSecret", pull_secret.map(Value::from)),
        ("sshPublicKey", key.map(Value::from)),
        ("ip", add.ip.map(Value::from)),
        ("zone", add.zone.map(Value::from)),
    ]);
    if let Some(name) = add.name {
        hub["displayName"] = name.into();
    }
    input::create(&HUBS, &hub, add.message.as_deref(), add.output, session).await
}

async fn describe(describe: &Describe, session: &mut Session) -> Result<(), Failure> {
    let hub = find::one(&HUBS, &describe.name, session).await?;
    if matches!(describe.output, Form::Json | Form::Yaml) {
        return output::value(describe.output, &hub, session);
    }
    let owned = |pointer: &str| text(&hub, pointer).to_owned();
    let fields = [
        ("ID", table::identifier(&hub)),
        ("Name", table::name(&hub)),
        ("Namespace", owned("/spec/namespace")),
        ("Kubeconfig", table::sealed(&hub, "/spec/kubeconfigRef")),
        ("Pull secret", table::sealed(&hub, "/spec/pullSecretRef")),
        ("SSH public key", owned("/spec/sshPublicKey")),
        ("IP", owned("/spec/ip")),
        ("DNS zone", owned("/spec/zone")),
        ("State", table::word(&hub, "/status/state", "HUB_STATE_")),
        ("Created", owned("/metadata/creationTimestamp")),
    ];
    output::fields(&fields, session)
}
