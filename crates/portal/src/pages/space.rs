//! Find space: free places in racks, best first, and why others are ruled out.

use apiserver::plane::Plane;
use maud::html;
use serde_json::Value;

use crate::kinds::Collection;
use crate::layout::Page;
use crate::refusal::Refusal;
use crate::text;
use crate::viewer::Viewer;

const OPTIONS: [(&str, &str, &str); 8] = [
    ("units", "Units", "2"),
    ("watts", "Watts", "500"),
    ("ports", "Free ports", ""),
    ("count", "How many", "5"),
    ("site", "Site", ""),
    ("row", "Row", ""),
    ("face", "Face", ""),
    ("spread", "Spread over", "rack or row"),
];

/// The page.
pub async fn page(viewer: &Viewer) -> Result<Page, Refusal> {
    let racks = Collection::of(viewer, &Plane::root(), "inventory.miloapis.com", "racks")?;
    let asked: Vec<(&str, &str)> = OPTIONS.iter().map(|(name, ..)| (*name, viewer.parameter(name))).collect();
    let answer = match viewer.parameter("units").is_empty() {
        true => None,
        false => Some(viewer.get(&(racks.path(viewer, "", "-") + "/find-space"), &asked).await),
    };
    let content = html! {
        form.filters method="get" action=(viewer.path) {
            @for (name, title, example) in OPTIONS {
                label { span { (title) } input name=(name) value=(viewer.parameter(name)) placeholder=(example) size="8" required[name == "units"]; }
            }
            button.primary { "Find" }
        }
        @match &answer {
            None => p.muted { "Say how many units a device needs; the best places come first: those that leave the largest gap whole." },
            Some(Err(refusal)) => div.notice.bad role="alert" { (text::foreign(&refusal.message)) },
            Some(Ok(answer)) => {
                @if text::items(answer, "/places").is_empty() { p.empty { "No place fits." } } @else {
                    div.scroll tabindex="0" role="region" aria-label="Places" { table {
                        thead { tr { th { "Rack" } th { "Site" } th { "Row" } th.number { "From unit" } th.number { "Units left in the gap" } th.number { "Watts left" } } }
                        tbody { @for place in text::items(answer, "/places") { tr {
                            td { a href=(viewer.page(&["racks", text::at(place, "/rack")], &[])) { (text::foreign(text::at(place, "/rack"))) } }
                            td { (text::foreign(text::at(place, "/site"))) } td { (text::foreign(text::at(place, "/row"))) }
                            td.number { (text::shown(&place["startUnit"])) } td.number { (text::shown(&place["leftOver"])) } td.number { (text::shown(&place["wattsLeft"])) }
                        } } }
                    } }
                }
                @if !text::items(answer, "/ruledOut").is_empty() {
                    h2 { "Ruled out" }
                    ul { @for one in text::items(answer, "/ruledOut").iter().take(100) { li { (text::foreign(&ruled_out(one))) } } }
                }
            }
        }
    };
    Ok(Page { at: viewer.page(&["space"], &[]), ..Page::new("Find space", content) })
}

fn ruled_out(one: &Value) -> String {
    match (text::at(one, "/rack"), text::at(one, "/reason")) {
        (_, "") => text::shown(one),
        (rack, reason) => format!("{rack}: {reason}"),
    }
}
