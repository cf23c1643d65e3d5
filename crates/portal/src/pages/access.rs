//! Who may what: whether something is allowed, by which binding, or which role would allow it.

use maud::{Markup, html};
use serde_json::{Value, json};

use crate::address::or_dash;
use crate::kinds::plane_of;
use crate::layout::Page;
use crate::refusal::Refusal;
use crate::text;
use crate::viewer::Viewer;

const VERBS: [&str; 8] = ["get", "list", "watch", "create", "update", "patch", "delete", "read"];

/// The page.
pub async fn page(viewer: &Viewer) -> Result<Page, Refusal> {
    let plane = plane_of(viewer, or_dash(viewer.parameter("plane")))?;
    let resource = viewer.parameter("resource");
    let answer = match resource.is_empty() {
        true => None,
        false => {
            let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
            let (plural, subresource) = plural.split_once('/').unwrap_or((plural, ""));
            let mut spec = json!({"resourceAttributes": {
                "verb": viewer.parameter("verb"), "group": group, "resource": plural, "subresource": subresource,
                "namespace": viewer.parameter("namespace"), "name": viewer.parameter("name"),
            }});
            if !viewer.parameter("user").is_empty() {
                spec["user"] = viewer.parameter("user").into();
                let groups = viewer.parameter("groups").split(',').map(str::trim).filter(|it| !it.is_empty());
                spec["groups"] = groups.chain(["system:authenticated"]).collect();
            }
            let body =
                json!({"apiVersion": "groundplane.dev/v1alpha1", "kind": "AccessExplanation", "spec": spec});
            let path =
                viewer.api.kinds().path_of(&plane) + "/apis/groundplane.dev/v1alpha1/accessexplanations";
            Some(viewer.post(&path, &body).await)
        }
    };
    let kinds: Vec<String> =
        viewer.api.kinds().of(&plane).all().map(|kind| kind.resource().to_string()).collect();
    let content = html! {
        form.filters method="get" action=(viewer.path) {
            input type="hidden" name="plane" value=(plane.as_str());
            label { span { "May" } input name="user" value=(viewer.parameter("user")) placeholder="you"; }
            label { span { "in groups" } input name="groups" value=(viewer.parameter("groups")); }
            label { span { "do" } select name="verb" { @for verb in VERBS { option selected[viewer.parameter("verb") == verb] { (verb) } } } }
            label { span { "to" } input name="resource" value=(resource) list="resources" required placeholder="racks.inventory.miloapis.com"; }
            datalist #resources { @for kind in &kinds { option value=(kind) {} } }
            label { span { "named" } input name="name" value=(viewer.parameter("name")) placeholder="any"; }
            label { span { "in namespace" } input name="namespace" value=(viewer.parameter("namespace")) placeholder="any"; }
            button.primary { "Explain" }
        }
        @match &answer {
            None => p.muted { "Ask whether you, or somebody else, may do something, and why." },
            Some(Err(refusal)) => div.notice.bad role="alert" { (text::foreign(&refusal.message)) },
            Some(Ok(answer)) => (explained(&answer["status"])),
        }
    };
    let at = viewer.page(&["access"], &[("plane", plane.as_str())]);
    Ok(Page { plane, at, has_time: false, ..Page::new("Who may what", content) })
}

fn explained(status: &Value) -> Markup {
    let would = text::items(status, "/wouldAllow");
    html! {
        @if status["allowed"] == true {
            div.notice.good role="status" { strong { "Yes." } " It is allowed by:" }
            ul { @for grant in text::items(status, "/allowedBy") { li {
                @if grant.get("binding").is_some() {
                    (named(&grant["binding"])) " gives " (named(&grant["role"])) " to " (text::foreign(text::at(grant, "/subject")))
                    " on " (text::foreign(text::at(grant, "/on"))) ": " code { (text::at(grant, "/permission")) }
                } @else { (text::foreign(text::at(grant, "/reason"))) }
            } } }
        } @else {
            div.notice.bad role="status" { strong { "No." } " " (text::foreign(text::at(status, "/reason"))) }
            @if let Some(first) = would.first() {
                p { "Nothing grants " code { (text::at(first, "/permission")) } ". One of these roles, bound on "
                    (text::items(first, "/boundOn").iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or on ")) ", would:" }
                ul { @for role in would.iter().take(40) { li { (named(&role["role"])) } } }
            }
        }
    }
}

fn named(object: &Value) -> Markup {
    let namespace = text::at(object, "/namespace");
    html! { (text::at(object, "/kind")) " " strong { @if !namespace.is_empty() { (text::foreign(namespace)) "/" } (text::foreign(text::at(object, "/name"))) } }
}
