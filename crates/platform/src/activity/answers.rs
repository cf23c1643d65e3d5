//! Request handlers of the group: posted queries, and list and watch of activities.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use apiserver::answer::{self, Answer};
use apiserver::call::Call;
use apiserver::handle::body::decode;
use apiserver::handle::resource::not_supported;
use apiserver::handle::virtual_resource::{Answering, VirtualResource};
use apiserver::pipeline::RequestContext;
use apiserver::request::accept::Accept;
use apiserver::request::query::WriteOptions;
use bytes::Bytes;
use krm::status::Status;
use serde_json::Value;

use super::ledger::Ledger;
use super::policies::Policies;
use super::query::Posted;
use super::sight::Sight;
use super::{GROUP, audit_log, events, facets, feed, preview, query};

/// Answers for activities.
pub struct Activities {
    /// All changes, as far back as anybody asked.
    pub(super) ledger: Ledger,
    pub(super) policies: Policies,
    pub(super) events: events::Times,
    /// Where requests are noted down.
    pub(super) audit: Option<PathBuf>,
    /// Whether other servers may answer requests about the same objects.
    pub(super) is_one_of_several: bool,
}

impl Activities {
    /// Answers from a store, and from the audit log where there is one; other servers of the same store have their own.
    pub fn new(audit: Option<PathBuf>, is_one_of_several: bool) -> Arc<Activities> {
        Arc::new(Activities {
            ledger: Ledger::default(),
            policies: Policies::default(),
            events: events::Times::default(),
            audit,
            is_one_of_several,
        })
    }

    /// What the maker of a request may see.
    pub(super) fn sight(&self, call: &Call) -> Sight {
        Sight::new(&call.api, &call.who, &call.plane)
    }
}

/// What is answered here; all but policies and jobs, which are stored like any other object.
const RESOURCES: [&str; 8] = [
    "activities",
    "activityqueries",
    "activityfacetqueries",
    "auditlogqueries",
    "auditlogfacetsqueries",
    "eventqueries",
    "eventfacetqueries",
    "policypreviews",
];

/// The same, for requests.
pub struct Answers(pub Arc<Activities>);

impl VirtualResource for Answers {
    fn is_about(&self, group: &str, plural: &str) -> bool {
        group == GROUP && RESOURCES.contains(&plural)
    }

    fn answer<'a>(&'a self, known: &'a RequestContext, call: Call, body: Bytes) -> Answering<'a> {
        Box::pin(async move {
            if call.kind.names.plural == "activities" {
                return self.activities(known, call).await;
            }
            self.posted(known, &call, &body).await
        })
    }
}

impl Answers {
    async fn activities(&self, known: &RequestContext, call: Call) -> Result<Answer, Status> {
        let is_read = matches!(known.method, http::Method::GET | http::Method::HEAD);
        if !is_read || !call.name.is_empty() {
            let verb = if is_read { "get" } else { "write" };
            return Err(not_supported(&call.kind, verb));
        }
        match known.is_watch() {
            true => feed::watch(&self.0, known, call).await,
            false => feed::list(&self.0, known, &call).await,
        }
    }

    async fn posted(&self, known: &RequestContext, call: &Call, body: &Bytes) -> Result<Answer, Status> {
        if known.method != http::Method::POST || !call.name.is_empty() {
            return Err(not_supported(&call.kind, &known.method.as_str().to_lowercase()));
        }
        let accept = Accept::negotiate(&known.headers, false)?.with_query(&known.query)?;
        let options = WriteOptions::read(&known.query, "CreateOptions", false)?;
        let (mut object, mut warnings) = decode(call, &known.headers, body, options.validation)?;
        let posted = Posted { call, object: &object, warnings: Mutex::default() };
        let status = match call.kind.names.plural.as_str() {
            "activityqueries" => query::answer(&self.0, &posted).await?,
            "activityfacetqueries" => facets::of_activities(&self.0, &posted).await?,
            "auditlogqueries" => audit_log::query(&self.0, &posted).await?,
            "auditlogfacetsqueries" => audit_log::facets(&self.0, &posted).await?,
            "eventqueries" => {
                events::settle(&call.api).await?;
                events::query(&self.0.events, &posted, &self.0.sight(call))?
            }
            "eventfacetqueries" => facets::of_events(&self.0, &posted).await?,
            _ => preview::answer(&posted)?,
        };
        warnings.extend(posted.warnings.into_inner().unwrap_or_else(PoisonError::into_inner));
        object.set("status", Some(status));
        let mut answer = answer::object::value(&accept, 201, &Value::Object(object.0));
        answer::warn(&mut answer, &warnings);
        Ok(answer)
    }
}
