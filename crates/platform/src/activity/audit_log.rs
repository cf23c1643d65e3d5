//! Queries over the audit log of this server, newest first.

use std::ops::ControlFlow;
use std::path::Path as File;

use apiserver::audit::{LinePlace, read_back};
use apiserver::keys::Parts;
use apiserver::request::path::{self, Route};
use krm::field::{FieldError, Path};
use krm::status::Status;
use krm::time::Moment;
use serde_json::{Value, json};

use super::answers::Activities;
use super::facets::{self, Facet};
use super::filter::AuditFilter;
use super::query::{Posted, limit_of, token, untoken};
use super::sight::Sight;
use super::window::{Window, micros};
use crate::tenancy::PLANES;

/// As many lines are looked at for one page; where fewer fit, the page is short and the next one goes on from there.
const LOOKED_AT: usize = 5000;
/// As many are counted for facets, the newest.
const COUNTED: usize = 100_000;
/// Lines are written when their requests end: one may stand behind others that came in later, by this many microseconds.
const SLACK: u64 = 120_000_000;

/// What values of requests are counted by.
const FACETS: [&str; 7] = [
    "verb",
    "user.username",
    "user.uid",
    "responseStatus.code",
    "objectRef.namespace",
    "objectRef.resource",
    "objectRef.apiGroup",
];

/// Answers an AuditLogQuery.
pub async fn query(activities: &Activities, posted: &Posted<'_>) -> Result<Value, Status> {
    let spec = posted.spec();
    let at = Path::of("spec");
    let text = |field: &str| spec[field].as_str().unwrap_or_default();
    let ended: Option<(u64, u64, u64, u64)> = match text("continue") {
        "" => None,
        said => Some(untoken(said).ok_or_else(|| {
            posted.invalid(&[FieldError::invalid_text(
                &at.field("continue"),
                said,
                "must be the status.continue of an earlier page",
            )])
        })?),
    };
    let window = match ended {
        Some((_, _, start, end)) => Window { start, end },
        None => Window::read(&spec, &at, posted.now(), None).map_err(|errors| posted.invalid(&errors))?,
    };
    let filter = AuditFilter::read(text("filter")).map_err(|why| {
        posted.invalid(&[FieldError::invalid_text(&at.field("filter"), text("filter"), why)])
    })?;
    let limit = limit_of(posted, &spec)?;
    let from = ended.map(|(file, offset, _, _)| LinePlace { file, offset });
    let file = file(activities, posted)?.to_owned();
    let sight = activities.sight(posted.call);
    let read = tokio::task::spawn_blocking(move || {
        let mut results: Vec<Value> = Vec::new();
        let mut last: Option<LinePlace> = None;
        let mut looked_at = 0;
        let found = lines(&file, from, window, &sight, |place, event| {
            looked_at += 1;
            last = Some(place);
            results.extend(event.filter(|event| filter.lets_through(event)));
            results.len() < limit && looked_at < LOOKED_AT
        });
        found.map(|ended_early| (results, last.filter(|_| ended_early)))
    });
    let (results, last) = read.await.map_err(Status::internal)??;
    let mut status = posted.window_status(window);
    status["results"] = results.into();
    if let Some(place) = last {
        status["continue"] = token(&(place.file, place.offset, window.start, window.end)).into();
    }
    Ok(status)
}

