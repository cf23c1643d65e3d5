//! What there is to be served: the documents of discovery, and `apidiscovery.k8s.io`.

use super::meta::{LIST_META, OBJECT_META};
use crate::proto::message::{Field, Holds, Message};

pub(crate) static API_VERSIONS: Message = Message {
    name: "APIVersions",
    fields: &[
        Field::new(1, "versions", Holds::Texts),
        Field::new(2, "serverAddressByClientCIDRs", Holds::Many(&SERVER_ADDRESS)),
    ],
};

pub(crate) static API_GROUP_LIST: Message =
    Message { name: "APIGroupList", fields: &[Field::new(1, "groups", Holds::Many(&API_GROUP))] };

pub(crate) static API_GROUP: Message = Message {
    name: "APIGroup",
    fields: &[
        Field::new(1, "name", Holds::Text),
        Field::new(2, "versions", Holds::Many(&GROUP_VERSION)),
        Field::new(3, "preferredVersion", Holds::One(&GROUP_VERSION)),
        Field::new(4, "serverAddressByClientCIDRs", Holds::Many(&SERVER_ADDRESS)),
    ],
};

static GROUP_VERSION: Message = Message {
    name: "GroupVersionForDiscovery",
    fields: &[Field::new(1, "groupVersion", Holds::Text), Field::new(2, "version", Holds::Text)],
};

static SERVER_ADDRESS: Message = Message {
    name: "ServerAddressByClientCIDR",
    fields: &[Field::new(1, "clientCIDR", Holds::Text), Field::new(2, "serverAddress", Holds::Text)],
};

pub(crate) static API_RESOURCE_LIST: Message = Message {
    name: "APIResourceList",
    fields: &[
        Field::new(1, "groupVersion", Holds::Text),
        Field::new(2, "resources", Holds::Many(&API_RESOURCE)),
    ],
};

static API_RESOURCE: Message = Message {
    name: "APIResource",
    fields: &[
        Field::new(1, "name", Holds::Text),
        Field::new(6, "singularName", Holds::Text),
        Field::new(2, "namespaced", Holds::Bool),
        Field::new(8, "group", Holds::Text),
        Field::new(9, "version", Holds::Text),
        Field::new(3, "kind", Holds::Text),
        Field::new(4, "verbs", Holds::WrappedTexts),
        Field::new(5, "shortNames", Holds::Texts),
        Field::new(7, "categories", Holds::Texts),
        Field::new(10, "storageVersionHash", Holds::Text),
    ],
};

pub(crate) static GROUP_DISCOVERY_LIST: Message = Message {
    name: "APIGroupDiscoveryList",
    fields: &[
        Field::new(1, "metadata", Holds::One(&LIST_META)),
        Field::new(2, "items", Holds::Many(&GROUP_DISCOVERY)),
    ],
};

static GROUP_DISCOVERY: Message = Message {
    name: "APIGroupDiscovery",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "versions", Holds::Many(&VERSION_DISCOVERY)),
    ],
};

static VERSION_DISCOVERY: Message = Message {
    name: "APIVersionDiscovery",
    fields: &[
        Field::new(1, "version", Holds::Text),
        Field::new(2, "resources", Holds::Many(&RESOURCE_DISCOVERY)),
        Field::new(3, "freshness", Holds::Text),
    ],
};

static RESOURCE_DISCOVERY: Message = Message {
    name: "APIResourceDiscovery",
    fields: &[
        Field::new(1, "resource", Holds::Text),
        Field::kept(2, "responseKind", Holds::One(&GROUP_VERSION_KIND)),
        Field::new(3, "scope", Holds::Text),
        Field::new(4, "singularResource", Holds::Text),
        Field::new(5, "verbs", Holds::Texts),
        Field::new(6, "shortNames", Holds::Texts),
        Field::new(7, "categories", Holds::Texts),
        Field::new(8, "subresources", Holds::Many(&SUBRESOURCE_DISCOVERY)),
    ],
};

static SUBRESOURCE_DISCOVERY: Message = Message {
    name: "APISubresourceDiscovery",
    fields: &[
        Field::new(1, "subresource", Holds::Text),
        Field::kept(2, "responseKind", Holds::One(&GROUP_VERSION_KIND)),
        Field::new(3, "acceptedTypes", Holds::Many(&GROUP_VERSION_KIND)),
        Field::new(4, "verbs", Holds::Texts),
    ],
};

static GROUP_VERSION_KIND: Message = Message {
    name: "GroupVersionKind",
    fields: &[
        Field::new(1, "group", Holds::Text),
        Field::new(2, "version", Holds::Text),
        Field::new(3, "kind", Holds::Text),
    ],
};
