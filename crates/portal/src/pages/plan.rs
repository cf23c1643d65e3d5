//! A plan: what would change, what stands against it, and the button that applies it.

use maud::{Markup, html};
use serde_json::Value;

use crate::address::or_dash;
use crate::kinds::{Collection, plane_of};
use crate::layout::{self, Page};
use crate::refusal::Refusal;
use crate::viewer::Viewer;
use crate::{address, plans, text};

/// The page.
pub async fn page(viewer: &Viewer, plane: &str, name: &str) -> Result<Page, Refusal> {
    let plane = plane_of(viewer, plane)?;
    let plan = viewer.get_now(&plans::path(viewer, &plane, name), &[]).await?;
    let items = text::items(&plan, "/status/items");
    let is_refused = plan.pointer("/status/refused") == Some(&Value::Bool(true));
    let applied = plan.pointer("/status/applied");
    let count =
        |what: &str| plan.pointer(&format!("/status/summary/{what}")).and_then(Value::as_u64).unwrap_or(0);
    let changes = count("created") + count("configured") + count("deleted");
    let step = |what: &str| address::page(&["plans", or_dash(plane.as_str()), name, what], &[]);
    let content = html! {
        @if let Some(applied) = applied {
            div.notice.good role="status" { "Applied by " strong { (text::foreign(text::at(applied, "/user"))) } " " (text::moment(text::at(applied, "/time"), viewer.now)) "." }
        } @else if is_refused {
            div.notice.bad role="alert" { "This plan can't be applied: " (text::counted(count("failed"), "change is", "changes are")) " refused. Nothing was written." }
        } @else if changes == 0 {
            div.notice role="status" { "This plan changes nothing." }
        } @else {
            div.notice role="status" { "Nothing is written yet. If anything that this plan depends on changes before you apply it, it is refused." }
        }
        p.summary {
            (text::counted(count("created"), "object created", "objects created")) " · "
            (text::counted(count("configured"), "changed", "changed")) " · "
            (text::counted(count("deleted"), "deleted", "deleted")) " · "
            (text::counted(count("unchanged"), "unchanged", "unchanged"))
            @if plan.pointer("/status/incomplete") == Some(&Value::Bool(true)) { " · depends on objects that you may not read" }
        }
        @if applied.is_none() && !is_refused && changes > 0 {
            form.inline method="post" action=(step("apply")) {
                (layout::csrf(viewer))
                button.primary { "Apply plan" }
            }
        }
        @if applied.is_none() {
            form.inline method="post" action=(step("discard")) { (layout::csrf(viewer)) button { "Discard" } }
        }
        ol.changes { @for item in items.iter().take(500) { (shown(viewer, &plane, item)) } }
        @if items.len() > 500 { p.muted { "… and " (text::number(items.len() as u64 - 500)) " more." } }
    };
    let title = match text::at(&plan, "/spec/message") {
        "" => format!("Plan {name}"),
        message => format!("Plan: {message}"),
    };
    Ok(Page { plane, has_time: false, ..Page::new(title, content) })
}

fn shown(viewer: &Viewer, plane: &apiserver::plane::Plane, item: &Value) -> Markup {
    let (namespace, name) = (text::at(item, "/namespace"), text::at(item, "/name"));
    let (group, _) = krm::kind::split_api_version(text::at(item, "/apiVersion"));
    let collection = Collection::of_kind(viewer, plane, group, text::at(item, "/kind"));
    let result = text::at(item, "/result");
    let class = match result {
        "failed" => "state bad",
        "unchanged" => "state",
        "deleted" => "state wait",
        _ => "state good",
    };
    html! {
        li {
            h2 {
                span class=(class) { (if result == "configured" { "changed" } else { result }) } " "
                (text::at(item, "/kind")) " "
                @match &collection {
                    Some(collection) => a href=(collection.object_page(viewer, namespace, name, &[])) { (text::foreign(name)) },
                    None => (text::foreign(name)),
                }
            }
            @if let Some(error) = item.get("error") { p.bad { (text::foreign(text::at(error, "/message"))) }
                @if !text::items(error, "/details/causes").is_empty() { ul { @for cause in text::items(error, "/details/causes") {
                    li { code { (text::at(cause, "/field")) } " " (text::foreign(text::at(cause, "/message"))) } } } } }
            (diff(text::items(item, "/diff")))
        }
    }
}

/// Changed fields, with the values before and after.
pub fn diff(entries: &[Value]) -> Markup {
    html! {
        @if !entries.is_empty() {
            div.scroll tabindex="0" role="region" aria-label="Differences" { table.diff {
                thead { tr { th { "Field" } th { "Before" } th { "After" } } }
                tbody { @for entry in entries.iter().take(200) { tr {
                    td { code { (text::limited(text::at(entry, "/path"), 200)) } }
                    td { @if let Some(before) = entry.get("before") { del { (text::foreign(&text::shown(before))) } } @else { span.muted { "—" } } }
                    td { @if let Some(after) = entry.get("after") { ins { (text::foreign(&text::shown(after))) } } @else { span.muted { "removed" } } }
                } } }
            } }
            @if entries.len() > 200 { p.muted { "… and " (entries.len() - 200) " more fields." } }
        }
    }
}

/// Applies it.
pub async fn apply(viewer: &Viewer, plane: &str, name: &str) -> Result<String, Refusal> {
    let at = plane_of(viewer, plane)?;
    viewer.post(&(plans::path(viewer, &at, name) + "/apply"), &Value::Null).await?;
    Ok(address::page(&["plans", plane, name], &[]))
}

/// Deletes it.
pub async fn discard(viewer: &Viewer, plane: &str, name: &str) -> Result<String, Refusal> {
    let at = plane_of(viewer, plane)?;
    let path = plans::path(viewer, &at, name);
    viewer.value(crate::viewer::Ask::send(http::Method::DELETE, &path, "", Vec::new())).await?;
    Ok(if at.is_root() { address::page(&[], &[]) } else { address::page(&["p", at.as_str()], &[]) })
}
