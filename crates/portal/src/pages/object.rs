//! The page of an object, of any kind: overview, YAML, relations, history.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::{answers, edit, fields, history, relations};
use crate::kinds::Collection;
use crate::layout::{self, Page};
use crate::refusal::Refusal;
use crate::table;
use crate::viewer::Viewer;
use crate::{address, plans, text};

const TABS: [(&str, &str); 7] = [
    ("", "Overview"),
    ("answers", "Answers"),
    ("rollouts", "Rollouts"),
    ("yaml", "YAML"),
    ("relations", "Relations"),
    ("history", "History"),
    ("events", "Events"),
];
const INVENTORY: &str = "inventory.miloapis.com";

/// The page.
pub async fn page(
    viewer: &Viewer,
    plane: &str,
    group: &str,
    plural: &str,
    namespace: &str,
    name: &str,
) -> Result<Page, Refusal> {
    let collection = Collection::find(viewer, plane, group, plural)?;
    let namespace = address::from_dash(namespace);
    let found = viewer.get(&collection.path(viewer, namespace, name), &[]).await;
    let object = match found {
        Ok(object) => Some(object),
        // What was deleted has a history still.
        Err(refusal) if refusal.code == 404 => {
            let past = history::shown(viewer, &collection, namespace, name, false).await;
            let past = past.map_err(|_| refusal)?;
            return Ok(deleted(viewer, &collection, namespace, name, past));
        }
        Err(refusal) => return Err(refusal),
    };
    let object = object.unwrap_or_default();
    let tab = viewer.parameter("tab");
    let content = match tab {
        "yaml" => edit::shown(viewer, &collection, &object),
        "relations" => {
            let outgoing = relations::outgoing(viewer, &collection, &object);
            let (incoming, is_incomplete) = relations::incoming(viewer, &collection, namespace, name).await;
            relations::shown(name, &outgoing, &incoming, is_incomplete)
        }
        "history" => history::shown(viewer, &collection, namespace, name, true).await?,
        "events" => events(viewer, &collection, &object).await?,
        "answers" => answers::shown(viewer, &collection, namespace, name).await?,
        "rollouts" => answers::rollouts(viewer, &collection, namespace, name).await?,
        _ => overview(viewer, &collection, namespace, name, &object).await?,
    };
    let content = html! { (tabs(viewer, &collection, namespace, name, tab)) (content) };
    let mut watch = vec![("fieldSelector", format!("metadata.name={name}"))];
    watch.retain(|_| collection.kind.takes("watch"));
    let live = watch.first().map(|parameter| {
        collection.path(viewer, namespace, "") + &address::query(std::slice::from_ref(parameter))
    });
    Ok(Page {
        crumbs: crumbs(viewer, &collection, namespace),
        at: collection.page(viewer, &[]),
        // A form that somebody fills in is not replaced under their hands.
        live: if tab == "yaml" { Vec::new() } else { live.into_iter().collect() },
        actions: actions(viewer, &collection, namespace, name),
        plane: collection.plane.clone(),
        ..Page::new(name, content)
    })
}

fn crumbs(viewer: &Viewer, collection: &Collection, namespace: &str) -> Vec<(String, String)> {
    let mut crumbs = vec![(collection.title(), collection.page(viewer, &[]))];
    if !namespace.is_empty() {
        crumbs.push((namespace.to_owned(), collection.page(viewer, &[("namespace", namespace)])));
    }
    crumbs
}

fn tabs(viewer: &Viewer, collection: &Collection, namespace: &str, name: &str, tab: &str) -> Markup {
    let has = |key: &str| match key {
        "answers" => !answers::questions(collection).is_empty(),
        "rollouts" => collection.kind.rollout.is_some(),
        _ => true,
    };
    html! {
        nav.tabs aria-label="Parts of the object" { @for (key, title) in TABS.iter().filter(|(key, _)| has(key)) {
            a href=(collection.object_page(viewer, namespace, name, &[("tab", key)])) aria-current=[(*key == tab).then_some("page")] { (title) }
        } }
    }
}

