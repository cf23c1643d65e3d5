//! The built-in activity policies: one for every kind, used unless an ActivityPolicy for the kind exists.
//!
//! Kinds that declare no summaries of their own (`krm::kind::Activity`) have the plain ones: somebody created, updated or
//! deleted an object.

use krm::kind::{Activity, Kind};
use serde_json::{Value, json};
use store::Done;

/// Whether somebody, and not a part of the system, made a change that landed.
const BY_SOMEBODY: &str = "actorRef.type == 'user' && !has(audit.objectRef.subresource)";

/// What the policy that ships for a kind says of a change, where nothing of the object has to be known for it but where it
/// stands.
pub fn plain(kind: &Kind, actor: &str, what: Done, name: &str, namespace: &str) -> Option<String> {
    if !kind.activity.is_plain() {
        return None;
    }
    let did = match what {
        Done::Made => "created",
        Done::Changed => "updated",
        Done::Removed => "deleted",
    };
    let place = if kind.is_namespaced() { " in namespace " } else { "" };
    let namespace = if kind.is_namespaced() { namespace } else { "" };
    Some([actor, " ", did, " ", &kind.names.kind, " ", name, place, namespace].concat())
}

/// The spec of the policy that ships for a kind.
pub fn shipped(kind: &Kind) -> Value {
    let name = &kind.names.kind;
    let Activity { created, updated, is_displayed, event_rules } = kind.activity;
    let shown = match is_displayed {
        true => {
            "(has(audit.responseObject.spec) && has(audit.responseObject.spec.displayName) ? \
             audit.responseObject.spec.displayName : audit.objectRef.name)"
        }
        false => "audit.objectRef.name",
    };
    let linked = format!("{name} {{{{ link({shown}, audit.objectRef) }}}}");
    let in_namespace =
        if kind.is_namespaced() { " in namespace {{ audit.objectRef.namespace }}" } else { "" };
    let mut rules = Vec::new();
    let mut rule = |name: String, when: &str, says: &str| {
        let fill = |text: &str| text.replace('@', &linked).replace('$', "audit.responseObject.spec");
        rules.push(json!({
            "name": name,
            "match": format!("{BY_SOMEBODY} && {}", fill(when)),
            "summary": format!("{{{{ actor }}}} {}", fill(says)),
        }));
    };
    let with_spec = |when: &str| match when.contains('$') {
        true => format!("has(audit.responseObject.spec) && ({when})"),
        false => when.to_owned(),
    };
    for (index, said) in created.iter().enumerate() {
        rule(
            format!("create-{index}"),
            &format!("audit.verb == 'create' && {}", with_spec(said.when)),
            said.says,
        );
    }
    rule("create".into(), "audit.verb == 'create'", &format!("created @{in_namespace}"));
    for (index, said) in updated.iter().enumerate() {
        let when =
            format!("audit.verb in ['update', 'patch'] && has(before.spec) && {}", with_spec(said.when));
        rule(format!("update-{index}"), &when, said.says);
    }
    rule("update".into(), "audit.verb in ['update', 'patch']", &format!("updated @{in_namespace}"));
    let deleted = format!("deleted {name} {{{{ {shown} }}}}{in_namespace}");
    rule("delete".into(), "audit.verb == 'delete'", &deleted);
    json!({
        "resource": { "apiGroup": kind.group, "kind": name },
        "auditRules": rules,
        "eventRules": event_rules.map_or(json!([]), |rules| rules(name)),
    })
}

#[cfg(test)]
mod tests {
    use krm::field::Path;

    use super::super::policy::{Origin, Policy};
    use super::super::shipping::is_told;
    use super::*;

    #[test]
    fn every_kind_that_ships_has_sentences_for_what_can_be_done_to_it() {
        let mut kinds = apiserver::kinds::all();
        kinds.extend(inventory::all());
        kinds.extend(crate::all());
        let mut told = 0;
        for kind in kinds.iter().filter(|kind| is_told(kind)) {
            let spec = shipped(kind);
            let policy = Policy::read(&spec, &Path::of("spec"));
            let policy =
                policy.unwrap_or_else(|errors| panic!("{}: {}", kind.names.kind, errors[0].message()));
            for (verb, word) in
                [("create", "created"), ("update", "updated"), ("patch", "updated"), ("delete", "deleted")]
            {
                let mut values = json!({
                    "actor": "alice", "actorRef": { "type": "user", "name": "alice" }, "kind": kind.names.plural,
                    "before": { "spec": {} },
                    "audit": {
                        "verb": verb, "user": { "username": "alice" }, "responseStatus": { "code": 200 },
                        "objectRef": { "name": "it", "namespace": "there", "resource": kind.names.plural },
                        "requestObject": {}, "responseObject": { "spec": {}, "roleRef": { "name": "view" } },
                    },
                });
                let said = policy.tell(Origin::Audit, &values).unwrap().unwrap().1.text;
                assert!(said.starts_with("alice ") && said.contains("it"), "{}: {said}", kind.names.kind);
                let has_own = !kind.activity.is_plain();
                assert!(
                    has_own || said.starts_with(&format!("alice {word} {} it", kind.names.kind)),
                    "{said}"
                );
                let what = match verb {
                    "create" => Done::Made,
                    "delete" => Done::Removed,
                    _ => Done::Changed,
                };
                if let Some(plain) = plain(kind, "alice", what, "it", "there") {
                    assert_eq!(plain, said, "{}", kind.names.kind);
                }
                // What the system does by itself is no news.
                values["actorRef"]["type"] = "system".into();
                assert_eq!(policy.tell(Origin::Audit, &values).unwrap(), None);
                told += 1;
            }
        }
        assert!(told > 100, "{told}");
    }
}
