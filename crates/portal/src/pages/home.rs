//! Home: what needs attention, and the fleet at a glance.

use apiserver::keys;
use apiserver::plane::Plane;
use maud::{Markup, html};
use serde_json::Value;

use crate::attention::{Attention, trouble};
use crate::draw::bar::bar;
use crate::kinds::Collection;
use crate::layout::Page;
use crate::refusal::Refusal;
use crate::text;
use crate::viewer::Viewer;

const INVENTORY: &str = "inventory.miloapis.com";
/// Items that are shown; the rest is counted.
const SHOWN: usize = 40;
/// Further items that are counted.
const COUNTED_MORE: usize = 1_000;
/// Racks whose space and power are added up here; a larger fleet has them on the pages of its sites.
const RACKS: u64 = 80;
/// What is counted: group and plural.
const COUNTED: [(&str, &str); 12] = [
    (INVENTORY, "sites"),
    (INVENTORY, "racks"),
    (INVENTORY, "nodes"),
    (INVENTORY, "networkdevices"),
    (INVENTORY, "circuits"),
    (INVENTORY, "virtualmachines"),
    ("fulfillment.groundplane.dev", "hosts"),
    ("fulfillment.groundplane.dev", "clusters"),
    ("sources.groundplane.dev", "sources"),
    ("design.groundplane.dev", "designs"),
    ("orchestration.groundplane.dev", "tasks"),
    ("cells.groundplane.dev", "cells"),
];

/// The page.
pub async fn page(viewer: &Viewer, attention: &Attention) -> Result<Page, Refusal> {
    let root = Plane::root();
    let (items, more) = troubled(viewer, attention, None).await;
    let counts = counts(viewer, &root, &COUNTED).await;
    let racks =
        counts.iter().find(|(collection, _)| collection.kind.names.plural == "racks").map_or(0, |it| it.1);
    let content = html! {
        section aria-labelledby="attention" {
            h2 #attention { "What needs attention " @if !items.is_empty() { span.count.lost { (items.len() + more) } } }
            (listed(viewer, &items, more))
        }
        @if !counts.is_empty() { section aria-labelledby="glance" {
            h2 #glance { "The fleet at a glance" }
            (tiles(viewer, &counts))
            @if racks > 0 && racks <= RACKS { (space(viewer).await) }
        } }
        (classes(viewer, &root).await)
        @let projects = viewer.projects();
        @if !projects.is_empty() { section { h2 { "Projects" } ul.tags { @for project in projects.iter().take(60) {
            li { a href=(viewer.page(&["p", project.as_str()], &[])) { (project.as_str()) } } } } } }
    };
    let watched =
        |plural: &str| Collection::of(viewer, &root, INVENTORY, plural).map(|it| it.path(viewer, "", ""));
    let live = ["sites", "racks", "nodes", "networkdevices", "circuits"]
        .iter()
        .filter_map(|plural| watched(plural).ok());
    let live = live.chain(watched("nodes").ok().map(|_| "/api/v1/events".to_owned())).collect();
    Ok(Page { at: viewer.page(&[], &[]), live, ..Page::new("Home", content) })
}

/// An object that needs attention, as the API shows it to the viewer.
pub struct Item {
    collection: Collection,
    object: Value,
}

/// What needs attention in all control planes of the viewer, or in one; and how many more there are.
pub async fn troubled(viewer: &Viewer, attention: &Attention, plane: Option<&Plane>) -> (Vec<Item>, usize) {
    let (mut items, mut more) = (Vec::new(), 0);
    for key in attention.keys(&viewer.api).await {
        let Some(parts) = keys::parts(&key) else { continue };
        let at = if parts.plane.is_empty() { Plane::root() } else { Plane::project(parts.plane) };
        if plane.is_some_and(|plane| *plane != at) || !viewer.belongs_to(&at) {
            continue;
        }
        let Ok(collection) = Collection::of(viewer, &at, parts.group, parts.plural) else { continue };
        if !viewer.may_get(&at, &collection.kind, parts.namespace, parts.name) {
            continue;
        }
        if items.len() >= SHOWN {
            more += 1;
            // A fleet that is all in trouble is not counted to the last object.
            if more >= COUNTED_MORE {
                break;
            }
            continue;
        }
        let path = collection.path(viewer, parts.namespace, parts.name);
        // It may be well at the time that is looked at, or gone.
        if let Ok(object) = viewer.get(&path, &[]).await
            && trouble(&object).is_some()
        {
            items.push(Item { collection, object });
        }
    }
    items.sort_by_key(|item| std::cmp::Reverse(since(&item.object).to_owned()));
    (items, more)
}

