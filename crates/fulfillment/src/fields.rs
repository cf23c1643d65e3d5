//! Every field of the fulfillment API: where objects keep it, who sees it, and why.
//!
//! The gRPC and REST faces map messages by this table, and `docs/fulfillment/fields.md` is written from it.

use Kept::{At, Computed, Conditions, Placement, Reference, Same, Sealed};
use Sight::{Private, Public};

/// Where objects keep a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// At the same path, in camelCase.
    Same,
    /// At another path.
    At(&'static str),
    /// At the same path in camelCase, as the name of an object of this resource; the protocol has its identifier.
    Reference(&'static str),
    /// As conditions of Kubernetes: `Ready` for the value `READY` of the enumeration with this prefix, `True` for
    /// `CONDITION_STATUS_TRUE`. Types that the enumeration does not have are left out.
    Conditions(&'static str),
    /// In a Secret. It is written at the same path in camelCase; `credentials` of the object gives it back under that path.
    Sealed,
    /// At a path of the ClusterPlacement whose name is the identifier of the cluster.
    Placement(&'static str),
    /// Nowhere: it is computed from what the server knows of the object.
    Computed,
}

/// Who sees a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// Tenants too, in the public API.
    Public,
    /// Only who may use the private API.
    Private,
}

/// A field of a message.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Path in the message, with the names of the protocol. `*` stands for the keys of a map, `[]` for the items of a list.
    pub path: &'static str,
    /// Number of the field in the message of the private API that it is in.
    pub number: u32,
    /// Where objects keep it.
    pub kept: Kept,
    /// Who sees it.
    pub sight: Sight,
    /// Why.
    pub why: &'static str,
}

/// A message of the fulfillment API.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    /// Name of the message.
    pub name: &'static str,
    /// Resource whose objects it shows.
    pub resource: &'static str,
    /// Its own fields. Those of every message are in [`METADATA`].
    pub fields: &'static [Field],
}

const fn field(path: &'static str, number: u32, kept: Kept, sight: Sight, why: &'static str) -> Field {
    Field { path, number, kept, sight, why }
}

/// All messages.
pub const MESSAGES: [Message; 5] = [
    Message { name: "Host", resource: "hosts", fields: HOST },
    Message { name: "HostClass", resource: "hostclasses", fields: HOST_CLASS },
    Message { name: "Hub", resource: "hubs", fields: HUB },
    Message { name: "ClusterTemplate", resource: "clustertemplates", fields: CLUSTER_TEMPLATE },
    Message { name: "Cluster", resource: "clusters", fields: CLUSTER },
];

const SHOWN: &str = "needed to find and name the object";
const STATE: &str = "tells a tenant whether it can be used";
const HARDWARE: &str = "tenants get hosts by their class and learn nothing of the hardware";
const BMC: &str = "who reaches a BMC controls the machine";
const PLACE: &str = "tells where the platform's machines are";
const HUBS: &str = "tenants must not learn that there are hubs";
const WANTED: &str = "what the tenant asks for";
const CATALOG: &str = "tenants choose from it";

/// The fields that every message has.
pub const METADATA: &[Field] = &[
    field(
        "id",
        1,
        At("metadata.name, or id where that is set; of a Cluster metadata.uid, or id"),
        Public,
        SHOWN,
    ),
    field("metadata.creation_timestamp", 1, At("metadata.creationTimestamp"), Public, SHOWN),
    field("metadata.deletion_timestamp", 2, At("metadata.deletionTimestamp"), Public, SHOWN),
    field(
        "metadata.finalizers",
        3,
        At("metadata.finalizers"),
        Private,
        "only controllers of the platform set and remove them",
    ),
    field(
        "metadata.creators",
        4,
        Computed,
        Public,
        "who created the object: the server sets it, and nobody can change it",
    ),
    field(
        "metadata.tenants",
        5,
        Computed,
        Public,
        "the project that the object is in, or shared for the root",
    ),
    field("metadata.name", 6, At("displayName; metadata.name if that is not set"), Public, SHOWN),
    field("metadata.labels", 7, At("metadata.labels"), Public, "tenants label what is theirs"),
    field("metadata.annotations", 8, At("metadata.annotations"), Public, "tenants annotate what is theirs"),
    field("metadata.version", 9, Computed, Public, "the number of changes of the object, from its history"),
];