/// An object that is gone: its history, and the way to get it back.
fn deleted(viewer: &Viewer, collection: &Collection, namespace: &str, name: &str, past: Markup) -> Page {
    let content = html! {
        div.notice role="status" {
            @if viewer.as_of.is_some() { "It did not exist at this time. This is its history." }
            @else { "It was deleted. This is its history." }
        }
        (past)
    };
    Page {
        crumbs: crumbs(viewer, collection, namespace),
        at: collection.page(viewer, &[]),
        plane: collection.plane.clone(),
        ..Page::new(name, content)
    }
}

fn actions(viewer: &Viewer, collection: &Collection, namespace: &str, name: &str) -> Markup {
    let kind = &collection.kind;
    let is_inventory = kind.group == INVENTORY;
    let edit = collection.object_page(viewer, namespace, name, &[("tab", "yaml")]);
    let may = |verb: &str| viewer.as_of.is_none() && viewer.may(&collection.plane, verb, kind, "", namespace);
    html! {
        @if is_inventory {
            @match kind.names.plural.as_str() {
                "racks" => a.button href=(viewer.page(&["racks", name], &[])) { "Elevation" },
                "sites" => a.button href=(viewer.page(&["sites", name], &[])) { "Floor plan" },
                "ports" => a.button href=(viewer.page(&["trace", name], &[])) { "Trace" },
                _ => {}
            }
            @if collection.answers("impact") { a.button href=(viewer.page(&["impact", &kind.names.plural, name], &[])) { "What if this fails" } }
        }
        @if kind.takes("update") {
            @if may("update") { a.button href=(edit) { "Edit" } }
            @else { button disabled title=(why_not(viewer)) { "Edit" } }
        }
        @if kind.takes("delete") {
            form.inline method="post" action=(viewer.path) {
                (layout::csrf(viewer))
                input type="hidden" name="do" value="delete";
                @if may("delete") { button { "Delete…" } } @else { button disabled title=(why_not(viewer)) { "Delete…" } }
            }
        }
    }
}

fn why_not(viewer: &Viewer) -> &'static str {
    if viewer.as_of.is_some() {
        "You are looking at the past."
    } else {
        "You are not allowed to: see “Who may what”."
    }
}

