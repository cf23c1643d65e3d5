//! Explains why an action is allowed, or what would allow it.

use apiserver::Identity;
use apiserver::authz::{Attributes, Explained};
use apiserver::plane::Plane;
use serde_json::{Value, json};

use super::authorizer::Iam;
use super::index::{Grant, Index};
use super::permission::Permission;
use super::roles::{At, SYSTEM_NAMESPACE};
use super::selector::{self, ResourceLocation};
use crate::tenancy::{GROUP as TENANCY, ORGANIZATION, PROJECT};

/// Every grant that allows something; where there is none, the roles of the system that would, and on what they could be
/// bound. Other roles, and who has them, are not told: whoever asks need not be allowed to see them.
pub fn explain(iam: &Iam, plane: &Plane, who: &Identity, what: &Attributes<'_>) -> Explained {
    let explained = iam.about(plane, who, what, |index, permission, place| {
        let grants = index.grants(plane.as_str(), who, permission, place);
        let would_allow = match grants.is_empty() {
            true => would_allow(index, permission, place),
            false => Vec::new(),
        };
        Explained { allowed_by: grants.iter().map(|grant| told(grant, permission)).collect(), would_allow }
    });
    explained.unwrap_or_default()
}

fn told(grant: &Grant, permission: &Permission<'_>) -> Value {
    json!({
        "authorizer": "IAM",
        "reason": grant.to_string(),
        "binding": reference("PolicyBinding", &grant.binding),
        "role": reference("Role", &grant.role),
        "subject": grant.subject,
        "on": selector::told(&grant.selector),
        "permission": permission.to_string(),
    })
}

fn would_allow(index: &Index, permission: &Permission<'_>, place: &ResourceLocation<'_>) -> Vec<Value> {
    let text = permission.to_string();
    let holding = index.roles.all().filter(|(at, role)| {
        (at.plane.is_empty() || *at.plane == *place.plane)
            && &*at.namespace == SYSTEM_NAMESPACE
            && role.holds(&text, permission)
    });
    let mut roles: Vec<(usize, &At)> = holding.map(|(at, role)| (role.permissions().len(), at)).collect();
    // The one that gives least besides comes first.
    roles.sort();
    let mut on = vec![selector::everywhere(place.group, place.kind)];
    if !place.name.is_empty() {
        on.push(selector::object(place));
    }
    if !place.plane.is_empty() {
        on.push(selector::project(place.plane));
    }
    // Every project and every organization are for whoever runs the platform; nobody needs the advice.
    let broad = [selector::everywhere(TENANCY, PROJECT), selector::everywhere(TENANCY, ORGANIZATION)];
    on.retain(|selector| !broad.contains(selector) || place.group == TENANCY);
    let on: Vec<String> = on.iter().map(|selector| selector::told(selector)).collect();
    roles
        .iter()
        .map(|(_, role)| json!({ "authorizer": "IAM", "role": reference("Role", role), "permission": text, "boundOn": on }))
        .collect()
}

fn reference(kind: &str, at: &At) -> Value {
    json!({ "kind": kind, "namespace": &*at.namespace, "name": &*at.name })
}
