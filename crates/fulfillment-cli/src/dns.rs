//! `groundplane dns`: the zones that names of clusters are in.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cli::{Ask, Failure, Session};
use http::Method;
use serde_json::{Value, json};

use crate::edit::Edits;
use crate::output::{self, Form, text};
use crate::table::{self, ZONES};
use crate::{find, input};

/// Manage the DNS zones that the names of clusters are in.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  groundplane dns zone add clusters --domain clusters.example.org --server 192.0.2.53 --key-name groundplane \\
      --key-file key.txt
  groundplane dns zone check clusters
  groundplane dns zone list";

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Manage zones.
    #[command(after_help = EXAMPLES)]
    Zone {
        #[command(subcommand)]
        command: Zone,
    },
}

#[derive(clap::Subcommand, Debug)]
enum Zone {
    /// Add a zone.
    ///
    /// Records are written by dynamic updates (RFC 2136) that are signed with a TSIG key. The secret of the key is moved into a
    /// Secret and never shown again.
    #[command(after_help = "Examples:\n  groundplane dns zone add clusters --domain clusters.example.org \
        --server 192.0.2.53 --key-name groundplane --key-file key.txt")]
    Add(Add),
    /// List zones.
    #[command(after_help = "Examples:\n  groundplane dns zone list")]
    List(List),
    /// Check that the name server answers, serves the zone, and takes changes with the key. Writes no record.
    #[command(after_help = "Examples:\n  groundplane dns zone check clusters")]
    Check(Check),
    /// Delete zones. A zone stays while hubs or clusters use it.
    #[command(after_help = "Examples:\n  groundplane dns zone delete clusters")]
    Delete(Delete),
}

#[derive(clap::Args, Debug)]
struct Add {
    /// Name of the zone here.
    #[arg(value_name = "NAME")]
    name: String,

    /// Domain name of the zone.
    #[arg(long, value_name = "DOMAIN")]
    domain: String,

    /// Host and port of the primary name server. The port defaults to 53.
    #[arg(long, value_name = "ADDRESS")]
    server: Option<String>,

    /// Name of the TSIG key.
    #[arg(long, value_name = "NAME")]
    key_name: Option<String>,

    /// File with the secret of the TSIG key in base64; - for the standard input.
    #[arg(long, value_name = "FILE")]
    key_file: Option<String>,

    /// Program that writes records instead, in the folder that the server was started with.
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["server", "key_name", "key_file"])]
    program: Option<String>,

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
}

#[derive(clap::Args, Debug)]
struct Check {
    /// Name of the zone.
    #[arg(value_name = "NAME")]
    name: String,
}

#[derive(clap::Args, Debug)]
struct Delete {
    /// Names.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
}

impl Arguments {
    /// What is to be edited: nothing.
    pub fn edits(&self) -> Option<Edits> {
        None
    }
}

/// Runs a subcommand.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let Command::Zone { command } = arguments.command;
    match command {
        Zone::Add(add) => self::add(add, session).await,
        Zone::List(list) => table::list(&ZONES, &[], None, list.output, session, |_| true).await,
        Zone::Check(check) => self::check(&check, session).await,
        Zone::Delete(delete) => {
            input::delete(&ZONES, &delete.names, delete.message.as_deref(), session).await
        }
    }
}

async fn add(add: Add, session: &mut Session) -> Result<(), Failure> {
    let secret = add.key_file.as_deref().map(|path| input::file(path, session)).transpose()?;
    let mut zone = input::object("DNSZone", &add.name);
    let provider = add.program.as_ref().map(|_| Value::from("Program"));
    zone["spec"] = input::given([
        ("domain", Some(add.domain.into())),
        ("provider", provider),
        ("server", add.server.map(Value::from)),
        ("keyName", add.key_name.map(Value::from)),
        ("keySecret", secret.map(Value::from)),
        ("program", add.program.map(Value::from)),
    ]);
    input::create(&ZONES, &zone, add.message.as_deref(), add.output, session).await
}

/// How long a check may take.
const PATIENCE: Duration = Duration::from_secs(60);

async fn check(check: &Check, session: &mut Session) -> Result<(), Failure> {
    let zone = find::one(&ZONES, &check.name, session).await?;
    let stamp = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos()).to_string();
    let patch = json!({"metadata": {"annotations": {fulfillment::controllers::CHECK: stamp}}});
    let path = find::path_of(&ZONES, &zone);
    let ask = Ask::new(Method::PATCH, path.as_str()).body("application/merge-patch+json", patch.to_string());
    session.client().await?.value(&ask).await?;
    let begun = Instant::now();
    loop {
        let zone = session.client().await?.value(&Ask::get(path.as_str())).await?;
        if text(&zone, "/status/checkedFor").ends_with(&format!("/{stamp}")) {
            let conditions = zone["status"]["conditions"].as_array().cloned().unwrap_or_default();
            let ready = conditions.iter().find(|it| it["type"] == "Ready").cloned().unwrap_or_default();
            return match ready["status"] == "True" {
                true => {
                    output::line(&format!("{}: the name server takes changes", ZONES.named(&zone)), session)
                }
                false => Err(Failure::other(format!("{}: {}", ZONES.named(&zone), text(&ready, "/message")))),
            };
        }
        if begun.elapsed() > PATIENCE {
            return Err(Failure::other("the zone was not checked within a minute")
                .hint("\"groundplane controllers\" shows whether the dns-zone-controller runs"));
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
