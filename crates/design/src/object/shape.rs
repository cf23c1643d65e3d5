//! The fields of each kind that differ between document and object.

use Shape::{
    Content, Fields, Labels, List, Named, Number, Pairs, Repositories, Servers, Text, TextMap, Texts, Truth,
    Whole,
};

/// What stands at a place of a document.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// Any scalar, as text.
    Text,
    /// A whole number.
    Whole,
    /// A number as it was written.
    Number,
    /// True or false.
    Truth,
    /// A list of texts.
    Texts,
    /// A map of texts.
    TextMap,
    /// A map of texts, some of which are left empty.
    Labels,
    /// A map of texts whose order counts: in an object a list of names and values.
    Pairs,
    /// These fields and no others.
    Fields(&'static [(&'static str, Shape)]),
    /// A list of such things.
    List(&'static Shape),
    /// Such things by their names, in an order that counts: in an object a list.
    Named(&'static Shape),
    /// Repositories by their names, with a flag among them: in an object apart.
    Repositories(&'static Shape),
    /// Name servers: one text with commas, or a list.
    Servers,
    /// The content of an asset: text, or packages by name, which an object has apart.
    Content,
}

/// A field and what stands there.
type Field = (&'static str, Shape);

/// The fields of both, said once each.
const fn joined<const ALL: usize>(some: &[Field], others: &[Field]) -> [Field; ALL] {
    assert!(some.len() + others.len() == ALL, "as many as are said to be");
    let mut all = [("", Text); ALL];
    let mut at = 0;
    while at < ALL {
        all[at] = if at < some.len() { some[at] } else { others[at - some.len()] };
        at += 1;
    }
    all
}

/// What documents of a kind hold; nothing for kinds that are not of a design.
pub(super) fn of_kind(kind: &str) -> Option<&'static Shape> {
    Some(match kind {
        "Region" => &REGION,
        "Rack" => &RACK,
        "Network" => &NETWORK,
        "NetworkLink" => &NETWORK_LINK,
        "HardwareProfile" => &HARDWARE_PROFILE,
        "DriverPackage" => &DRIVER_PACKAGE,
        "HostProfile" => &HOST_PROFILE,
        "BaremetalNode" => &BAREMETAL_NODE,
        "BootAction" => &BOOT_ACTION,
        _ => return None,
    })
}

const REGION: Shape = Fields(&[
    ("tag_definitions", List(&Fields(&[("tag", Text), ("definition_type", Text), ("definition", Text)]))),
    ("authorized_keys", Texts),
    (
        "repositories",
        Repositories(&Fields(&[
            ("repo_type", Text),
            ("url", Text),
            ("distributions", Texts),
            ("subrepos", Texts),
            ("components", Texts),
            ("gpgkey", Text),
            ("arches", Texts),
            ("options", TextMap),
        ])),
    ),
]);

const RACK: Shape = Fields(&[
    ("tor_switches", Named(&Fields(&[("mgmt_ip", Text), ("sdn_api_uri", Text)]))),
    ("location", TextMap),
    ("local_networks", Texts),
    ("labels", Labels),
]);

const NETWORK: Shape = Fields(&[
    ("cidr", Text),
    ("vlan", Text),
    ("mtu", Whole),
    ("routedomain", Text),
    ("dns", Fields(&[("domain", Text), ("servers", Servers), ("search", Texts)])),
    ("ranges", List(&Fields(&[("type", Text), ("start", Text), ("end", Text)]))),
    (
        "routes",
        List(&Fields(&[("subnet", Text), ("gateway", Text), ("metric", Number), ("routedomain", Text)])),
    ),
    ("dhcp_relay", Fields(&[("self_ip", Text), ("upstream_target", Text)])),
    ("labels", Labels),
]);

const NETWORK_LINK: Shape = Fields(&[
    (
        "bonding",
        Fields(&[
            ("mode", Text),
            ("hash", Text),
            ("peer_rate", Text),
            ("mon_rate", Whole),
            ("up_delay", Whole),
            ("down_delay", Whole),
        ]),
    ),
    ("mtu", Whole),
    ("linkspeed", Text),
    ("trunking", Fields(&[("mode", Text), ("default_network", Text)])),
    ("allowed_networks", Texts),
    ("labels", Labels),
]);

const VOLUME: Shape = Fields(&[("level", Text), ("disks", Texts), ("spares", Texts), ("size", Text)]);

/// What a model of machine says, unless a profile or a host says otherwise.
const MACHINE: [Field; 4] =
    [("firmware", TextMap), ("bios_settings", TextMap), ("raid", Named(&VOLUME)), ("drivers", Texts)];

const HARDWARE_PROFILE: Shape = Fields(&HARDWARE_PROFILE_FIELDS);
const HARDWARE_PROFILE_FIELDS: [Field; 15] = joined(&OF_HARDWARE, &MACHINE);
const OF_HARDWARE: [Field; 11] = [
    ("vendor", Text),
    ("generation", Text),
    ("hw_version", Text),
    ("bios_version", Text),
    ("boot_mode", Text),
    ("bootstrap_protocol", Text),
    ("pxe_interface", Number),
    (
        "device_aliases",
        Named(&Fields(&[
            ("address", Text),
            ("bus_type", Text),
            ("dev_type", Text),
            ("mac", Text),
            ("serial", Text),
        ])),
    ),
    ("cpu_sets", TextMap),
    ("hugepages", Named(&Fields(&[("size", Text), ("count", Whole)]))),
    ("storage", Fields(&[("boot_device", Text), ("wipe", Text)])),
];

const DRIVER_PACKAGE: Shape = Fields(&[
    ("packages", TextMap),
    ("modules", Texts),
    ("blacklist", Texts),
    ("repository", Text),
    ("pci_ids", Texts),
    ("images", Texts),
]);

const FILESYSTEM: Shape = Fields(&[
    ("mountpoint", Text),
    ("fstype", Text),
    ("mount_options", Text),
    ("fs_uuid", Text),
    ("fs_label", Text),
]);

const STORAGE: Shape = Fields(&[
    ("boot_device", Text),
    ("wipe", Text),
    (
        "physical_devices",
        Named(&Fields(&[
            ("labels", TextMap),
            ("volume_group", Text),
            (
                "partitions",
                List(&Fields(&[
                    ("name", Text),
                    ("size", Text),
                    ("part_uuid", Text),
                    ("volume_group", Text),
                    ("labels", TextMap),
                    ("bootable", Truth),
                    ("filesystem", FILESYSTEM),
                ])),
            ),
        ])),
    ),
    (
        "volume_groups",
        Named(&Fields(&[
            ("vg_uuid", Text),
            (
                "logical_volumes",
                List(&Fields(&[
                    ("name", Text),
                    ("size", Text),
                    ("lv_uuid", Text),
                    ("filesystem", FILESYSTEM),
                ])),
            ),
        ])),
    ),
]);

const PLATFORM: Shape = Fields(&[("image", Text), ("kernel", Text), ("kernel_params", Pairs)]);

const METADATA: Shape =
    Fields(&[("tags", Texts), ("owner_data", TextMap), ("rack", Text), ("boot_mac", Text)]);

const INTERFACE: Shape = Fields(&[
    ("device_link", Text),
    ("slaves", Texts),
    ("networks", Texts),
    ("sriov", Fields(&[("vf_count", Whole), ("trustedmode", Truth)])),
]);

/// What a profile says of its hosts, and a host of itself.
const HOST: [Field; 12] = joined(&OF_HOST, &MACHINE);
const OF_HOST: [Field; 8] = [
    ("host_profile", Text),
    ("hardware_profile", Text),
    ("primary_network", Text),
    ("oob", TextMap),
    ("storage", STORAGE),
    ("platform", PLATFORM),
    ("metadata", METADATA),
    ("interfaces", Named(&INTERFACE)),
];

const HOST_PROFILE: Shape = Fields(&HOST);

const BAREMETAL_NODE: Shape = Fields(&BAREMETAL_NODE_FIELDS);
const BAREMETAL_NODE_FIELDS: [Field; 13] = joined(&HOST, &OF_NODE);
const OF_NODE: [Field; 1] = [("addressing", List(&Fields(&[("network", Text), ("address", Text)])))];

const NODE_FILTER: Shape = Fields(&[
    ("filter_set_type", Text),
    (
        "filter_set",
        List(&Fields(&[
            ("filter_type", Text),
            ("node_names", Texts),
            ("node_tags", Texts),
            ("node_labels", TextMap),
            ("rack_names", Texts),
            ("rack_labels", TextMap),
        ])),
    ),
]);

const BOOT_ACTION: Shape = Fields(&[
    ("signaling", Truth),
    (
        "assets",
        List(&Fields(&[
            ("type", Text),
            ("path", Text),
            ("location", Text),
            ("data", Content),
            ("location_pipeline", Texts),
            ("data_pipeline", Texts),
            ("permissions", Text),
        ])),
    ),
    ("node_filter", NODE_FILTER),
]);
