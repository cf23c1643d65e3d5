//! The map: sites where they are.

use std::collections::BTreeMap;

use apiserver::plane::Plane;
use maud::html;
use serde_json::Value;

use crate::draw::map::{Pin, world};
use crate::kinds::Collection;
use crate::layout::Page;
use crate::refusal::Refusal;
use crate::text;
use crate::viewer::Viewer;

/// The page.
pub async fn page(viewer: &Viewer) -> Result<Page, Refusal> {
    let root = Plane::root();
    let sites = Collection::of(viewer, &root, "inventory.miloapis.com", "sites")?;
    let regions = Collection::of(viewer, &root, "inventory.miloapis.com", "regions")?;
    let all = viewer.get(&sites.path(viewer, "", ""), &[("limit", "1000")]).await?;
    let places = viewer.get(&regions.path(viewer, "", ""), &[("limit", "1000")]).await.unwrap_or_default();
    let places: BTreeMap<&str, (f64, f64)> = text::items(&places, "/items")
        .iter()
        .filter_map(|region| Some((text::at(region, "/metadata/name"), coordinates(region)?)))
        .collect();
    let mut used: BTreeMap<&str, u32> = BTreeMap::new();
    let mut pins = Vec::new();
    let mut nowhere = Vec::new();
    for site in text::items(&all, "/items") {
        let (name, region) = (text::at(site, "/metadata/name"), text::at(site, "/spec/regionRef/name"));
        let Some((latitude, longitude)) = coordinates(site).or_else(|| places.get(region).copied()) else {
            nowhere.push(name);
            continue;
        };
        // Several sites of a region stand below each other.
        let among = used.entry(region).or_default();
        let is_ready = text::items(site, "/status/conditions")
            .iter()
            .any(|it| it["type"] == "Ready" && it["status"] == "True");
        pins.push(Pin {
            latitude: latitude - f64::from(*among) * 6.0,
            longitude,
            name: name.to_owned(),
            about: format!("{} in {region}", text::at(site, "/spec/type")),
            page: viewer.page(&["sites", name], &[]),
            is_bad: !is_ready,
        });
        *among += 1;
    }
    let content = html! {
        figure.card.wide { (world(&pins)) }
        @if pins.is_empty() { p.empty { "No site has a region with coordinates." } }
        @if !nowhere.is_empty() { p { "Without coordinates: " @for (index, name) in nowhere.iter().enumerate() { @if index > 0 { ", " }
            a href=(viewer.page(&["sites", name], &[])) { (text::foreign(name)) } } } }
    };
    Ok(Page {
        at: viewer.page(&["map"], &[]),
        live: vec![sites.path(viewer, "", "")],
        ..Page::new("Map", content)
    })
}

fn coordinates(object: &Value) -> Option<(f64, f64)> {
    let at = object.pointer("/spec/coordinates")?;
    Some((at["latitude"].as_f64()?, at["longitude"].as_f64()?))
}
