//! `groundplane demo`: a fleet to try things on. It is the same for the same seed.

pub mod load;
mod remove;

use std::io::Write;

use inventory::demo::{Size, fleet};
use serde_json::Value;

use crate::failure::Failure;

pub use remove::run as remove;

/// The field manager of everything that `serve --demo` creates. `demo remove` recognizes the demo's objects by it.
pub const MANAGER: &str = "groundplane-demo";
/// The fleet that `serve --demo` creates.
const SIZE: Size = Size::SMALL;
const SEED: u64 = 1;

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

    /// Approximate number of objects, instead of --sites, --racks and --hosts.
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["sites", "racks", "hosts"])]
    objects: Option<u32>,

    /// Number of sites.
    #[arg(long, value_name = "NUMBER", default_value_t = Size::SMALL.sites)]
    sites: u32,

    /// Number of racks with hosts at each site.
    #[arg(long, value_name = "NUMBER", default_value_t = Size::SMALL.racks)]
    racks: u32,

    /// Number of hosts in each rack (1 to 19).
    #[arg(long, value_name = "NUMBER", default_value_t = Size::SMALL.hosts, value_parser = clap::value_parser!(u32).range(1..=19))]
    hosts: u32,

    /// Seed of the generator. Another seed gives another fleet.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
}

/// What else there is to do with a demo.
#[derive(clap::Subcommand)]
pub enum Action {
    Remove(remove::Arguments),
}

/// Prints the manifests.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let size = match arguments.objects {
        Some(objects) => Size::of_about(objects),
        None => Size { sites: arguments.sites, racks: arguments.racks, hosts: arguments.hosts },
    };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for object in fleet(size, arguments.seed) {
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
