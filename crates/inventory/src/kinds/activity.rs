//! Sentences of the activity feed that several kinds share, and those for Events.

use krm::kind::Sentence;
use serde_json::{Value, json};

/// A new object at a site.
pub const AT_SITE: Sentence =
    Sentence { when: "has($.siteRef)", says: "created @ at site {{ $.siteRef.name }}" };
/// A new device in a rack.
pub const PLACED: Sentence = Sentence {
    when: "has($.placement)",
    says: "placed @ in rack {{ $.placement.rackRef.name }} at U{{ string($.placement.startUnit) }}",
};
/// A device at another place in a rack.
pub const MOVED: Sentence = Sentence {
    when: "has($.placement) && (!has(before.spec.placement) || before.spec.placement.rackRef.name != \
     $.placement.rackRef.name || before.spec.placement.startUnit != $.placement.startUnit)",
    says: "moved @ to rack {{ $.placement.rackRef.name }} at U{{ string($.placement.startUnit) }}",
};
/// A device in no rack any more.
pub const TAKEN_OUT: Sentence = Sentence {
    when: "!has($.placement) && has(before.spec.placement)",
    says: "removed @ from rack {{ before.spec.placement.rackRef.name }}",
};
/// A node in another cluster.
pub const ASSIGNED: Sentence = Sentence {
    when: "has($.assignment) && (!has(before.spec.assignment) || before.spec.assignment.clusterRef.name != \
     $.assignment.clusterRef.name)",
    says: "assigned @ to cluster {{ $.assignment.clusterRef.name }}",
};
/// A node in no cluster any more.
pub const UNASSIGNED: Sentence = Sentence {
    when: "!has($.assignment) && has(before.spec.assignment)",
    says: "removed @ from cluster {{ before.spec.assignment.clusterRef.name }}",
};

/// Events of the inventory tell whether an object is ready.
pub fn event_rules(name: &str) -> Value {
    let shown = "('inventory.miloapis.com/display-name' in event.metadata.annotations ? \
                 event.metadata.annotations['inventory.miloapis.com/display-name'] : event.regarding.name)";
    let link = format!("link({shown}, event.regarding)");
    let is = |what: &str| {
        let event_type = format!("inventory.{}.{what}", name.to_lowercase());
        format!(
            "has(event.metadata.annotations) && 'inventory.miloapis.com/event-type' in event.metadata.annotations && \
             event.metadata.annotations['inventory.miloapis.com/event-type'] == '{event_type}'"
        )
    };
    json!([
        {
            "name": "ready",
            "match": is("ready"),
            "summary": format!("Inventory {name} {{{{ {link} }}}} is ready"),
        },
        {
            "name": "not-ready",
            "match": is("not_ready"),
            "summary": format!("Inventory {name} {{{{ {link} }}}} is not ready: {{{{ event.note }}}}"),
        },
    ])
}
