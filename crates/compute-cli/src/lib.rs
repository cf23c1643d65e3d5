//! `groundplane compute`: deploy containers to cities and manage them. Also the datumctl plugin `datumctl-compute`.

mod api;
mod catalog;
mod deploy;
mod destroy;
mod exec;
mod gate;
mod instances;
mod logs;
mod module;
mod open;
mod output;
mod plugin;
mod program;
mod rollout;
mod scale;
mod status;
mod text;
mod watch;
mod workloads;

use cli::{Failure, Session};

pub use module::Commands;

/// Deploy containers to cities and manage them.
///
/// A workload has instances in the cities of its placements. A deploy replaces them one after another, keeps what you did
/// not name, and can be taken back. Without --project, commands are about the project "default".
///
/// Exit codes: 0 success, 1 error, 2 wrong usage, 3 the rollout failed, 4 it took longer than --timeout, 10 compute is not
/// enabled, 11 denied or revoked, 12 pending, 13 not available.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    Deploy(Box<deploy::Arguments>),
    Destroy(destroy::Arguments),
    Status(status::Arguments),
    #[command(visible_alias = "workload")]
    Workloads(workloads::Arguments),
    #[command(visible_alias = "instance")]
    Instances(instances::Arguments),
    Logs(logs::Arguments),
    Exec(exec::Arguments),
    Open(open::Arguments),
    Scale(scale::Arguments),
    Rollout(rollout::Arguments),
    #[command(hide = true)]
    Restart(rollout::restart::Arguments),
    Cities(catalog::Cities),
    InstanceTypes(catalog::InstanceTypes),
    Quota(Box<platform_cli::quota::Arguments>),
    Access(Box<platform_cli::access::Arguments>),
}

const EXAMPLES: &str = "\
Examples:
  groundplane compute deploy web --image ghcr.io/acme/web:1.4.2 --city DFW,IAD --min 2 --port 8080
  groundplane compute status web
  groundplane compute logs web --follow
  groundplane compute rollout undo web
  groundplane compute scale web --min 4";

/// Runs a command of compute.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    program::choose_project(session);
    let command = match arguments.command {
        Command::Quota(arguments) => return platform_cli::quota::run(*arguments, session).await,
        Command::Access(arguments) => return platform_cli::access::run(*arguments, session).await,
        command => command,
    };
    let compute = api::Compute::reach(session).await?;
    gate::pass(&compute, session).await?;
    match command {
        Command::Deploy(arguments) => deploy::run(*arguments, &compute, session).await,
        Command::Destroy(arguments) => destroy::run(&arguments, &compute, session).await,
        Command::Status(arguments) => status::run(&arguments, &compute, session).await,
        Command::Workloads(arguments) => workloads::run(arguments, &compute, session).await,
        Command::Instances(arguments) => instances::run(arguments, &compute, session).await,
        Command::Logs(arguments) => logs::run(&arguments, &compute, session).await,
        Command::Exec(arguments) => exec::run(&arguments, &compute, session).await,
        Command::Open(arguments) => open::run(&arguments, &compute, session).await,
        Command::Scale(arguments) => scale::run(&arguments, &compute, session).await,
        Command::Rollout(arguments) => rollout::run(arguments, &compute, session).await,
        Command::Restart(arguments) => rollout::restart::run(&arguments, &compute, session).await,
        Command::Cities(arguments) => catalog::cities(&arguments, &compute, session).await,
        Command::InstanceTypes(arguments) => catalog::instance_types(&arguments, &compute, session).await,
        Command::Quota(_) | Command::Access(_) => Ok(()),
    }
}