const HOST: &[Field] = &[
    field("spec.power_state", 1, Same, Public, "a tenant may power the hosts of its clusters"),
    field("spec.bmc.url", 1, Same, Private, BMC),
    field("spec.bmc.user", 2, Same, Private, BMC),
    field(
        "spec.bmc.password",
        3,
        Sealed,
        Private,
        "a credential: moved into a Secret, given back only to who may get hosts/credentials",
    ),
    field("spec.bmc.insecure", 4, Same, Private, BMC),
    field("spec.rack", 3, Same, Private, PLACE),
    field("spec.class", 4, Reference("hostclasses"), Private, "the node sets of the cluster say it already"),
    field("spec.boot_mac", 5, Same, Private, HARDWARE),
    field("spec.boot_ip", 6, Same, Private, "an address of the platform's network"),
    field("spec.title", 7, Same, Private, "written by operators for operators"),
    field("spec.description", 8, Same, Private, "written by operators for operators"),
    field("spec.bcm_link", 9, Same, Private, "leads to the source of the host"),
    field("spec.hardware.serial", 1, Same, Private, HARDWARE),
    field("spec.hardware.manufacturer", 2, Same, Private, HARDWARE),
    field("spec.hardware.model", 3, Same, Private, HARDWARE),
    field("spec.hardware.cpus[].model", 1, Same, Private, HARDWARE),
    field("spec.hardware.cpus[].architecture", 2, Same, Private, HARDWARE),
    field("spec.hardware.cpus[].cores", 3, Same, Private, HARDWARE),
    field("spec.hardware.cpus[].threads", 4, Same, Private, HARDWARE),
    field("spec.hardware.memory_bytes", 5, Same, Private, HARDWARE),
    field("spec.hardware.nics[].name", 1, Same, Private, HARDWARE),
    field("spec.hardware.nics[].mac", 2, Same, Private, HARDWARE),
    field("spec.hardware.nics[].speed_bps", 3, Same, Private, HARDWARE),
    field("spec.hardware.drives[].name", 1, Same, Private, HARDWARE),
    field("spec.hardware.drives[].serial", 2, Same, Private, HARDWARE),
    field("spec.hardware.drives[].model", 3, Same, Private, HARDWARE),
    field("spec.hardware.drives[].type", 4, Same, Private, HARDWARE),
    field("spec.hardware.drives[].size_bytes", 5, Same, Private, HARDWARE),
    field("spec.hardware.firmware[].component", 1, Same, Private, HARDWARE),
    field("spec.hardware.firmware[].version", 2, Same, Private, HARDWARE),
    field("spec.uplink_interface", 101, Same, Private, HARDWARE),
    field("spec.boot_interface", 102, Same, Private, HARDWARE),
    field("spec.node_ref.name", 1, Same, Private, PLACE),
    field("status.state", 1, Same, Public, STATE),
    field("status.power_state", 2, Same, Public, STATE),
    field("status.conditions", 3, Conditions("HOST_CONDITION_TYPE_"), Public, STATE),
    field("status.cluster", 5, Same, Private, "a tenant sees only hosts of its own clusters"),
    field("status.hub", 6, Reference("hubs"), Private, HUBS),
];

const HOST_CLASS: &[Field] =
    &[field("title", 3, Same, Public, CATALOG), field("description", 4, Same, Public, CATALOG)];

