//! explain, and the checks that come from the published schemas.

use crate::program::with_each;

const WIDGETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/kube/fixtures/widgets.json");

#[test]
fn kinds_are_explained_field_by_field() {
    with_each(|kubectl| {
        let map = kubectl.run("explain configmap");
        assert!(
            map.contains("KIND:       ConfigMap") && map.contains("binaryData") && map.contains("immutable"),
            "{map}"
        );
        let field = kubectl.run("explain configmap.metadata.ownerReferences.uid");
        assert!(field.contains("FIELD: uid <string>"), "{field}");
        let owners = kubectl.run("explain configmap.metadata.ownerReferences");
        assert!(owners.contains("uid\t<string> -required-"), "{owners}");
        let rules = kubectl.run("explain clusterrole.rules");
        assert!(
            rules.contains("<[]PolicyRule>") && rules.contains("verbs\t<[]string> -required-"),
            "{rules}"
        );
        assert!(kubectl.run("explain role.rules --recursive").contains("nonResourceURLs"));
        assert!(kubectl.refused("explain configmap.nosuch").contains("field \"nosuch\" does not exist"));
        kubectl.run(&format!("create -f {WIDGETS}"));
        kubectl.run("wait --for=condition=Established crd/widgets.golden.example.com --timeout=10s");
        let widget = kubectl.until("explain widget.spec.color", |said| said.contains("FIELD: color"));
        for color in ["ENUM:", "red", "green", "blue"] {
            assert!(widget.contains(color), "{widget}");
        }
        assert!(kubectl.run("explain widget").contains("Widget is the general test kind."));
    });
}

#[test]
fn fields_that_are_not_there_are_refused_before_and_at_the_server() {
    with_each(|kubectl| {
        let wrong = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: wrong}\ndatta: {a: b}\n";
        let said = kubectl.refused_with("create -f -", wrong);
        assert!(said.contains("unknown field \"datta\""), "{said}");
        let said = kubectl.refused_with("apply --validate=strict -f -", wrong);
        assert!(said.contains("unknown field \"datta\""), "{said}");
        assert_eq!(kubectl.run_with("create --validate=warn -f -", wrong), "configmap/wrong created\n");
        assert_eq!(kubectl.run_with("replace --validate=ignore -f -", wrong), "configmap/wrong replaced\n");
    });
}
