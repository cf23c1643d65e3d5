//! Events as a table: when, what, about what.

use krm::object::Object;
use krm::table::{Columns, age};
use krm::time::Moment;
use serde_json::Value;

use super::mirror;
use crate::kinds::columns::{Cell, column, text, wide, wide_name};

const ABOUT_SUBOBJECT: &str = "If referring to a piece of an object instead of an entire object, this string should \
    contain a valid JSON/Go field access statement, such as desiredState.manifest.containers[2]. For example, if the object \
    reference is to a container within a pod, this would take on a value like: \"spec.containers{name}\" (where \"name\" \
    refers to the name of the container that triggered the event) or if no container name is specified \
    \"spec.containers[2]\" (container with index 2 in this pod). This syntax is chosen only to have some well-defined way \
    of referencing a part of an object.";
const ABOUT_REASON: &str = "This should be a short, machine understandable string that gives the reason for the \
    transition into the object's current status.";
const ABOUT_LAST: &str = "The time at which the most recent occurrence of this event was recorded.";
const ABOUT_TYPE: &str = "Type of this event (Normal, Warning), new types could be added in the future";
const ABOUT_SOURCE: &str =
    "The component reporting this event. Should be a short machine understandable string.";
const ABOUT_FIRST: &str =
    "The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)";

/// The columns of events in the form they are kept in.
pub fn columns() -> Columns {
    of_cells([last_seen, kind, reason, target, subobject, source, message, first_seen, count])
}

/// The same columns of events as the mirror shows them.
pub fn mirrored_columns() -> Columns {
    of_cells([
        |event, now| last_seen(&kept(event), now),
        |event, now| kind(&kept(event), now),
        |event, now| reason(&kept(event), now),
        |event, now| target(&kept(event), now),
        |event, now| subobject(&kept(event), now),
        |event, now| source(&kept(event), now),
        |event, now| message(&kept(event), now),
        |event, now| first_seen(&kept(event), now),
        |event, now| count(&kept(event), now),
    ])
}

fn of_cells(cells: [Cell; 9]) -> Columns {
    let [last_seen, kind, reason, target, subobject, source, message, first_seen, count] = cells;
    Columns::new(vec![
        column("Last Seen", ABOUT_LAST, last_seen),
        column("Type", ABOUT_TYPE, kind),
        column("Reason", ABOUT_REASON, reason),
        column("Object", "The object that this event is about.", target),
        wide("Subobject", ABOUT_SUBOBJECT, subobject),
        wide("Source", ABOUT_SOURCE, source),
        column("Message", "A human-readable description of the status of this operation.", message),
        wide("First Seen", ABOUT_FIRST, first_seen),
        wide("Count", "The number of times this event has occurred.", count),
        wide_name(),
    ])
}

fn kept(event: &Value) -> Value {
    mirror::keep(Object::from_value(event.clone()).unwrap_or_default()).into_value()
}

fn last_seen(event: &Value, now: Moment) -> Value {
    let last = match event.get("series") {
        Some(_) => moment(event, "/series/lastObservedTime"),
        None => moment(event, "/lastTimestamp").or_else(|| first(event)),
    };
    since(last, now)
}

fn kind(event: &Value, _: Moment) -> Value {
    text(event, "/type").into()
}

fn reason(event: &Value, _: Moment) -> Value {
    text(event, "/reason").into()
}

fn target(event: &Value, _: Moment) -> Value {
    let kind = text(event, "/involvedObject/kind").to_lowercase();
    match text(event, "/involvedObject/name") {
        "" => kind.into(),
        name => format!("{kind}/{name}").into(),
    }
}

fn subobject(event: &Value, _: Moment) -> Value {
    text(event, "/involvedObject/fieldPath").into()
}

fn source(event: &Value, _: Moment) -> Value {
    let either = |pointer: &str, other: &str| match text(event, pointer) {
        "" => text(event, other).to_owned(),
        found => found.to_owned(),
    };
    let component = either("/source/component", "/reportingComponent");
    match either("/source/host", "/reportingInstance") {
        instance if instance.is_empty() => component.into(),
        instance => format!("{component}, {instance}").into(),
    }
}

fn message(event: &Value, _: Moment) -> Value {
    text(event, "/message").trim().into()
}

fn first_seen(event: &Value, now: Moment) -> Value {
    since(first(event), now)
}

fn count(event: &Value, _: Moment) -> Value {
    let count = |pointer: &str| event.pointer(pointer).and_then(Value::as_i64).unwrap_or(0);
    match event.get("series") {
        Some(_) => count("/series/count").into(),
        None => match count("/count") {
            // What happened once is not counted.
            0 => 1.into(),
            count => count.into(),
        },
    }
}

fn first(event: &Value) -> Option<Moment> {
    moment(event, "/firstTimestamp").or_else(|| moment(event, "/eventTime"))
}

fn moment(event: &Value, pointer: &str) -> Option<Moment> {
    Moment::parse(text(event, pointer)).ok().filter(|moment| !moment.is_zero())
}

fn since(moment: Option<Moment>, now: Moment) -> Value {
    moment.map_or_else(|| "<unknown>".into(), |moment| age(moment, now).into())
}
