//! All sites, by region.

use apiserver::plane::Plane;
use maud::html;

use super::list::part;
use crate::kinds::Collection;
use crate::layout::Page;
use crate::refusal::Refusal;
use crate::text;
use crate::viewer::Viewer;

/// The page.
pub async fn page(viewer: &Viewer) -> Result<Page, Refusal> {
    let root = Plane::root();
    let sites = Collection::of(viewer, &root, "inventory.miloapis.com", "sites")?;
    let list = viewer.get(&sites.path(viewer, "", ""), &[("limit", "500")]).await?;
    let content = html! {
        ul.tiles.sites { @for site in text::items(&list, "/items") {
            @let name = text::at(site, "/metadata/name");
            li { a href=(viewer.page(&["sites", name], &[])) { strong { (text::foreign(name)) } span { (text::foreign(text::at(site, "/spec/displayName"))) }
                span.muted { (text::foreign(text::at(site, "/spec/regionRef/name"))) } } }
        } }
        (part(viewer, &sites, &[("limit", "500")], "No sites yet.").await?)
    };
    Ok(Page {
        at: viewer.page(&["sites"], &[]),
        live: vec![sites.path(viewer, "", "")],
        ..Page::new("Sites and racks", content)
    })
}
