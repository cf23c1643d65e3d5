//! delete: namespaces with what is in them, owners with or without what they own, finalizers.

use serde_json::{Value, json};

use crate::program::{Kubectl, with_each};

#[test]
fn a_namespace_goes_with_all_that_is_in_it() {
    with_each(|kubectl| {
        kubectl.run("create namespace shop");
        kubectl.run("-n shop create configmap menu");
        kubectl.run("-n shop create secret generic till");
        kubectl.run("-n shop create role reader --verb=get --resource=secrets");
        kubectl.run("delete namespace shop --timeout=30s");
        assert!(kubectl.refused("get namespace shop").contains("NotFound"));
        kubectl.run("create namespace shop");
        for kind in ["configmaps", "secrets", "roles"] {
            let own = "--field-selector metadata.name!=kube-root-ca.crt";
            let found = kubectl.run(&format!("-n shop get {kind} {own} -o name"));
            assert_eq!(found, "", "the new one starts empty");
        }
        assert!(kubectl.refused("delete namespace default").contains("this namespace may not be deleted"));
    });
}

#[test]
fn a_namespace_waits_for_what_holds_on() {
    with_each(|kubectl| {
        kubectl.run("create namespace shop");
        kubectl.run_with("create -f -", &map("held", "shop", &[], &["example.com/hold"]).to_string());
        kubectl.run("delete namespace shop --wait=false");
        kubectl.until("get namespace shop -o jsonpath={.status.phase}", |phase| phase == "Terminating");
        let said = kubectl.refused("-n shop create configmap late");
        assert!(
            said.contains(
                "forbidden: unable to create new content in namespace shop because it is being terminated"
            ),
            "{said}"
        );
        kubectl.until("get namespace shop -o yaml", |yaml| yaml.contains("NamespaceFinalizersRemaining"));
        kubectl.run("-n shop patch configmap held --type=merge -p '{\"metadata\":{\"finalizers\":null}}'");
        kubectl.run("wait --for=delete namespace/shop --timeout=30s");
        assert!(kubectl.refused("get namespace shop").contains("NotFound"));
    });
}

#[test]
fn an_object_with_finalizers_stays_until_the_last_is_gone() {
    with_each(|kubectl| {
        kubectl.run_with(
            "create -f -",
            &map("held", "default", &[], &["example.com/a", "example.com/b"]).to_string(),
        );
        kubectl.run("delete configmap held --wait=false");
        let held = kubectl.json("get configmap held");
        assert!(held["metadata"]["deletionTimestamp"].is_string(), "{held}");
        let added = "[{\"op\":\"add\",\"path\":\"/metadata/finalizers/-\",\"value\":\"example.com/c\"}]";
        let said = kubectl.refused(&format!("patch configmap held --type=json -p '{added}'"));
        assert!(said.contains("no new finalizers can be added if the object is being deleted"), "{said}");
        for _ in 0..2 {
            kubectl.run("patch configmap held --type=json -p '[{\"op\":\"remove\",\"path\":\"/metadata/finalizers/0\"}]'");
        }
        assert!(kubectl.refused("get configmap held").contains("NotFound"));
    });
}

#[test]
fn what_is_owned_goes_after_its_owner() {
    with_each(|kubectl| {
        family(kubectl, "one");
        kubectl.run("delete configmap one-parent --cascade=background");
        gone(kubectl, "one-child");
        gone(kubectl, "one-grandchild");
        let shared = kubectl.run("get configmap one-shared -o jsonpath={.metadata.ownerReferences[*].name}");
        assert_eq!(shared, "one-other", "who has another owner stays");
    });
}

#[test]
fn what_is_owned_goes_before_its_owner() {
    with_each(|kubectl| {
        family(kubectl, "two");
        kubectl.run("patch configmap two-child --type=merge -p '{\"metadata\":{\"finalizers\":[\"example.com/hold\"]}}'");
        kubectl.run("delete configmap two-parent --cascade=foreground --wait=false");
        kubectl.until("get configmap two-child -o yaml", |yaml| yaml.contains("deletionTimestamp"));
        let parent = kubectl.json("get configmap two-parent");
        assert_eq!(parent["metadata"]["finalizers"], json!(["foregroundDeletion"]), "it waits for its child");
        kubectl.run("patch configmap two-child --type=merge -p '{\"metadata\":{\"finalizers\":null}}'");
        gone(kubectl, "two-parent");
        gone(kubectl, "two-child");
    });
}

#[test]
fn orphans_are_left_without_their_owner() {
    with_each(|kubectl| {
        family(kubectl, "three");
        kubectl.run("delete configmap three-parent --cascade=orphan");
        gone(kubectl, "three-parent");
        let child = kubectl.json("get configmap three-child");
        assert_eq!(child["metadata"]["ownerReferences"], Value::Null, "{child}");
        kubectl.run("get configmap three-grandchild");
    });
}

#[test]
fn who_names_an_owner_that_never_was_is_collected() {
    with_each(|kubectl| {
        let ghost = ("ghost", "11111111-2222-3333-4444-555555555555");
        kubectl.run_with("create -f -", &map("lost", "default", &[ghost], &[]).to_string());
        gone(kubectl, "lost");
    });
}

/// A parent, its child and grandchild, and one that the parent shares with another.
fn family(kubectl: &Kubectl, name: &str) {
    let make = |role: &str, owners: &[&str]| {
        let owners: Vec<(String, String)> = owners
            .iter()
            .map(|owner| format!("{name}-{owner}"))
            .map(|owner| {
                (owner.clone(), kubectl.run(&format!("get configmap {owner} -o jsonpath={{.metadata.uid}}")))
            })
            .collect();
        let owners: Vec<(&str, &str)> =
            owners.iter().map(|(name, uid)| (name.as_str(), uid.as_str())).collect();
        kubectl.run_with("create -f -", &map(&format!("{name}-{role}"), "default", &owners, &[]).to_string());
    };
    make("parent", &[]);
    make("other", &[]);
    make("child", &["parent"]);
    make("grandchild", &["child"]);
    make("shared", &["parent", "other"]);
}

fn map(name: &str, namespace: &str, owners: &[(&str, &str)], finalizers: &[&str]) -> Value {
    let owners: Vec<Value> = owners
        .iter()
        .map(|(name, uid)| json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "blockOwnerDeletion": true}))
        .collect();
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "ownerReferences": owners, "finalizers": finalizers},
    })
}

fn gone(kubectl: &Kubectl, name: &str) {
    kubectl.until(&format!("get configmap {name} --ignore-not-found -o name"), str::is_empty);
}