const HUB: &[Field] = &[
    field(
        "spec.kubeconfig",
        3,
        Sealed,
        Private,
        "a credential: moved into a Secret, given back only to who may get hubs/credentials",
    ),
    field("spec.namespace", 4, Same, Private, HUBS),
    field(
        "spec.pull_secret",
        5,
        Sealed,
        Private,
        "a credential: moved into a Secret, given back only to who may get hubs/credentials",
    ),
    field("spec.ssh_public_key", 6, Same, Private, HUBS),
    field("spec.ip", 7, Same, Private, HUBS),
    field("status.state", 1, Same, Private, HUBS),
    field("status.conditions", 2, Conditions("HUB_CONDITION_TYPE_"), Private, HUBS),
];

const CLUSTER_TEMPLATE: &[Field] = &[
    field("title", 3, Same, Public, CATALOG),
    field("description", 4, Same, Public, CATALOG),
    field("parameters[].name", 1, Same, Public, CATALOG),
    field("parameters[].title", 2, Same, Public, CATALOG),
    field("parameters[].description", 3, Same, Public, CATALOG),
    field("parameters[].required", 4, Same, Public, CATALOG),
    field("parameters[].type", 5, Same, Public, CATALOG),
    field("parameters[].default", 6, Same, Public, CATALOG),
    field("node_sets.*.host_class", 1, Reference("hostclasses"), Public, CATALOG),
    field("node_sets.*.size", 2, Same, Public, CATALOG),
];

const CLUSTER: &[Field] = &[
    field("spec.template", 1, Reference("clustertemplates"), Public, WANTED),
    field("spec.template_parameters", 2, Same, Public, WANTED),
    field("spec.node_sets.*.host_class", 1, Reference("hostclasses"), Public, WANTED),
    field("spec.node_sets.*.size", 2, Same, Public, WANTED),
    field("status.state", 1, Same, Public, STATE),
    field("status.conditions", 2, Conditions("CLUSTER_CONDITION_TYPE_"), Public, STATE),
    field("status.api_url", 3, Same, Public, "the tenant's way to its cluster"),
    field("status.console_url", 4, Same, Public, "the tenant's way to its cluster"),
    field("status.node_sets.*.host_class", 1, Reference("hostclasses"), Public, STATE),
    field("status.node_sets.*.size", 2, Same, Public, STATE),
    field(
        "status.node_sets.*.hosts",
        3,
        Reference("hosts"),
        Public,
        "a tenant sees which hosts its cluster has",
    ),
    field("status.hub", 6, Placement("spec.hub"), Private, HUBS),
    field("status.alias", 7, Placement("spec.alias"), Private, "a name inside the hub"),
    field("status.port", 8, Placement("spec.port"), Private, "a port of the hub"),
];

/// A path of the protocol as objects write it: `spec.boot_mac` is `spec.bootMac`.
pub fn camel_case(path: &str) -> String {
    let mut camel = String::with_capacity(path.len());
    let mut is_start = false;
    for letter in path.chars() {
        match (letter, is_start) {
            ('_', _) => is_start = true,
            (letter, true) => {
                camel.push(letter.to_ascii_uppercase());
                is_start = false;
            }
            (letter, false) => camel.push(letter),
        }
    }
    camel
}

impl Field {
    /// Where objects keep it, as the table of the documentation says it.
    pub fn kept_at(&self) -> String {
        let same = camel_case(self.path);
        match self.kept {
            Same => format!("`{same}`"),
            At(path) => path.to_owned(),
            Reference(resource) => format!("`{same}`, as a name of {resource}"),
            Conditions(_) => format!("`{same}`, as conditions of Kubernetes"),
            Sealed => format!("a Secret; `{same}Ref` says which"),
            Placement(path) => format!("`{path}` of the ClusterPlacement"),
            Computed => "computed".to_owned(),
        }
    }
}

/// The page of the documentation with all fields.
pub fn page() -> String {
    let mut page = String::from(INTRODUCTION);
    table(&mut page, "Every object", METADATA);
    for message in MESSAGES {
        table(&mut page, &format!("{} ({})", message.name, message.resource), message.fields);
    }
    page.push_str(CREDENTIALS);
    page
}

