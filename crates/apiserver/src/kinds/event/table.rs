//! Table columns of events.

use krm::table::{Columns, age};
use krm::time::Moment;
use serde_json::Value;

use crate::kinds::columns::{column, text, wide, wide_name};

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
const ABOUT_MESSAGE: &str = "A human-readable description of the status of this operation.";
const ABOUT_FIRST: &str =
    "The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)";

/// The columns of events, in whichever form they come.
pub fn columns() -> Columns {
    Columns::new(vec![
        column("Last Seen", ABOUT_LAST, last_seen),
        column("Type", ABOUT_TYPE, |event, _| text(event, "/type").into()),
        column("Reason", ABOUT_REASON, |event, _| text(event, "/reason").into()),
        column("Object", "The object that this event is about.", target),
        wide("Subobject", ABOUT_SUBOBJECT, |event, _| text(object(event), "/fieldPath").into()),
        wide("Source", ABOUT_SOURCE, source),
        column("Message", ABOUT_MESSAGE, |event, _| words(event, "message", "note").trim().into()),
        wide("First Seen", ABOUT_FIRST, |event, now| since(first(event), now)),
        wide("Count", "The number of times this event has occurred.", count),
        wide_name(),
    ])
}

/// A field, which has one name where events are kept and another where they are mirrored.
fn field<'a>(event: &'a Value, kept: &str, mirrored: &str) -> &'a Value {
    event.get(kept).or_else(|| event.get(mirrored)).unwrap_or(&Value::Null)
}

fn words<'a>(event: &'a Value, kept: &str, mirrored: &str) -> &'a str {
    field(event, kept, mirrored).as_str().unwrap_or("")
}

fn object(event: &Value) -> &Value {
    field(event, "involvedObject", "regarding")
}

fn last_seen(event: &Value, now: Moment) -> Value {
    let last = match event.get("series") {
        Some(_) => moment(text(event, "/series/lastObservedTime")),
        None => moment(words(event, "lastTimestamp", "deprecatedLastTimestamp")).or_else(|| first(event)),
    };
    since(last, now)
}

fn target(event: &Value, _: Moment) -> Value {
    let object = object(event);
    let kind = text(object, "/kind").to_lowercase();
    match text(object, "/name") {
        "" => kind.into(),
        name => format!("{kind}/{name}").into(),
    }
}

fn source(event: &Value, _: Moment) -> Value {
    let source = field(event, "source", "deprecatedSource");
    let given =
        |first: &str, second: &str| if first.is_empty() { second.to_owned() } else { first.to_owned() };
    let component =
        given(text(source, "/component"), words(event, "reportingComponent", "reportingController"));
    match given(text(source, "/host"), text(event, "/reportingInstance")) {
        instance if instance.is_empty() => component.into(),
        instance => format!("{component}, {instance}").into(),
    }
}

fn count(event: &Value, _: Moment) -> Value {
    if let Some(series) = event.get("series") {
        return series.get("count").and_then(Value::as_i64).unwrap_or(0).into();
    }
    match field(event, "count", "deprecatedCount").as_i64() {
        // What happened once is not counted.
        None | Some(0) => 1.into(),
        Some(count) => count.into(),
    }
}

fn first(event: &Value) -> Option<Moment> {
    let first = words(event, "firstTimestamp", "deprecatedFirstTimestamp");
    moment(first).or_else(|| moment(text(event, "/eventTime")))
}

fn moment(text: &str) -> Option<Moment> {
    Moment::parse(text).ok().filter(|moment| !moment.is_zero())
}

fn since(moment: Option<Moment>, now: Moment) -> Value {
    moment.map_or_else(|| "<unknown>".into(), |moment| age(moment, now).into())
}
