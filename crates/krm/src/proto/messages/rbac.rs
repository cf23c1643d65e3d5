//! `rbac.authorization.k8s.io`.

use super::meta::{LABEL_SELECTOR, OBJECT_META};
use crate::proto::message::{Field, Holds, Message};

pub(crate) static ROLE: Message = Message {
    name: "Role",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "rules", Holds::Many(&POLICY_RULE)),
    ],
};

pub(crate) static CLUSTER_ROLE: Message = Message {
    name: "ClusterRole",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "rules", Holds::Many(&POLICY_RULE)),
        Field::kept(3, "aggregationRule", Holds::One(&AGGREGATION_RULE)),
    ],
};

pub(crate) static AGGREGATION_RULE: Message = Message {
    name: "AggregationRule",
    fields: &[Field::new(1, "clusterRoleSelectors", Holds::Many(&LABEL_SELECTOR))],
};

pub(crate) static POLICY_RULE: Message = Message {
    name: "PolicyRule",
    fields: &[
        Field::new(1, "verbs", Holds::Texts),
        Field::new(2, "apiGroups", Holds::Texts),
        Field::new(3, "resources", Holds::Texts),
        Field::new(4, "resourceNames", Holds::Texts),
        Field::new(5, "nonResourceURLs", Holds::Texts),
    ],
};

pub(crate) static ROLE_BINDING: Message = Message {
    name: "RoleBinding",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "subjects", Holds::Many(&SUBJECT)),
        Field::new(3, "roleRef", Holds::One(&ROLE_REF)),
    ],
};

pub(crate) static CLUSTER_ROLE_BINDING: Message = Message {
    name: "ClusterRoleBinding",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "subjects", Holds::Many(&SUBJECT)),
        Field::new(3, "roleRef", Holds::One(&ROLE_REF)),
    ],
};

pub(crate) static SUBJECT: Message = Message {
    name: "Subject",
    fields: &[
        Field::new(1, "kind", Holds::Text),
        Field::new(2, "apiGroup", Holds::Text),
        Field::new(3, "name", Holds::Text),
        Field::new(4, "namespace", Holds::Text),
    ],
};

pub(crate) static ROLE_REF: Message = Message {
    name: "RoleRef",
    fields: &[
        Field::new(1, "apiGroup", Holds::Text),
        Field::new(2, "kind", Holds::Text),
        Field::new(3, "name", Holds::Text),
    ],
};
