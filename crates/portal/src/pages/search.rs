//! Search over names, serials, MAC and IP addresses, and labels.

use maud::html;

use crate::kinds::{Collection, plane_of};
use crate::layout::Page;
use crate::refusal::Refusal;
use crate::text;
use crate::viewer::Viewer;

/// The page.
pub async fn page(viewer: &Viewer) -> Result<Page, Refusal> {
    let words = viewer.parameter("q").trim();
    let plane = plane_of(viewer, crate::address::or_dash(viewer.parameter("plane")))?;
    let found = match words.is_empty() {
        true => serde_json::Value::Null,
        false => {
            let path = format!("{}/apis/groundplane.dev/v1alpha1/search", viewer.api.kinds().path_of(&plane));
            viewer.get_now(&path, &[("q", words), ("limit", "100")]).await?
        }
    };
    let items = text::items(&found, "/items");
    let rows = items.iter().map(|item| {
        let (group, _) = krm::kind::split_api_version(text::at(item, "/apiVersion"));
        (item, Collection::of_kind(viewer, &plane, group, text::at(item, "/kind")))
    });
    let content = html! {
        @if words.is_empty() {
            p.muted { "Type a name, a serial number, a MAC or IP address in any notation, or a label such as team=blue." }
        } @else if items.is_empty() {
            p.empty { "Nothing that you may read matches " strong { (text::foreign(words)) } "." }
        } @else {
            p.muted { (text::counted(items.len() as u64, "object", "objects"))
                @if found["truncated"] == true { ", and there are more: add a word" } }
            div.scroll tabindex="0" role="region" aria-label="Results" { table {
                thead { tr { th { "Name" } th { "Kind" } th { "Match" } } }
                tbody { @for (item, collection) in rows { tr {
                    @let (namespace, name) = (text::at(item, "/namespace"), text::at(item, "/name"));
                    td { @match &collection {
                        Some(collection) => a href=(collection.object_page(viewer, namespace, name, &[])) { (text::foreign(name)) },
                        None => (text::foreign(name)),
                    }
                    @if !namespace.is_empty() { " " span.muted { "in " (text::foreign(namespace)) } } }
                    td { (text::at(item, "/kind")) }
                    td { @for hit in text::items(item, "/matches").iter().take(3) {
                        span.pair { code { (text::at(hit, "/field")) } " " (text::foreign(&text::limited(text::at(hit, "/value"), 120))) } } }
                } } }
            } }
        }
        @if found["incomplete"] == true { p.muted.small { "You may not read everything that was searched." } }
    };
    Ok(Page { plane, has_time: false, ..Page::new("Search", content) })
}
