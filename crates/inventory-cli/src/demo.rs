//! The flags of `groundplane demo`: the size of the fleet whose manifests are printed.

use inventory::demo::{Size, fleet};
use krm::Object;

/// The demo fleet to generate.
#[derive(clap::Args)]
pub struct DemoFleet {
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

impl DemoFleet {
    /// Its objects, each after those that it refers to.
    pub fn objects(&self) -> Vec<Object> {
        let size = match self.objects {
            Some(objects) => Size::of_about(objects),
            None => Size { sites: self.sites, racks: self.racks, hosts: self.hosts },
        };
        fleet(size, self.seed)
    }
}
