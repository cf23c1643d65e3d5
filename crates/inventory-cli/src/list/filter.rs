//! The filter flags of list commands, and the label and field selectors that they become.

use clap::Arg;
use inventory::topology;

/// A filter flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    Region,
    Site,
    Cluster,
    Rack,
    Cage,
    Row,
    Provider,
    Device,
    Type,
    Role,
    Lifecycle,
    Port,
    Host,
}

/// All filter flags.
pub const ALL: [Filter; 13] = [
    Filter::Region,
    Filter::Site,
    Filter::Cluster,
    Filter::Rack,
    Filter::Cage,
    Filter::Row,
    Filter::Provider,
    Filter::Device,
    Filter::Type,
    Filter::Role,
    Filter::Lifecycle,
    Filter::Port,
    Filter::Host,
];

/// The values of types, roles and lifecycle stages, which are accepted in any case.
const WORDS: [&str; 40] = [
    "Power",
    "Serial",
    "Ethernet",
    "Optical",
    "PatchPanel",
    "Physical",
    "Logical",
    "Internet",
    "Datacenter",
    "AvailabilityZone",
    "Edge",
    "Virtual",
    "Hosting",
    "Colocation",
    "Transit",
    "InternetExchange",
    "DarkFiber",
    "Cloud",
    "CrossConnect",
    "ProviderCircuit",
    "Peering",
    "Compute",
    "Management",
    "Gateway",
    "ControlPlane",
    "Worker",
    "BorderRouter",
    "Spine",
    "Leaf",
    "Firewall",
    "PDU",
    "Planned",
    "Ordered",
    "Staged",
    "Active",
    "Offline",
    "Failed",
    "Decommissioning",
    "Retired",
    "Connected",
];

impl Filter {
    /// The name of the flag, without dashes.
    pub fn name(self) -> &'static str {
        match self {
            Filter::Region => "region",
            Filter::Site => "site",
            Filter::Cluster => "cluster",
            Filter::Rack => "rack",
            Filter::Cage => "cage",
            Filter::Row => "row",
            Filter::Provider => "provider",
            Filter::Device => "device",
            Filter::Type => "type",
            Filter::Role => "role",
            Filter::Lifecycle => "lifecycle",
            Filter::Port => "port",
            Filter::Host => "host",
        }
    }

    /// The flag.
    pub fn flag(self) -> Arg {
        let (value, help) = match self {
            Filter::Region => ("REGION", "List only objects in this region."),
            Filter::Site => ("SITE", "List only objects at this site."),
            Filter::Cluster => ("CLUSTER", "List only objects of this inventory cluster."),
            Filter::Rack => ("RACK", "List only objects in this rack."),
            Filter::Cage => ("CAGE", "List only racks in this cage."),
            Filter::Row => ("ROW", "List only racks in this row."),
            Filter::Provider => ("PROVIDER", "List only objects of this provider."),
            Filter::Device => ("DEVICE", "List only ports of this node, network device or rack."),
            Filter::Type => ("VALUE", "List only objects of this type, ignoring case."),
            Filter::Role => ("VALUE", "List only objects with this role, ignoring case."),
            Filter::Lifecycle => {
                ("VALUE", "List only objects in this lifecycle stage, such as planned or active.")
            }
            Filter::Port => ("PORT", "List only cables in this port."),
            Filter::Host => ("NODE", "List only virtual machines on this node."),
        };
        Arg::new(self.name()).long(self.name()).value_name(value).help(help)
    }

    /// Adds the selector for a value.
    pub fn select(self, kind: &str, value: &str, labels: &mut Vec<String>, fields: &mut Vec<String>) {
        let escaped = value.replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=");
        if let Some(label) = self.label(kind) {
            return labels.push(format!("{label}={value}"));
        }
        let is_word = matches!(self, Filter::Type | Filter::Role | Filter::Lifecycle);
        let word = WORDS.iter().find(|word| is_word && word.eq_ignore_ascii_case(value));
        fields.push(format!("{}={}", self.field(kind), word.copied().unwrap_or(&escaped)));
    }

    /// Whether it is found out over several references what is there: labels say it too, but follow later.
    pub fn is_located(self, kind: &str) -> bool {
        self.label(kind).is_some()
            || (self, kind) == (Filter::Rack, "Node")
            || (self, kind) == (Filter::Rack, "NetworkDevice")
    }

    /// The topology label to select by, for kinds without a field for it.
    fn label(self, kind: &str) -> Option<&'static str> {
        match (self, kind) {
            (Filter::Region, "Site") => None,
            (Filter::Region, _) => Some(topology::REGION),
            (Filter::Site, "Port" | "VirtualMachine") => Some(topology::SITE),
            (Filter::Rack, "Port" | "VirtualMachine") => Some(topology::RACK),
            (Filter::Cluster, "VirtualMachine") => Some(topology::CLUSTER),
            _ => None,
        }
    }

    fn field(self, kind: &str) -> &'static str {
        match (self, kind) {
            (Filter::Site, "Cluster") => "spec.controlPlaneSiteRef.name",
            (Filter::Site, _) => "spec.siteRef.name",
            (Filter::Cluster, "Node") => "spec.assignment.clusterRef.name",
            (Filter::Cluster, _) => "spec.clusterRef.name",
            (Filter::Rack, _) => "spec.placement.rackRef.name",
            (Filter::Cage, _) => "spec.cage",
            (Filter::Row, _) => "spec.row",
            (Filter::Role, "Node") => "spec.assignment.role",
            (Filter::Role, _) => "spec.role",
            (Filter::Lifecycle, _) => "spec.lifecycle",
            (Filter::Provider, _) => "spec.providerRef.name",
            (Filter::Device, _) => "spec.deviceRef.name",
            (Filter::Port, _) => "spec.endpoints.name",
            (Filter::Host, _) => "spec.hostRef.name",
            (Filter::Region, _) => "spec.regionRef.name",
            (Filter::Type, _) => "spec.type",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::all;

    #[test]
    fn every_flag_asks_for_a_field_that_the_kind_is_selected_by() {
        let kinds = inventory::kinds::all();
        for listed in all() {
            let kind = kinds.iter().find(|kind| kind.names.kind == listed.kind).unwrap();
            for filter in listed.filters {
                let (mut labels, mut fields) = (Vec::new(), Vec::new());
                filter.select(listed.kind, "x", &mut labels, &mut fields);
                assert_eq!(labels.len() + fields.len(), 1);
                for field in fields {
                    let field = field.split('=').next().unwrap().to_owned();
                    assert!(kind.stored().selectable.contains(&field), "{}: {field}", listed.plural);
                }
            }
        }
    }

    #[test]
    fn words_are_taken_in_any_case() {
        let mut fields = Vec::new();
        Filter::Role.select("NetworkDevice", "patchpanel", &mut Vec::new(), &mut fields);
        Filter::Row.select("Rack", "a,b=c", &mut Vec::new(), &mut fields);
        assert_eq!(fields, ["spec.role=PatchPanel", "spec.row=a\\,b\\=c"]);
    }
}
