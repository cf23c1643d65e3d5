//! Endpoints and EndpointSlice: where a Service leads to. As of Services, there are only the server's own.

use krm::kind::{Kind, Scope};
use krm::meta::OBJECT_META;
use krm::shape::{Field, INT32, Outline, STRING, STRING_LIST, STRING_MAP, Shape, Struct};
use krm::table::{Column, Columns};
use serde_json::Value;

use super::columns::{age, column, text};
use super::declare;
use super::reference::OBJECT_REFERENCE;
use super::service::READ_ONLY;

/// What Kubernetes says to whoever uses the older form.
const DEPRECATED: &str = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
/// Addresses that a cell of a table names.
const NAMED: usize = 3;

static ENDPOINTS: Shape = Shape::Struct(&Struct {
    name: "Endpoints",
    type_name: "v1.Endpoints",
    fields: &[
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("kind", STRING),
        Field::always("metadata", OBJECT_META),
        Field::if_empty("subsets", Shape::List("[]v1.EndpointSubset", &Shape::Struct(&SUBSET))),
    ],
});

static SUBSET: Struct = Struct {
    name: "EndpointSubset",
    type_name: "v1.EndpointSubset",
    fields: &[
        Field::if_empty("addresses", Shape::List("[]v1.EndpointAddress", &Shape::Struct(&ADDRESS))),
        Field::if_empty("notReadyAddresses", Shape::List("[]v1.EndpointAddress", &Shape::Struct(&ADDRESS))),
        Field::if_empty("ports", Shape::List("[]v1.EndpointPort", &Shape::Struct(&SUBSET_PORT))),
    ],
};

static ADDRESS: Struct = Struct {
    name: "EndpointAddress",
    type_name: "v1.EndpointAddress",
    fields: &[
        Field::always("ip", STRING),
        Field::if_empty("hostname", STRING),
        Field::if_absent("nodeName", STRING),
        Field::if_absent("targetRef", Shape::Struct(&OBJECT_REFERENCE)),
    ],
};

static SUBSET_PORT: Struct = Struct {
    name: "EndpointPort",
    type_name: "v1.EndpointPort",
    fields: &[
        Field::if_empty("name", STRING),
        Field::always("port", INT32),
        Field::if_empty("protocol", Shape::Text("v1.Protocol")),
        Field::if_absent("appProtocol", STRING),
    ],
};

static SLICE: Shape = Shape::Struct(&Struct {
    name: "EndpointSlice",
    type_name: "v1.EndpointSlice",
    fields: &[
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("kind", STRING),
        Field::always("metadata", OBJECT_META),
        Field::always("addressType", Shape::Text("v1.AddressType")),
        Field::always("endpoints", Shape::List("[]v1.Endpoint", &Shape::Struct(&ENDPOINT))),
        Field::always("ports", Shape::List("[]v1.EndpointPort", &Shape::Struct(&SLICE_PORT))),
    ],
});

static ENDPOINT: Struct = Struct {
    name: "Endpoint",
    type_name: "v1.Endpoint",
    fields: &[
        Field::always("addresses", STRING_LIST),
        Field::if_empty("conditions", Shape::Struct(&CONDITIONS)),
        Field::if_absent("hostname", STRING),
        Field::if_absent("targetRef", Shape::Struct(&OBJECT_REFERENCE)),
        Field::if_empty("deprecatedTopology", STRING_MAP),
        Field::if_absent("nodeName", STRING),
        Field::if_absent("zone", STRING),
        Field::if_absent("hints", Shape::Struct(&HINTS)),
    ],
};

static CONDITIONS: Struct = Struct {
    name: "EndpointConditions",
    type_name: "v1.EndpointConditions",
    fields: &[
        Field::if_absent("ready", Shape::Flag),
        Field::if_absent("serving", Shape::Flag),
        Field::if_absent("terminating", Shape::Flag),
    ],
};

static HINTS: Struct = Struct {
    name: "EndpointHints",
    type_name: "v1.EndpointHints",
    fields: &[
        Field::if_empty("forZones", Shape::List("[]v1.ForZone", &Shape::Struct(&FOR_ZONE))),
        Field::if_empty("forNodes", Shape::List("[]v1.ForNode", &Shape::Struct(&FOR_NODE))),
    ],
};

static FOR_ZONE: Struct =
    Struct { name: "ForZone", type_name: "v1.ForZone", fields: &[Field::always("name", STRING)] };
