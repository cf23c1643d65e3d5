//! The way of a request on the node listener: authenticate the node, compare it with the node that is asked about, answer, audit.

use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::FutureExt;
use http::request::Parts;
use http::{Request, Uri};
use http_body::Body as HttpBody;
use krm::status::Status;
use tokio_util::sync::CancellationToken;

use super::{Node, NodeAuthenticator, NodePresented, NodeRequest, NodeRoute};
use crate::answer::{self, Answer};
use crate::api::Api;
use crate::audit::Record;
use crate::authn::strip_credentials;
use crate::authz::{Attributes, Decision};
use crate::identity::{AUTHENTICATED, Identity};
use crate::limits::{self, Limits, Load, Rank, Ticket};
use crate::metrics::{Labels, Metrics};
use crate::pipeline::lasting::Lasting;
use crate::pipeline::{Audit, name_request};
use crate::plane::Plane;
use crate::route::exchange::{Bounds, Exchange};
use crate::route::table::Paths;
use crate::route::{RequestBody, RouteConflict, Rules};
use crate::tls::Peer;

/// How long authentication may take.
const AUTHENTICATION: Duration = Duration::from_secs(10);
/// Requests from one address that are being authenticated, at most.
const ARRIVING_PER_ADDRESS: usize = 32;
/// What the names of nodes begin with, as users.
const NODE: &str = "system:node:";
/// The group of all nodes.
const NODES: &str = "system:nodes";

/// How much may go on at once on the node listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Requests of all nodes together.
    pub requests: usize,
    /// Requests of one node.
    pub requests_per_node: usize,
    /// Bytes that a body may have, whatever a route allows.
    pub max_body_bytes: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { requests: 500, requests_per_node: 16, max_body_bytes: 16 << 20 }
    }
}

/// What answers nodes.
pub struct NodePipeline {
    server: NodeServer,
    authenticator: Arc<dyn NodeAuthenticator>,
    routes: Paths<dyn NodeRoute>,
    arriving: Arc<Limits>,
    limits: Arc<Limits>,
    max_body_bytes: u64,
    stopping: CancellationToken,
}

/// What of the server the node listener shares with the API.
pub struct NodeServer {
    /// The server below.
    pub api: Api,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// Where requests are written down, and which.
    pub audit: Option<Audit>,
}

/// Why there can't be a node listener.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NodePipelineError {
    /// No module authenticates nodes and answers them.
    #[error(
        "nothing serves nodes: no module of this program answers on the node listener; leave out --node-listen"
    )]
    Nothing,
    /// Nodes would have keys of two kinds.
    #[error("{0} modules authenticate nodes; only one may")]
    Several(usize),
    /// Two routes answer for the same.
    #[error(transparent)]
    Conflict(#[from] RouteConflict),
}

impl NodePipeline {
    /// Answers by these routes those nodes that the authenticator knows.
    pub fn new(
        server: NodeServer,
        mut authenticators: Vec<Arc<dyn NodeAuthenticator>>,
        routes: Vec<Arc<dyn NodeRoute>>,
        settings: Settings,
    ) -> Result<NodePipeline, NodePipelineError> {
        if authenticators.len() > 1 {
            return Err(NodePipelineError::Several(authenticators.len()));
        }
        let authenticator = authenticators.pop().filter(|_| !routes.is_empty());
        let Some(authenticator) = authenticator else { return Err(NodePipelineError::Nothing) };
        let mut paths = Paths::default();
        for route in routes {
            for path in route.paths() {
                paths.add(route.name(), path, route.clone())?;
            }
        }
        let limits = |requests, each| {
            Limits::new(limits::Settings {
                requests,
                requests_per_user: each,
                watches_per_user: each,
                watches_per_project: requests,
                ..limits::Settings::default()
            })
        };
        Ok(NodePipeline {
            server,
            authenticator,
            routes: paths,
            arriving: limits(settings.requests, ARRIVING_PER_ADDRESS),
            limits: limits(settings.requests, settings.requests_per_node),
            max_body_bytes: settings.max_body_bytes,
            stopping: CancellationToken::new(),
        })
    }

    /// Ends the streams that go on until they are ended.
    pub fn stop(&self) {
        self.stopping.cancel();
    }

    /// Answers a request. A bug on the way costs one answer, not the server.
    pub async fn serve<B>(&self, request: Request<B>, peer: &Peer, from: SocketAddr) -> Answer
    where
        B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
        B::Error: std::fmt::Display,
    {
        let id = self.server.api.new_uid();
        let (head, body) = request.into_parts();
        let Some(route) = self.routes.find(head.uri.path()) else { return answer::page_not_found() };
        let answering = AssertUnwindSafe(self.try_answer(&id, route, head, body, peer, from)).catch_unwind();
        let mut answer = match answering.await {
            Ok(Ok(answer)) => answer,
            Ok(Err(status)) => answer::failure(&status),
            Err(_) => {
                tracing::error!(request = id, route = route.name(), "panic while answering a node");
                let why = format!("internal error; please report it with request id {id}");
                answer::failure(&Status::internal(why))
            }
        };
        name_request(&mut answer, &id);
        answer
    }

