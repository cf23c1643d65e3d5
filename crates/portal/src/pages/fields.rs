//! The fields of an object, whatever its kind: names and values, nested as they are.

use maud::{Markup, html};
use serde_json::Value;

use crate::text;

/// Fields that are shown of one object at most; all are in its YAML.
const MOST: usize = 400;

/// A value with its fields.
pub fn shown(value: &Value) -> Markup {
    let mut left = MOST;
    nested(value, &mut left)
}

fn nested(value: &Value, left: &mut usize) -> Markup {
    match value {
        Value::Object(fields) if fields.is_empty() => html! { span.muted { "{}" } },
        Value::Object(fields) => html! {
            dl.fields { @for (name, value) in fields {
                @if *left == 0 { (rest()) } @else {
                    @let () = *left -= 1;
                    div { dt { (text::foreign(&text::limited(name, 120))) } dd { (nested(value, left)) } }
                }
            } }
        },
        Value::Array(items) if items.is_empty() => html! { span.muted { "none" } },
        Value::Array(items) if items.iter().all(|item| !item.is_object() && !item.is_array()) => html! {
            @for (index, item) in items.iter().take(100).enumerate() { @if index > 0 { ", " } (text::foreign(&text::shown(item))) }
            @if items.len() > 100 { (rest()) }
        },
        Value::Array(items) => html! {
            ol.items { @for item in items {
                @if *left == 0 { (rest()) } @else {
                    @let () = *left -= 1;
                    li { (nested(item, left)) }
                }
            } }
        },
        Value::Bool(value) => html! { (value) },
        other => text::foreign(&text::shown(other)),
    }
}

fn rest() -> Markup {
    html! { span.muted { "…" } }
}

/// Conditions, with what is not as it should be first.
pub fn conditions(viewer: &crate::viewer::Viewer, object: &Value) -> Markup {
    let mut conditions: Vec<&Value> = text::items(object, "/status/conditions").iter().collect();
    conditions.sort_by_key(|condition| condition["status"] == "True");
    html! {
        @if !conditions.is_empty() {
            section.card.wide { h2 { "Conditions" } div.scroll tabindex="0" role="region" aria-label="Conditions" { table {
                thead { tr { th { "Condition" } th { "Status" } th { "Reason" } th { "Message" } th { "Since" } } }
                tbody { @for condition in conditions { tr {
                    td { (text::foreign(text::at(condition, "/type"))) }
                    td { (state(text::at(condition, "/status"))) }
                    td { (text::foreign(text::at(condition, "/reason"))) }
                    td { (text::foreign(text::at(condition, "/message"))) }
                    td { (text::moment(text::at(condition, "/lastTransitionTime"), viewer.now)) }
                } } }
            } } }
        }
    }
}

fn state(status: &str) -> Markup {
    let class = match status {
        "True" => "state good",
        "False" => "state bad",
        _ => "state wait",
    };
    html! { span class=(class) { (status) } }
}
