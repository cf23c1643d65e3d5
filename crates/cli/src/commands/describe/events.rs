//! What happened to an object, as events tell it.

use krm::table::age_of;
use serde_json::Value;

use super::Page;
use crate::client::{Ask, Client};
use crate::commands::get::now;

/// The events about an object. Who may not see them sees none.
pub(super) async fn of(page: &mut Page, client: &Client, object: &Value) {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or("");
    let kind = object["kind"].as_str().unwrap_or("");
    let mut selector =
        format!("involvedObject.name={},involvedObject.namespace={}", text("name"), text("namespace"));
    selector += &format!(",involvedObject.kind={kind},involvedObject.uid={}", text("uid"));
    let path = match text("namespace") {
        "" => "/api/v1/events".to_owned(),
        namespace => format!("/api/v1/namespaces/{namespace}/events"),
    };
    let Ok(found) = client.value(&Ask::get(path).query("fieldSelector", selector)).await else { return };
    let mut events: Vec<&Value> = found["items"].as_array().into_iter().flatten().collect();
    if events.is_empty() {
        page.line(0, "Events:\t<none>");
        return;
    }
    events.sort_by_key(|event| event["lastTimestamp"].as_str().unwrap_or("").to_owned());
    page.new_columns();
    page.line(0, "Events:");
    page.line(1, "Type\tReason\tAge\tFrom\tMessage");
    page.line(1, "----\t------\t----\t----\t-------");
    for event in events {
        let part = |field: &str| event[field].as_str().unwrap_or("");
        let source = event["source"]["component"].as_str().filter(|source| !source.is_empty());
        page.line(
            1,
            &format!(
                "{}\t{}\t{}\t{}\t{}",
                part("type"),
                part("reason"),
                when(event),
                source.unwrap_or(part("reportingComponent")),
                part("message").trim()
            ),
        );
    }
}

/// When, and how often.
pub fn when(event: &Value) -> String {
    let now = now();
    let first = match event["eventTime"].as_str() {
        Some(_) => age_of(event.get("eventTime"), now),
        None => age_of(event.get("firstTimestamp"), now),
    };
    let series = &event["series"];
    if let Some(count) = series["count"].as_i64() {
        return format!("{} (x{count} over {first})", age_of(series.get("lastObservedTime"), now));
    }
    match event["count"].as_i64() {
        Some(count) if count > 1 => {
            format!("{} (x{count} over {first})", age_of(event.get("lastTimestamp"), now))
        }
        _ => first,
    }
}