static FOR_NODE: Struct =
    Struct { name: "ForNode", type_name: "v1.ForNode", fields: &[Field::always("name", STRING)] };

static SLICE_PORT: Struct = Struct {
    name: "EndpointPort",
    type_name: "v1.EndpointPort",
    fields: &[
        Field::if_absent("name", STRING),
        Field::if_absent("protocol", Shape::Text("v1.Protocol")),
        Field::if_absent("port", INT32),
        Field::if_absent("appProtocol", STRING),
    ],
};

/// Both of them.
pub fn kinds() -> Vec<Kind> {
    vec![endpoints(), slice()]
}

fn endpoints() -> Kind {
    let outline = Outline::of(&ENDPOINTS)
        .says("", "Endpoints is where a Service leads to, in the older form. The server keeps those of its own API.")
        .says("subsets", "Addresses with the ports that they have in common.")
        .requires("subsets[].ports[]", &["port"])
        .requires("subsets[].addresses[]", &["ip"])
        .requires("subsets[].notReadyAddresses[]", &["ip"]);
    let mut kind = declare::core("", "Endpoints", "endpoints", Scope::Namespaced, &ENDPOINTS, &outline);
    kind.names.singular = "endpoints".into();
    kind.names.short = vec!["ep".into()];
    kind.verbs = READ_ONLY.to_vec();
    kind.versions[0].deprecated = Some(DEPRECATED.to_owned());
    kind.versions[0].columns = Columns::new(vec![
        Column::name(),
        column("Endpoints", "Addresses and ports.", |object, _| {
            let all = subsets(object);
            if all.is_empty() { "<none>".into() } else { some(&all).into() }
        }),
        age(),
    ]);
    kind
}

fn slice() -> Kind {
    let outline = Outline::of(&SLICE)
        .says("", "EndpointSlice is where a Service leads to. The server keeps the one of its own API.")
        .says("addressType", "Family of the addresses: IPv4 or IPv6.")
        .says("endpoints", "Addresses that the Service leads to.")
        .says("ports", "Ports that every endpoint has.")
        .requires("", &["addressType", "endpoints"])
        .requires("endpoints[]", &["addresses"]);
    let group = "discovery.k8s.io";
    let mut kind =
        declare::core(group, "EndpointSlice", "endpointslices", Scope::Namespaced, &SLICE, &outline);
    kind.generations = true;
    kind.verbs = READ_ONLY.to_vec();
    kind.versions[0].columns = Columns::new(vec![
        Column::name(),
        column("AddressType", "Family of the addresses.", |object, _| text(object, "/addressType").into()),
        column("Ports", "Ports of every endpoint.", |object, _| {
            let ports = list(object, "ports").map(|port| match (&port["port"], &port["name"]) {
                (Value::Number(port), _) => port.to_string(),
                (_, Value::String(name)) => name.clone(),
                _ => "*".to_owned(),
            });
            or_unset(some(&ports.collect::<Vec<_>>())).into()
        }),
        column("Endpoints", "Addresses of the endpoints.", |object, _| {
            let addresses = list(object, "endpoints").flat_map(|endpoint| list(endpoint, "addresses"));
            let addresses = addresses.filter_map(Value::as_str).map(str::to_owned);
            or_unset(some(&addresses.collect::<Vec<_>>())).into()
        }),
        age(),
    ]);
    kind
}

fn list<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    value.get(field).and_then(Value::as_array).into_iter().flatten()
}

/// Addresses with their ports.
fn subsets(object: &Value) -> Vec<String> {
    let mut all = Vec::new();
    for subset in list(object, "subsets") {
        let addresses = || list(subset, "addresses").filter_map(|address| address["ip"].as_str());
        if list(subset, "ports").next().is_none() {
            all.extend(addresses().map(str::to_owned));
        }
        for port in list(subset, "ports") {
            all.extend(addresses().map(|ip| match ip.contains(':') {
                true => format!("[{ip}]:{}", port["port"]),
                false => format!("{ip}:{}", port["port"]),
            }));
        }
    }
    all
}

/// The first of them, and how many there are besides.
fn some(all: &[String]) -> String {
    let first = all.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(",");
    match all.len().checked_sub(NAMED) {
        Some(more) if more > 0 => format!("{first} + {more} more..."),
        _ => first,
    }
}

fn or_unset(text: String) -> String {
    if text.is_empty() { "<unset>".to_owned() } else { text }
}
