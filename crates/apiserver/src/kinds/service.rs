//! Service: the address at which something is reached.
//!
//! This server runs no network: it serves the one Service that programs look for to find it, `default/kubernetes`, and keeps
//! it ([`crate::own_service`]). Others can't be made.

use krm::kind::{Kind, Scope};
use krm::meta::OBJECT_META;
use krm::shape::{Field, INT32, INT64, Outline, STRING, STRING_LIST, STRING_MAP, Shape, Struct};
use krm::table::{Column, Columns};
use serde_json::Value;

use super::columns::{age, column, text, wide};
use super::declare;

/// The verbs of kinds whose objects are the server's own.
pub const READ_ONLY: [&str; 3] = ["get", "list", "watch"];

static SHAPE: Shape = Shape::Struct(&Struct {
    name: "Service",
    type_name: "v1.Service",
    fields: &[
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("kind", STRING),
        Field::always("metadata", OBJECT_META),
        Field::always("spec", Shape::Struct(&SPEC)),
        Field::always("status", Shape::Struct(&STATUS)),
    ],
});

static SPEC: Struct = Struct {
    name: "ServiceSpec",
    type_name: "v1.ServiceSpec",
    fields: &[
        Field::if_empty("ports", Shape::List("[]v1.ServicePort", &Shape::Struct(&PORT))),
        Field::if_empty("selector", STRING_MAP),
        Field::if_empty("clusterIP", STRING),
        Field::if_empty("clusterIPs", STRING_LIST),
        Field::if_empty("type", Shape::Text("v1.ServiceType")),
        Field::if_empty("externalIPs", STRING_LIST),
        Field::if_empty("sessionAffinity", Shape::Text("v1.ServiceAffinity")),
        Field::if_empty("loadBalancerIP", STRING),
        Field::if_empty("loadBalancerSourceRanges", STRING_LIST),
        Field::if_empty("externalName", STRING),
        Field::if_empty("externalTrafficPolicy", Shape::Text("v1.ServiceExternalTrafficPolicy")),
        Field::if_empty("healthCheckNodePort", INT32),
        Field::if_empty("publishNotReadyAddresses", Shape::Flag),
        Field::if_absent("sessionAffinityConfig", Shape::Struct(&AFFINITY)),
        Field::if_empty("ipFamilies", Shape::List("[]v1.IPFamily", &Shape::Text("v1.IPFamily"))),
        Field::if_absent("ipFamilyPolicy", Shape::Text("v1.IPFamilyPolicy")),
        Field::if_absent("allocateLoadBalancerNodePorts", Shape::Flag),
        Field::if_absent("loadBalancerClass", STRING),
        Field::if_absent("internalTrafficPolicy", Shape::Text("v1.ServiceInternalTrafficPolicy")),
        Field::if_absent("trafficDistribution", STRING),
    ],
};

static PORT: Struct = Struct {
    name: "ServicePort",
    type_name: "v1.ServicePort",
    fields: &[
        Field::if_empty("name", STRING),
        Field::if_empty("protocol", Shape::Text("v1.Protocol")),
        Field::if_absent("appProtocol", STRING),
        Field::always("port", INT32),
        Field::if_empty("targetPort", Shape::Own(int_or_string)),
        Field::if_empty("nodePort", INT32),
    ],
};

static AFFINITY: Struct = Struct {
    name: "SessionAffinityConfig",
    type_name: "v1.SessionAffinityConfig",
    fields: &[Field::if_absent("clientIP", Shape::Struct(&CLIENT_IP))],
};

static CLIENT_IP: Struct = Struct {
    name: "ClientIPConfig",
    type_name: "v1.ClientIPConfig",
    fields: &[Field::if_absent("timeoutSeconds", INT32)],
};

static STATUS: Struct = Struct {
    name: "ServiceStatus",
    type_name: "v1.ServiceStatus",
    fields: &[
        Field::always("loadBalancer", Shape::Struct(&LOAD_BALANCER)),
        Field::if_empty("conditions", Shape::List("[]v1.Condition", &Shape::Struct(&CONDITION))),
    ],
};

static LOAD_BALANCER: Struct = Struct {
    name: "LoadBalancerStatus",
    type_name: "v1.LoadBalancerStatus",
    fields: &[Field::if_empty("ingress", Shape::List("[]v1.LoadBalancerIngress", &Shape::Struct(&INGRESS)))],
};

