//! Events that controllers record: one object per regarded object, controller and reason, which counts occurrences.

use std::hash::{DefaultHasher, Hash, Hasher};

use krm::Object;
use krm::kind::Address;
use krm::status::Status;
use reconcile::plan::Event;
use reconcile::target::Target;
use serde_json::{Value, json};
use store::View;

use crate::call::Call;
use crate::write::{self, create};

/// The namespace of events about objects without one.
const DEFAULT: &str = "default";
const LONGEST_NAME: usize = 253;
/// Longest message of an event, in bytes.
const LONGEST_NOTE: usize = 1024;

/// Where the event is kept.
pub fn address(target: &Target, object: &Object, event: &Event, controller: &str) -> Address {
    let mut hasher = DefaultHasher::new();
    (object.uid(), controller, &event.reason, event.is_warning).hash(&mut hasher);
    let name = format!("{}.{:016x}", target.at.name, hasher.finish());
    // The end of a long name tells more than its beginning.
    let tail = &name[name.len().saturating_sub(LONGEST_NAME)..];
    let namespace = if target.at.namespace.is_empty() { DEFAULT } else { &target.at.namespace };
    Address {
        group: String::new(),
        plural: "events".to_owned(),
        namespace: namespace.to_owned(),
        name: tail.trim_start_matches(['.', '-']).to_owned(),
    }
}

/// Records an occurrence. `call` is about the Event.
pub fn record(
    call: &Call,
    view: &mut View,
    object: &Object,
    event: &Event,
    controller: &str,
) -> Result<(), Status> {
    let earlier = write::current(call, view)?.map(|(_, earlier)| earlier);
    let instance = std::env::var("POD_NAME").unwrap_or_else(|_| "groundplane".to_owned());
    let mut written = composed(call, earlier.as_ref(), object, event, (controller, &instance));
    if earlier.is_none() {
        create::fill_in(call, &mut written)?;
    }
    let written = write::to_storage(call, written)?;
    write::put(call, view, &written, if earlier.is_some() { "update" } else { "create" }, false)
}

/// The Event with one more occurrence. `call` is about it.
pub fn composed(
    call: &Call,
    earlier: Option<&Object>,
    object: &Object,
    event: &Event,
    (controller, instance): (&str, &str),
) -> Object {
    let now = call.api.now().to_micros();
    let mut written = match earlier {
        Some(earlier) => {
            let mut again = earlier.clone();
            let count = earlier.at("series.count").and_then(Value::as_i64).unwrap_or(1) + 1;
            again.set("series", Some(json!({"count": count, "lastObservedTime": now})));
            again
        }
        None => {
            let mut first = Object::new("v1", "Event");
            first.set_meta("name", Some(call.name.as_str().into()));
            first.set_meta("namespace", Some(call.namespace.as_str().into()));
            first.set("eventTime", Some(now.into()));
            first
        }
    };
    let fields = json!({
        "involvedObject": {
            "apiVersion": object.api_version(),
            "kind": object.kind(),
            "namespace": object.namespace(),
            "name": object.name(),
            "uid": object.uid(),
        },
        "type": if event.is_warning { "Warning" } else { "Normal" },
        "reason": event.reason,
        "action": event.reason,
        "message": shortened(&event.note),
        "source": {},
        "firstTimestamp": null,
        "lastTimestamp": null,
        "reportingComponent": controller,
        "reportingInstance": instance,
    });
    for (field, value) in fields.as_object().into_iter().flatten() {
        written.set(field, Some(value.clone()));
    }
    if object.namespace().is_empty()
        && let Some(Value::Object(involved)) = written.0.get_mut("involvedObject")
    {
        involved.remove("namespace");
    }
    let annotations = (!event.annotations.is_empty()).then(|| json!(event.annotations));
    written.set_meta("annotations", annotations);
    written
}

fn shortened(note: &str) -> &str {
    let mut end = note.len().min(LONGEST_NOTE);
    while !note.is_char_boundary(end) {
        end -= 1;
    }
    &note[..end]
}
