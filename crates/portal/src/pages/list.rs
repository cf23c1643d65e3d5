//! The list of a kind: the server's columns, filters in the address, order, pages, and changes of many objects at once.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::{Value, json};

use crate::kinds::Collection;
use crate::layout::{self, Page};
use crate::refusal::Refusal;
use crate::table::{self, Column};
use crate::viewer::Viewer;
use crate::{address, plans, text};

/// Where the version of an object is in a row.
const VERSION: &str = "/object/metadata/resourceVersion";
/// Rows on a page.
const ROWS: &str = "100";
/// Rows that are read to be ordered by another column than the name.
const ORDERED: &str = "2000";
/// Objects that a search for words shows.
const FOUND: usize = 60;

/// The page.
pub async fn page(viewer: &Viewer, plane: &str, group: &str, plural: &str) -> Result<Page, Refusal> {
    let collection = Collection::find(viewer, plane, group, plural)?;
    let words = viewer.parameter("text").trim();
    let order = viewer.parameter("sort");
    let mut table = match words.is_empty() {
        true => listed(viewer, &collection, !order.is_empty()).await?,
        false => searched(viewer, &collection, words).await?,
    };
    let columns = table::columns(&table, !viewer.parameter("wide").is_empty());
    let is_cut = !order.is_empty() && !text::at(&table, "/metadata/continue").is_empty();
    if let Some(column) =
        columns.iter().find(|column| column.name.eq_ignore_ascii_case(order.trim_start_matches('-')))
    {
        let at = column.at;
        if let Some(rows) = table["rows"].as_array_mut() {
            table::sort(rows, at, order.starts_with('-'));
            rows.truncate(500);
        }
    }
    let now = differing(viewer, &collection, &table).await;
    let more = text::at(&table, "/metadata/continue");
    let left = table.pointer("/metadata/remainingItemCount").and_then(Value::as_u64);
    let shown = table::rows(&table).len() as u64;
    let content = html! {
        (filters(viewer, &collection))
        p.muted role="status" {
            @if viewer.parameter("continue").is_empty() {
                @match (left, more.is_empty()) {
                    (Some(left), _) => { (text::counted(shown + left, "object", "objects")) ", " (text::number(shown)) " shown" }
                    (None, true) => { (text::counted(shown, "object", "objects")) }
                    (None, false) => { (text::number(shown)) " shown, and there are more" }
                }
            } @else { (text::number(shown)) " more" @if let Some(left) = left { ", " (text::number(left)) " left" } }
            @if is_cut { ". Ordered among the first " (ORDERED) " by name: filter to order all." }
        }
        @if shown == 0 {
            p.empty { "No " (collection.title().to_lowercase()) " here" @if is_filtered(viewer) { " that match the filter. " a href=(collection.page(viewer, &[])) { "Show all" } } @else { "." } }
        } @else {
            form method="post" action=(bulk_address(&collection)) {
                (layout::csrf(viewer))
                (rows(viewer, &collection, &columns, &table, &now))
                (bulk(viewer, &collection))
            }
        }
        @if order.is_empty() {
            nav.pages aria-label="Pages" {
                @if !viewer.parameter("continue").is_empty() { a.button href=(viewer.here(&[("continue", "")])) { "First page" } }
                @if !more.is_empty() { a.button rel="next" href=(viewer.here(&[("continue", more)])) { "Next page" } }
            }
        }
    };
    let may_create = viewer.may(&collection.plane, "create", &collection.kind, "", "");
    let here = |last: &str| collection_address(&collection, last);
    let actions = html! {
        @if collection.kind.takes("create") {
            @if may_create && viewer.as_of.is_none() {
                a.button href=(here("new")) { "New" }
                a.button href=(here("import")) { "Import CSV" }
            } @else {
                button disabled title=(if may_create { "You are looking at the past." } else { "You may not create these." }) { "New" }
            }
        }
        details.pop { summary { "Export" } div.sheet {
            a href=(viewer.here(&[("format", "csv"), ("continue", "")])) { "CSV" }
            a href=(viewer.here(&[("format", "yaml"), ("continue", "")])) { "YAML" } } }
    };
    let watch = collection.path(viewer, viewer.parameter("namespace"), "")
        + &address::query(&[
            ("labelSelector", viewer.parameter("labels")),
            ("fieldSelector", viewer.parameter("fields")),
        ]);
    Ok(Page {
        plane: collection.plane.clone(),
        at: collection.page(viewer, &[]),
        live: if collection.kind.takes("watch") { vec![watch] } else { Vec::new() },
        actions,
        ..Page::new(collection.title(), content)
    })
}

fn collection_address(collection: &Collection, last: &str) -> String {
    let group = if collection.kind.group.is_empty() { "core" } else { &collection.kind.group };
    address::page(
        &["o", address::or_dash(collection.plane.as_str()), group, &collection.kind.names.plural, last],
        &[],
    )
}

fn bulk_address(collection: &Collection) -> String {
    collection_address(collection, "bulk")
}