static INGRESS: Struct = Struct {
    name: "LoadBalancerIngress",
    type_name: "v1.LoadBalancerIngress",
    fields: &[
        Field::if_empty("ip", STRING),
        Field::if_empty("hostname", STRING),
        Field::if_absent("ipMode", Shape::Text("v1.LoadBalancerIPMode")),
        Field::if_empty("ports", Shape::List("[]v1.PortStatus", &Shape::Struct(&PORT_STATUS))),
    ],
};

static PORT_STATUS: Struct = Struct {
    name: "PortStatus",
    type_name: "v1.PortStatus",
    fields: &[
        Field::always("port", INT32),
        Field::always("protocol", Shape::Text("v1.Protocol")),
        Field::if_absent("error", STRING),
    ],
};

static CONDITION: Struct = Struct {
    name: "Condition",
    type_name: "v1.Condition",
    fields: &[
        Field::always("type", STRING),
        Field::always("status", Shape::Text("v1.ConditionStatus")),
        Field::if_empty("observedGeneration", INT64),
        Field::always("lastTransitionTime", Shape::Time),
        Field::always("reason", STRING),
        Field::always("message", STRING),
    ],
};

pub fn kind() -> Kind {
    let outline = Outline::of(&SHAPE)
        .says("", "Service is an address at which something is reached. The server keeps the one of its own API, default/kubernetes; others can't be created.")
        .says("spec", "Address and ports.")
        .says("spec.ports", "Ports of the service.")
        .says("spec.ports[].port", "Port at the address of the service.")
        .says("spec.ports[].targetPort", "Port of the endpoints, by number or name.")
        .says("spec.clusterIP", "Address of the service.")
        .says("spec.clusterIPs", "Addresses of the service, the first of which is clusterIP.")
        .says("spec.type", "How the service is reached: ClusterIP.")
        .says("spec.ipFamilies", "Families of the addresses: IPv4 or IPv6.")
        .says("status", "Observed state of the service.")
        .keyed("status.conditions", "type")
        .merged("status.conditions", "type")
        .merged("spec.ports", "port")
        .requires("spec.ports[]", &["port"])
        .requires("status.conditions[]", &["type", "status", "lastTransitionTime", "reason", "message"])
        .whole("spec.selector")
        .format("spec.ports[].targetPort", "int-or-string");
    let mut kind = declare::core("", "Service", "services", Scope::Namespaced, &SHAPE, &outline);
    kind.names.short = vec!["svc".into()];
    kind.names.categories = vec!["all".into()];
    kind.verbs = READ_ONLY.to_vec();
    let version = &mut kind.versions[0];
    version.selectable = vec!["spec.clusterIP".into(), "spec.type".into()];
    version.columns = Columns::new(vec![
        Column::name(),
        column("Type", "How the service is reached.", |object, _| text(object, "/spec/type").into()),
        column("Cluster-IP", "Address of the service.", |object, _| {
            or_none(text(object, "/spec/clusterIPs/0")).into()
        }),
        column("External-IP", "Addresses outside of the cluster.", |object, _| {
            or_none(&listed(object, "/spec/externalIPs")).into()
        }),
        column("Port(s)", "Ports of the service.", |object, _| or_none(&ports(object)).into()),
        age(),
        wide("Selector", "Labels of what the service leads to.", |object, _| selector(object).into()),
    ]);
    kind
}

/// A number stays a number, and a text a text.
fn int_or_string(value: &mut Value) -> Result<(), String> {
    match value {
        Value::String(_) | Value::Null => Ok(()),
        Value::Number(number) if number.as_i64().is_some_and(|number| i32::try_from(number).is_ok()) => {
            Ok(())
        }
        other => {
            Err(format!("json: cannot unmarshal {} into Go value of type int32", krm::body::kind_of(other)))
        }
    }
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "<none>" } else { text }
}

fn listed(object: &Value, pointer: &str) -> String {
    let items = object.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).collect::<Vec<_>>().join(",")
}

fn ports(object: &Value) -> String {
    let ports = object.pointer("/spec/ports").and_then(Value::as_array).into_iter().flatten();
    let shown = ports.map(|port| {
        let node = port["nodePort"].as_i64().filter(|node| *node > 0);
        let node = node.map_or_else(String::new, |node| format!(":{node}"));
        format!("{}{node}/{}", port["port"], port["protocol"].as_str().unwrap_or_default())
    });
    shown.collect::<Vec<_>>().join(",")
}

fn selector(object: &Value) -> String {
    let labels = object.pointer("/spec/selector").and_then(Value::as_object).into_iter().flatten();
    let labels: Vec<String> =
        labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect();
    or_none(&labels.join(",")).to_owned()
}
