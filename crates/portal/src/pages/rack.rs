//! A rack: front and rear side by side, space and power, and moves that become plans.

use std::collections::{BTreeMap, BTreeSet};

use apiserver::plane::Plane;
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::attention::trouble;
use crate::draw::bar::bar;
use crate::draw::rack::{Device, Face, face};
use crate::kinds::Collection;
use crate::layout::{self, Page};
use crate::refusal::Refusal;
use crate::viewer::Viewer;
use crate::{address, plans, text};

const GROUP: &str = "inventory.miloapis.com";
/// What colours may mean.
const COLOURS: [(&str, &str); 4] =
    [("role", "Role"), ("state", "State"), ("tenant", "Tenant"), ("drift", "Drift")];

/// The page.
pub async fn page(viewer: &Viewer, rack: &str) -> Result<Page, Refusal> {
    let root = Plane::root();
    let racks = Collection::of(viewer, &root, GROUP, "racks")?;
    let elevation = viewer.get(&(racks.path(viewer, "", rack) + "/elevation"), &[]).await?;
    let colour = COLOURS
        .iter()
        .map(|(name, _)| *name)
        .find(|name| *name == viewer.parameter("colour"))
        .unwrap_or("role");
    let objects = match colour {
        "role" => BTreeMap::new(),
        _ => objects(viewer, &elevation).await,
    };
    let about = |found: &Value| device(viewer, found, colour, objects.get(text::at(found, "/name")));
    let legend: BTreeSet<(String, String)> =
        text::items(&elevation, "/devices").iter().map(&about).map(|it| (it.class, it.legend)).collect();
    let can_move = viewer.as_of.is_none() && viewer.parameter("print").is_empty();
    let [used, units, ..] = super::home::sums(&elevation);
    let content = html! {
        (colours(viewer, &COLOURS.map(|(name, _)| name)))
        p.legend { @for (class, name) in &legend { span class=(format!("swatch {class}")) {} " " (text::foreign(name)) " " } }
        div.elevation {
            (face(&elevation, Face::Front, can_move, &about))
            (face(&elevation, Face::Rear, can_move, &about))
            div.beside {
                section.card { h2 { "Space and power" }
                    (bar("Front", used, units, "U"))
                    (bar("Rear", units.saturating_sub(elevation["freeRear"].as_u64().unwrap_or(0)), units, "U"))
                    @for feed in text::items(&elevation, "/power/feeds") {
                        (bar(&format!("Feed {}", text::at(feed, "/name")), feed["drawn"].as_u64().unwrap_or(0), feed["usable"].as_u64().unwrap_or(0), "W"))
                    }
                    p.muted { "Largest gap: " (elevation["largestFree"].as_u64().unwrap_or(0)) "U · "
                        a href=(viewer.page(&["space"], &[("units", "1"), ("site", text::at(&elevation, "/site"))])) { "find space" } }
                }
                @if !text::items(&elevation, "/zeroU").is_empty() { section.card { h2 { "Beside the units" } ul.plain { @for found in text::items(&elevation, "/zeroU") {
                    li { a href=(device_page(viewer, found)) { (text::foreign(text::at(found, "/name"))) } " " span.muted { (text::foreign(text::at(found, "/about"))) } }
                } } } }
                @if !text::items(&elevation, "/reservations").is_empty() { section.card { h2 { "Reservations" } ul.plain { @for kept in text::items(&elevation, "/reservations") {
                    li { strong { (text::foreign(text::at(kept, "/name"))) } " U" (text::shown(&kept["start"])) "–U" (text::shown(&kept["end"])) " " (text::foreign(text::at(kept, "/reason"))) }
                } } } }
                (planned(viewer, rack, &elevation).await)
                @if can_move { (move_form(viewer, rack, &elevation)) }
            }
        }
        @if elevation["incomplete"] == true { p.muted.small { "There may be devices that you may not read." } }
    };
    let site = text::at(&elevation, "/site");
    let row = text::at(&elevation, "/row");
    let mut crumbs = vec![
        ("Sites".to_owned(), viewer.page(&["sites"], &[])),
        (site.to_owned(), viewer.page(&["sites", site], &[])),
    ];
    if !row.is_empty() {
        crumbs.push((format!("Row {row}"), viewer.page(&["sites", site], &[("row", row)])));
    }
    let path = racks.path(viewer, "", "");
    let of_rack = address::query(&[("fieldSelector", format!("spec.placement.rackRef.name={rack}"))]);
    Ok(Page {
        crumbs,
        at: viewer.page(&["sites"], &[]),
        live: vec![
            path.clone() + &address::query(&[("fieldSelector", format!("metadata.name={rack}"))]),
            path.replace("/racks", "/nodes") + &of_rack,
            path.replace("/racks", "/networkdevices") + &of_rack,
        ],
        actions: html! {
            a.button href=(racks.object_page(viewer, "", rack, &[])) { "Details" }
            a.button href=(viewer.page(&["impact", "racks", rack], &[])) { "What if this fails" }
            button type="button" data-print="" hidden { "Print" }
        },
        ..Page::new(rack, content)
    })
}

