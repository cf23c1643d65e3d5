//! Requests that a module's route answers.

use std::net::SocketAddr;

use bytes::Bytes;
use http::Method;
use http::header::{ACCEPT, HeaderValue, LOCATION, VARY};
use http::request::Parts;
use http_body::Body as HttpBody;
use hyper::upgrade::OnUpgrade;
use krm::status::Status;

use super::lasting::Lasting;
use super::revocation::Revocation;
use super::{Pipeline, RequestContext};
use crate::answer::{self, Answer};
use crate::authn::{Impersonation, strip_credentials};
use crate::plane::Plane;
use crate::request::path::{self, Route};
use crate::route::exchange::{Bounds, Exchange};
use crate::route::table::Claimed;
use crate::route::{RequestBody, Requirement, RouteRequest};

/// The path of the portal, if the server has one.
const PORTAL: &str = "/ui";

/// What a request is for: its plane, what its path names, and the route that answers it.
pub(super) type Found = (Plane, Route, Option<Claimed>);

impl Pipeline {
    /// Finds out what a request is for. gRPC is known by its content type, and the paths of modules come before those of
    /// Kubernetes.
    pub(super) fn find(&self, head: &Parts) -> Result<Option<Found>, Status> {
        if let Some(claimed) = self.routes.find(head)? {
            let plane = claimed.access.as_ref().map_or_else(Plane::root, |access| access.plane.clone());
            let path = head.uri.path().trim_start_matches('/').to_owned();
            return Ok(Some((plane, Route::Other(path), Some(claimed))));
        }
        let Some((plane, route)) = path::parse(head.uri.path(), self.api.kinds().planes())? else {
            return Ok(None);
        };
        let claimed = match &route {
            Route::Resource(target) => self.routes.of_subresource(target, head),
            _ => None,
        };
        Ok(Some((plane, route, claimed)))
    }

    /// People who open the address of the server in a browser are sent to the portal; everybody else gets the list of paths.
    pub(super) fn page_for_browsers(&self, head: &Parts) -> Option<Answer> {
        let is_browser = || {
            let accepted = head.headers.get(ACCEPT).and_then(|accepted| accepted.to_str().ok());
            accepted
                .is_some_and(|accepted| accepted.split(',').any(|one| one.trim().starts_with("text/html")))
        };
        let is_asked = matches!(head.method, Method::GET | Method::HEAD) && head.uri.path() == "/";
        if !is_asked || !is_browser() || !self.routes.paths().any(|path| path == PORTAL) {
            return None;
        }
        let mut answer = answer::bytes(302, "text/plain; charset=utf-8", "");
        answer.headers_mut().insert(LOCATION, HeaderValue::from_static("/ui/"));
        answer.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
        Some(answer)
    }

    /// Has a request answered by its route, until the last byte.
    pub(super) async fn routed<B>(
        &self,
        known: &mut RequestContext,
        (id, from): (&str, Option<SocketAddr>),
        head: Parts,
        body: B,
        connection: Option<OnUpgrade>,
        mut lasting: Lasting,
    ) -> Result<Answer, Status>
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: std::fmt::Display,
    {
        let mut refuse = |status: Status| {
            lasting.failed(&status);
            Err(status)
        };
        let Some(claimed) = &mut known.claimed else { return refuse(Status::method_not_allowed()) };
        if let Some(refusal) = claimed.refusal.take() {
            return refuse(refusal);
        }
        let Some(route) = claimed.route.clone() else { return refuse(Status::method_not_allowed()) };
        let rules = claimed.rules.clone();
        let (body, faults) = match RequestBody::new(&head.headers, body, &rules) {
            Ok(body) => body,
            Err(status) => return refuse(status),
        };
        let bounds = Bounds {
            revoked: Box::pin(self.revocation(known)?.happens()),
            faults,
            stopping: self.routes.stopping(),
        };
        let exchange = Exchange::new(lasting, bounds, &rules, &head);
        let request = RouteRequest {
            api: self.api.clone(),
            who: known.who.clone(),
            really: known.really.clone(),
            plane: known.plane.clone(),
            project: known.project,
            target: match &known.route {
                Route::Resource(target) => Some(target.clone()),
                _ => None,
            },
            head,
            body,
            audit_id: id.to_owned(),
            from,
        };
        exchange.answer(route.answer(request), connection).await
    }

    fn revocation(&self, known: &RequestContext) -> Result<Revocation, Status> {
        let impersonation = Impersonation::requested(&known.headers)?;
        let needs_right =
            !matches!(known.requirement(), Some(Requirement::Public | Requirement::Authenticated));
        Ok(Revocation {
            api: self.api.clone(),
            plane: known.plane.clone(),
            project: known.project,
            who: known.who.clone(),
            impersonation: known.really.clone().zip(impersonation),
            needs: needs_right.then(|| known.attributes().into()),
            does: known.attributes().into(),
        })
    }
}

/// The head of a request as a route gets it.
pub(super) fn without_credentials(head: &Parts) -> Parts {
    let mut head = head.clone();
    strip_credentials(&mut head.headers);
    Impersonation::strip(&mut head.headers);
    head
}
