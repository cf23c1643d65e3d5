//! The built-in activity policies: one for every kind, used unless an ActivityPolicy for the kind exists.
//!
//! Kinds without summaries of their own have the plain ones: somebody created, updated or deleted an object.

use krm::kind::Kind;
use serde_json::{Value, json};
use store::Done;

const INVENTORY: &str = "inventory.miloapis.com";

/// One way to say what happened, tried in order.
struct Said {
    /// When it fits: an expression over `object`, the state after the change, and `before`.
    when: &'static str,
    /// The sentence behind the actor.
    says: &'static str,
}

const fn said(when: &'static str, says: &'static str) -> Said {
    Said { when, says }
}

/// What is said of a kind beyond the plain sentences. `@` stands for its linked name, `$` for the object's spec.
struct Saying {
    kind: (&'static str, &'static str),
    created: &'static [Said],
    updated: &'static [Said],
}

const PLACED: &str = "has($.placement)";
const PLACED_SAYS: &str =
    "placed @ in rack {{ $.placement.rackRef.name }} at U{{ string($.placement.startUnit) }}";
const MOVED: &str = "has($.placement) && (!has(before.spec.placement) || before.spec.placement.rackRef.name != \
                     $.placement.rackRef.name || before.spec.placement.startUnit != $.placement.startUnit)";
const MOVED_SAYS: &str =
    "moved @ to rack {{ $.placement.rackRef.name }} at U{{ string($.placement.startUnit) }}";
const TAKEN_OUT: &str = "!has($.placement) && has(before.spec.placement)";
const TAKEN_OUT_SAYS: &str = "removed @ from rack {{ before.spec.placement.rackRef.name }}";

const SAYINGS: &[Saying] = &[
    Saying { kind: (INVENTORY, "Provider"), created: &[said("true", "registered @")], updated: &[] },
    Saying {
        kind: (INVENTORY, "Site"),
        created: &[said("has($.regionRef)", "created @ in region {{ $.regionRef.name }}")],
        updated: &[],
    },
    Saying {
        kind: (INVENTORY, "Rack"),
        created: &[said("has($.siteRef)", "created @ at site {{ $.siteRef.name }}")],
        updated: &[],
    },
    Saying {
        kind: (INVENTORY, "Cluster"),
        created: &[said(
            "has($.controlPlaneSiteRef)",
            "created @ with control plane at site {{ $.controlPlaneSiteRef.name }}",
        )],
        updated: &[],
    },
    Saying {
        kind: (INVENTORY, "Node"),
        created: &[
            said(PLACED, PLACED_SAYS),
            said("has($.siteRef)", "created @ at site {{ $.siteRef.name }}"),
        ],
        updated: &[
            said(MOVED, MOVED_SAYS),
            said(TAKEN_OUT, TAKEN_OUT_SAYS),
            said(
                "has($.assignment) && (!has(before.spec.assignment) || before.spec.assignment.clusterRef.name != \
                 $.assignment.clusterRef.name)",
                "assigned @ to cluster {{ $.assignment.clusterRef.name }}",
            ),
            said(
                "!has($.assignment) && has(before.spec.assignment)",
                "removed @ from cluster {{ before.spec.assignment.clusterRef.name }}",
            ),
        ],
    },
    Saying {
        kind: (INVENTORY, "NetworkDevice"),
        created: &[
            said(PLACED, PLACED_SAYS),
            said("has($.siteRef)", "created @ at site {{ $.siteRef.name }}"),
        ],
        updated: &[said(MOVED, MOVED_SAYS), said(TAKEN_OUT, TAKEN_OUT_SAYS)],
    },
    Saying {
        kind: (INVENTORY, "Port"),
        created: &[said("has($.deviceRef)", "created @ on {{ $.deviceRef.kind }} {{ $.deviceRef.name }}")],
        updated: &[],
    },
    Saying {
        kind: (INVENTORY, "Cable"),
        created: &[
            said(
                "has($.endpoints) && size($.endpoints) == 2",
                "connected {{ $.endpoints[0].name }} and {{ $.endpoints[1].name }} with {{ $.media }} @",
            ),
            said("has($.media)", "created {{ $.media }} @"),
        ],
        updated: &[],
    },
    Saying {
        kind: (INVENTORY, "Circuit"),
        created: &[said("has($.providerRef)", "created @ from provider {{ $.providerRef.name }}")],
        updated: &[],
    },
    Saying {
        kind: (INVENTORY, "VirtualMachine"),
        created: &[said("has($.hostRef)", "created @ on host {{ $.hostRef.name }}")],
        updated: &[],
    },
    Saying {
        kind: (INVENTORY, "Link"),
        created: &[said("has($.type)", "created {{ $.type }} @")],
        updated: &[],
    },
    Saying {
        kind: ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
        created: &[said("true", "granted {{ audit.responseObject.roleRef.name }} cluster-wide with @")],
        updated: &[],
    },
    Saying {
        kind: ("rbac.authorization.k8s.io", "RoleBinding"),
        created: &[said(
            "true",
            "granted {{ audit.responseObject.roleRef.name }} in namespace {{ audit.objectRef.namespace }} with @",
        )],
        updated: &[],
    },
];