/// Chooses what colours mean.
pub fn colours(viewer: &Viewer, offered: &[&str]) -> Markup {
    let chosen = if viewer.parameter("colour").is_empty() { "role" } else { viewer.parameter("colour") };
    html! {
        @if offered.len() > 1 { nav.tabs.small aria-label="Colours" { @for (name, title) in COLOURS.iter().filter(|(name, _)| offered.contains(name)) {
            a href=(viewer.here(&[("colour", name)])) aria-current=[(*name == chosen).then_some("true")] { "By " (title.to_lowercase()) }
        } } }
    }
}

/// The address of the page of a device in an elevation.
pub fn device_page(viewer: &Viewer, found: &Value) -> String {
    let collection = Collection::of_kind(viewer, &Plane::root(), GROUP, text::at(found, "/kind"));
    collection
        .map(|collection| collection.object_page(viewer, "", text::at(found, "/name"), &[]))
        .unwrap_or_default()
}

/// How a device is drawn.
pub fn device(viewer: &Viewer, found: &Value, colour: &str, object: Option<&Value>) -> Device {
    let about = text::at(found, "/about");
    let (class, legend) = match (colour, object) {
        ("state", Some(object)) => match (trouble(object), text::at(object, "/spec/lifecycle")) {
            (Some(condition), _) => ("bad", text::at(condition, "/reason").to_owned()),
            (None, "" | "Active") => ("good", "In service".to_owned()),
            (None, lifecycle) => ("wait", lifecycle.to_owned()),
        },
        ("tenant", Some(object)) => match tenant(object) {
            "" => ("panel", "Nobody".to_owned()),
            tenant => (shade(tenant), tenant.to_owned()),
        },
        ("drift", Some(object)) => match drifts(object) {
            true => ("bad", "Differs from its source or design".to_owned()),
            false => ("good", "As documented".to_owned()),
        },
        _ => role(text::at(found, "/kind"), about),
    };
    Device {
        page: device_page(viewer, found),
        class: class.to_owned(),
        about: format!("{about} {legend}").trim().to_owned(),
        legend,
    }
}

fn role(kind: &str, about: &str) -> (&'static str, String) {
    let class = match (kind, about) {
        ("Node", _) => return ("node", "Node".to_owned()),
        (_, "Leaf" | "Spine") => "switch",
        (_, "BorderRouter" | "Firewall") => "router",
        (_, "PDU") => "pdu",
        _ => "panel",
    };
    (class, about.to_owned())
}

fn tenant(object: &Value) -> &str {
    let labels = object.pointer("/metadata/labels").and_then(Value::as_object);
    let label = |key: &str| labels.and_then(|labels| labels.get(key)?.as_str());
    let cluster = text::at(object, "/spec/assignment/clusterRef/name");
    label("tenant").or_else(|| label("project")).or_else(|| label("team")).unwrap_or(cluster)
}

fn drifts(object: &Value) -> bool {
    text::items(object, "/status/conditions").iter().any(|condition| {
        matches!(
            (text::at(condition, "/type"), text::at(condition, "/status")),
            ("Drifted" | "Conflict" | "NotBelieved", "True")
                | ("Synced" | "Believed" | "AsDesigned", "False")
        )
    })
}

/// One of eight colours, always the same for a name.
fn shade(name: &str) -> &'static str {
    const SHADES: [&str; 8] = ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"];
    let sum = name.bytes().fold(0usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)));
    SHADES[sum % SHADES.len()]
}

