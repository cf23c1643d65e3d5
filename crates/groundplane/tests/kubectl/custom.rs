//! Kinds that users define: served at once, with columns, scale, status and selectable fields.

use serde_json::json;

use crate::program::{Kubectl, with_each};

const WIDGETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/kube/fixtures/widgets.json");

fn define(kubectl: &Kubectl) {
    kubectl.run(&format!("create -f {WIDGETS}"));
    kubectl.run("wait --for=condition=Established crd/widgets.golden.example.com --timeout=10s");
}

fn widget(name: &str, color: &str) -> String {
    json!({
        "apiVersion": "golden.example.com/v1", "kind": "Widget", "metadata": {"name": name},
        "spec": {"size": 3, "color": color, "replicas": 2},
    })
    .to_string()
}

#[test]
fn a_kind_is_defined_used_and_taken_away() {
    with_each(|kubectl| {
        define(kubectl);
        assert_eq!(
            kubectl.run_with("create -f -", &widget("one", "red")),
            "widget.golden.example.com/one created\n"
        );
        kubectl.run_with("apply -f -", &widget("two", "blue"));
        for name in [
            "widgets",
            "widget",
            "wd",
            "widgets.golden.example.com",
            "widgets.v1.golden.example.com",
            "golden",
        ] {
            let listed = kubectl.run(&format!("get {name}"));
            assert!(listed.contains("one") && listed.contains("two"), "{name}: {listed}");
        }
        let said = kubectl.refused_with("create -f -", &widget("three", "pink"));
        assert!(
            said.contains(
                "spec.color: Unsupported value: \"pink\": supported values: \"red\", \"green\", \"blue\""
            ),
            "{said}"
        );
        kubectl.run("patch widget one --type=merge -p '{\"spec\":{\"size\":7}}'");
        let one = kubectl.json("get widget one");
        assert_eq!((&one["spec"]["size"], &one["metadata"]["generation"]), (&json!(7), &json!(2)));
        let said = kubectl.refused("patch widget one --type=strategic -p '{\"spec\":{\"size\":8}}'");
        assert!(
            said.contains("UnsupportedMediaType")
                || said.contains("the body of the request was in an unknown format"),
            "{said}"
        );

        kubectl.run("patch widget one --subresource=status --type=merge -p '{\"status\":{\"phase\":\"Ready\"},\"spec\":{\"size\":9}}'");
        let one = kubectl.json("get widget one");
        assert_eq!(
            (&one["status"]["phase"], &one["spec"]["size"]),
            (&json!("Ready"), &json!(7)),
            "status alone"
        );
        kubectl.run("wait widget/one --for=jsonpath={.status.phase}=Ready --timeout=5s");
        kubectl.run("scale widget one --replicas=5");
        assert_eq!(kubectl.run("get widget one -o jsonpath={.spec.replicas}"), "5");
        assert!(
            kubectl
                .refused("scale widget one --replicas=4 --current-replicas=1")
                .contains("Expected replicas to be 1, was 5")
        );
        kubectl.run("label widget one a=b");
        assert_eq!(kubectl.run("get widgets -l a=b -o name"), "widget.golden.example.com/one\n");

        kubectl.run("delete crd widgets.golden.example.com --timeout=20s");
        // kubectl remembers that there was such a kind; the server no longer knows it.
        kubectl
            .until("get widgets", |said| said.contains("the server could not find the requested resource"));
        define(kubectl);
        assert_eq!(kubectl.run("get widgets -o name"), "", "the instances went with their kind");
    });
}

