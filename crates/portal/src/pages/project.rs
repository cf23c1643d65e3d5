//! The home of a project: what needs attention in it, its workloads by city, its quota.

use maud::{Markup, html};
use serde_json::Value;

use super::home;
use super::list::part;
use crate::attention::Attention;
use crate::draw::bar::bar;
use crate::kinds::{Collection, plane_of};
use crate::layout::Page;
use crate::refusal::Refusal;
use crate::text;
use crate::viewer::Viewer;

const COMPUTE: &str = "compute.datumapis.com";
const COUNTED: [(&str, &str); 7] = [
    (COMPUTE, "workloads"),
    (COMPUTE, "workloaddeployments"),
    (COMPUTE, "instances"),
    ("networking.datumapis.com", "networks"),
    ("fulfillment.groundplane.dev", "clusters"),
    ("", "configmaps"),
    ("", "secrets"),
];

/// The page.
pub async fn page(viewer: &Viewer, project: &str, attention: &Attention) -> Result<Page, Refusal> {
    let plane = plane_of(viewer, project)?;
    let (items, more) = home::troubled(viewer, attention, Some(&plane)).await;
    let counts = home::counts(viewer, &plane, &COUNTED).await;
    let deployments = Collection::of(viewer, &plane, COMPUTE, "workloaddeployments").ok();
    let content = html! {
        section aria-labelledby="attention" { h2 #attention { "What needs attention" } (home::listed(viewer, &items, more)) }
        section { h2 { "At a glance" } (home::tiles(viewer, &counts)) }
        @if let Some(deployments) = &deployments {
            @if viewer.may(&plane, "list", &deployments.kind, "", "") {
                section { h2 { "Workloads by city" } (part(viewer, deployments, &[("limit", "50")], "No workloads are deployed.").await?) }
            }
        }
        (quota(viewer, &plane).await)
    };
    let live = deployments.map(|deployments| deployments.path(viewer, "", ""));
    Ok(Page {
        at: viewer.page(&["p", project], &[]),
        plane,
        live: live.into_iter().collect(),
        ..Page::new(project, content)
    })
}

/// How much of each quota is used.
async fn quota(viewer: &Viewer, plane: &apiserver::plane::Plane) -> Markup {
    let Ok(buckets) = Collection::of(viewer, plane, "quota.miloapis.com", "allowancebuckets") else {
        return html! {};
    };
    let Ok(list) = viewer.get(&buckets.path(viewer, "", ""), &[("limit", "100")]).await else {
        return html! {};
    };
    let number = |bucket: &Value, field: &str| {
        bucket.pointer(&format!("/status/{field}")).and_then(Value::as_u64).unwrap_or(0)
    };
    let items = text::items(&list, "/items");
    html! {
        @if !items.is_empty() { section { h2 { a href=(buckets.page(viewer, &[])) { "Quota" } }
            div.card { @for bucket in items {
                (bar(text::at(bucket, "/spec/resourceType"), number(bucket, "allocated"), number(bucket, "limit"), ""))
            } }
            @if let Ok(grants) = Collection::of(viewer, plane, "quota.miloapis.com", "resourcegrants") {
                p.muted.small { "More is granted with a " a href=(grants.page(viewer, &[])) { "resource grant" } ": ask who administers the platform, or request a service." }
            }
        } }
    }
}
