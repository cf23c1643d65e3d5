//! Event of `events.k8s.io`: the same events in another format, with stricter validation.

use std::sync::Arc;

use krm::field::{FieldError, Path};
use krm::kind::{Kind, MetadataChecks, Mirror, RawChange, Scope};
use krm::meta::OBJECT_META;
use krm::object::Object;
use krm::shape::{Field, INT32, Outline, STRING, Shape, Struct, conform};

use super::{SOURCE, common, validate};
use crate::kinds::declare;
use crate::kinds::reference::OBJECT_REFERENCE;

const GROUP: &str = "events.k8s.io";

static SHAPE: Shape = Shape::Struct(&Struct {
    name: "Event",
    type_name: "v1.Event",
    fields: &[
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("kind", STRING),
        Field::always("metadata", OBJECT_META),
        Field::always("eventTime", Shape::MicroTime),
        Field::if_absent("series", Shape::Struct(&SERIES)),
        Field::if_empty("reportingController", STRING),
        Field::if_empty("reportingInstance", STRING),
        Field::if_empty("action", STRING),
        Field::if_empty("reason", STRING),
        Field::always("regarding", Shape::Struct(&OBJECT_REFERENCE)),
        Field::if_absent("related", Shape::Struct(&OBJECT_REFERENCE)),
        Field::if_empty("note", STRING),
        Field::if_empty("type", STRING),
        Field::always("deprecatedSource", Shape::Struct(&SOURCE)),
        Field::always("deprecatedFirstTimestamp", Shape::Time),
        Field::always("deprecatedLastTimestamp", Shape::Time),
        Field::if_empty("deprecatedCount", INT32),
    ],
});

static SERIES: Struct = Struct {
    name: "EventSeries",
    type_name: "v1.EventSeries",
    fields: &[Field::always("count", INT32), Field::always("lastObservedTime", Shape::MicroTime)],
};

/// What fields are called here, and where events are kept.
const RENAMED: [(&str, &str); 7] = [
    ("regarding", "involvedObject"),
    ("note", "message"),
    ("reportingController", "reportingComponent"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
];

/// The fields that selectors may name, and what they are called where events are kept.
const SELECTABLE: [(&str, &str); 10] = [
    ("reason", "reason"),
    ("regarding.apiVersion", "involvedObject.apiVersion"),
    ("regarding.fieldPath", "involvedObject.fieldPath"),
    ("regarding.kind", "involvedObject.kind"),
    ("regarding.name", "involvedObject.name"),
    ("regarding.namespace", "involvedObject.namespace"),
    ("regarding.resourceVersion", "involvedObject.resourceVersion"),
    ("regarding.uid", "involvedObject.uid"),
    ("reportingController", "reportingComponent"),
    ("type", "type"),
];

pub fn kind() -> Kind {
    let outline = Outline::of(&SHAPE)
        .says("", "Event is a report of an event about an object. It is deleted after one hour.")
        .says("eventTime", "Time at which the event was first observed, with microsecond precision. Required.")
        .says("series", "Series that the event represents, if it occurs repeatedly.")
        .says("series.count", "Number of occurrences in the series so far.")
        .says("series.lastObservedTime", "Time of the last occurrence.")
        .says("reportingController", "Name of the controller that reports the event, such as example.com/mover. Required for new events.")
        .says("reportingInstance", "Identifier of the controller instance, such as its host name. Required for new events, at most 128 characters.")
        .says("action", "Action that was taken or that failed. Required for new events, at most 128 characters.")
        .says("reason", "Short, machine-understandable reason for the action. Required for new events, at most 128 characters.")
        .says("regarding", "Object that the event is about.")
        .says("related", "Secondary object, for actions that involve two.")
        .says("note", "Human-readable description of what happened. At most 1 KiB.")
        .says("type", "Type of the event: Normal or Warning. Required for new events.")
        .says("deprecatedSource", "Deprecated: for compatibility with core/v1 events.")
        .says("deprecatedFirstTimestamp", "Deprecated: for compatibility with core/v1 events.")
        .says("deprecatedLastTimestamp", "Deprecated: for compatibility with core/v1 events.")
        .says("deprecatedCount", "Deprecated: for compatibility with core/v1 events.")
        .whole("regarding")
        .whole("related")
        .requires("", &["eventTime"])
        .requires("series", &["count", "lastObservedTime"]);
    let mut kind = declare::core(GROUP, "Event", "events", Scope::Namespaced, &SHAPE, &outline);
    common(&mut kind);
    kind.versions[0].selectable = SELECTABLE.iter().map(|(field, _)| field.to_string()).collect();
    kind.metadata_checks = MetadataChecks { whole_on_update: false, ..MetadataChecks::CORE };
    kind.mirror = Some(Mirror { group: "", plural: "events", show, keep, fields: &SELECTABLE });
    kind.validations.push(Arc::new(check));
    kind
}

fn check(change: &RawChange<'_>) -> Vec<FieldError> {
    let Some(new) = change.new.cloned().map(keep) else { return Vec::new() };
    let mut errors = validate::as_ever(&new, "reportingController");
    errors.extend(match change.old.cloned().map(keep) {
        None => validate::made(&new),
        Some(old) => validate::changed(&new, &old),
    });
    errors
}

/// A kept event as it is shown here.
fn show(mut event: Object) -> Object {
    for (here, there) in RENAMED {
        rename(&mut event, there, here);
    }
    formed(event, "events.k8s.io/v1", &SHAPE)
}

/// An event from here as it is kept.
fn keep(mut event: Object) -> Object {
    for (here, there) in RENAMED {
        rename(&mut event, here, there);
    }
    formed(event, "v1", &super::SHAPE)
}

fn rename(event: &mut Object, from: &str, to: &str) {
    let value = event.0.remove(from);
    event.set(to, value);
}

/// The two forms leave out different things when they are empty.
fn formed(mut event: Object, api_version: &str, shape: &'static Shape) -> Object {
    event.set_type(api_version, "Event");
    let mut value = event.into_value();
    // Its fields had the right types before they were renamed.
    let _ = conform(&mut value, shape, &Path::ROOT, &mut Vec::new());
    Object::from_value(value).unwrap_or_default()
}
