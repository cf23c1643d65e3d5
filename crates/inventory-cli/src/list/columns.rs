//! The columns of each kind: those of `datumctl inventory`, and additional ones for `-o wide`.

use serde_json::Value;

use super::Listed;
use super::filter::Filter;

/// A column with its heading and the source of its cells.
pub struct Column {
    pub head: &'static str,
    from: From,
}

enum From {
    /// The value at a path of the object.
    At(&'static str),
    /// A label.
    Label(&'static str),
    /// The status of the condition Ready, or its reason.
    Ready(&'static str),
    /// A computed value.
    Computed(fn(&Value) -> String),
}

impl Column {
    /// Whether it shows the label with the region.
    pub fn is_region(&self) -> bool {
        matches!(self.from, From::Label(inventory::topology::REGION))
    }

    /// The text of a cell; `<none>` if it is empty.
    pub fn cell(&self, object: &Value) -> String {
        let text = match &self.from {
            From::At(path) => at(object, path),
            From::Label(key) => object["metadata"]["labels"][*key].as_str().unwrap_or("").to_owned(),
            From::Ready(part) => ready(object, part),
            From::Computed(made) => made(object),
        };
        if text.is_empty() { "<none>".to_owned() } else { text }
    }
}

const fn field(head: &'static str, path: &'static str) -> Column {
    Column { head, from: From::At(path) }
}

const fn made(head: &'static str, made: fn(&Value) -> String) -> Column {
    Column { head, from: From::Computed(made) }
}

const NAME: Column = field("NAME", "metadata.name");
const READY: Column = Column { head: "READY", from: From::Ready("status") };
const REASON: Column = Column { head: "REASON", from: From::Ready("reason") };
const REGION: Column = Column { head: "REGION", from: From::Label(inventory::topology::REGION) };
const SERIAL: Column = field("SERIAL", "spec.serial");
const ASSET_TAG: Column = field("ASSET-TAG", "spec.assetTag");
const LIFECYCLE: Column = field("LIFECYCLE", "spec.lifecycle");
const WATTS: Column = field("WATTS", "spec.drawnWatts");
const PLACEMENT: Column = made("PLACEMENT", placement);

/// All kinds, in the order of the help text.
pub static ALL: [Listed; 12] = [
    Listed {
        kind: "Provider",
        plural: "providers",
        aliases: &["provider"],
        about: "List providers of sites, circuits and virtual machines",
        example: "providers --type transit -o wide",
        filters: &[Filter::Type],
        columns: &[NAME, field("DISPLAY", "spec.displayName"), field("TYPE", "spec.type"), READY],
        wide: &[
            field("CONTRACT", "spec.contract.contractID"),
            field("ACCOUNT", "spec.contract.accountID"),
            REASON,
        ],
    },
    Listed {
        kind: "Region",
        plural: "regions",
        aliases: &["region"],
        about: "List regions",
        example: "regions -o yaml",
        filters: &[],
        columns: &[NAME, field("DISPLAY", "spec.displayName"), READY],
        wide: &[
            field("LATITUDE", "spec.coordinates.latitude"),
            field("LONGITUDE", "spec.coordinates.longitude"),
            REASON,
        ],
    },
    Listed {
        kind: "Site",
        plural: "sites",
        aliases: &["site"],
        about: "List sites: data centers, availability zones, edge and virtual locations",
        example: "sites --region eu-central --provider equinix",
        filters: &[Filter::Region, Filter::Provider, Filter::Type],
        columns: &[
            NAME,
            field("REGION", "spec.regionRef.name"),
            field("PROVIDER", "spec.providerRef.name"),
            field("TYPE", "spec.type"),
            READY,
        ],
        wide: &[field("DISPLAY", "spec.displayName"), field("ADDRESS", "spec.address"), REASON],
    },
    Listed {
        kind: "Cluster",
        plural: "clusters",
        aliases: &["cluster"],
        about: "List Kubernetes clusters",
        example: "clusters --region eu-central",
        filters: &[Filter::Region, Filter::Site, Filter::Role],
        columns: &[
            NAME,
            REGION,
            field("CP-SITE", "spec.controlPlaneSiteRef.name"),
            field("ROLE", "spec.role"),
            field("PROVIDER", "spec.provider"),
            READY,
        ],
        wide: &[field("DISPLAY", "spec.displayName"), field("ENDPOINT", "spec.endpoint"), REASON],
    },
    Listed {
        kind: "Node",
        plural: "nodes",
        aliases: &["node"],
        about: "List nodes (hosts)",
        example: "nodes --site fra1 --rack fra1-a01",
        filters: &[
            Filter::Region,
            Filter::Site,
            Filter::Cluster,
            Filter::Rack,
            Filter::Role,
            Filter::Lifecycle,
        ],
        columns: &[
            NAME,
            field("SITE", "spec.siteRef.name"),
            field("CLUSTER", "spec.assignment.clusterRef.name"),
            field("ROLE", "spec.assignment.role"),
            field("ARCH", "spec.hardware.cpuArchitecture"),
            field("CPU", "spec.hardware.cpuCores"),
            field("PHASE", "status.phase"),
            READY,
        ],
        wide: &[PLACEMENT, SERIAL, ASSET_TAG, LIFECYCLE, WATTS, REASON],
    },
    Listed {
        kind: "Rack",
        plural: "racks",
        aliases: &["rack"],
        about: "List racks; see \"rack show\" for elevations",
        example: "racks --site fra1 --row A -o wide",
        filters: &[Filter::Region, Filter::Site, Filter::Cage, Filter::Row, Filter::Lifecycle],
        columns: &[
            NAME,
            field("SITE", "spec.siteRef.name"),
            field("CAGE", "spec.cage"),
            field("ROW", "spec.row"),
            made("HEIGHT", |rack| {
                rack["spec"]["heightU"].as_i64().map_or(String::new(), |u| format!("{u}U"))
            }),
            made("FEEDS", |rack| joined(&rack["spec"]["powerFeeds"], "name")),
            READY,
        ],
        wide: &[
            SERIAL,
            ASSET_TAG,
            LIFECYCLE,
            made("POWER", |rack| condition(rack, "PowerWithinRating", "reason")),
            REASON,
        ],
    },
    Listed {
        kind: "NetworkDevice",
        plural: "networkdevices",
        aliases: &["networkdevice", "nd"],
        about: "List network devices: routers, switches, firewalls, patch panels, PDUs",
        example: "networkdevices --site fra1 --role leaf",
        filters: &[
            Filter::Region,
            Filter::Site,
            Filter::Cluster,
            Filter::Rack,
            Filter::Role,
            Filter::Lifecycle,
        ],
        columns: &[
            NAME,
            field("SITE", "spec.siteRef.name"),
            field("CLUSTER", "spec.clusterRef.name"),
            field("ROLE", "spec.role"),
            PLACEMENT,
            field("MGMT", "spec.managementAddress"),
            READY,
        ],
        wide: &[SERIAL, ASSET_TAG, LIFECYCLE, WATTS, REASON],
    },
    Listed {
        kind: "Port",
        plural: "ports",
        aliases: &["port"],
        about: "List ports of devices and racks; see \"trace\"",
        example: "ports --device fra1-a01-leaf1 --type optical",
        filters: &[Filter::Region, Filter::Site, Filter::Rack, Filter::Device, Filter::Type],
        columns: &[
            NAME,
            field("DEVICE-KIND", "spec.deviceRef.kind"),
            field("DEVICE", "spec.deviceRef.name"),
            field("PORT", "spec.name"),
            field("TYPE", "spec.type"),
            field("SPEED", "spec.speed"),
            READY,
        ],
        wide: &[
            field("MAC", "spec.macAddress"),
            field("PASS-THROUGH", "spec.passThrough.portRef.name"),
            field("FEED", "spec.power.feed"),
            field("INLET", "spec.power.inletRef.name"),
            REASON,
        ],
    },
    Listed {
        kind: "Cable",
        plural: "cables",
        aliases: &["cable"],
        about: "List cables",
        example: "cables --port fra1-a01-node01-eth0",
        filters: &[Filter::Port],
        columns: &[
            NAME,
            made("A-PORT", |cable| at(&cable["spec"]["endpoints"][0], "name")),
            made("Z-PORT", far_ends),
            field("MEDIA", "spec.media"),
            field("LENGTH-M", "spec.lengthM"),
            field("LABEL", "spec.label"),
            READY,
        ],
        wide: &[field("COLOR", "spec.color"), field("STATE", "spec.state"), REASON],
    },
    Listed {
        kind: "Circuit",
        plural: "circuits",
        aliases: &["circuit"],
        about: "List provider circuits",
        example: "circuits --provider arelion",
        filters: &[Filter::Provider, Filter::Type],
        columns: &[
            NAME,
            field("PROVIDER", "spec.providerRef.name"),
            field("TYPE", "spec.type"),
            field("CIRCUIT-ID", "spec.circuitID"),
            made("A-END", |circuit| end(&circuit["spec"]["aEnd"])),
            made("Z-END", |circuit| end(&circuit["spec"]["zEnd"])),
            field("MBPS", "spec.bandwidthMbps"),
            READY,
        ],
        wide: &[made("SERVICE", |circuit| end(&circuit["spec"]["serviceRef"])), REASON],
    },
    Listed {
        kind: "Link",
        plural: "links",
        aliases: &["link"],
        about: "List network links between sites, clusters and network devices",
        example: "links --type physical",
        filters: &[Filter::Type],
        columns: &[
            NAME,
            field("TYPE", "spec.type"),
            made("ENDPOINTS", |link| {
                let ends = &link["spec"]["endpoints"];
                format!("{} <-> {}", end(&ends[0]), end(&ends[1]))
            }),
            field("MBPS", "spec.capacityMbps"),
            field("LATENCY-MS", "spec.latencyMs"),
            made("CABLES", |link| joined(&link["spec"]["cableRefs"], "name")),
            READY,
        ],
        wide: &[REASON],
    },
    Listed {
        kind: "VirtualMachine",
        plural: "virtualmachines",
        aliases: &["virtualmachine", "vm", "vms"],
        about: "List virtual machines",
        example: "virtualmachines --host fra1-a01-node02",
        filters: &[
            Filter::Region,
            Filter::Site,
            Filter::Rack,
            Filter::Cluster,
            Filter::Host,
            Filter::Provider,
        ],
        columns: &[
            NAME,
            field("HOST", "spec.hostRef.name"),
            field("PROVIDER", "spec.providerRef.name"),
            field("VCPUS", "spec.allocation.vcpus"),
            field("MEMORY-BYTES", "spec.allocation.memoryBytes"),
            READY,
        ],
        wide: &[made("PROJECT", |machine| end(&machine["spec"]["projectRef"])), REASON],
    },
];

fn at(object: &Value, path: &str) -> String {
    match path.split('.').fold(object, |value, step| &value[step]) {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn ready(object: &Value, part: &str) -> String {
    condition(object, "Ready", part)
}

fn condition(object: &Value, kind: &str, part: &str) -> String {
    let mut conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    conditions.find(|one| one["type"] == kind).map_or(String::new(), |one| at(one, part))
}

fn joined(list: &Value, field: &str) -> String {
    let names: Vec<String> = list.as_array().into_iter().flatten().map(|item| at(item, field)).collect();
    names.join(",")
}

/// `Site/fra1`.
fn end(reference: &Value) -> String {
    match (reference["kind"].as_str(), reference["name"].as_str()) {
        (Some(kind), Some(name)) => format!("{kind}/{name}"),
        _ => String::new(),
    }
}

/// All endpoints of a cable but the first.
fn far_ends(cable: &Value) -> String {
    let ends = cable["spec"]["endpoints"].as_array().into_iter().flatten().skip(1);
    ends.map(|end| at(end, "name")).collect::<Vec<String>>().join(",")
}

/// `rack-a14 U10-U11 (Front)`, or `rack-a14 0U`.
fn placement(device: &Value) -> String {
    let placed = &device["spec"]["placement"];
    let unit = |field: &str| placed[field].as_i64().unwrap_or(1);
    if let Some(rack) = placed["rackRef"]["name"].as_str() {
        if placed["startUnit"].is_null() {
            return format!("{rack} 0U");
        }
        let (start, high) = (unit("startUnit"), unit("unitHeight"));
        let face = placed["face"].as_str().unwrap_or("Front");
        return format!("{rack} U{start}-U{} ({face})", start + high - 1);
    }
    let slot = &device["spec"]["inSlot"];
    match (end(&slot["deviceRef"]), slot["slot"].as_str()) {
        (holder, Some(slot)) if !holder.is_empty() => format!("{holder} slot {slot}"),
        _ => String::new(),
    }
}
