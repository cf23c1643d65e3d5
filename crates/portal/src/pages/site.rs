//! A site: the floor plan of its racks by cage and row, or the elevations of one row.

use std::collections::BTreeMap;

use apiserver::plane::Plane;
use maud::{Markup, html};
use serde_json::Value;

use super::home::{sums, total};
use super::rack::{colours, device};
use crate::draw::bar::bar;
use crate::draw::rack::{Face, face, tile};
use crate::kinds::Collection;
use crate::layout::Page;
use crate::refusal::Refusal;
use crate::text;
use crate::viewer::Viewer;

const GROUP: &str = "inventory.miloapis.com";

/// The page.
pub async fn page(viewer: &Viewer, site: &str) -> Result<Page, Refusal> {
    let root = Plane::root();
    let sites = Collection::of(viewer, &root, GROUP, "sites")?;
    let racks = Collection::of(viewer, &root, GROUP, "racks")?;
    viewer.get(&sites.path(viewer, "", site), &[]).await?;
    let row = viewer.parameter("row");
    let parameters = [("site", site), ("row", row), ("cage", viewer.parameter("cage"))];
    let all = viewer.get(&(racks.path(viewer, "", "-") + "/elevation"), &parameters).await;
    let all = match all {
        Ok(all) => all,
        // A site without racks has no elevation.
        Err(refusal) if refusal.code == 404 => Value::Null,
        Err(refusal) => return Err(refusal),
    };
    let all: Vec<&Value> = match all.get("racks") {
        Some(_) => text::items(&all, "/racks").iter().collect(),
        None => Some(&all).filter(|one| one.get("rack").is_some()).into_iter().collect(),
    };
    let mut rows: BTreeMap<(&str, &str), Vec<&Value>> = BTreeMap::new();
    for rack in &all {
        rows.entry((text::at(rack, "/cage"), text::at(rack, "/row"))).or_default().push(rack);
    }
    let total = total(all.iter().copied());
    let content = html! {
        @if all.is_empty() { p.empty { "No racks here yet." } } @else {
            div.card.wide { (bar("Space", total[0], total[1], "U")) (bar("Power", total[2], total[3], "W")) }
            @match row {
                "" => (floor(viewer, site, &rows)),
                _ => (elevations(viewer, &all)),
            }
        }
    };
    let object = sites.object_page(viewer, "", site, &[]);
    let mut crumbs = vec![("Sites".to_owned(), viewer.page(&["sites"], &[]))];
    if !row.is_empty() {
        crumbs.push((site.to_owned(), viewer.page(&["sites", site], &[])));
    }
    Ok(Page {
        crumbs,
        at: viewer.page(&["sites"], &[]),
        live: live(viewer, &racks, site),
        actions: html! {
            a.button href=(object) { "Details" }
            a.button href=(viewer.page(&["impact", "sites", site], &[])) { "What if this fails" }
            button type="button" data-print="" hidden { "Print" }
        },
        ..Page::new(if row.is_empty() { site.to_owned() } else { format!("{site}, row {row}") }, content)
    })
}

/// The floor plan: racks stand in their rows, the rows in their cages.
fn floor(viewer: &Viewer, site: &str, rows: &BTreeMap<(&str, &str), Vec<&Value>>) -> Markup {
    html! {
        @for ((cage, row), racks) in rows {
            section.floor {
                h2 { @if !cage.is_empty() { "Cage " (text::foreign(cage)) " · " }
                    @if row.is_empty() { "No row" } @else { "Row " (text::foreign(row)) " "
                        a.small href=(viewer.page(&["sites", site], &[("row", row), ("cage", cage)])) { "elevations of the row" } } }
                ul.racks { @for rack in racks {
                    @let [used, units, drawn, budget] = sums(rack);
                    @let share = (drawn * 100).checked_div(budget).unwrap_or(0);
                    @let class = if share >= 95 { "over" } else if share >= 80 { "much" } else { "node" };
                    @let name = text::at(rack, "/rack");
                    li { a href=(viewer.page(&["racks", name], &[])) {
                        (tile(rack, class))
                        strong { (text::foreign(name)) }
                        span { (units - used) "U free" }
                        span { (share) " % power" }
                    } }
                } }
            }
        }
    }
}

/// All racks of a row beside each other, front and rear.
fn elevations(viewer: &Viewer, racks: &[&Value]) -> Markup {
    html! {
        (colours(viewer, &["role"]))
        div.row { @for rack in racks.iter().take(60) {
            div.mini { h3 { a href=(viewer.page(&["racks", text::at(rack, "/rack")], &[])) { (text::foreign(text::at(rack, "/rack"))) } }
                div.faces {
                    (face(rack, Face::Front, false, &|found| device(viewer, found, "role", None)))
                    (face(rack, Face::Rear, false, &|found| device(viewer, found, "role", None)))
                }
            }
        } }
    }
}

/// What changes the plan: the racks of the site and what stands in them.
fn live(viewer: &Viewer, racks: &Collection, site: &str) -> Vec<String> {
    let of_site = crate::address::query(&[("fieldSelector", format!("spec.siteRef.name={site}"))]);
    let path = racks.path(viewer, "", "");
    ["/racks", "/nodes", "/networkdevices"]
        .iter()
        .map(|plural| path.replace("/racks", plural) + &of_site)
        .collect()
}