/// Answers an AuditLogFacetsQuery.
pub async fn facets(activities: &Activities, posted: &Posted<'_>) -> Result<Value, Status> {
    let mut facets = facets::asked(posted, &FACETS)?;
    let spec = posted.spec();
    let at = Path::of("spec");
    let window = Window::of_range(spec.get("timeRange"), &at.field("timeRange"), posted.now())
        .map_err(|errors| posted.invalid(&errors))?;
    let source = spec["filter"].as_str().unwrap_or_default();
    let filter = AuditFilter::read(source)
        .map_err(|why| posted.invalid(&[FieldError::invalid_text(&at.field("filter"), source, why)]))?;
    let file = file(activities, posted)?.to_owned();
    let sight = activities.sight(posted.call);
    let counted = tokio::task::spawn_blocking(move || {
        let mut looked_at = 0;
        let read = lines(&file, None, window, &sight, |_, event| {
            looked_at += 1;
            if let Some(event) = event.filter(|event| filter.lets_through(event)) {
                for facet in &mut facets {
                    let value = facet.field.split('.').fold(&event, |value, step| &value[step]);
                    let value = match value {
                        Value::String(text) => text.clone(),
                        Value::Null => String::new(),
                        other => other.to_string(),
                    };
                    facet.count(&value);
                }
            }
            looked_at < COUNTED
        });
        read.map(|ended_early| (ended_early, facets.into_iter().map(Facet::told).collect::<Vec<Value>>()))
    });
    let (ended_early, facets) = counted.await.map_err(Status::internal)??;
    if ended_early {
        posted.warn(format!(
            "only the newest {COUNTED} requests were counted; narrow the time range or the filter"
        ));
    }
    Ok(json!({ "facets": facets }))
}

/// Where requests are noted down. Each server notes down its own.
fn file<'a>(activities: &'a Activities, posted: &Posted<'_>) -> Result<&'a File, Status> {
    if activities.is_one_of_several {
        posted.warn(
            "the result only contains requests to this server; query every server that shares the store"
                .to_owned(),
        );
    }
    activities.audit.as_deref().ok_or_else(|| {
        Status::failure(
            503,
            "ServiceUnavailable",
            "this server does not write an audit log; start it without --audit-log=none to query requests",
        )
    })
}

/// Shows lines of a window, newest first, until it is told that this is enough; those that the asker may not see as
/// nothing. Gives whether it ended early.
fn lines(
    file: &File,
    from: Option<LinePlace>,
    window: Window,
    sight: &Sight,
    mut show: impl FnMut(LinePlace, Option<Value>) -> bool,
) -> Result<bool, Status> {
    let mut ended_early = false;
    let there = read_back(file, from, |line, place| {
        let event: Option<Value> = serde_json::from_slice(line).ok();
        let time = event.as_ref().and_then(received);
        if time.is_some_and(|time| time.saturating_add(SLACK) < window.start) {
            return ControlFlow::Break(());
        }
        let event = event.filter(|event| time.is_some_and(|time| window.has(time)) && is_seen(sight, event));
        if show(place, event) {
            return ControlFlow::Continue(());
        }
        ended_early = true;
        ControlFlow::Break(())
    });
    match there {
        Ok(true) => Ok(ended_early),
        Ok(false) => Err(Status::expired(
            "the audit log was rotated since the first page; repeat the query without continue",
        )),
        Err(error) => Err(Status::internal(format!("failed to read the audit log: {error}"))),
    }
}

fn received(event: &Value) -> Option<u64> {
    Moment::parse(event["requestReceivedTimestamp"].as_str()?).ok().map(micros)
}

/// Whether the asker could make out as much by asking for what the request was about.
fn is_seen(sight: &Sight, event: &Value) -> bool {
    let uri = event["requestURI"].as_str().unwrap_or_default();
    let path = uri.split('?').next().unwrap_or_default();
    let Ok(Some((plane, route))) = path::parse(path, Some(&PLANES)) else { return sight.may_ask(path) };
    let time = received(event).unwrap_or(0);
    if !sight.reaches(plane.as_str(), time) {
        return false;
    }
    let Route::Resource(target) = route else { return sight.may_ask(path) };
    let name = match target.name.as_str() {
        "" => event["objectRef"]["name"].as_str().unwrap_or_default(),
        name => name,
    };
    let at = Parts {
        plane: plane.as_str(),
        group: &target.group,
        plural: &target.resource,
        namespace: &target.namespace,
        name,
    };
    sight.sees(&at)
}
