//! Event: a report of an event about an object. Events are deleted after one hour.
//!
//! They are stored in this form; [`mirror`] shows them as `events.k8s.io` has them.

pub mod mirror;
mod table;
mod validate;

use std::sync::Arc;
use std::time::Duration;

use krm::kind::{History, Kind, MetadataChecks, Scope};
use krm::meta::OBJECT_META;
use krm::names;
use krm::object::Object;
use krm::shape::{Field, INT32, Outline, STRING, Shape, Struct};
use serde_json::Value;

use super::declare;
use super::reference::OBJECT_REFERENCE;

/// How long an event is kept.
const KEPT: Duration = Duration::from_secs(60 * 60);

static SHAPE: Shape = Shape::Struct(&Struct {
    name: "Event",
    type_name: "v1.Event",
    fields: &[
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("kind", STRING),
        Field::always("metadata", OBJECT_META),
        Field::always("involvedObject", Shape::Struct(&OBJECT_REFERENCE)),
        Field::if_empty("reason", STRING),
        Field::if_empty("message", STRING),
        Field::always("source", Shape::Struct(&SOURCE)),
        Field::always("firstTimestamp", Shape::Time),
        Field::always("lastTimestamp", Shape::Time),
        Field::if_empty("count", INT32),
        Field::if_empty("type", STRING),
        Field::always("eventTime", Shape::MicroTime),
        Field::if_absent("series", Shape::Struct(&SERIES)),
        Field::if_empty("action", STRING),
        Field::if_absent("related", Shape::Struct(&OBJECT_REFERENCE)),
        Field::always("reportingComponent", STRING),
        Field::always("reportingInstance", STRING),
    ],
});

/// `v1.EventSource`.
static SOURCE: Struct = Struct {
    name: "EventSource",
    type_name: "v1.EventSource",
    fields: &[Field::if_empty("component", STRING), Field::if_empty("host", STRING)],
};

static SERIES: Struct = Struct {
    name: "EventSeries",
    type_name: "v1.EventSeries",
    fields: &[Field::if_empty("count", INT32), Field::always("lastObservedTime", Shape::MicroTime)],
};

/// The fields that selectors may name.
const SELECTABLE: [&str; 11] = [
    "involvedObject.apiVersion",
    "involvedObject.fieldPath",
    "involvedObject.kind",
    "involvedObject.name",
    "involvedObject.namespace",
    "involvedObject.resourceVersion",
    "involvedObject.uid",
    "reason",
    "reportingComponent",
    "source",
    "type",
];

pub fn kind() -> Kind {
    let outline = Outline::of(&SHAPE)
        .says("", "Event is a report of an event about an object. It is deleted after one hour.")
        .says("involvedObject", "Object that the event is about.")
        .says("reason", "Short, machine-understandable reason, such as FailedPlacement.")
        .says("message", "Human-readable description of what happened.")
        .says("source", "Component that reports the event.")
        .says("firstTimestamp", "Time at which the event was first recorded.")
        .says("lastTimestamp", "Time at which the most recent occurrence was recorded.")
        .says("count", "Number of times the event has occurred.")
        .says("type", "Type of the event: Normal or Warning.")
        .says("eventTime", "Time of the event, with microsecond precision.")
        .says("series", "Series that the event represents, if it occurs repeatedly.")
        .says("series.count", "Number of occurrences in the series so far.")
        .says("series.lastObservedTime", "Time of the last occurrence.")
        .says("action", "Action that was taken or that failed.")
        .says("related", "Secondary object, for actions that involve two.")
        .says(
            "reportingComponent",
            "Name of the controller that reports the event, such as example.com/mover.",
        )
        .says("reportingInstance", "Identifier of the controller instance, such as its host name.")
        .whole("involvedObject")
        .whole("related")
        .requires("", &["metadata", "involvedObject"]);
    let mut kind = declare::core("", "Event", "events", Scope::Namespaced, &SHAPE, &outline);
    common(&mut kind);
    kind.name_rule = names::name_is_path_segment;
    // Whoever reported before there was more to check may go on.
    kind.metadata_checks = MetadataChecks::NONE;
    kind.versions[0].selectable = SELECTABLE.iter().map(ToString::to_string).collect();
    kind.selected = Some(Arc::new(|event, field| match field {
        "source" => {
            let component = text(event, "source.component");
            Some(if component.is_empty() { text(event, "reportingComponent") } else { component }.to_owned())
        }
        _ => None,
    }));
    kind.validations.push(Arc::new(|change| {
        change.new.map(|new| validate::as_ever(new, "reportingComponent")).unwrap_or_default()
    }));
    kind
}

/// What both forms have in common.
fn common(kind: &mut Kind) {
    kind.names.short = vec!["ev".into()];
    kind.history = History::None;
    kind.create_on_update = true;
    kind.lifetime = Some(Arc::new(|_| Some(KEPT)));
    kind.versions[0].columns = table::columns();
}

fn text<'a>(event: &'a Object, path: &str) -> &'a str {
    event.at(path).and_then(Value::as_str).unwrap_or("")
}
