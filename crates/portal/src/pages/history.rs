//! The history of an object as a timeline: who, when, why, what; and the way back.

use maud::{Markup, html};
use serde_json::Value;

use super::plan::diff;
use crate::kinds::Collection;
use crate::refusal::Refusal;
use crate::viewer::Viewer;
use crate::{layout, text};

/// The timeline of an object; also of one that is deleted.
pub async fn shown(
    viewer: &Viewer,
    collection: &Collection,
    namespace: &str,
    name: &str,
    exists: bool,
) -> Result<Markup, Refusal> {
    let path = collection.path(viewer, namespace, name) + "/history";
    let parameters = [("diff", "true"), ("limit", "50"), ("continue", viewer.parameter("older"))];
    let history = viewer.get_now(&path, &parameters).await?;
    let revisions = text::items(&history, "/items");
    let more = text::at(&history, "/metadata/continue");
    let shows_status = !viewer.parameter("status").is_empty();
    let may_undo = viewer.may(&collection.plane, "create", &collection.kind, "undo", namespace)
        && viewer.may(&collection.plane, "update", &collection.kind, "", namespace);
    let may_restore = viewer.may(&collection.plane, "create", &collection.kind, "restore", namespace);
    // Changes of status alone don't make it another state.
    let current = revisions.iter().position(|revision| revision["statusOnly"] != true).unwrap_or(0);
    let shown = revisions.iter().enumerate().filter(|(_, it)| shows_status || it["statusOnly"] != true);
    Ok(html! {
        p { @if shows_status { a href=(viewer.here(&[("status", "")])) { "Hide changes of status alone" } }
            @else { a href=(viewer.here(&[("status", "1")])) { "Show changes of status too" } } }
        ol.timeline { @for (index, revision) in shown { li {
            div.when { (text::full_moment(text::at(revision, "/time"))) }
            div.what {
                h2 { (verb(revision)) " by " (text::foreign(text::at(revision, "/user"))) }
                @if !text::at(revision, "/message").is_empty() { p.why { "“" (text::foreign(text::at(revision, "/message"))) "”" } }
                p.muted.small { "with " (text::foreign(text::at(revision, "/manager"))) " · revision " (text::at(revision, "/revision"))
                    " · " a href=(collection.object_page(&now(viewer), namespace, name, &[("asOf", text::at(revision, "/revision"))])) { "as it was then" } }
                (changes(revision))
                @if exists && index > current && revision["deleted"] != true {
                    (action(viewer, "undo", revision, may_undo, "Return to this state", "You need to be allowed to undo and update these."))
                } @else if !exists && index == current && revision["deleted"] == true {
                    (action(viewer, "restore", revision, may_restore, "Restore", "You need to be allowed to restore these."))
                }
            }
        } } }
        @if !more.is_empty() { a.button href=(viewer.here(&[("older", more)])) { "Older changes" } }
    })
}

fn now(viewer: &Viewer) -> Viewer {
    Viewer { as_of: None, ..viewer.clone() }
}

fn verb(revision: &Value) -> &'static str {
    match text::at(revision, "/verb") {
        "create" => "Created",
        "delete" => "Deleted",
        "undo" => "Undone",
        "restore" => "Restored",
        "scale" => "Scaled",
        "apply" => "Applied",
        _ if revision["statusOnly"] == true => "Status changed",
        _ => "Changed",
    }
}

fn changes(revision: &Value) -> Markup {
    let entries = text::items(revision, "/diff");
    // A creation changes everything: its fields are in the object.
    if text::at(revision, "/verb") == "create" || entries.is_empty() {
        return html! {};
    }
    html! {
        details open[entries.len() <= 6] { summary { (text::counted(entries.len() as u64, "field", "fields")) } (diff(entries)) }
    }
}

fn action(viewer: &Viewer, what: &str, revision: &Value, may: bool, name: &str, why_not: &str) -> Markup {
    html! {
        form method="post" action=(viewer.path) {
            (layout::csrf(viewer))
            input type="hidden" name="do" value=(what);
            input type="hidden" name="revision" value=(text::at(revision, "/revision"));
            @if may { button { (name) } } @else { button disabled title=(why_not) { (name) } }
        }
    }
}
