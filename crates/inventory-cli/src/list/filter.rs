//! What lists are filtered by, and how the server is asked for it: by labels and fields that it has indexes of.

use clap::Arg;
use inventory::topology;

/// What a list is filtered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    Region,
    Site,
    Cluster,
    Rack,
    Provider,
    Device,
    Type,
    Port,
    Host,
}

/// All of them.
pub const ALL: [Filter; 9] = [
    Filter::Region,
    Filter::Site,
    Filter::Cluster,
    Filter::Rack,
    Filter::Provider,
    Filter::Device,
    Filter::Type,
    Filter::Port,
    Filter::Host,
];

/// The words of `Port.type` and `Link.type`, which may be written in any case.
const TYPES: [&str; 8] =
    ["Power", "Serial", "Ethernet", "Optical", "PatchPanel", "Physical", "Logical", "Internet"];

impl Filter {
    /// The flag without its dashes.
    pub fn name(self) -> &'static str {
        match self {
            Filter::Region => "region",
            Filter::Site => "site",
            Filter::Cluster => "cluster",
            Filter::Rack => "rack",
            Filter::Provider => "provider",
            Filter::Device => "device",
            Filter::Type => "type",
            Filter::Port => "port",
            Filter::Host => "host",
        }
    }

    /// The flag.
    pub fn flag(self) -> Arg {
        let (value, help) = match self {
            Filter::Region => ("REGION", "Only those in this region."),
            Filter::Site => ("SITE", "Only those at this site."),
            Filter::Cluster => ("CLUSTER", "Only those of this cluster of the inventory."),
            Filter::Rack => ("RACK", "Only those in this rack."),
            Filter::Provider => ("PROVIDER", "Only those of this provider."),
            Filter::Device => ("DEVICE", "Only those on this node, network device or rack."),
            Filter::Type => ("WORD", "Only those of this type, in any case."),
            Filter::Port => ("PORT", "Only those that end at this port."),
            Filter::Host => ("NODE", "Only those on this node."),
        };
        Arg::new(self.name()).long(self.name()).value_name(value).help(help)
    }

    /// How the server is asked for it.
    pub fn select(self, kind: &str, value: &str, labels: &mut Vec<String>, fields: &mut Vec<String>) {
        let escaped = value.replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=");
        match self {
            Filter::Region => labels.push(format!("{}={value}", topology::REGION)),
            Filter::Type => {
                let word = TYPES.iter().find(|word| word.eq_ignore_ascii_case(value));
                fields.push(format!("spec.type={}", word.copied().unwrap_or(&escaped)));
            }
            other => fields.push(format!("{}={escaped}", other.field(kind))),
        }
    }

    fn field(self, kind: &str) -> &'static str {
        match (self, kind) {
            (Filter::Site, "Cluster") => "spec.controlPlaneSiteRef.name",
            (Filter::Site, _) => "spec.siteRef.name",
            (Filter::Cluster, "Node") => "spec.assignment.clusterRef.name",
            (Filter::Cluster, _) => "spec.clusterRef.name",
            (Filter::Rack, _) => "spec.placement.rackRef.name",
            (Filter::Provider, _) => "spec.providerRef.name",
            (Filter::Device, _) => "spec.deviceRef.name",
            (Filter::Port, _) => "spec.endpoints.name",
            (Filter::Host, _) => "spec.hostRef.name",
            (Filter::Region | Filter::Type, _) => "spec.type",
        }
    }
}
