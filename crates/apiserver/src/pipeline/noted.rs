//! What is logged and audited of a request, collected while it is handled.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::SystemTime;

use http::header::{ACCEPT, HeaderValue, USER_AGENT};
use http::{Request, Uri};
use krm::status::Status;

use super::RequestContext;
use crate::audit::{AuditLog, Record, Stage};
use crate::limits::Ticket;
use crate::metrics::{Labels, Metrics};
use crate::request::accept::Accept;
use crate::request::query::Query;

/// What is remembered of a request while it is answered.
#[derive(Default)]
pub(super) struct Noted {
    pub(super) id: String,
    pub(super) from: Option<SocketAddr>,
    pub(super) labels: Labels,
    pub(super) user: Arc<str>,
    pub(super) is_watch: bool,
    pub(super) dry_run: bool,
    pub(super) record: Option<Record>,
    pub(super) failure: Option<Status>,
    /// Whether values of Secrets are in the answer, for the audit log.
    pub(super) values: Option<&'static str>,
}

/// Lives as long as the stream of a watch.
pub(super) struct EndOfWatch {
    pub(super) _ticket: Ticket,
    pub(super) note: Option<(Arc<AuditLog>, Record)>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) labels: Labels,
}

impl Drop for EndOfWatch {
    fn drop(&mut self) {
        self.metrics.watching(&self.labels, false);
        if let Some((log, mut record)) = self.note.take() {
            record.answered(200, None);
            if let Some(event) = record.event(Stage::ResponseComplete, SystemTime::now()) {
                log.write_now(event);
            }
        }
    }
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
        self.is_watch = known.is_watch();
    }
}

/// What a request says about the form of its answer, kept until it is known whether it fails: a failure is told in the
/// form that was asked for, if there is one.
pub(super) struct AcceptHeaders {
    accept: Option<HeaderValue>,
    agent: Option<HeaderValue>,
    uri: Uri,
}

impl AcceptHeaders {
    pub(super) fn of<B>(request: &Request<B>) -> AcceptHeaders {
        let header = |name| request.headers().get(name).cloned();
        AcceptHeaders { accept: header(ACCEPT), agent: header(USER_AGENT), uri: request.uri().clone() }
    }

    pub(super) fn form(self) -> Accept {
        let said = [(ACCEPT, self.accept), (USER_AGENT, self.agent)];
        let headers = said.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        let form = Accept::negotiate(&headers, false).unwrap_or_default();
        let query = Query::parse(self.uri.query().unwrap_or_default());
        query.and_then(|query| form.with_query(&query)).unwrap_or(form)
    }
}
