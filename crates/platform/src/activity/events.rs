//! Queries over events that the caller may see, newest first.

mod times;

pub use times::{Times, Unread};

use apiserver::api::{Api, store_failure};
use apiserver::keys::{self, Parts};
use apiserver::past::moment;
use apiserver::plane::Plane;
use krm::Object;
use krm::field::{FieldError, Path};
use krm::selector::FieldSelector;
use krm::status::Status;
use serde_json::{Value, json};
use store::{Entry, Key};

use super::api_version;
use super::compose::happened;
use super::query::{Posted, limit_of, token, untoken};
use super::sight::Sight;
use super::window::{self, KEPT, Window, micros};

/// As many events are read for one page; where fewer fit, the page is short and the next one goes on from there.
pub const LOOKED_AT: usize = 2000;

/// An event in the form of `events.k8s.io`, and when it happened.
pub struct Happened {
    /// In microseconds since 1970.
    pub time: u64,
    /// Where it is kept.
    pub key: Key,
    /// The event.
    pub event: Value,
    /// As it is kept.
    kept: Object,
}

/// Reads one event as it is kept.
pub fn read(api: &Api, key: &Key, entry: &Entry) -> Option<Happened> {
    let bytes = api.reveal(key, entry).ok()?;
    let kept = apiserver::encode::read(&bytes).ok()?;
    let kind = api.kinds().of(&Plane::root()).resource("events.k8s.io", "events")?.clone();
    let mirror = kind.mirror.as_ref()?;
    let event = (mirror.show)(kept.clone()).into_value();
    Some(Happened { time: micros(happened(&event)), key: key.clone(), event, kept })
}

/// Reads an event, if the asker may see it.
pub fn read_seen(api: &Api, sight: &Sight, unread: &Unread) -> Option<Happened> {
    read(api, &unread.key, &unread.entry).filter(|happened| is_seen(api, sight, happened))
}

/// Whether an asker may see an event, and what it is about.
pub fn is_seen(api: &Api, sight: &Sight, happened: &Happened) -> bool {
    let Some(at) = keys::parts(&happened.key) else { return false };
    if !sight.reaches(at.plane, happened.time) || !sight.sees(&at) {
        return false;
    }
    let regarding = &happened.event["regarding"];
    let text = |field: &str| regarding[field].as_str().unwrap_or_default();
    let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
    let catalog = api.kinds().of(&super::sight::plane(at.plane));
    match catalog.kind(group, text("kind")) {
        Some(kind) => sight.sees(&Parts {
            plane: at.plane,
            group,
            plural: &kind.names.plural,
            namespace: text("namespace"),
            name: text("name"),
        }),
        // Of a kind that nobody knows, events are all there is to see.
        None => true,
    }
}

