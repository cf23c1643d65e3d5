//! A kind whose rules are in its definition, through every verb that a person types.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::program::{Kubectl, with_each};

const GAUGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/gauges.json");

fn define(kubectl: &Kubectl) {
    assert_eq!(
        kubectl.run(&format!("create -f {GAUGES}")),
        "customresourcedefinition.apiextensions.k8s.io/gauges.rules.example.com created\n"
    );
    kubectl.run("wait --for=condition=Established crd/gauges.rules.example.com --timeout=10s");
}

fn gauge(name: &str, low: u32, count: u32) -> String {
    json!({
        "apiVersion": "rules.example.com/v1", "kind": "Gauge", "metadata": {"name": name},
        "spec": {"low": low, "high": 10, "count": count},
    })
    .to_string()
}

/// A program that kubectl takes for an editor.
fn editor(kubectl: &Kubectl, name: &str, script: &str) -> std::path::PathBuf {
    let home = kubectl.server.data().with_file_name("home");
    std::fs::create_dir_all(&home).unwrap();
    let path = home.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn it_is_applied_compared_and_owned() {
    with_each(|kubectl| {
        define(kubectl);
        assert_eq!(
            kubectl.run_with("apply -f -", &gauge("one", 1, 5)),
            "gauge.rules.example.com/one created\n"
        );
        assert_eq!(
            kubectl.run_with("apply -f -", &gauge("one", 1, 5)),
            "gauge.rules.example.com/one unchanged\n"
        );
        assert_eq!(kubectl.run_with("diff -f -", &gauge("one", 1, 5)), "");
        let shown = kubectl.refused_with("diff -f -", &gauge("one", 2, 6));
        assert!(shown.contains("-  count: 5") && shown.contains("+  count: 6"), "{shown}");
        let shown = kubectl.refused_with("diff --server-side --force-conflicts -f -", &gauge("one", 3, 5));
        assert!(shown.contains("-  low: 1") && shown.contains("+  low: 3"), "{shown}");
        let shown = kubectl.refused_with("diff -f -", &gauge("one", 2, 1));
        assert!(shown.contains("a count never falls"), "what would be refused is said beforehand: {shown}");
        assert_eq!(kubectl.run("get gauge one -o jsonpath={.spec.low}"), "1", "comparing changes nothing");
        let said = kubectl.refused_with("apply -f - --dry-run=server", &gauge("one", 11, 5));
        assert!(said.contains("low is 11, above high"), "{said}");

        let apply = "apply --server-side -f -";
        kubectl.run_with(&format!("{apply} --field-manager=ann"), &gauge("two", 1, 1));
        let said = kubectl.refused_with(&format!("{apply} --field-manager=bob"), &gauge("two", 2, 1));
        assert!(said.contains("conflict with \"ann\": .spec.low"), "{said}");
        let said = kubectl
            .refused_with(&format!("{apply} --field-manager=bob --force-conflicts"), &gauge("two", 12, 1));
        assert!(said.contains("low is 12, above high"), "force does not break rules: {said}");
        kubectl.run_with(&format!("{apply} --field-manager=bob --force-conflicts"), &gauge("two", 2, 1));
        assert_eq!(kubectl.run("get gauge two -o jsonpath={.spec.low}"), "2");
    });
}

#[test]
fn an_edit_that_breaks_a_rule_comes_back_with_what_is_wrong() {
    with_each(|kubectl| {
        define(kubectl);
        kubectl.run_with("create -f -", &gauge("one", 1, 5));
        let mends = editor(
            kubectl,
            "mends",
            "if grep -q 'low: 99' \"$1\"; then cp \"$1\" \"$HOME/second\"; sed -i 's/low: 99/low: 3/' \"$1\"\nelse sed -i 's/low: 1$/low: 99/' \"$1\"; fi",
        );
        assert_eq!(kubectl.run_as_editor(&mends, "edit gauge one"), "gauge.rules.example.com/one edited\n");
        assert_eq!(kubectl.run("get gauge one -o jsonpath={.spec.low}"), "3");
        let second = std::fs::read_to_string(mends.with_file_name("second")).unwrap();
        assert!(second.contains("# ") && second.contains("above high"), "{second}");
        let leaves = editor(kubectl, "leaves", "true");
        let said = kubectl.run_as_editor(&leaves, "edit gauge one");
        assert!(said.contains("no changes") || said.is_empty(), "{said}");
    });
}

#[test]
fn it_is_explained_labelled_patched_and_asked_for() {
    with_each(|kubectl| {
        define(kubectl);
        let explained = kubectl.until("explain gauge.spec --recursive", |said| said.contains("count"));
        assert!(explained.contains("VERSION:    v1") && explained.contains("-required-"), "{explained}");
        kubectl.run("explain gauges --api-version=rules.example.com/v1");
        let listed = kubectl.run("api-resources --api-group=rules.example.com -o wide");
        for word in ["gauges", "Gauge", "deletecollection", "patch", "watch"] {
            assert!(listed.contains(word), "{word} in {listed}");
        }
        kubectl.run_with("create -f -", &gauge("one", 1, 5));
        kubectl.run("label gauge one site=a");
        kubectl.run("annotate gauge one note=b");
        kubectl.run("patch gauge one --type=json -p '[{\"op\":\"test\",\"path\":\"/spec/low\",\"value\":1},{\"op\":\"replace\",\"path\":\"/spec/low\",\"value\":2}]'");
        let said = kubectl.refused(
            "patch gauge one --type=json -p '[{\"op\":\"test\",\"path\":\"/spec/low\",\"value\":1}]'",
        );
        assert!(said.contains("the server rejected our request"), "{said}");
        let said = kubectl.refused(
            "patch gauge one --type=json -p '[{\"op\":\"replace\",\"path\":\"/spec/count\",\"value\":0}]'",
        );
        assert!(said.contains("a count never falls"), "{said}");
        assert_eq!(kubectl.run("get gauges -l site=a -o jsonpath={.items[*].spec.low}"), "2");
        assert!(kubectl.refused("scale gauge one --replicas=3").contains("NotFound"), "it has no scale");
        let raw: serde_json::Value = serde_json::from_str(
            &kubectl.run("get --raw /apis/rules.example.com/v1/namespaces/default/gauges/one"),
        )
        .unwrap();
        assert_eq!(raw["metadata"]["annotations"]["note"], "b");

        kubectl.run("create serviceaccount reader");
        let reader = "--as=system:serviceaccount:default:reader";
        assert!(kubectl.refused(&format!("auth can-i get gauges {reader}")).starts_with("no"));
        kubectl.run("create role gauges --verb=get,list,watch --resource=gauges.rules.example.com");
        kubectl.run("create rolebinding gauges --role=gauges --serviceaccount=default:reader");
        assert_eq!(kubectl.run(&format!("auth can-i get gauges.rules.example.com {reader}")), "yes\n");
        assert!(kubectl.refused(&format!("auth can-i delete gauges/one {reader}")).starts_with("no"));
        assert!(kubectl.run(&format!("auth can-i --list {reader}")).contains("gauges.rules.example.com"));
        assert_eq!(kubectl.run("auth can-i get /metrics"), "yes\n");
        assert!(kubectl.refused(&format!("delete gauge one {reader}")).contains("Forbidden"));
    });
}

#[test]
fn it_is_followed_replaced_and_removed() {
    with_each(|kubectl| {
        define(kubectl);
        kubectl.run_with("create -f -", &gauge("one", 1, 5));
        let watching = kubectl
            .start("get gauges -w --output-watch-events -o jsonpath={.type}:{.object.spec.count}{\"\\n\"}");
        let so_far = watching.until(|said| said.contains("ADDED:5"));
        assert_eq!(so_far, "ADDED:5\n");
        let waiting = kubectl.start("wait gauge/one --for=jsonpath={.spec.count}=7 --timeout=20s");
        kubectl.run_with("replace -f -", &gauge("one", 1, 6));
        kubectl.run("patch gauge one --type=merge -p '{\"spec\":{\"count\":7}}'");
        assert_eq!(waiting.end(), "gauge.rules.example.com/one condition met\n");
        let said = kubectl.refused_with("replace -f -", &gauge("one", 1, 6));
        assert!(said.contains("a count never falls"), "{said}");
        // Made anew, it may begin anywhere.
        kubectl.run_with("replace --force -f -", &gauge("one", 1, 0));
        let told = watching.until(|said| said.contains("ADDED:0"));
        assert_eq!(told, "ADDED:5\nMODIFIED:6\nMODIFIED:7\nDELETED:7\nADDED:0\n");
        kubectl.run_with("create -f -", &gauge("two", 1, 1));
        let gone = kubectl.start("wait gauge --all --for=delete --timeout=20s");
        let said = kubectl.run("delete gauges --all --cascade=foreground");
        assert_eq!(said.lines().count(), 2, "{said}");
        gone.end();
        assert_eq!(kubectl.run("get gauges -o name"), "");
        kubectl.run(&format!("delete -f {GAUGES} --timeout=20s"));
        assert!(kubectl.refused("get crd gauges.rules.example.com").contains("NotFound"));
    });
}
