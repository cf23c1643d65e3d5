//! Events as they are kept, newest first, of those that somebody may see.

use apiserver::api::{Api, store_failure};
use apiserver::keys::{self, Parts};
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

/// An event in the form of `events.k8s.io`, and when it happened.
pub struct Happened {
    /// In microseconds since 1970.
    pub time: u64,
    /// Tells events of one moment apart.
    pub key: Key,
    /// The event.
    pub event: Value,
    /// As it is kept.
    kept: Object,
}

/// All events of the planes in sight, newest first, that the asker may see: events themselves, and what they are about.
pub fn in_window(api: &Api, sight: &Sight, from: &Plane, window: Window) -> Vec<Happened> {
    let snapshot = api.store().latest();
    let mut found = Vec::new();
    for plane in planes(api, from) {
        let prefix = keys::of_kind(&plane, "", "events");
        for (key, entry) in snapshot.list(prefix.as_bytes()) {
            let Some(happened) = read(api, key, entry).filter(|happened| window.has(happened.time)) else {
                continue;
            };
            if is_seen(api, sight, &happened) {
                found.push(happened);
            }
        }
    }
    found.sort_by(|a, b| (b.time, &b.key).cmp(&(a.time, &a.key)));
    found
}

/// The planes whose events are seen from one: the root sees all.
fn planes(api: &Api, from: &Plane) -> Vec<Plane> {
    let mut all = vec![from.clone()];
    if from.is_root() {
        let prefix = keys::of_kind(from, apiserver::planes::GROUP, apiserver::planes::PLURAL);
        let snapshot = api.store().latest();
        let names = snapshot
            .list(prefix.as_bytes())
            .filter_map(|(key, _)| Some(Plane::project(keys::parts(key)?.name)));
        all.extend(names);
    }
    all
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
pub fn query(posted: &Posted<'_>, sight: &Sight) -> Result<Value, Status> {
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
            return Err(wrong(format!("{} is none of {}", requirement.field, SELECTABLE.join(", "))));
        }
    }
    let below: Option<(u64, String)> = match text("continue") {
        "" => None,
        said => Some(untoken(said).ok_or_else(|| {
            let at = Path::of("spec");
            posted.invalid(&[FieldError::invalid_text(
                &at.field("continue"),
                said,
                "it is not one that a query ended with",
            )])
        })?),
    };
    let mut found = in_window(&posted.call.api, sight, &posted.call.plane, window);
    found.retain(|happened| {
        below
            .as_ref()
            .is_none_or(|(time, key)| (happened.time, happened.key.to_string()) < (*time, key.clone()))
            && (text("namespace").is_empty() || happened.kept.namespace() == text("namespace"))
            && selector.matches(|field| field_of(&happened.kept, field).into())
    });
    let more = found.len() > limit;
    found.truncate(limit);
    let mut status = posted.window_status(window);
    let results: Vec<Value> = found.iter().map(|happened| record(&happened.event)).collect();
    status["results"] = results.into();
    if let Some(last) = found.last().filter(|_| more) {
        status["continue"] = token(&(last.time, last.key.to_string())).into();
    }
    Ok(status)
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
