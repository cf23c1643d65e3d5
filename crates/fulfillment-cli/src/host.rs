//! `groundplane host`: hosts, their classes and their claims.

mod boot_device;
mod claim;
mod class;
mod create;
mod describe;
mod operation;
mod power;
mod quarantine;
mod rotate_credentials;

use cli::{Failure, Session};
use serde_json::Value;

use crate::edit::{self, Edits};
use crate::input;
use crate::output::{Form, text};
use crate::table::{self, CLASSES, HOSTS};

/// Manage bare-metal hosts, their classes, and who holds them.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  groundplane host class create gpu --title 'GPU node'
  groundplane host create node001 --class gpu --bmc-url redfish://192.0.2.21/redfish/v1/Systems/1 \\
      --bmc-user admin --bmc-password-file password.txt
  groundplane host list --class gpu --free
  groundplane host describe node001
  groundplane host power on node001
  groundplane host claim node001 --reason 'firmware update'";

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// List hosts.
    #[command(
        after_help = "Examples:\n  groundplane host list\n  groundplane host list --class gpu --free -o wide\n  \
        groundplane host list -l site=fra1 -o name"
    )]
    List(List),
    Describe(describe::Arguments),
    Create(create::Arguments),
    #[command(
        after_help = "Examples:\n  groundplane host edit node001\n  KUBE_EDITOR=nano groundplane host edit node001"
    )]
    Edit(edit::Arguments),
    /// Delete hosts. A host stays while somebody holds it.
    #[command(after_help = "Examples:\n  groundplane host delete node001 node002 --message 'end of lease'")]
    Delete(Delete),
    Power(power::Arguments),
    BootDevice(boot_device::Arguments),
    RotateCredentials(rotate_credentials::Arguments),
    Claim(claim::Claim),
    Release(claim::Release),
    Quarantine(quarantine::Quarantine),
    Replace(quarantine::Replace),
    Class(class::Arguments),
}

#[derive(clap::Args, Debug)]
struct List {
    /// Show only hosts of this class.
    #[arg(long, value_name = "CLASS")]
    class: Option<String>,

    /// Show only hosts of this cluster, by its identifier.
    #[arg(long, value_name = "ID")]
    cluster: Option<String>,

    /// Show only hosts that are in no cluster and that nobody holds.
    #[arg(long)]
    free: bool,

    /// Label selector, such as site=fra1.
    #[arg(long, short = 'l', value_name = "LABELS")]
    selector: Option<String>,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
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
            Command::Edit(arguments) => Some(arguments.of(&HOSTS)),
            Command::Class(class) => Some(class.edits()?.of(&CLASSES)),
            _ => None,
        }
    }
}

/// Runs a subcommand.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    match arguments.command {
        Command::List(list) => self::list(&list, session).await,
        Command::Describe(arguments) => describe::run(&arguments, session).await,
        Command::Create(arguments) => create::run(arguments, session).await,
        Command::Delete(delete) => {
            input::delete(&HOSTS, &delete.names, delete.message.as_deref(), session).await
        }
        Command::Power(arguments) => power::run(arguments, session).await,
        Command::BootDevice(arguments) => boot_device::run(arguments, session).await,
        Command::RotateCredentials(arguments) => rotate_credentials::run(arguments, session).await,
        Command::Claim(claim) => claim::claim(claim, session).await,
        Command::Release(release) => claim::release(&release, session).await,
        Command::Quarantine(arguments) => quarantine::quarantine(&arguments, session).await,
        Command::Replace(arguments) => quarantine::replace(&arguments, session).await,
        Command::Class(arguments) => class::run(arguments, session).await,
        Command::Edit(_) => Ok(()),
    }
}

async fn list(list: &List, session: &mut Session) -> Result<(), Failure> {
    let class = list.class.as_deref().map(fulfillment::identity::name_of);
    let fields = [("spec.class", class.as_deref()), ("status.cluster", list.cluster.as_deref())];
    let is_free =
        |host: &Value| text(host, "/status/cluster").is_empty() && host.pointer("/status/claim").is_none();
    let keep = |host: &Value| !list.free || is_free(host);
    table::list(&HOSTS, &fields, list.selector.as_deref(), list.output, session, keep).await
}