fn is_filtered(viewer: &Viewer) -> bool {
    ["labels", "fields", "namespace", "text"].iter().any(|name| !viewer.parameter(name).is_empty())
}

async fn listed(viewer: &Viewer, collection: &Collection, is_ordered: bool) -> Result<Value, Refusal> {
    let parameters = [
        ("limit", if is_ordered { ORDERED } else { ROWS }),
        ("continue", viewer.parameter("continue")),
        ("labelSelector", viewer.parameter("labels")),
        ("fieldSelector", viewer.parameter("fields")),
    ];
    viewer.table(&collection.path(viewer, viewer.parameter("namespace"), ""), &parameters).await
}

/// The objects of the kind that have all words, as the search index finds them.
async fn searched(viewer: &Viewer, collection: &Collection, words: &str) -> Result<Value, Refusal> {
    let path = viewer.api.kinds().path_of(&collection.plane) + "/apis/groundplane.dev/v1alpha1/search";
    let resource = collection.kind.resource().to_string();
    let parameters = [
        ("q", words),
        ("resource", &resource),
        ("namespace", viewer.parameter("namespace")),
        ("limit", "60"),
    ];
    let found = viewer.get_now(&path, &parameters).await?;
    let mut all = json!({"columnDefinitions": [], "rows": [], "metadata": {}});
    for item in text::items(&found, "/items").iter().take(FOUND) {
        let path = collection.path(viewer, text::at(item, "/namespace"), text::at(item, "/name"));
        // What is gone in between is left out.
        let Ok(mut one) = viewer.table(&path, &[]).await else { continue };
        all["columnDefinitions"] = one["columnDefinitions"].take();
        if let (Some(rows), Some(found)) = (all["rows"].as_array_mut(), one["rows"].as_array_mut()) {
            rows.append(found);
        }
    }
    Ok(all)
}

/// How rows of the past differ from now, by namespace and name.
type Differing = BTreeMap<String, &'static str>;

/// Compares the rows of the past with the same objects now.
async fn differing(viewer: &Viewer, collection: &Collection, then: &Value) -> Differing {
    let mut found = Differing::new();
    if viewer.as_of.is_none() {
        return found;
    }
    let present = Viewer { as_of: None, ..viewer.clone() };
    for row in table::rows(then).iter().take(200) {
        let (namespace, name) = table::identity(row);
        let now = present.table(&collection.path(viewer, namespace, name), &[]).await;
        let how = match now.as_ref().ok().and_then(|now| table::rows(now).first()) {
            None => "gone now",
            // Ages differ always; the version tells whether anything else does.
            Some(now) if now.pointer(VERSION) != row.pointer(VERSION) => "changed since",
            Some(_) => continue,
        };
        found.insert(format!("{namespace}/{name}"), how);
    }
    found
}

fn filters(viewer: &Viewer, collection: &Collection) -> Markup {
    let selectable = &collection.version().selectable;
    html! {
        form.filters method="get" action=(viewer.path) {
            @if let Some(as_of) = &viewer.as_of { input type="hidden" name="asOf" value=(as_of); }
            label { span { "Text" } input type="search" name="text" value=(viewer.parameter("text")) placeholder="name, serial, address"; }
            label { span { "Labels" } input name="labels" value=(viewer.parameter("labels")) placeholder="team=blue,env!=dev"; }
            @if !selectable.is_empty() {
                label { span { "Fields" } input name="fields" value=(viewer.parameter("fields")) list="fields" placeholder=(format!("{}=…", selectable[0])); }
                datalist #fields { @for field in selectable { option value=(format!("{field}=")) {} } }
            }
            @if collection.kind.is_namespaced() {
                label { span { "Namespace" } input name="namespace" value=(viewer.parameter("namespace")) placeholder="all"; }
            }
            label.check { input type="checkbox" name="wide" value="1" checked[!viewer.parameter("wide").is_empty()]; span { "All columns" } }
            button { "Filter" }
            @if is_filtered(viewer) { a.button.quiet href=(collection.page(viewer, &[])) { "Clear" } }
        }
    }
}