    async fn try_answer<B>(
        &self,
        id: &str,
        route: &Arc<dyn NodeRoute>,
        mut head: Parts,
        body: B,
        peer: &Peer,
        from: SocketAddr,
    ) -> Result<Answer, Status>
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: std::fmt::Display,
    {
        let root = Plane::root();
        // Whoever floods is one address, before it is a node.
        let address = from.ip().to_string().into();
        let arriving = self.arriving.enter(&address, Rank::System, &root, Load::Read)?;
        let presented = NodePresented { head: &head, peer };
        let proving = self.authenticator.authenticate(&self.server.api, presented);
        let proved = match tokio::time::timeout(AUTHENTICATION, proving).await {
            Ok(Ok(node)) => Ok(node),
            Ok(Err(refused)) => {
                tracing::debug!(%from, reason = %refused, "authentication of a node failed");
                Err(Status::unauthorized())
            }
            Err(_) => Err(Status::timeout("the authentication took too long", 1)),
        };
        let who = proved.as_ref().map(identity).unwrap_or_default();
        let rules = self.rules(route, &head);
        let load = if rules.is_long_running { Load::Watch } else { Load::Read };
        let ticket = match proved.is_ok() {
            true => self.limits.enter(&who.user, Rank::System, &root, load)?,
            false => arriving,
        };
        let is_about_another = |node: &Node| route.about(&head).is_some_and(|name| name != node.name);
        let decision = proved.as_ref().ok().map(|node| match is_about_another(node) {
            true => Decision::deny("the request is about another node"),
            false => Decision::allow("a node may ask about itself"),
        });
        let mut lasting =
            self.lasting(id, &who, &head, (from, decision.as_ref()), (ticket, rules.is_long_running));
        let mut refuse = |status: Status| {
            lasting.failed(&status);
            Err(status)
        };
        let node = match proved {
            Ok(node) => node,
            Err(status) => return refuse(status),
        };
        if decision.is_some_and(|decision| !decision.allowed) {
            // To a node, there are no others.
            return refuse(Status::failure(404, "NotFound", "not found"));
        }
        strip_credentials(&mut head.headers);
        let (body, faults) = match RequestBody::new(&head.headers, body, &rules) {
            Ok(body) => body,
            Err(status) => return refuse(status),
        };
        let revoked = self.authenticator.revoked(&self.server.api, &node);
        let bounds = Bounds {
            revoked: Box::pin(async move {
                revoked.await;
                Status::failure(403, "Forbidden", "the key of the node counts no longer")
            }),
            faults,
            stopping: self.stopping.clone(),
        };
        let exchange = Exchange::new(lasting, bounds, &rules, &head);
        let api = self.server.api.clone();
        let request = NodeRequest { api, node, head, body, audit_id: id.to_owned() };
        exchange.answer(route.answer(request), None).await
    }

    fn rules(&self, route: &Arc<dyn NodeRoute>, head: &Parts) -> Rules {
        let rules = route.rules(head);
        Rules { max_body_bytes: rules.max_body_bytes.min(self.max_body_bytes), ..rules }
    }

    fn lasting(
        &self,
        id: &str,
        who: &Identity,
        head: &Parts,
        (from, decision): (SocketAddr, Option<&Decision>),
        (ticket, is_long_running): (Ticket, bool),
    ) -> Lasting {
        let verb = head.method.as_str().to_lowercase();
        let uri: Uri = self.authenticator.audited_uri(&head.uri).parse().unwrap_or_default();
        let what = Attributes::path(&verb, uri.path());
        let audit = self.server.audit.as_ref().and_then(|audit| {
            let seen = (&uri, &head.headers, from);
            let mut record = Record::begin(&audit.policy, id, who, &what, seen, SystemTime::now())?;
            if let Some(decision) = decision {
                record.decided(decision);
            }
            Some((audit.log.clone(), record))
        });
        let labels = Labels {
            verb: head.method.as_str().to_owned(),
            component: "node-listener".to_owned(),
            ..Labels::default()
        };
        Lasting::new(ticket, audit, (self.server.metrics.clone(), labels), is_long_running)
    }
}

/// A node as a principal, for limits and audit. No role is asked for it.
fn identity(node: &Node) -> Identity {
    let user = format!("{NODE}{}", node.name);
    Identity { uid: node.uid.as_str().into(), ..Identity::new(&user, &[NODES, AUTHENTICATED]) }
}
