//! The path of a port, end to end.

use apiserver::plane::Plane;
use maud::html;

use crate::draw::way;
use crate::kinds::Collection;
use crate::layout::Page;
use crate::refusal::Refusal;
use crate::text;
use crate::viewer::Viewer;

/// The page.
pub async fn page(viewer: &Viewer, port: &str) -> Result<Page, Refusal> {
    let ports = Collection::of(viewer, &Plane::root(), "inventory.miloapis.com", "ports")?;
    let trace = viewer.get(&(ports.path(viewer, "", port) + "/trace"), &[]).await?;
    let ends: Vec<&str> = text::items(&trace, "/ends").iter().filter_map(serde_json::Value::as_str).collect();
    let out: Vec<String> = text::items(&trace, "/outOfService").iter().map(text::shown).collect();
    let content = html! {
        p.summary {
            @match ends.as_slice() {
                [] => { "It leads nowhere: the path ends without another port." }
                ends => { "Ends at " @for (index, end) in ends.iter().enumerate() { @if index > 0 { ", " }
                    a href=(ports.object_page(viewer, "", end, &[])) { (text::foreign(end)) } } }
            }
            @if let Some(metres) = trace["totalMetres"].as_f64() { " · " strong { (metres) " m" } " in all" }
            @if ends.len() > 1 { " · splits into " (ends.len()) }
        }
        @if !out.is_empty() { div.notice role="status" { "Not in service: " (text::foreign(&out.join(", "))) } }
        div.scroll tabindex="0" role="region" aria-label="Path" { (way::path(viewer, &trace)) }
        @if trace["incomplete"] == true { p.muted.small { "Parts of the path are not shown, because you may not read them." } }
    };
    let object = ports.object_page(viewer, "", port, &[]);
    Ok(Page {
        crumbs: vec![(ports.title(), ports.page(viewer, &[])), (port.to_owned(), object)],
        at: ports.page(viewer, &[]),
        actions: html! { a.button href=(viewer.page(&["impact", "ports", port], &[])) { "What if this fails" } },
        live: vec![ports.path(viewer, "", ""), ports.path(viewer, "", "").replace("/ports", "/cables")],
        ..Page::new(format!("Trace of {port}"), content)
    })
}