fn table(page: &mut String, title: &str, fields: &[Field]) {
    page.push_str(&format!(
        "\n## {title}\n\n| field | number | kept at | seen in | reason |\n| --- | --- | --- | --- | --- |\n"
    ));
    for field in fields {
        let sight = if field.sight == Public { "public, private" } else { "private" };
        let (path, number, kept, why) = (field.path, field.number, field.kept_at(), field.why);
        page.push_str(&format!("| `{path}` | {number} | {kept} | {sight} | {why} |\n"));
    }
}

const INTRODUCTION: &str = "\
# Fields of the fulfillment API

The messages of the gRPC and REST API are views of resources: nothing is kept twice. This table
says where each field is kept, which API shows it, and why. It is generated from
`crates/fulfillment/src/fields.rs`, which the API itself maps by.

* Names are those of the protocol; objects have the same ones in camelCase. `*` stands for the
  keys of a map, `[]` for the items of a list. Numbers are those of the private API, in the
  message that the field is in.
* Enumerated values are the same words in both: `HOST_POWER_STATE_ON`.
* Conditions are those of Kubernetes, so that `kubectl wait` works: `Ready` and `True` are
  `HOST_CONDITION_TYPE_READY` and `CONDITION_STATUS_TRUE` in the protocol.
* A field that refers to another object holds its name. The protocol shows its identifier, which
  is the same unless the identifier is not a DNS name.
* `status.hub`, `status.alias` and `status.port` of a cluster are in a ClusterPlacement of the
  root, since the Cluster itself is in the tenant's project, where `kubectl` shows all of it.
";

const CREDENTIALS: &str = "
## Credentials

A sealed field is write-only. Its value never becomes part of the object: in the transaction of
the write it is moved into a Secret in the namespace `groundplane-sealed` of the same control
plane, and the object keeps a reference with a number that grows when the value changes. The
subresource `credentials` gives the values back: `hosts/credentials`, `hubs/credentials` and
`clusters/credentials` are permissions of their own. The kubeconfig and the password of a cluster
are sealed at `status.kubeconfig` and `status.password`; the public API returns them from
`GetKubeconfig` and `GetPassword`.
";

#[cfg(test)]
mod tests {
    use krm::kind::Kind;
    use serde_json::Value;

    use super::*;

    fn kind(resource: &str) -> Kind {
        crate::all().into_iter().find(|kind| kind.names.plural == resource).unwrap()
    }

    /// Whether the schema of a kind has a field.
    fn has(kind: &Kind, path: &str) -> bool {
        let step = |at: &Value, name: &str| match name {
            "*" => at["additionalProperties"].clone(),
            _ => match name.strip_suffix("[]") {
                Some(list) => at["properties"][list]["items"].clone(),
                None => at["properties"][name].clone(),
            },
        };
        !path.split('.').fold(kind.stored().openapi.clone(), |at, name| step(&at, name)).is_null()
    }

    #[test]
    fn every_field_of_the_table_is_a_field_of_its_kind() {
        for message in MESSAGES {
            let kind = kind(message.resource);
            for field in message.fields {
                let path = match field.kept {
                    Same | Reference(_) | Conditions(_) => camel_case(field.path),
                    Sealed => format!("{}Ref.name", camel_case(field.path)),
                    Placement(_) | At(_) | Computed => continue,
                };
                assert!(has(&kind, &path), "{} has no {path}", message.name);
            }
        }
        let placement = kind("clusterplacements");
        for path in ["spec.hub", "spec.alias", "spec.port"] {
            assert!(has(&placement, path));
        }
    }

    #[test]
    fn the_page_of_the_documentation_is_this_table() {
        let at = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fulfillment/fields.md");
        let written = std::fs::read_to_string(at).unwrap_or_default();
        assert!(written == page(), "docs/fulfillment/fields.md is out of date: run `cargo xtask docs`");
    }
}
