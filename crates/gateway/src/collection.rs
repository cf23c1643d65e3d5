//! The collections of the API: which message shows which kind, and on which face.

use prost_reflect::MessageDescriptor;

use crate::schema;

/// API group of the resources.
pub const GROUP: &str = "fulfillment.groundplane.dev";

/// One of the two APIs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Face {
    /// Everything, for operators, controllers and synchronizers.
    Private,
    /// A part of it, for tenants.
    Public,
}

impl Face {
    /// The package of its messages and services.
    pub fn package(self) -> &'static str {
        match self {
            Face::Private => "osac.private.v1",
            Face::Public => "osac.public.v1",
        }
    }

    /// What its REST paths begin with.
    pub fn path(self) -> &'static str {
        match self {
            Face::Private => "/api/private/v1",
            Face::Public => "/api/fulfillment/v1",
        }
    }

    /// A message of it.
    pub fn message(self, name: &str) -> Option<MessageDescriptor> {
        schema::message(&format!("{}.{name}", self.package()))
    }
}

/// Objects of one kind, as the API has them.
#[derive(Debug, PartialEq, Eq)]
pub struct Collection {
    /// Name of the service, which is the plural of the message.
    pub service: &'static str,
    /// Name of the message.
    pub message: &'static str,
    /// Name in REST paths.
    pub rest: &'static str,
    /// Field of an event with an object of it.
    pub event: &'static str,
    /// Kind of the resources.
    pub kind: &'static str,
    /// Plural of the resources.
    pub plural: &'static str,
    /// Whether its objects are in the control planes of projects.
    pub in_projects: bool,
    /// Who may read it in the public API.
    pub public: Public,
}

/// Who may read a collection in the public API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Public {
    /// Nobody: it is not there.
    Nobody,
    /// Everybody with valid credentials.
    Everybody,
    /// Who may read the objects themselves.
    Readers,
    /// Who may read the cluster that an object is assigned to.
    ReadersOfCluster,
}

/// All collections.
pub static ALL: [Collection; 5] = [
    Collection {
        service: "Hosts",
        message: "Host",
        rest: "hosts",
        event: "host",
        kind: "Host",
        plural: "hosts",
        in_projects: false,
        public: Public::ReadersOfCluster,
    },
    Collection {
        service: "HostClasses",
        message: "HostClass",
        rest: "host_classes",
        event: "host_class",
        kind: "HostClass",
        plural: "hostclasses",
        in_projects: false,
        public: Public::Everybody,
    },
    Collection {
        service: "Clusters",
        message: "Cluster",
        rest: "clusters",
        event: "cluster",
        kind: "Cluster",
        plural: "clusters",
        in_projects: true,
        public: Public::Readers,
    },
    Collection {
        service: "ClusterTemplates",
        message: "ClusterTemplate",
        rest: "cluster_templates",
        event: "cluster_template",
        kind: "ClusterTemplate",
        plural: "clustertemplates",
        in_projects: false,
        public: Public::Everybody,
    },
    Collection {
        service: "Hubs",
        message: "Hub",
        rest: "hubs",
        event: "hub",
        kind: "Hub",
        plural: "hubs",
        in_projects: false,
        public: Public::Nobody,
    },
];

impl Collection {
    /// The collection of a plural.
    pub fn of_plural(plural: &str) -> Option<&'static Collection> {
        ALL.iter().find(|collection| collection.plural == plural)
    }

    /// The collection of a service.
    pub fn of_service(service: &str) -> Option<&'static Collection> {
        ALL.iter().find(|collection| collection.service == service)
    }

    /// The collection at a REST path.
    pub fn at_path(rest: &str) -> Option<&'static Collection> {
        ALL.iter().find(|collection| collection.rest == rest)
    }

    /// Whether a face has it.
    pub fn is_on(&self, face: Face) -> bool {
        face == Face::Private || self.public != Public::Nobody
    }
}