/// Kinds that people call by a name of their own in the spec.
const DISPLAYED: [&str; 4] = ["Region", "Provider", "Site", "Cluster"];

/// Whether somebody, and not a part of the system, made a change that landed.
const BY_SOMEBODY: &str = "actorRef.type == 'user' && !has(audit.objectRef.subresource)";

/// What the policy that ships for a kind says of a change, where nothing of the object has to be known for it but where it
/// stands.
pub fn plain(kind: &Kind, actor: &str, what: Done, name: &str, namespace: &str) -> Option<String> {
    let of_kind = (kind.group.as_str(), kind.names.kind.as_str());
    if is_displayed(kind) || SAYINGS.iter().any(|saying| saying.kind == of_kind) {
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

/// Whether people call objects of a kind by another name than their own.
fn is_displayed(kind: &Kind) -> bool {
    kind.group == INVENTORY && DISPLAYED.contains(&kind.names.kind.as_str())
}

/// The spec of the policy that ships for a kind.
pub fn shipped(kind: &Kind) -> Value {
    let name = &kind.names.kind;
    let saying = SAYINGS.iter().find(|saying| saying.kind == (kind.group.as_str(), name.as_str()));
    let (created, updated) = saying.map_or((&[][..], &[][..]), |saying| (saying.created, saying.updated));
    let shown = match is_displayed(kind) {
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
        "eventRules": event_rules(kind),
    })
}

/// Events of the inventory say how ready a thing is; those of other kinds are told in their own words.
fn event_rules(kind: &Kind) -> Value {
    if kind.group != INVENTORY {
        return json!([]);
    }
    let name = &kind.names.kind;
    let shown = "('inventory.miloapis.com/display-name' in event.metadata.annotations ? \
                 event.metadata.annotations['inventory.miloapis.com/display-name'] : event.regarding.name)";
    let link = format!("link({shown}, event.regarding)");
    let is = |what: &str| {
        format!(
            "has(event.metadata.annotations) && 'inventory.miloapis.com/event-type' in event.metadata.annotations && \
             event.metadata.annotations['inventory.miloapis.com/event-type'] == '{what}'"
        )
    };
    json!([
        { "name": "ready", "match": is(&format!("inventory.{}.ready", name.to_lowercase())), "summary": format!("Inventory {name} {{{{ {link} }}}} is ready") },
        { "name": "not-ready", "match": is(&format!("inventory.{}.not_ready", name.to_lowercase())), "summary": format!("Inventory {name} {{{{ {link} }}}} is not ready: {{{{ event.note }}}}") },
    ])
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
                let has_own = SAYINGS
                    .iter()
                    .any(|saying| saying.kind == (kind.group.as_str(), kind.names.kind.as_str()));
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

    #[test]
    fn no_sentence_is_kept_for_a_kind_that_is_gone() {
        let mut kinds = apiserver::kinds::all();
        kinds.extend(inventory::all());
        for saying in SAYINGS {
            assert!(
                kinds.iter().any(|kind| (kind.group.as_str(), kind.names.kind.as_str()) == saying.kind),
                "{:?}",
                saying.kind
            );
        }
    }
}
