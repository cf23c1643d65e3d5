//! The node listener: what booting nodes fetch, apart from the API and its callers.
//!
//! A caller is a node, proved by a key of its own, and gets nothing that is about another node. The listener has connections,
//! limits and an authenticator of its own, and serves no path of the API.

mod pipeline;

use futures_util::future::BoxFuture;
use http::Uri;
use http::request::Parts;
use krm::status::Status;

pub use pipeline::{NodePipeline, NodePipelineError, NodeServer, Settings};

use crate::answer::Answer;
use crate::api::Api;
use crate::authn::Unauthorized;
use crate::route::{RequestBody, Rules};
use crate::tls::Peer;

/// A node that has proved who it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Name of the node, unique among all that the authenticator knows.
    pub name: String,
    /// What tells this node from an earlier one of the same name.
    pub uid: String,
}

/// What a request presents.
pub struct NodePresented<'a> {
    /// Method, URI and headers.
    pub head: &'a Parts,
    /// The other end of a connection with TLS.
    pub peer: &'a Peer,
}

/// Finds out which node makes a request, by a key that only this node has. One module of a server brings one.
pub trait NodeAuthenticator: Send + Sync {
    /// The node that a request comes from.
    fn authenticate<'a>(
        &'a self,
        api: &'a Api,
        presented: NodePresented<'a>,
    ) -> BoxFuture<'a, Result<Node, Unauthorized>>;

    /// Waits until the key of a node counts no longer: then what the node is being sent is cut off.
    fn revoked(&self, api: &Api, node: &Node) -> BoxFuture<'static, ()>;

    /// The URI of a request as the audit log has it. No key may be in it.
    fn audited_uri(&self, uri: &Uri) -> String {
        uri.path().to_owned()
    }
}

/// Answers nodes for some paths.
pub trait NodeRoute: Send + Sync {
    /// Name in errors and logs.
    fn name(&self) -> &'static str;

    /// Paths that it answers for, each with everything below it.
    fn paths(&self) -> Vec<String>;

    /// Name of the node that a request is about; `None` if it names none and is about its caller. A request about another
    /// node than its caller is answered as if there were nothing.
    fn about(&self, head: &Parts) -> Option<String>;

    /// How much of a request is read, and how long it may take.
    fn rules(&self, _head: &Parts) -> Rules {
        Rules::default()
    }

    /// Answers a request.
    fn answer(&self, request: NodeRequest) -> BoxFuture<'_, Result<Answer, Status>>;
}

/// A request of a node about itself, with its body unread.
pub struct NodeRequest {
    /// The server.
    pub api: Api,
    /// The node that makes the request, and that it is about.
    pub node: Node,
    /// Method, URI and headers, without the usual credentials.
    pub head: Parts,
    /// The body, with its trailers.
    pub body: RequestBody,
    /// The audit id of the request.
    pub audit_id: String,
}
