//! `groundplane demo`: a fleet to try things on. It is the same for the same seed.

pub mod load;
mod remove;

use std::io::Write;

use krm::Object;
use serde_json::Value;

use crate::failure::Failure;
use crate::modules;

pub use remove::run as remove;

/// The field manager of everything that `serve --demo` creates. `demo remove` recognizes the demo's objects by it.
pub const MANAGER: &str = "groundplane-demo";

/// The objects that `serve --demo` creates, each after those that it refers to.
fn objects() -> impl DoubleEndedIterator<Item = Object> {
    let all: Vec<Object> = modules::demos().into_iter().flat_map(|demo| demo.objects).collect();
    all.into_iter()
}

/// Print the manifests of a demo fleet, or remove the fleet that `serve --demo` created.
///
/// Every reference in the manifests resolves, and the same seed gives the same fleet.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  groundplane demo | kubectl apply --server-side -f -\n  groundplane demo --objects 10000 --seed 7 > fleet.yaml\n  groundplane demo remove"
)]
pub struct Arguments {
    #[command(subcommand)]
    pub action: Option<Action>,

    #[command(flatten)]
    fleet: inventory_cli::DemoFleet,
}

/// What else there is to do with a demo.
#[derive(clap::Subcommand)]
pub enum Action {
    Remove(remove::Arguments),
}

/// Prints the manifests.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for object in arguments.fleet.objects() {
        let yaml = krm::encode::to_yaml(&Value::Object(object.0));
        match write!(out, "---\n{yaml}") {
            // The reader has closed the pipe: it has what it wanted.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
            written => written.map_err(|error| Failure::new("printing the fleet", error))?,
        }
    }
    match out.flush() {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        flushed => flushed.map_err(|error| Failure::new("printing the fleet", error)),
    }
}
