//! What is logged and audited of a request, collected while it is handled.

use std::net::SocketAddr;
use std::sync::Arc;

use http::header::{ACCEPT, HeaderValue, USER_AGENT};
use http::{Request, Uri};
use krm::status::Status;

use super::RequestContext;
use crate::answer::{self, Answer};
use crate::audit::Record;
use crate::metrics::Labels;
use crate::request::accept::Accept;
use crate::request::query::Query;
use crate::route::grpc;

/// What is remembered of a request while it is answered.
#[derive(Default)]
pub(super) struct Noted {
    pub(super) id: String,
    pub(super) from: Option<SocketAddr>,
    pub(super) labels: Labels,
    pub(super) user: Arc<str>,
    /// Whether its end is counted and written down by what lasts as long as its answer.
    pub(super) is_lasting: bool,
    pub(super) dry_run: bool,
    pub(super) record: Option<Record>,
    pub(super) failure: Option<Status>,
    /// Whether values of Secrets are in the answer, for the audit log.
    pub(super) values: Option<&'static str>,
}

impl Noted {
    pub(super) fn tell(&mut self, known: &RequestContext) {
        let attributes = known.attributes();
        let scope = match (attributes.path, attributes.name.is_empty(), attributes.namespace.is_empty()) {
            (Some(_), _, _) => "",
            (None, false, _) => "resource",
            (None, true, false) => "namespace",
            (None, true, true) => "cluster",
        };
        self.labels = Labels {
            verb: known.metric_verb(),
            group: attributes.group.to_owned(),
            version: attributes.version.to_owned(),
            resource: attributes.resource.to_owned(),
            subresource: attributes.subresource.to_owned(),
            scope: scope.to_owned(),
            component: "apiserver".to_owned(),
        };
        self.dry_run = !known.query.all("dryRun").is_empty();
        self.user = known.who.user.clone();
    }
}

/// What a request says about the form of its answer, kept until it is known whether it fails: a failure is told in the
/// form that was asked for, if there is one.
pub(super) struct AcceptHeaders {
    accept: Option<HeaderValue>,
    agent: Option<HeaderValue>,
    uri: Uri,
    is_grpc: bool,
}

impl AcceptHeaders {
    pub(super) fn of<B>(request: &Request<B>) -> AcceptHeaders {
        let header = |name| request.headers().get(name).cloned();
        AcceptHeaders {
            accept: header(ACCEPT),
            agent: header(USER_AGENT),
            uri: request.uri().clone(),
            is_grpc: grpc::is_call(request.headers()),
        }
    }

    /// A failure, in the form that was asked for.
    pub(super) fn failure(self, status: &Status) -> Answer {
        match self.is_grpc {
            true => grpc::failure(status),
            false => answer::failure_as(&self.form(), status),
        }
    }

    fn form(self) -> Accept {
        let said = [(ACCEPT, self.accept), (USER_AGENT, self.agent)];
        let headers = said.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        let form = Accept::negotiate(&headers, false).unwrap_or_default();
        let query = Query::parse(self.uri.query().unwrap_or_default());
        query.and_then(|query| form.with_query(&query)).unwrap_or(form)
    }
}
