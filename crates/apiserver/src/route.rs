//! Routes: paths, gRPC services and subresources that a module answers for itself, with streams in both directions.
//!
//! The pipeline authenticates, authorizes, limits and audits a request to a route as it does every other. The route then
//! reads the body as it comes, and its answer is a stream that may end with trailers. Limits, audit record, metrics and
//! revocation last until the last byte of that stream.

pub(crate) mod body;
pub(crate) mod exchange;
pub mod grpc;
pub(crate) mod table;
mod upgrade;

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::request::Parts;
use krm::status::Status;
use store::Uid;

pub use body::{BodyError, RequestBody};
pub use table::{RouteConflict, Routes};
pub use upgrade::{Serving, Upgrade};

use crate::answer::Answer;
use crate::api::Api;
use crate::authz::OwnedAttributes;
use crate::identity::Identity;
use crate::plane::Plane;
use crate::request::body::LIMIT;
use crate::request::path::Target;

/// Answers for something that is no resource of the API: an interface to it, such as gRPC or web pages, or a stream.
pub trait Route: Send + Sync {
    /// Name in errors and logs.
    fn name(&self) -> &'static str;

    /// What it answers for. The server does not start if another route, or Kubernetes, answers for it already.
    fn claims(&self) -> Vec<Claim>;

    /// What a caller needs for a request. Asked before the caller is known, and not for subresources, which are authorized
    /// as `<plural>/<subresource>` of their object.
    fn access(&self, head: &Parts) -> Result<Access, Status>;

    /// The verbs of a subresource that it answers for, as discovery lists them.
    fn subresource_verbs(&self, _subresource: &str) -> &'static [&'static str] {
        &["create", "get"]
    }

    /// How much of a request is read, and how long it may take.
    fn rules(&self, _head: &Parts) -> Rules {
        Rules::default()
    }

    /// Answers a request. Once the caller has lost the right to it, this and the stream of the answer are dropped.
    fn answer(&self, request: RouteRequest) -> BoxFuture<'_, Result<Answer, Status>>;
}

/// What a route answers for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// A path and everything below it, such as `/api/fulfillment`.
    Path(String),
    /// A gRPC service by its full name, such as `grpc.health.v1.Health`.
    Grpc(String),
    /// A subresource of the objects of a kind, in every plane in which the kind is served.
    Subresource {
        /// Group of the kind.
        group: String,
        /// Plural of the kind.
        plural: String,
        /// Name of the subresource.
        subresource: String,
    },
}

/// What a caller needs, and in which plane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The plane that the request is for. To callers who don't belong to it, it does not exist.
    pub plane: Plane,
    /// What is needed there.
    pub requirement: Requirement,
}

/// What a caller needs so that the request is passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Requirement {
    /// Nothing, not even credentials. For what is no secret, such as health.
    Public,
    /// Valid credentials. The route decides what the caller may see, with calls to the API in the caller's name.
    Authenticated,
    /// The right to the path, as `nonResourceURLs` in a role grants it.
    Path,
    /// The right to do something to a resource.
    Resource(OwnedAttributes),
}

impl Access {
    /// In the root plane.
    pub fn root(requirement: Requirement) -> Access {
        Access { plane: Plane::root(), requirement }
    }
}

/// How much of a request is read, and how long it may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Bytes that the body may have.
    pub max_body_bytes: u64,
    /// How long the route waits for more of the body before the request is cut. `None`: as long as the connection lives.
    pub read_patience: Option<Duration>,
    /// How long the client may leave a part of the answer untaken before the request is cut.
    pub write_patience: Duration,
    /// How long the request may take altogether.
    pub deadline: Option<Duration>,
    /// Whether it is a stream that goes on until it is ended: then it counts as a watch, its beginning is audited too, and it
    /// ends when the server stops.
    pub is_long_running: bool,
}

impl Default for Rules {
    /// Those of an ordinary request.
    fn default() -> Rules {
        Rules {
            max_body_bytes: LIMIT as u64,
            read_patience: Some(Duration::from_secs(30)),
            write_patience: Duration::from_secs(60),
            deadline: Some(Duration::from_secs(300)),
            is_long_running: false,
        }
    }
}

impl Rules {
    /// Those of a stream that goes on until it is ended, in either direction.
    pub fn stream() -> Rules {
        Rules {
            max_body_bytes: u64::MAX,
            read_patience: None,
            deadline: None,
            is_long_running: true,
            ..Rules::default()
        }
    }
}

/// A request that was authenticated and authorized, with its body unread.
pub struct RouteRequest {
    /// The server.
    pub api: Api,
    /// The caller.
    pub who: Identity,
    /// Who acts as the caller, if they impersonate.
    pub really: Option<Identity>,
    /// The plane that the request is for.
    pub plane: Plane,
    /// The life of the project whose plane it is. `None` in the root.
    pub project: Option<Uid>,
    /// The object and its subresource, for [`Claim::Subresource`].
    pub target: Option<Target>,
    /// Method, URI and headers, without credentials.
    pub head: Parts,
    /// The body, with its trailers.
    pub body: RequestBody,
    /// The audit id of the request.
    pub audit_id: String,
    /// The address of the client.
    pub from: Option<SocketAddr>,
}