async fn overview(
    viewer: &Viewer,
    collection: &Collection,
    namespace: &str,
    name: &str,
    object: &Value,
) -> Result<Markup, Refusal> {
    let row = viewer.table(&collection.path(viewer, namespace, name), &[]).await?;
    let columns = table::columns(&row, true);
    let cells = table::rows(&row).first().cloned().unwrap_or_default();
    let outgoing = relations::outgoing(viewer, collection, object);
    let labels = |field: &str| object.pointer(field).and_then(Value::as_object).cloned().unwrap_or_default();
    let annotations = labels("/metadata/annotations");
    let is_shown = |key: &str| !matches!(key, "apiVersion" | "kind" | "metadata" | "status" | "spec");
    let rest: serde_json::Map<String, Value> = object
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| is_shown(key))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    let mut status = object["status"].clone();
    if let Some(status) = status.as_object_mut() {
        status.remove("conditions");
    }
    Ok(html! {
        @if !text::at(object, "/metadata/deletionTimestamp").is_empty() {
            div.notice.bad role="status" { "It is being deleted since " (text::moment(text::at(object, "/metadata/deletionTimestamp"), viewer.now)) ". It waits for: "
                (text::items(object, "/metadata/finalizers").iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")) }
        }
        (since(viewer, collection, namespace, name, object).await)
        div.cards {
            section.card { h2 { "At a glance" } dl.pairs {
                @for column in columns.iter().filter(|column| !column.name.eq_ignore_ascii_case("name")) {
                    div { dt { (column.name) } dd { (table::shown_cell(column, &table::cell(&cells, column.at))) } }
                }
                div { dt { "Created" } dd { (text::moment(text::at(object, "/metadata/creationTimestamp"), viewer.now)) } }
            } }
            @if !outgoing.is_empty() { section.card { h2 { "Belongs to" } dl.pairs { @for one in outgoing.iter().take(12) {
                div { dt { (one.kind) } dd { @match &one.page { Some(page) => a href=(page) { (text::foreign(&one.name)) }, None => (text::foreign(&one.name)) } } }
            } } } }
            @let all = labels("/metadata/labels");
            @if !all.is_empty() { section.card { h2 { "Labels" } p.labels { @for (key, value) in &all {
                @let selector = format!("{key}={}", value.as_str().unwrap_or_default());
                a.label href=(collection.page(viewer, &[("labels", &selector)])) { (text::foreign(&text::limited(&selector, 120))) } " "
            } } } }
            (fields::conditions(viewer, object))
            @if !object["spec"].is_null() { section.card.wide { h2 { "Spec" } (fields::shown(&object["spec"])) } }
            @if !rest.is_empty() { section.card.wide { h2 { "Content" } (fields::shown(&Value::Object(rest))) } }
            @if status.as_object().is_some_and(|status| !status.is_empty()) { section.card.wide { h2 { "Status" } (fields::shown(&status)) } }
            @if !annotations.is_empty() { section.card.wide { h2 { "Annotations" } (fields::shown(&Value::Object(annotations))) } }
        }
    })
}

/// What has changed since the time that is looked at.
async fn since(
    viewer: &Viewer,
    collection: &Collection,
    namespace: &str,
    name: &str,
    then: &Value,
) -> Markup {
    if viewer.as_of.is_none() {
        return html! {};
    }
    let now = viewer.get_now(&collection.path(viewer, namespace, name), &[]).await.ok();
    let differences: Vec<Value> = krm::diff::between(Some(then), now.as_ref())
        .into_iter()
        .map(krm::diff::Difference::into_json)
        .collect();
    html! {
        section.card.wide { h2 { "Since then" }
            @if now.is_none() { p { "It no longer exists." } }
            @else if differences.is_empty() { p.muted { "Nothing has changed." } }
            @else { (super::plan::diff(&differences)) }
        }
    }
}

async fn events(viewer: &Viewer, collection: &Collection, object: &Value) -> Result<Markup, Refusal> {
    let path = viewer.api.kinds().path_of(&collection.plane) + "/api/v1/events";
    let selector = format!("involvedObject.uid={}", text::at(object, "/metadata/uid"));
    let events = viewer.get_now(&path, &[("fieldSelector", &selector), ("limit", "200")]).await?;
    let mut items: Vec<&Value> = text::items(&events, "/items").iter().collect();
    items.sort_by_key(|event| std::cmp::Reverse(text::at(event, "/lastTimestamp").to_owned()));
    Ok(html! {
        @if items.is_empty() { p.empty { "No recent events. Events are kept for an hour; the history keeps changes." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Events" { table {
                thead { tr { th { "Last" } th { "Type" } th { "Reason" } th { "Message" } th.number { "Count" } th { "From" } } }
                tbody { @for event in items { tr {
                    td { (text::moment(text::at(event, "/lastTimestamp"), viewer.now)) }
                    td { span.state.bad[event["type"] == "Warning"] { (text::at(event, "/type")) } }
                    td { (text::foreign(text::at(event, "/reason"))) }
                    td { (text::foreign(text::at(event, "/message"))) }
                    td.number { (event["count"].as_u64().unwrap_or(1)) }
                    td { (text::foreign(text::at(event, "/source/component"))) (text::foreign(text::at(event, "/reportingComponent"))) }
                } } }
            } }
        }
    })
}

/// Plans what a form of the page asks for.
pub async fn plan(
    viewer: &Viewer,
    plane: &str,
    group: &str,
    plural: &str,
    namespace: &str,
    name: &str,
) -> Result<String, Refusal> {
    let collection = Collection::find(viewer, plane, group, plural)?;
    let namespace = address::from_dash(namespace);
    let target = plans::target(&collection, namespace, name);
    let revision = viewer.parameter("revision");
    let message = viewer.parameter("message");
    let (item, message) = match viewer.parameter("do") {
        "delete" => (json!({"operation": "delete", "target": target}), format!("Delete {name}")),
        "undo" => (
            json!({"operation": "undo", "target": target, "toRevision": revision}),
            format!("Return {name} to revision {revision}"),
        ),
        "rollback" => (
            json!({"operation": "undo", "target": target, "toGeneration": revision.parse::<i64>().unwrap_or(0)}),
            format!("Return {name} to rollout {revision}"),
        ),
        "restore" => (json!({"operation": "restore", "target": target}), format!("Restore {name}")),
        "edit" => (
            edit::item(viewer, &collection)?,
            if message.is_empty() { format!("Edit {name}") } else { message.to_owned() },
        ),
        _ => return Err(Refusal::no_page()),
    };
    plans::make(viewer, &collection.plane, vec![item], &message).await
}
