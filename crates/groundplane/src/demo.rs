//! `groundplane demo`: the manifests of a fleet to try things on, the same for the same seed.

use std::io::Write;

use apiserver::api::Api;
use apiserver::client::Client;
use inventory::demo::{Size, fleet};
use serde_json::Value;

use crate::failure::Failure;

/// Print the manifests of a fleet: every reference in it resolves, and the same seed gives the same fleet.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  groundplane demo | kubectl apply --server-side -f -\n  groundplane demo --objects 10000 --seed 7 > fleet.yaml"
)]
pub struct Arguments {
    /// About how many objects; instead of sites, racks and hosts.
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["sites", "racks", "hosts"])]
    objects: Option<u32>,

    /// How many sites.
    #[arg(long, value_name = "NUMBER", default_value_t = Size::SMALL.sites)]
    sites: u32,

    /// How many racks of hosts at each site.
    #[arg(long, value_name = "NUMBER", default_value_t = Size::SMALL.racks)]
    racks: u32,

    /// How many hosts in each rack, 19 at most.
    #[arg(long, value_name = "NUMBER", default_value_t = Size::SMALL.hosts, value_parser = clap::value_parser!(u32).range(1..=19))]
    hosts: u32,

    /// Another seed, another fleet.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
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
            // Whoever reads has read enough.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
            written => written.map_err(|error| Failure::new("printing the fleet", error))?,
        }
    }
    match out.flush() {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        flushed => flushed.map_err(|error| Failure::new("printing the fleet", error)),
    }
}

/// Puts a small fleet into a store; what is there already stays as it is.
pub async fn load(api: &Api) -> Result<(), Failure> {
    let client = Client::system(api, "groundplane").called("groundplane-demo");
    for object in fleet(Size::SMALL, 1) {
        match client.create(object.clone()).await {
            Ok(_) => {}
            Err(status) if status.reason == "AlreadyExists" => {}
            Err(status) => {
                let what = format!("making {} {} of the demo fleet", object.kind(), object.name());
                return Err(Failure::new(what, status));
            }
        }
    }
    Ok(())
}