fn rows(
    viewer: &Viewer,
    collection: &Collection,
    columns: &[Column],
    table: &Value,
    now: &Differing,
) -> Markup {
    let order = viewer.parameter("sort");
    let has_namespaces = collection.kind.is_namespaced();
    html! {
        div.scroll tabindex="0" role="region" aria-label=(collection.title()) { table {
            thead { tr {
                th.check { input type="checkbox" data-all="" aria-label="Select all on this page"; }
                @for column in columns {
                    @let lower = column.name.to_lowercase();
                    @let (next, arrow, sorted) = match order {
                        found if found == lower => (format!("-{lower}"), " ↑", Some("ascending")),
                        found if found.strip_prefix('-') == Some(&lower) => (String::new(), " ↓", Some("descending")),
                        _ => (lower.clone(), "", None),
                    };
                    th.number[column.is_number] aria-sort=[sorted] scope="col" { a href=(viewer.here(&[("sort", &next), ("continue", "")])) { (column.name) (arrow) } }
                    @if has_namespaces && lower == "name" { th scope="col" { "Namespace" } }
                }
            } }
            tbody { @for row in table::rows(table) {
                @let (namespace, name) = table::identity(row);
                tr data-key=(format!("{namespace}/{name}")) {
                    td.check { input type="checkbox" name="object" value=(format!("{namespace}/{name}")) aria-label=(format!("Select {name}")); }
                    @for column in columns {
                        @if column.name.eq_ignore_ascii_case("name") {
                            td.name { (table::name(viewer, collection, row))
                                @if let Some(how) = now.get(&format!("{namespace}/{name}")) { " " span.tag { (how) } } }
                            @if has_namespaces { td { (text::foreign(namespace)) } }
                        } @else {
                            td.number[column.is_number] { (table::shown_cell(column, &table::cell(row, column.at))) }
                        }
                    }
                }
            } }
        } }
    }
}

/// What can be done with the selected objects: it is planned first.
fn bulk(viewer: &Viewer, collection: &Collection) -> Markup {
    let may = viewer.may(&collection.plane, "patch", &collection.kind, "", "") && viewer.as_of.is_none();
    html! {
        fieldset.bulk disabled[!may] {
            legend { "With the selected objects" }
            label { span { "Set label" } input name="label" placeholder="team=blue, or team- to remove"; }
            label { span { "Or set field" } input name="field" placeholder="spec.lifecycle=Active"; }
            label { span { "Why" } input name="message" placeholder="for the history"; }
            button name="do" value="change" { "Plan change" }
            button name="do" value="delete" { "Plan deletion" }
            @if !may { p.small { @if viewer.as_of.is_some() { "You are looking at the past." } @else { "You may not change these." } } }
        }
    }
}

/// Plans a change of the selected objects.
pub async fn plan_bulk(viewer: &Viewer, plane: &str, group: &str, plural: &str) -> Result<String, Refusal> {
    let collection = Collection::find(viewer, plane, group, plural)?;
    let mut items = Vec::new();
    let change = if viewer.parameter("do") == "delete" { None } else { Some(change(viewer, &collection)?) };
    for key in viewer.query.all("object") {
        let (namespace, name) = key.split_once('/').unwrap_or(("", key));
        items.push(match &change {
            Some(patch) => plans::patch(&collection, namespace, name, patch.clone()),
            None => json!({"operation": "delete", "target": plans::target(&collection, namespace, name)}),
        });
    }
    plans::make(viewer, &collection.plane, items, viewer.parameter("message")).await
}

/// The change that the form asks for, as a merge patch.
fn change(viewer: &Viewer, collection: &Collection) -> Result<Value, Refusal> {
    let (label, field) = (viewer.parameter("label").trim(), viewer.parameter("field").trim());
    let mut patch = json!({});
    if !label.is_empty() {
        let (key, value) = match label.split_once('=') {
            Some((key, value)) => (key, Value::from(value)),
            None => (
                label
                    .strip_suffix('-')
                    .ok_or_else(|| Refusal::new(400, "Write a label as key=value, or key- to remove it."))?,
                Value::Null,
            ),
        };
        patch["metadata"]["labels"][key] = value;
    }
    if !field.is_empty() {
        let (path, value) =
            field.split_once('=').ok_or_else(|| Refusal::new(400, "Write a field as spec.path=value."))?;
        super::import::set(&mut patch, &collection.version().openapi, path.trim(), value.trim())?;
    }
    match patch.as_object().is_some_and(serde_json::Map::is_empty) {
        true => Err(Refusal::new(400, "Say which label or field to set.")),
        false => Ok(patch),
    }
}

/// Objects of a collection as a small table without filters, for other pages.
pub async fn part(
    viewer: &Viewer,
    collection: &Collection,
    parameters: &[(&str, &str)],
    empty: &str,
) -> Result<Markup, Refusal> {
    let path = collection.path(viewer, "", "");
    let table = match viewer.table(&path, parameters).await {
        Ok(table) => table,
        Err(refusal) if refusal.code == 403 => return Ok(html! { p.muted { "You may not list these." } }),
        Err(refusal) => return Err(refusal),
    };
    let columns = table::columns(&table, false);
    Ok(html! {
        @if table::rows(&table).is_empty() { p.empty { (empty) } } @else {
            div.scroll tabindex="0" role="region" aria-label=(collection.title()) { table {
                thead { tr { @for column in &columns { th.number[column.is_number] scope="col" { (column.name) } } } }
                tbody { @for row in table::rows(&table) { tr { @for column in &columns {
                    @if column.name.eq_ignore_ascii_case("name") { td.name { (table::name(viewer, collection, row)) } }
                    @else { td.number[column.is_number] { (table::shown_cell(column, &table::cell(row, column.at))) } }
                } } } }
            } }
        }
    })
}
