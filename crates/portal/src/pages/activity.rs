//! The activity feed: who changed what, one sentence each, with filters in the address.

use maud::{Markup, html};
use serde_json::{Value, json};

use crate::address::or_dash;
use crate::kinds::{Collection, plane_of};
use crate::layout::Page;
use crate::refusal::Refusal;
use crate::text;
use crate::viewer::Viewer;

/// The page.
pub async fn page(viewer: &Viewer, plane: &str) -> Result<Page, Refusal> {
    let plane = plane_of(viewer, plane)?;
    let since = match viewer.parameter("since") {
        "" => "now-24h",
        since => since,
    };
    let mut spec = json!({"startTime": since, "endTime": "now", "limit": 100});
    for (parameter, field) in [
        ("actor", "actorName"),
        ("verb", "verb"),
        ("search", "search"),
        ("source", "changeSource"),
        ("kind", "resourceKind"),
    ] {
        if !viewer.parameter(parameter).is_empty() {
            spec[field] = viewer.parameter(parameter).into();
        }
    }
    let query = json!({"apiVersion": "activity.miloapis.com/v1alpha1", "kind": "ActivityQuery",
        "metadata": {"name": "portal"}, "spec": spec});
    let path = viewer.api.kinds().path_of(&plane) + "/apis/activity.miloapis.com/v1alpha1/activityqueries";
    let answer = viewer.post(&path, &query).await?;
    let items = text::items(&answer, "/status/results");
    let option = |name: &str, value: &str, shown: &str| -> Markup {
        html! { option value=(value) selected[viewer.parameter(name) == value] { (shown) } }
    };
    let content = html! {
        form.filters method="get" action=(viewer.path) {
            label { span { "Since" } select name="since" {
                (option("since", "now-1h", "last hour")) (option("since", "", "last 24 hours"))
                (option("since", "now-7d", "last 7 days")) (option("since", "now-30d", "last 30 days")) } }
            label { span { "By" } select name="source" {
                (option("source", "", "everybody")) (option("source", "human", "people")) (option("source", "system", "controllers")) } }
            label { span { "Change" } select name="verb" {
                (option("verb", "", "any")) (option("verb", "create", "created")) (option("verb", "update", "updated")) (option("verb", "delete", "deleted")) } }
            label { span { "User" } input name="actor" value=(viewer.parameter("actor")); }
            label { span { "Kind" } input name="kind" value=(viewer.parameter("kind")) placeholder="Rack"; }
            label { span { "Words" } input name="search" value=(viewer.parameter("search")); }
            button { "Filter" }
        }
        @if items.is_empty() { p.empty { "No changes that you may read in this time." } }
        (feed(viewer, items))
    };
    let at = viewer.page(&["activity", or_dash(plane.as_str())], &[]);
    Ok(Page { plane, at, has_time: false, ..Page::new("Activity", content) })
}

/// Activities as a list, each linked to its object.
pub fn feed(viewer: &Viewer, items: &[Value]) -> Markup {
    html! {
        ol.feed { @for item in items { li {
            (text::moment(text::at(item, "/metadata/creationTimestamp"), viewer.now))
            div {
                (text::foreign(text::at(item, "/spec/summary")))
                @if let Some(address) = of(viewer, item) { " " a href=(address) { "history" } }
                @for change in text::items(item, "/spec/changes").iter().take(4) {
                    div.small { code { (text::limited(text::at(change, "/field"), 120)) } " "
                        @if !change["old"].is_null() { del { (text::foreign(&text::limited(&text::shown(&change["old"]), 80))) } " → " }
                        ins { (text::foreign(&text::limited(&text::shown(&change["new"]), 80))) } }
                }
            }
        } } }
    }
}

/// The address of the history of the object that an activity is about.
fn of(viewer: &Viewer, item: &Value) -> Option<String> {
    let resource = item.pointer("/spec/resource")?;
    let plane = match (text::at(item, "/spec/tenant/type"), text::at(item, "/spec/tenant/name")) {
        ("project", project) => apiserver::plane::Plane::project(project),
        _ => apiserver::plane::Plane::root(),
    };
    let collection =
        Collection::of_kind(viewer, &plane, text::at(resource, "/apiGroup"), text::at(resource, "/kind"))?;
    let (namespace, name) = (text::at(resource, "/namespace"), text::at(resource, "/name"));
    (!name.is_empty()).then(|| collection.object_page(viewer, namespace, name, &[("tab", "history")]))
}