#[test]
fn columns_fields_and_versions_are_those_of_the_definition() {
    with_each(|kubectl| {
        define(kubectl);
        kubectl.run_with("create -f -", &widget("one", "red"));
        kubectl.run_with("create -f -", &widget("two", "blue"));
        let columns: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(WIDGETS).unwrap()).unwrap();
        let version = &columns["spec"]["versions"][0];
        let headings = |wide: bool| {
            let shown = version["additionalPrinterColumns"].as_array().unwrap().iter();
            let shown = shown.filter(|column| wide || column["priority"].as_i64().unwrap_or(0) == 0);
            let names = shown.map(|column| column["name"].as_str().unwrap().to_uppercase());
            std::iter::once("NAME".to_owned()).chain(names).collect::<Vec<_>>()
        };
        for (line, wide) in [("get widgets", false), ("get widgets -o wide", true)] {
            let printed = kubectl.run(line);
            let first: Vec<&str> = printed
                .lines()
                .next()
                .unwrap()
                .split("  ")
                .map(str::trim)
                .filter(|word| !word.is_empty())
                .collect();
            assert_eq!(first, headings(wide), "{line}");
        }
        assert_eq!(
            kubectl.run("get widgets --field-selector spec.color=blue -o name"),
            "widget.golden.example.com/two\n"
        );
        let said = kubectl.refused("get widgets --field-selector spec.note=x");
        assert!(said.contains("field label not supported: spec.note"), "{said}");
        for version in columns["spec"]["versions"].as_array().unwrap() {
            let name = version["name"].as_str().unwrap();
            if version["served"] == true {
                let one = kubectl.json(&format!("get widgets.{name}.golden.example.com one"));
                assert_eq!(one["apiVersion"], format!("golden.example.com/{name}"));
            }
        }
    });
}

#[test]
fn server_side_apply_knows_the_lists_of_a_custom_kind() {
    with_each(|kubectl| {
        define(kubectl);
        let with_ports = |ports: serde_json::Value| {
            json!({
                "apiVersion": "golden.example.com/v1", "kind": "Widget", "metadata": {"name": "one"},
                "spec": {"ports": ports},
            })
            .to_string()
        };
        let mine = with_ports(json!([{"port": 80, "name": "http"}]));
        let theirs = with_ports(json!([{"port": 443, "name": "https"}]));
        kubectl.run_with("apply --server-side -f - --field-manager=me", &mine);
        kubectl.run_with("apply --server-side -f - --field-manager=them", &theirs);
        let ports = kubectl.run("get widget one -o jsonpath={.spec.ports[*].port}");
        assert_eq!(ports, "80 443", "each keeps its own");
        let said = kubectl.refused_with(
            "apply --server-side -f - --field-manager=them",
            &mine.replace("\"http\"", "\"web\""),
        );
        assert!(said.contains("conflict with \"me\": .spec.ports[port=80,protocol=\"TCP\"].name"), "{said}");
        kubectl.run_with("apply --server-side -f - --field-manager=me", &with_ports(json!([])));
        assert_eq!(kubectl.run("get widget one -o jsonpath={.spec.ports[*].port}"), "443");
    });
}

#[test]
fn rules_of_a_definition_are_told_when_they_are_broken() {
    with_each(|kubectl| {
        kubectl.run_with("create -f -", include_str!("../fixtures/gauges.json"));
        kubectl.run("wait --for=condition=Established crd/gauges.rules.example.com --timeout=10s");
        let gauge = |low: u32, count: u32| {
            json!({
                "apiVersion": "rules.example.com/v1", "kind": "Gauge", "metadata": {"name": "one"},
                "spec": {"low": low, "high": 10, "count": count},
            })
            .to_string()
        };
        let said = kubectl.refused_with("create -f -", &gauge(11, 0));
        assert!(said.contains("spec: Invalid value") && said.contains("low is 11, above high"), "{said}");
        kubectl.run_with("apply -f -", &gauge(1, 5));
        let said = kubectl.refused_with("apply -f -", &gauge(1, 4));
        assert!(said.contains("spec.count: Forbidden: a count never falls"), "{said}");
        let said = kubectl.refused("patch gauge one --type=merge -p '{\"spec\":{\"low\":12,\"count\":1}}'");
        assert!(said.contains("above high") && said.contains("never falls"), "both are told at once: {said}");
        let said = kubectl.refused_with("apply --server-side --force-conflicts -f -", &gauge(12, 5));
        assert!(said.contains("above high"), "{said}");
        kubectl.run_with("apply -f -", &gauge(10, 6));
    });
}

#[test]
fn a_kind_that_nobody_has_defined_is_said_to_be_missing() {
    with_each(|kubectl| {
        for verb in ["create", "apply", "apply --server-side", "delete"] {
            let said = kubectl.refused_with(&format!("{verb} -f -"), &widget("one", "red"));
            assert!(
                said.contains("no matches for kind \"Widget\" in version \"golden.example.com/v1\"")
                    && said.contains("ensure CRDs are installed first"),
                "{verb}: {said}"
            );
        }
    });
}