fn since(object: &Value) -> &str {
    let since = trouble(object).map_or("", |condition| text::at(condition, "/lastTransitionTime"));
    // A condition that was never otherwise has no transition: it holds since the object exists.
    if since.starts_with("1970-") { text::at(object, "/metadata/creationTimestamp") } else { since }
}

/// Items with since when, why, who owns them and the one action.
pub fn listed(viewer: &Viewer, items: &[Item], more: usize) -> Markup {
    html! {
        @if items.is_empty() { p.empty.good { "Nothing needs attention. No object that you may read reports a problem." } } @else {
            div.scroll tabindex="0" role="region" aria-label="What needs attention" { table {
                thead { tr { th { "Object" } th { "Why" } th { "Since" } th { "Owner" } th { span.sr { "Action" } } } }
                tbody { @for item in items { @let condition = trouble(&item.object).cloned().unwrap_or_default(); tr {
                    @let (namespace, name) = (text::at(&item.object, "/metadata/namespace"), text::at(&item.object, "/metadata/name"));
                    @let page = item.collection.object_page(viewer, namespace, name, &[]);
                    td { span.muted { (item.collection.kind.names.kind) } br; a href=(page) { (text::foreign(name)) }
                        @if !item.collection.plane.is_root() { " " span.tag { (item.collection.plane.as_str()) } } }
                    td { strong { (text::foreign(text::at(&condition, "/reason"))) } " " (text::foreign(&text::limited(text::at(&condition, "/message"), 240))) }
                    td { (text::moment(since(&item.object), viewer.now)) }
                    td { (text::foreign(&owner(&item.object))) }
                    td.end { (action(viewer, item, namespace, name)) }
                } } }
            } }
            @if more >= COUNTED_MORE { p.muted { "… and more than " (text::number(more as u64)) " others." } }
            @else if more > 0 { p.muted { "… and " (text::number(more as u64)) " more." } }
        }
    }
}

/// Who owns an object: its label, or who wrote its spec last.
fn owner(object: &Value) -> String {
    let labels = object.pointer("/metadata/labels").and_then(Value::as_object);
    let named = |key: &str| labels?.get(key)?.as_str().map(str::to_owned);
    let managers = text::items(object, "/metadata/managedFields").iter();
    let of_spec = managers.filter(|manager| manager.pointer("/fieldsV1/f:spec").is_some());
    let last = of_spec.max_by_key(|manager| text::at(manager, "/time").to_owned());
    let last = || last.map(|manager| text::at(manager, "/manager").to_owned());
    named("owner").or_else(|| named("team")).or_else(last).unwrap_or_default()
}

fn action(viewer: &Viewer, item: &Item, namespace: &str, name: &str) -> Markup {
    let plural = item.collection.kind.names.plural.as_str();
    let (address, title) = match (item.collection.kind.group.as_str(), plural) {
        (INVENTORY, "racks") => (viewer.page(&["racks", name], &[]), "Open rack"),
        (INVENTORY, "ports") => (viewer.page(&["trace", name], &[]), "Trace"),
        _ => match trouble(&item.object).map(|condition| text::at(condition, "/reason").to_owned()) {
            Some(reason) if reason.ends_with("NotFound") || reason.ends_with("Missing") => {
                (item.collection.object_page(viewer, namespace, name, &[("tab", "yaml")]), "Fix reference")
            }
            _ => (item.collection.object_page(viewer, namespace, name, &[("tab", "events")]), "See events"),
        },
    };
    html! { a.button href=(address) aria-label=(format!("{title}: {name}")) { (title) } }
}

