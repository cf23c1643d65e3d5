//! No secret of a design is shown where nobody asked for it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use design::{
    compile::{LshwInputs, compile},
    document::parse,
    reach::reach,
    validate::diagnose,
};

fn site(credential: &str) -> design::compile::Compiled {
    let text = format!(
        "
---
{{schema: drydock/HardwareProfile/v1, metadata: {{name: hw}}, data: {{}}}}
---
{{schema: drydock/HostProfile/v1, metadata: {{name: p}}, data: {{oob: {{type: ipmi, account: root, credential: older-s3cret}}}}}}
---
{{schema: drydock/BaremetalNode/v1, metadata: {{name: n}}, data: {{host_profile: p, hardware_profile: hw,
  oob: {{credential: {credential}}}, addressing: [{{network: oob, address: 10.0.0.5}}]}}}}
"
    );
    compile(&parse("site.yaml", text.as_bytes()).unwrap().documents, &LshwInputs::new()).validated()
}

#[test]
fn what_is_shown_of_a_design_holds_no_secret() {
    let (before, after) = (site("s3cret"), site("other-s3cret"));
    let (old, new) = (before.site().unwrap(), after.site().unwrap());
    let node = old.node("n").unwrap();
    let changes = reach(old, new);
    assert_eq!(changes.len(), 1, "the node differs in its secret");
    let shown = format!(
        "{before:?}{:?}{:?}{changes:?}{:?}",
        node.explain(),
        node.effective.ledger.changes(),
        diagnose(&before)
    );
    assert!(shown.contains("(hidden)"));
    assert!(!shown.contains("s3cret"), "{shown}");
}