/// Answers an EventQuery.
pub fn query(times: &Times, posted: &Posted<'_>, sight: &Sight) -> Result<Value, Status> {
    let (spec, now) = (posted.spec(), posted.now());
    let window =
        Window::read(&spec, &Path::of("spec"), now, Some(KEPT)).map_err(|errors| posted.invalid(&errors))?;
    let limit = limit_of(posted, &spec)?;
    let text = |field: &str| spec[field].as_str().unwrap_or_default();
    let selector = FieldSelector::parse(text("fieldSelector"));
    let wrong = |why: String| {
        posted.invalid(&[FieldError::invalid_text(
            &Path::of("spec").field("fieldSelector"),
            text("fieldSelector"),
            why,
        )])
    };
    let selector = selector.map_err(wrong)?;
    for requirement in selector.requirements() {
        if !SELECTABLE.contains(&requirement.field.as_str()) {
            return Err(wrong(format!(
                "field label {} is not supported; supported values: {}",
                requirement.field,
                SELECTABLE.join(", ")
            )));
        }
    }
    let below: Option<(u64, u64)> = match text("continue") {
        "" => None,
        said => Some(untoken(said).ok_or_else(|| {
            let at = Path::of("spec");
            posted.invalid(&[FieldError::invalid_text(
                &at.field("continue"),
                said,
                "must be the status.continue of an earlier page",
            )])
        })?),
    };
    let api = &posted.call.api;
    let told = effective(posted, window);
    let mut unread = times.in_window(api, &posted.call.plane, window);
    unread.retain(|unread| {
        below.is_none_or(|below| unread.place() < below)
            && (text("namespace").is_empty()
                || keys::parts(&unread.key).is_some_and(|at| at.namespace == text("namespace")))
    });
    let mut results: Vec<Value> = Vec::new();
    let mut last: Option<(u64, u64)> = None;
    for (looked_at, unread) in unread.into_iter().enumerate() {
        if results.len() >= limit || looked_at >= LOOKED_AT.max(limit) {
            let mut status = posted.window_status(told);
            status["results"] = results.into();
            status["continue"] = last.map(|last| token(&last)).into();
            return Ok(status);
        }
        last = Some(unread.place());
        let happened = read_seen(api, sight, &unread);
        let happened =
            happened.filter(|happened| selector.matches(|field| field_of(&happened.kept, field).into()));
        results.extend(happened.map(|happened| record(&happened.event)));
    }
    let mut status = posted.window_status(told);
    status["results"] = results.into();
    Ok(status)
}

/// The part of a window that events are still kept of; it is said where that is not all of it.
pub fn effective(posted: &Posted<'_>, window: Window) -> Window {
    let catalog = posted.call.api.kinds().of(&Plane::root());
    let lifetime = catalog.resource("", "events").and_then(|kind| kind.lifetime.clone());
    let Some(kept) = lifetime.and_then(|lifetime| lifetime(&Object::new("v1", "Event"))) else {
        return window;
    };
    let micros_kept = u64::try_from(kept.as_micros()).unwrap_or(u64::MAX);
    let start = window.start.max(micros(posted.now()).saturating_sub(micros_kept)).min(window.end);
    if start > window.start {
        let minutes = kept.as_secs() / 60;
        posted.warn(format!(
            "events are kept for {minutes} minutes: the result contains none from before {}",
            moment(start)
        ));
    }
    Window { start, ..window }
}

/// The fields that an EventQuery selects by.
const SELECTABLE: [&str; 13] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "involvedObject.apiVersion",
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.fieldPath",
    "reason",
    "type",
    "source.component",
    "source.host",
];

fn field_of(kept: &Object, field: &str) -> String {
    let text = |path: &str| kept.at(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    match field {
        "source.component" if text("source.component").is_empty() => text("reportingComponent"),
        other => text(other),
    }
}

/// An event as queries give it.
fn record(event: &Value) -> Value {
    json!({ "apiVersion": api_version(), "kind": "EventRecord", "metadata": event["metadata"], "event": event })
}

/// What values of events are counted by.
pub const FACETS: [&str; 8] = [
    "regarding.kind",
    "regarding.namespace",
    "related.kind",
    "related.namespace",
    "reason",
    "type",
    "source.component",
    "namespace",
];

/// The value of an event that is counted.
pub fn facet(happened: &Happened, field: &str) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let event = &happened.event;
    match field.split_once('.') {
        Some(("source", _)) => field_of(&happened.kept, "source.component"),
        Some((part, name)) => text(&event[part][name]),
        None if field == "namespace" => text(&event["metadata"]["namespace"]),
        None => text(&event[field]),
    }
}

/// Everything as it is now: an event that was acknowledged is told.
pub async fn settle(api: &Api) -> Result<(), Status> {
    api.store().current().await.map(drop).map_err(|error| store_failure(&error))
}

/// The window of a facet query.
pub fn facet_window(posted: &Posted<'_>) -> Result<Window, Status> {
    let spec = posted.spec();
    let at = Path::of("spec");
    window::Window::of_range(spec.get("timeRange"), &at.field("timeRange"), posted.now())
        .map_err(|errors| posted.invalid(&errors))
}