/// How many objects there are of some kinds, of those that are served and may be listed.
pub async fn counts(viewer: &Viewer, plane: &Plane, kinds: &[(&str, &str)]) -> Vec<(Collection, u64)> {
    let mut counts = Vec::new();
    for (group, plural) in kinds {
        let Ok(collection) = Collection::of(viewer, plane, group, plural) else { continue };
        if !viewer.may(plane, "list", &collection.kind, "", "") {
            continue;
        }
        let Ok(list) = viewer.get(&collection.path(viewer, "", ""), &[("limit", "1")]).await else {
            continue;
        };
        let left = list.pointer("/metadata/remainingItemCount").and_then(Value::as_u64).unwrap_or(0);
        counts.push((collection, text::items(&list, "/items").len() as u64 + left));
    }
    counts
}

/// Numbers, each of which leads to its list.
pub fn tiles(viewer: &Viewer, counts: &[(Collection, u64)]) -> Markup {
    html! {
        ul.tiles { @for (collection, count) in counts {
            li { a href=(collection.page(viewer, &[])) { strong { (text::number(*count)) } span { (collection.title()) } } }
        } }
    }
}

/// Space and power by site.
async fn space(viewer: &Viewer) -> Markup {
    let root = Plane::root();
    let found = (
        Collection::of(viewer, &root, INVENTORY, "racks"),
        Collection::of(viewer, &root, INVENTORY, "sites"),
    );
    let (Ok(racks), Ok(sites)) = found else { return html! {} };
    let list = viewer.get(&sites.path(viewer, "", ""), &[("limit", "24")]).await.unwrap_or_default();
    let mut sums: Vec<(&str, [u64; 4])> = Vec::new();
    for site in text::items(&list, "/items") {
        let name = text::at(site, "/metadata/name");
        let path = racks.path(viewer, "", "-") + "/elevation";
        let Ok(all) = viewer.get(&path, &[("site", name)]).await else { continue };
        sums.push((name, total(text::items(&all, "/racks").iter())));
    }
    html! {
        div.cards { @for (site, [used, units, drawn, budget]) in &sums {
            section.card { h3 { a href=(viewer.page(&["sites", site], &[])) { (text::foreign(site)) } }
                (bar("Space", *used, *units, "U")) (bar("Power", *drawn, *budget, "W")) }
        } }
    }
}

/// The sums over some racks.
pub fn total<'a>(racks: impl Iterator<Item = &'a Value>) -> [u64; 4] {
    racks.map(sums).fold([0; 4], |sum, one| std::array::from_fn(|index| sum[index] + one[index]))
}

/// Used units, all units, drawn watts and usable watts of a rack.
pub fn sums(rack: &Value) -> [u64; 4] {
    let number = |pointer: &str| rack.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    let units = number("/heightU");
    [units.saturating_sub(number("/freeFront")), units, number("/power/drawn"), number("/power/budget")]
}

/// Hosts by class.
async fn classes(viewer: &Viewer, plane: &Plane) -> Markup {
    let found = Collection::of(viewer, plane, "fulfillment.groundplane.dev", "hostclasses");
    let Ok(collection) = found else { return html! {} };
    if !viewer.may(plane, "list", &collection.kind, "", "") {
        return html! {};
    }
    let table = viewer.table(&collection.path(viewer, "", ""), &[("limit", "1")]).await;
    if !table.is_ok_and(|table| !crate::table::rows(&table).is_empty()) {
        return html! {};
    }
    let part = super::list::part(viewer, &collection, &[("limit", "20")], "").await.unwrap_or_default();
    html! { section { h2 { a href=(collection.page(viewer, &[])) { "Hosts by class" } } (part) } }
}
