//! Services and their endpoints, in the core group and in `discovery.k8s.io`.

use super::core::OBJECT_REFERENCE;
use super::meta::{CONDITION, OBJECT_META};
use crate::proto::message::{Field, Holds, Message};

pub(crate) static SERVICE: Message = Message {
    name: "Service",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "spec", Holds::One(&SERVICE_SPEC)),
        Field::new(3, "status", Holds::One(&SERVICE_STATUS)),
    ],
};

static SERVICE_SPEC: Message = Message {
    name: "ServiceSpec",
    fields: &[
        Field::new(1, "ports", Holds::Many(&SERVICE_PORT)),
        Field::new(2, "selector", Holds::TextByText),
        Field::new(3, "clusterIP", Holds::Text),
        Field::new(18, "clusterIPs", Holds::Texts),
        Field::new(4, "type", Holds::Text),
        Field::new(5, "externalIPs", Holds::Texts),
        Field::new(7, "sessionAffinity", Holds::Text),
        Field::new(8, "loadBalancerIP", Holds::Text),
        Field::new(9, "loadBalancerSourceRanges", Holds::Texts),
        Field::new(10, "externalName", Holds::Text),
        Field::new(11, "externalTrafficPolicy", Holds::Text),
        Field::new(12, "healthCheckNodePort", Holds::Int32),
        Field::new(13, "publishNotReadyAddresses", Holds::Bool),
        Field::kept(14, "sessionAffinityConfig", Holds::One(&SESSION_AFFINITY_CONFIG)),
        Field::new(19, "ipFamilies", Holds::Texts),
        Field::kept(17, "ipFamilyPolicy", Holds::Text),
        Field::kept(20, "allocateLoadBalancerNodePorts", Holds::Bool),
        Field::kept(21, "loadBalancerClass", Holds::Text),
        Field::kept(22, "internalTrafficPolicy", Holds::Text),
        Field::kept(23, "trafficDistribution", Holds::Text),
    ],
};

static SERVICE_PORT: Message = Message {
    name: "ServicePort",
    fields: &[
        Field::new(1, "name", Holds::Text),
        Field::new(2, "protocol", Holds::Text),
        Field::kept(6, "appProtocol", Holds::Text),
        Field::new(3, "port", Holds::Int32),
        Field::new(4, "targetPort", Holds::IntOrString),
        Field::new(5, "nodePort", Holds::Int32),
    ],
};

static SESSION_AFFINITY_CONFIG: Message = Message {
    name: "SessionAffinityConfig",
    fields: &[Field::kept(1, "clientIP", Holds::One(&CLIENT_IP_CONFIG))],
};

static CLIENT_IP_CONFIG: Message =
    Message { name: "ClientIPConfig", fields: &[Field::kept(1, "timeoutSeconds", Holds::Int32)] };

static SERVICE_STATUS: Message = Message {
    name: "ServiceStatus",
    fields: &[
        Field::new(1, "loadBalancer", Holds::One(&LOAD_BALANCER_STATUS)),
        Field::new(2, "conditions", Holds::Many(&CONDITION)),
    ],
};

static LOAD_BALANCER_STATUS: Message = Message {
    name: "LoadBalancerStatus",
    fields: &[Field::new(1, "ingress", Holds::Many(&LOAD_BALANCER_INGRESS))],
};

static LOAD_BALANCER_INGRESS: Message = Message {
    name: "LoadBalancerIngress",
    fields: &[
        Field::new(1, "ip", Holds::Text),
        Field::new(2, "hostname", Holds::Text),
        Field::kept(3, "ipMode", Holds::Text),
        Field::new(4, "ports", Holds::Many(&PORT_STATUS)),
    ],
};

static PORT_STATUS: Message = Message {
    name: "PortStatus",
    fields: &[
        Field::new(1, "port", Holds::Int32),
        Field::new(2, "protocol", Holds::Text),
        Field::kept(3, "error", Holds::Text),
    ],
};

pub(crate) static ENDPOINTS: Message = Message {
    name: "Endpoints",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "subsets", Holds::Many(&ENDPOINT_SUBSET)),
    ],
};

static ENDPOINT_SUBSET: Message = Message {
    name: "EndpointSubset",
    fields: &[
        Field::new(1, "addresses", Holds::Many(&ENDPOINT_ADDRESS)),
        Field::new(2, "notReadyAddresses", Holds::Many(&ENDPOINT_ADDRESS)),
        Field::new(3, "ports", Holds::Many(&SUBSET_PORT)),
    ],
};

static ENDPOINT_ADDRESS: Message = Message {
    name: "EndpointAddress",
    fields: &[
        Field::new(1, "ip", Holds::Text),
        Field::new(3, "hostname", Holds::Text),
        Field::kept(4, "nodeName", Holds::Text),
        Field::kept(2, "targetRef", Holds::One(&OBJECT_REFERENCE)),
    ],
};

static SUBSET_PORT: Message = Message {
    name: "EndpointPort",
    fields: &[
        Field::new(1, "name", Holds::Text),
        Field::new(2, "port", Holds::Int32),
        Field::new(3, "protocol", Holds::Text),
        Field::kept(4, "appProtocol", Holds::Text),
    ],
};

pub(crate) static ENDPOINT_SLICE: Message = Message {
    name: "EndpointSlice",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(4, "addressType", Holds::Text),
        Field::new(2, "endpoints", Holds::Many(&ENDPOINT)),
        Field::new(3, "ports", Holds::Many(&SLICE_PORT)),
    ],
};

static ENDPOINT: Message = Message {
    name: "Endpoint",
    fields: &[
        Field::new(1, "addresses", Holds::Texts),
        Field::new(2, "conditions", Holds::One(&ENDPOINT_CONDITIONS)),
        Field::kept(3, "hostname", Holds::Text),
        Field::kept(4, "targetRef", Holds::One(&OBJECT_REFERENCE)),
        Field::new(5, "deprecatedTopology", Holds::TextByText),
        Field::kept(6, "nodeName", Holds::Text),
        Field::kept(7, "zone", Holds::Text),
        Field::kept(8, "hints", Holds::One(&ENDPOINT_HINTS)),
    ],
};

static ENDPOINT_CONDITIONS: Message = Message {
    name: "EndpointConditions",
    fields: &[
        Field::kept(1, "ready", Holds::Bool),
        Field::kept(2, "serving", Holds::Bool),
        Field::kept(3, "terminating", Holds::Bool),
    ],
};

static ENDPOINT_HINTS: Message = Message {
    name: "EndpointHints",
    fields: &[Field::new(1, "forZones", Holds::Many(&NAMED)), Field::new(2, "forNodes", Holds::Many(&NAMED))],
};

/// `ForZone` and `ForNode`.
static NAMED: Message = Message { name: "ForZone", fields: &[Field::new(1, "name", Holds::Text)] };

static SLICE_PORT: Message = Message {
    name: "EndpointPort",
    fields: &[
        Field::kept(1, "name", Holds::Text),
        Field::kept(2, "protocol", Holds::Text),
        Field::kept(3, "port", Holds::Int32),
        Field::kept(4, "appProtocol", Holds::Text),
    ],
};
