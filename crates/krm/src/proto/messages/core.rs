//! The core group.

use super::meta::OBJECT_META;
use crate::proto::message::{Field, Holds, Message};

pub(crate) static NAMESPACE: Message = Message {
    name: "Namespace",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "spec", Holds::One(&NAMESPACE_SPEC)),
        Field::new(3, "status", Holds::One(&NAMESPACE_STATUS)),
    ],
};

pub(crate) static NAMESPACE_SPEC: Message =
    Message { name: "NamespaceSpec", fields: &[Field::new(1, "finalizers", Holds::Texts)] };

pub(crate) static NAMESPACE_STATUS: Message = Message {
    name: "NamespaceStatus",
    fields: &[
        Field::new(1, "phase", Holds::Text),
        Field::new(2, "conditions", Holds::Many(&NAMESPACE_CONDITION)),
    ],
};

pub(crate) static NAMESPACE_CONDITION: Message = Message {
    name: "NamespaceCondition",
    fields: &[
        Field::new(1, "type", Holds::Text),
        Field::new(2, "status", Holds::Text),
        Field::new(4, "lastTransitionTime", Holds::Time),
        Field::new(5, "reason", Holds::Text),
        Field::new(6, "message", Holds::Text),
    ],
};

pub(crate) static CONFIG_MAP: Message = Message {
    name: "ConfigMap",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::kept(4, "immutable", Holds::Bool),
        Field::new(2, "data", Holds::TextByText),
        Field::new(3, "binaryData", Holds::BytesByText),
    ],
};

pub(crate) static SECRET: Message = Message {
    name: "Secret",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::kept(5, "immutable", Holds::Bool),
        Field::new(2, "data", Holds::BytesByText),
        Field::new(4, "stringData", Holds::TextByText),
        Field::new(3, "type", Holds::Text),
    ],
};

pub(crate) static SERVICE_ACCOUNT: Message = Message {
    name: "ServiceAccount",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "secrets", Holds::Many(&OBJECT_REFERENCE)),
        Field::new(3, "imagePullSecrets", Holds::Many(&LOCAL_OBJECT_REFERENCE)),
        Field::kept(4, "automountServiceAccountToken", Holds::Bool),
    ],
};

pub(crate) static OBJECT_REFERENCE: Message = Message {
    name: "ObjectReference",
    fields: &[
        Field::new(1, "kind", Holds::Text),
        Field::new(2, "namespace", Holds::Text),
        Field::new(3, "name", Holds::Text),
        Field::new(4, "uid", Holds::Text),
        Field::new(5, "apiVersion", Holds::Text),
        Field::new(6, "resourceVersion", Holds::Text),
        Field::new(7, "fieldPath", Holds::Text),
    ],
};

pub(crate) static LOCAL_OBJECT_REFERENCE: Message =
    Message { name: "LocalObjectReference", fields: &[Field::new(1, "name", Holds::Text)] };

pub(crate) static EVENT: Message = Message {
    name: "Event",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "involvedObject", Holds::One(&OBJECT_REFERENCE)),
        Field::new(3, "reason", Holds::Text),
        Field::new(4, "message", Holds::Text),
        Field::new(5, "source", Holds::One(&EVENT_SOURCE)),
        Field::new(6, "firstTimestamp", Holds::Time),
        Field::new(7, "lastTimestamp", Holds::Time),
        Field::new(8, "count", Holds::Int32),
        Field::new(9, "type", Holds::Text),
        Field::new(10, "eventTime", Holds::MicroTime),
        Field::kept(11, "series", Holds::One(&EVENT_SERIES)),
        Field::new(12, "action", Holds::Text),
        Field::kept(13, "related", Holds::One(&OBJECT_REFERENCE)),
        Field::new(14, "reportingComponent", Holds::Text),
        Field::new(15, "reportingInstance", Holds::Text),
    ],
};

pub(crate) static EVENT_SERIES: Message = Message {
    name: "EventSeries",
    fields: &[Field::new(1, "count", Holds::Int32), Field::new(2, "lastObservedTime", Holds::MicroTime)],
};

pub(crate) static EVENT_SOURCE: Message = Message {
    name: "EventSource",
    fields: &[Field::new(1, "component", Holds::Text), Field::new(2, "host", Holds::Text)],
};