/// The devices of a rack themselves, by name.
async fn objects(viewer: &Viewer, elevation: &Value) -> BTreeMap<String, Value> {
    let mut objects = BTreeMap::new();
    let rack = text::at(elevation, "/rack");
    let selector = format!("spec.placement.rackRef.name={rack}");
    for plural in ["nodes", "networkdevices"] {
        let Ok(collection) = Collection::of(viewer, &Plane::root(), GROUP, plural) else { continue };
        let Ok(list) = viewer
            .get(&collection.path(viewer, "", ""), &[("fieldSelector", &selector), ("limit", "500")])
            .await
        else {
            continue;
        };
        for item in text::items(&list, "/items") {
            objects.insert(text::at(item, "/metadata/name").to_owned(), item.clone());
        }
    }
    objects
}

/// Plans that are not applied yet and move something of this rack.
async fn planned(viewer: &Viewer, rack: &str, elevation: &Value) -> Markup {
    let path = plans::path(viewer, &Plane::root(), "");
    let Ok(list) = viewer.get_now(&path, &[("limit", "50")]).await else { return html! {} };
    let here: BTreeSet<&str> =
        text::items(elevation, "/devices").iter().map(|device| text::at(device, "/name")).collect();
    let concerns = |item: &Value| {
        let places = text::items(item, "/diff")
            .iter()
            .any(|entry| text::at(entry, "/path").starts_with("spec.placement"));
        let enters = text::items(item, "/diff").iter().any(|entry| entry["after"] == rack);
        places && (enters || here.contains(text::at(item, "/name")))
    };
    let open: Vec<(&str, &Value)> = text::items(&list, "/items")
        .iter()
        .filter(|plan| plan.pointer("/status/applied").is_none())
        .flat_map(|plan| {
            text::items(plan, "/status/items")
                .iter()
                .map(move |item| (text::at(plan, "/metadata/name"), item))
        })
        .filter(|(_, item)| concerns(item))
        .take(20)
        .collect();
    html! {
        @if !open.is_empty() { section.card { h2 { "Planned" } ul.plain { @for (plan, item) in open {
            li { a href=(address::page(&["plans", "-", plan], &[])) { (text::foreign(text::at(item, "/name"))) }
                @for entry in text::items(item, "/diff").iter().filter(|entry| text::at(entry, "/path").starts_with("spec.placement")) {
                    " " code { (text::at(entry, "/path").trim_start_matches("spec.placement.")) } " " (text::foreign(&text::shown(&entry["before"]))) " → " (text::foreign(&text::shown(&entry["after"]))) }
            } } } } }
    }
}

/// Moves a device without a mouse; dragging fills in the same form.
fn move_form(viewer: &Viewer, rack: &str, elevation: &Value) -> Markup {
    html! {
        section.card { h2 { "Move a device" }
            form #move method="post" action=(address::page(&["move"], &[])) {
                (layout::csrf(viewer))
                label { span { "Device" } select name="device" required { @for found in text::items(elevation, "/devices") {
                    @let key = format!("{}/{}", text::at(found, "/kind"), text::at(found, "/name"));
                    option value=(key) { (text::at(found, "/name")) } } } }
                label { span { "To rack" } input name="rack" value=(rack) required; }
                label { span { "From unit" } input name="unit" type="number" min="1" max="100" required; }
                label { span { "Face" } select name="face" { option value="" { "as it is" } option { "Front" } option { "Rear" } } }
                button { "Plan move" }
                p.muted.small { "Or drag it. You see what the move touches before anything is written." }
            }
        }
    }
}

/// Plans a move.
pub async fn plan_move(viewer: &Viewer) -> Result<String, Refusal> {
    let (kind, name) = viewer
        .parameter("device")
        .split_once('/')
        .ok_or_else(|| Refusal::new(400, "Say which device to move."))?;
    let collection = Collection::of_kind(viewer, &Plane::root(), GROUP, kind).ok_or_else(Refusal::no_page)?;
    let unit: i64 =
        viewer.parameter("unit").parse().map_err(|_| Refusal::new(400, "Say to which unit, as a number."))?;
    let rack = viewer.parameter("rack");
    let mut placement = json!({"rackRef": {"name": rack}, "startUnit": unit});
    if !viewer.parameter("face").is_empty() {
        placement["face"] = viewer.parameter("face").into();
    }
    let item = plans::patch(&collection, "", name, json!({"spec": {"placement": placement}}));
    plans::make(viewer, &Plane::root(), vec![item], &format!("Move {name} to {rack} U{unit}")).await
}
