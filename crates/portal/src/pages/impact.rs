//! What if this fails: who loses power, network or redundancy, on the racks and as a list.

use std::collections::{BTreeMap, BTreeSet};

use apiserver::plane::Plane;
use maud::{Markup, html};
use serde_json::Value;

use crate::draw::rack::{self, Device, Face};
use crate::kinds::Collection;
use crate::layout::Page;
use crate::refusal::Refusal;
use crate::text;
use crate::viewer::Viewer;

const GROUP: &str = "inventory.miloapis.com";
/// Racks that are drawn.
const RACKS: usize = 12;
/// What an answer lists, how bad it is, and what it is called.
const LOSSES: [(&str, &str, &str); 5] = [
    ("losesPower", "lost", "Lose power"),
    ("losesNetwork", "lost", "Lose the network"),
    ("losesPowerRedundancy", "weak", "Lose power redundancy"),
    ("losesNetworkRedundancy", "weak", "Lose network redundancy"),
    ("overloaded", "weak", "Overloaded feeds"),
];

/// The page.
pub async fn page(viewer: &Viewer, plural: &str, name: &str) -> Result<Page, Refusal> {
    let root = Plane::root();
    let collection = Collection::of(viewer, &root, GROUP, plural)?;
    if !collection.answers("impact") {
        return Err(Refusal::new(
            404,
            format!("{} can't be asked what depends on them.", collection.title()),
        ));
    }
    let path = collection.path(viewer, "", name) + "/impact";
    let answer =
        viewer.get(&path, &[("feed", viewer.parameter("feed")), ("also", viewer.parameter("also"))]).await?;
    let mut marks: BTreeMap<String, &str> = BTreeMap::new();
    for (field, class, _) in LOSSES.iter().rev() {
        marks.extend(names(&answer, field).map(|name| (name.to_owned(), *class)));
    }
    marks.extend(names(&answer, "fails").map(|name| (name.to_owned(), "fails")));
    let drawn = racks(viewer, &marks).await;
    let total: usize = LOSSES.iter().map(|(field, ..)| names(&answer, field).count()).sum();
    let content = html! {
        form.filters method="get" action=(viewer.path) {
            label { span { "And also" } input name="also" value=(viewer.parameter("also")) placeholder="networkdevice/fra1-spine2"; }
            @if plural == "racks" { label { span { "Only feed" } input name="feed" value=(viewer.parameter("feed")) placeholder="A"; } }
            button { "Ask" }
        }
        @if total == 0 && text::items(&answer, "/links").is_empty() && text::items(&answer, "/circuits").is_empty() {
            div.notice.good role="status" { "Nothing loses power, network or redundancy." }
        }
        div.cards {
            @for (field, class, title) in LOSSES {
                @let all: Vec<&str> = names(&answer, field).collect();
                @if !all.is_empty() { section.card { h2 { (title) " " span class=(format!("count {class}")) { (all.len()) } } (list(viewer, &all)) } }
            }
            @for (field, kind, title) in [("links", "Link", "Links that are down"), ("circuits", "Circuit", "Circuits that are down"), ("machines", "VirtualMachine", "Virtual machines")] {
                @let all: Vec<&str> = names(&answer, field).collect();
                @let all: Vec<String> = all.iter().map(|name| of_kind(name, kind)).collect();
                @let all: Vec<&str> = all.iter().map(String::as_str).collect();
                @if !all.is_empty() { section.card { h2 { (title) " " span.count { (all.len()) } } (list(viewer, &all)) } }
            }
        }
        @if !drawn.is_empty() {
            h2 { "On the racks" }
            p.legend { span.swatch.fails {} " fails " span.swatch.lost {} " loses power or network " span.swatch.weak {} " loses redundancy" }
            div.row { @for drawing in drawn { (drawing) } }
        }
        @if answer["incomplete"] == true { p.muted.small { "There may be more that you may not read." } }
    };
    let object = collection.object_page(viewer, "", name, &[]);
    Ok(Page {
        crumbs: vec![(collection.title(), collection.page(viewer, &[])), (name.to_owned(), object)],
        at: collection.page(viewer, &[]),
        ..Page::new(format!("What if {name} fails"), content)
    })
}

fn names<'a>(answer: &'a Value, field: &str) -> impl Iterator<Item = &'a str> {
    answer[field]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|one| one.as_str().or_else(|| one["device"].as_str()))
}

/// A name with its kind in front, where the answer leaves it out.
fn of_kind(name: &str, kind: &str) -> String {
    if name.contains('/') { name.to_owned() } else { format!("{kind}/{name}") }
}

fn list(viewer: &Viewer, all: &[&str]) -> Markup {
    html! {
        ul.plain { @for name in all.iter().take(40) { li { (linked(viewer, name)) } } }
        @if all.len() > 40 { details { summary { "and " (all.len() - 40) " more" } ul.plain { @for name in all.iter().skip(40).take(2000) { li { (linked(viewer, name)) } } } } }
    }
}

/// A name such as `Node/n1`, linked to its page.
fn linked(viewer: &Viewer, name: &str) -> Markup {
    let (kind, plain) = name.split_once('/').unwrap_or(("", name));
    let collection = Collection::of_kind(viewer, &Plane::root(), GROUP, kind);
    html! { @match collection {
        Some(collection) => { span.muted { (kind) } " " a href=(collection.object_page(viewer, "", plain, &[])) { (text::foreign(plain)) } }
        None => (text::foreign(name)),
    } }
}

/// The racks with what is hit, drawn from the front.
async fn racks(viewer: &Viewer, marks: &BTreeMap<String, &str>) -> Vec<Markup> {
    let root = Plane::root();
    let mut hit = BTreeSet::new();
    for name in marks.keys().take(600) {
        let Some((kind, plain)) = name.split_once('/') else { continue };
        let Some(collection) = Collection::of_kind(viewer, &root, GROUP, kind) else { continue };
        if !matches!(kind, "Node" | "NetworkDevice") || hit.len() >= RACKS {
            continue;
        }
        if let Ok(object) = viewer.get(&collection.path(viewer, "", plain), &[]).await {
            let rack = text::at(&object, "/spec/placement/rackRef/name");
            hit.extend((!rack.is_empty()).then(|| rack.to_owned()));
        }
    }
    let Ok(collection) = Collection::of(viewer, &root, GROUP, "racks") else { return Vec::new() };
    let mut drawn = Vec::new();
    for rack in hit.iter().take(RACKS) {
        let Ok(elevation) = viewer.get(&(collection.path(viewer, "", rack) + "/elevation"), &[]).await else {
            continue;
        };
        let device = |found: &Value| {
            let key = format!("{}/{}", text::at(found, "/kind"), text::at(found, "/name"));
            let class = marks.get(&key).copied().unwrap_or("well");
            Device {
                page: super::rack::device_page(viewer, found),
                class: class.to_owned(),
                legend: String::new(),
                about: match class {
                    "fails" => "fails",
                    "lost" => "loses power or network",
                    "weak" => "loses redundancy",
                    _ => "not affected",
                }
                .to_owned(),
            }
        };
        drawn.push(html! { div.mini { h3 { a href=(viewer.page(&["racks", rack], &[])) { (text::foreign(rack)) } } (rack::face(&elevation, Face::Front, false, &device)) } });
    }
    drawn
}
