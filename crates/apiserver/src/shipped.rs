//! What ships with the server and has to stay: default roles and bindings, and whatever other parts of the server need.
//!
//! Every write passes here, so that it makes no difference whether somebody deletes such an object, undoes the commit that
//! made it, patches it, or does so in a transaction.

use std::collections::HashMap;
use std::sync::OnceLock;

use krm::Object;
use krm::kind::{RawChange, SEALED_NAMESPACE};

use crate::authz::{RBAC_GROUP, bootstrap_objects, reconciled, with_updates};
use crate::call::Call;

/// Roles and bindings that keep what they ship with even where somebody asks for them to be left alone: without them nobody
/// is an administrator of a project, and probes are refused.
const ESSENTIAL: [&str; 2] = ["cluster-admin", "system:public-info-viewer"];

/// Why a change is refused: it would take away what ships with the server.
pub fn refusal(call: &Call, change: &RawChange<'_>) -> Option<String> {
    let old = change.old.filter(|_| call.plane.is_root() && call.subresource.is_empty())?;
    if call.kind.group == RBAC_GROUP {
        return of_rbac(old, change.new);
    }
    let is_sealed = call.kind.group.is_empty() && call.kind.names.plural == "namespaces";
    if is_sealed && old.name() == SEALED_NAMESPACE && change.new.is_none() {
        return Some("it holds the credentials of other objects, which go with those objects".to_owned());
    }
    let at = call.address_of(old.name());
    let wanted = call.api.followers().rights.others().iter().find_map(|other| other.shipped(&at))?;
    let Some(new) = change.new else { return Some(not_deleted(&call.kind.names.kind)) };
    if let Some(field) = ["labels", "annotations"].into_iter().find(|field| loses(field, old, new, &wanted)) {
        return Some(format!(
            "it ships with the server, which keeps its {field} as they are; others can be added"
        ));
    }
    let spec = wanted.get("spec")?;
    (new.get("spec") != old.get("spec") && new.get("spec") != Some(spec)).then(|| {
        format!(
            "it ships with the server, which keeps its spec as it is; make {} of your own instead",
            with_article(&call.kind.names.kind)
        )
    })
}

/// Whether a label or annotation that ships is changed or taken away: it would be put back at the next start.
fn loses(field: &str, old: &Object, new: &Object, wanted: &Object) -> bool {
    let at = |object: &Object, key: &str| object.meta(field).and_then(|all| all.get(key)).cloned();
    let pairs = wanted.meta(field).and_then(serde_json::Value::as_object).into_iter().flatten();
    pairs
        .into_iter()
        .any(|(key, value)| at(old, key).as_ref() == Some(value) && at(new, key).as_ref() != Some(value))
}

fn of_rbac(old: &Object, new: Option<&Object>) -> Option<String> {
    let wanted = defaults().get(&(old.kind().to_owned(), old.name().to_owned()))?;
    let Some(new) = new else { return Some(not_deleted(old.kind())) };
    if is_less(old, wanted) || !is_less(new, wanted) {
        return None;
    }
    Some(match ESSENTIAL.contains(&old.name()) {
        true => "it ships with the server, which needs it: what it grants can be added to, and not taken away".to_owned(),
        false => "it ships with the server, which adds what is missing from it at every start; to keep it as you want it, \
                  set the annotation rbac.authorization.kubernetes.io/autoupdate to \"false\" in the same change"
            .to_owned(),
    })
}

/// Whether an object grants less than it ships with, or to fewer.
fn is_less(object: &Object, wanted: &Object) -> bool {
    let object = match ESSENTIAL.contains(&object.name()) {
        true => &with_updates(object),
        false => object,
    };
    let differs = |mended: &Object, field: &str| mended.get(field) != object.get(field);
    reconciled(object, wanted).is_some_and(|mended| {
        ["subjects", "rules", "aggregationRule"].iter().any(|field| differs(&mended, field))
    })
}

fn not_deleted(kind: &str) -> String {
    format!(
        "it ships with the server, which needs it: it can't be deleted, nor can its creation be undone; to undo the rest of a \
         commit, leave out what ships by its resources, namespace or user; to grant something else, make {} of your own",
        with_article(kind)
    )
}

fn with_article(kind: &str) -> String {
    let article = if kind.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
    format!("{article} {kind}")
}

fn defaults() -> &'static HashMap<(String, String), Object> {
    static DEFAULTS: OnceLock<HashMap<(String, String), Object>> = OnceLock::new();
    DEFAULTS.get_or_init(|| {
        let named = |object: Object| ((object.kind().to_owned(), object.name().to_owned()), object);
        bootstrap_objects().into_iter().map(named).collect()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn shipped(kind: &str, name: &str) -> Object {
        defaults()[&(kind.to_owned(), name.to_owned())].clone()
    }

    fn without(mut object: Object, field: &str) -> Object {
        object.set(field, Some(Value::Array(Vec::new())));
        object
    }

    #[test]
    fn what_ships_is_neither_deleted_nor_emptied() {
        for (kind, name) in defaults().keys() {
            assert!(of_rbac(&shipped(kind, name), None).is_some(), "{kind} {name}");
        }
        let viewer = shipped("ClusterRoleBinding", "system:public-info-viewer");
        assert!(of_rbac(&viewer, Some(&without(viewer.clone(), "subjects"))).unwrap().contains("needs it"));
        let discovery = shipped("ClusterRole", "system:discovery");
        let refused = of_rbac(&discovery, Some(&without(discovery.clone(), "rules"))).unwrap();
        assert!(refused.contains("autoupdate"), "{refused}");
        let own = Object::from_value(json!({"kind": "ClusterRole", "metadata": {"name": "mine"}})).unwrap();
        assert_eq!(of_rbac(&own, None), None);
    }

    #[test]
    fn what_ships_is_added_to_and_left_alone_on_request_but_for_what_the_server_needs() {
        let left_alone = |object: &Object| {
            let mut object = object.clone();
            let note = json!({"rbac.authorization.kubernetes.io/autoupdate": "false"});
            object.set_meta("annotations", Some(note));
            object
        };
        let discovery = shipped("ClusterRole", "system:discovery");
        let emptied = without(left_alone(&discovery), "rules");
        assert_eq!(of_rbac(&discovery, Some(&emptied)), None);
        let admin = shipped("ClusterRole", "cluster-admin");
        assert!(of_rbac(&admin, Some(&without(left_alone(&admin), "rules"))).is_some());
        let mut more = admin.clone();
        let mut rules = more.get("rules").and_then(Value::as_array).cloned().unwrap();
        rules.push(json!({"apiGroups": ["x"], "resources": ["y"], "verbs": ["get"]}));
        more.set("rules", Some(rules.into()));
        assert_eq!(of_rbac(&admin, Some(&more)), None);
    }
}
