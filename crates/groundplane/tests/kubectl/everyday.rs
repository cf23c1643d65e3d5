//! Make, look, change, remove: the core kinds through the everyday verbs.

use serde_json::json;

use crate::program::with_each;

#[test]
fn namespaces_config_maps_and_secrets_are_made_looked_at_changed_and_removed() {
    with_each(|kubectl| {
        assert_eq!(kubectl.run("create namespace shop"), "namespace/shop created\n");
        assert!(
            kubectl
                .refused("create namespace shop")
                .contains("Error from server (AlreadyExists): namespaces \"shop\" already exists")
        );
        assert_eq!(
            kubectl.run("-n shop create configmap menu --from-literal=soup=leek --from-literal=main=pie"),
            "configmap/menu created\n"
        );
        assert_eq!(
            kubectl.run("-n shop create secret generic till --from-literal=pin=1234"),
            "secret/till created\n"
        );
        assert_eq!(kubectl.run("-n shop create serviceaccount waiter"), "serviceaccount/waiter created\n");

        let table = kubectl.run("-n shop get configmaps,secrets,serviceaccounts");
        for line in ["configmap/menu", "secret/till   Opaque", "serviceaccount/waiter"] {
            assert!(table.contains(line), "{line} in {table}");
        }
        let table = kubectl.run("-n shop get configmap menu");
        let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0], ["NAME", "DATA", "AGE"]);
        assert_eq!(lines[1][..2], ["menu", "2"]);
        assert!(kubectl.run("get namespaces -o wide").contains("shop"));
        assert_eq!(kubectl.run("-n shop get configmap menu -o name"), "configmap/menu\n");
        assert_eq!(kubectl.run("-n shop get secret till -o jsonpath={.data.pin}"), "MTIzNA==");
        assert_eq!(
            kubectl.run(
                "-n shop get cm --field-selector metadata.name=menu -o 'go-template={{range .items}}{{.metadata.name}} {{end}}'"
            ),
            "menu "
        );
        assert_eq!(
            kubectl.run("-n shop get cm menu -o custom-columns=SOUP:.data.soup --no-headers"),
            "leek\n"
        );
        let yaml = kubectl.run("-n shop get configmap menu -o yaml");
        assert!(yaml.contains("\nkind: ConfigMap\n") && yaml.contains("\n  soup: leek\n"), "{yaml}");
        assert!(!yaml.contains("managedFields"), "{yaml}");
        let whole = kubectl.json("-n shop get configmap menu --show-managed-fields");
        assert_eq!(whole["metadata"]["managedFields"][0]["manager"], "kubectl-create");

        kubectl.run("-n shop label configmap menu day=monday");
        assert!(
            kubectl
                .refused("-n shop label configmap menu day=tuesday")
                .contains("already has a value (monday)")
        );
        kubectl.run("-n shop label configmap menu day=tuesday --overwrite");
        kubectl.run("-n shop annotate configmap menu 'note=ask the cook'");
        kubectl.run("-n shop patch configmap menu -p '{\"data\":{\"soup\":\"pea\"}}'");
        kubectl.run("-n shop patch configmap menu --type=merge -p '{\"data\":{\"main\":null}}'");
        kubectl.run("-n shop patch configmap menu --type=json -p '[{\"op\":\"add\",\"path\":\"/data/sweet\",\"value\":\"plum\"}]'");
        let changed = kubectl.json("-n shop get configmap menu");
        assert_eq!(changed["data"], json!({"soup": "pea", "sweet": "plum"}));
        assert_eq!(changed["metadata"]["labels"], json!({"day": "tuesday"}));
        assert_eq!(changed["metadata"]["annotations"]["note"], "ask the cook");
        assert_eq!(kubectl.run("-n shop label configmap menu day-"), "configmap/menu unlabeled\n");
        assert!(
            kubectl
                .refused("-n shop patch configmap menu -p '{\"data\":7}'")
                .contains("is invalid: patch: Invalid value")
        );

        let described = kubectl.run("-n shop describe configmap menu");
        assert!(described.contains("sweet:") && described.contains("plum"), "{described}");
        assert!(!kubectl.run("-n shop describe secret till").contains("1234"));
        assert!(kubectl.run("-n shop delete configmap menu").starts_with("configmap \"menu\" deleted"));
        assert!(
            kubectl
                .refused("-n shop get configmap menu")
                .contains("Error from server (NotFound): configmaps \"menu\" not found")
        );
        assert_eq!(kubectl.run("-n shop delete configmap menu --ignore-not-found"), "");
        assert!(
            kubectl.refused("-n nowhere create configmap x").contains("namespaces \"nowhere\" not found")
        );
        assert!(
            kubectl.refused("-n shop create configmap Wrong_Name").contains("a lowercase RFC 1123 subdomain")
        );
    });
}

#[test]
fn edit_saves_what_the_editor_leaves() {
    with_each(|kubectl| {
        kubectl.run("create configmap edited --from-literal=a=before");
        let home = kubectl.server.data().with_file_name("home");
        std::fs::create_dir_all(&home).unwrap();
        let editor = home.join("editor");
        std::fs::write(&editor, "#!/bin/sh\nsed -i s/before/after/ \"$1\"\n").unwrap();
        let mode = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
        std::fs::set_permissions(&editor, mode).unwrap();
        let said = kubectl.run_as_editor(&editor, "edit configmap edited");
        assert_eq!(said, "configmap/edited edited\n");
        assert_eq!(kubectl.run("get configmap edited -o jsonpath={.data.a}"), "after");
        let replaced = kubectl.run("get configmap edited -o yaml").replace("after", "replaced");
        assert_eq!(kubectl.run_with("replace -f -", &replaced), "configmap/edited replaced\n");
        // Somebody else was faster: the version in hand is an old one.
        let said = kubectl.refused_with("replace -f -", &replaced.replace("replaced", "late"));
        assert!(said.contains("Error from server (Conflict)"), "{said}");
        assert!(said.contains(
            "the object has been modified; please apply your changes to the latest version and try again"
        ));
    });
}

#[test]
fn selectors_choose_by_label_and_field() {
    with_each(|kubectl| {
        for (name, tier) in [("a", "front"), ("b", "back"), ("c", "back")] {
            kubectl.run(&format!("create configmap {name}"));
            kubectl.run(&format!("label configmap {name} tier={tier}"));
        }
        kubectl.run("create secret generic plain --from-literal=a=b");
        let names = |line: &str| kubectl.run(&format!("get {line} -o jsonpath={{.items[*].metadata.name}}"));
        assert_eq!(names("cm -l tier=back"), "b c");
        assert_eq!(names("cm -l 'tier in (front,side)'"), "a");
        assert_eq!(names("cm -l tier,tier!=back"), "a");
        // What every namespace has is there sooner or later.
        kubectl.run("wait --for=create configmap/kube-root-ca.crt --timeout=30s");
        assert_eq!(names("cm -l '!tier'"), "kube-root-ca.crt");
        assert_eq!(names("cm --field-selector metadata.name=b"), "b");
        assert_eq!(
            names("cm --field-selector metadata.name!=b,metadata.namespace=default"),
            "a c kube-root-ca.crt"
        );
        assert_eq!(names("secrets --field-selector type=Opaque"), "plain");
        let from_the_start = "default groundplane-sealed groundplane-sources kube-node-lease kube-public kube-system milo-system";
        assert_eq!(names("ns --field-selector status.phase=Active"), from_the_start);
        assert!(kubectl.refused("get cm --field-selector data.x=1").contains(
            "\"data.x\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
        ));
        assert!(kubectl.refused("get cm -l 'a in b'").contains("unable to parse requirement"));
        let columns = kubectl.run("get cm -L tier --show-labels --sort-by=.metadata.labels.tier");
        assert!(columns.lines().next().unwrap().contains("TIER"), "{columns}");
        assert!(columns.lines().any(|line| line.starts_with('b')), "{columns}");
        assert_eq!(kubectl.run("delete cm -l tier=back").lines().count(), 2);
        assert_eq!(names("cm"), "a kube-root-ca.crt");
        // Pages of two make the same whole.
        for number in 0..5 {
            kubectl.run(&format!("create configmap page-{number}"));
        }
        assert_eq!(kubectl.run("get cm -o name --chunk-size=2").lines().count(), 7);
    });
}

#[test]
fn a_dry_run_on_the_server_says_all_and_does_nothing() {
    with_each(|kubectl| {
        let would = kubectl.json("create configmap dry --from-literal=a=b --dry-run=server");
        assert!(would["metadata"]["uid"].is_string(), "{would}");
        assert!(kubectl.refused("get configmap dry").contains("NotFound"));
        assert!(kubectl.refused("create configmap UPPER --dry-run=server").contains("RFC 1123"));
        kubectl.run("create configmap wet --from-literal=a=b");
        kubectl.run("label configmap wet a=b --dry-run=server");
        kubectl.run("patch configmap wet -p '{\"data\":{\"a\":\"c\"}}' --dry-run=server");
        kubectl.run("delete configmap wet --dry-run=server");
        let wet = kubectl.json("get configmap wet");
        assert_eq!((&wet["data"]["a"], &wet["metadata"]["labels"]), (&json!("b"), &json!(null)));
    });
}

#[test]
fn the_server_is_found_as_a_cluster_is() {
    with_each(|kubectl| {
        assert!(kubectl.run("cluster-info").contains("control plane"));
        let all = kubectl.run("get all -o name");
        assert_eq!(all, "service/kubernetes\n");
        let service = kubectl.json("get service kubernetes");
        let slice = kubectl.json("get endpointslice kubernetes");
        assert_eq!(slice["ports"][0]["port"], service["spec"]["ports"][0]["port"]);
        assert_eq!(slice["endpoints"][0]["addresses"][0], service["spec"]["clusterIP"]);
        kubectl.run("create namespace fresh");
        kubectl.run(
            "wait --for=create serviceaccount/default configmap/kube-root-ca.crt -n fresh --timeout=30s",
        );
        let published = kubectl.json("get configmap kube-root-ca.crt -n fresh");
        assert!(published["data"]["ca.crt"].as_str().unwrap().starts_with("-----BEGIN CERTIFICATE-----"));
        assert!(kubectl.refused("delete service kubernetes").contains("method"));
        assert!(kubectl.refused("create service clusterip mine --tcp=80").contains("method"));
        kubectl.run("delete namespace fresh");
    });
}

#[test]
fn what_can_be_asked_for_is_listed() {
    with_each(|kubectl| {
        let resources = kubectl.run("api-resources -o wide");
        for line in ["configmaps", "customresourcedefinitions", "leases", "rolebindings"] {
            assert!(resources.contains(line), "{line} in {resources}");
        }
        assert!(kubectl.run("api-resources --namespaced=false -o name").contains("namespaces\n"));
        assert!(kubectl.run("api-versions").lines().any(|line| line == "rbac.authorization.k8s.io/v1"));
        assert!(kubectl.run("version").contains("Server Version: v1."));
        assert_eq!(kubectl.run("get --raw /readyz"), "ok");
        assert!(
            kubectl
                .refused("get nosuchthings")
                .contains("the server doesn't have a resource type \"nosuchthings\"")
        );
    });
}

#[test]
fn events_and_leases_are_objects_like_others() {
    with_each(|kubectl| {
        let event = json!({
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e.1", "namespace": "default"},
            "involvedObject": {"kind": "ConfigMap", "namespace": "default", "name": "menu", "apiVersion": "v1"},
            "reason": "Burnt", "message": "the pie is burnt", "type": "Warning", "count": 2,
            "firstTimestamp": "2026-01-02T03:04:05Z", "lastTimestamp": "2026-01-02T03:05:05Z", "source": {"component": "oven"},
        });
        kubectl.run_with("create -f -", &event.to_string());
        for line in ["get events", "get events.events.k8s.io", "events"] {
            let listed = kubectl.run(line);
            assert!(listed.contains("Burnt") && listed.contains("the pie is burnt"), "{line}: {listed}");
        }
        assert_eq!(
            kubectl.run("get events --field-selector reason=Burnt,type=Warning -o name"),
            "event/e.1\n"
        );
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "oven"},
            "spec": {"holderIdentity": "cook-1", "leaseDurationSeconds": 15, "renewTime": "2026-01-02T03:04:05.123456Z"},
        });
        kubectl.run_with("create -f -", &lease.to_string());
        assert!(kubectl.run("get leases").contains("cook-1"));
        assert_eq!(
            kubectl.run("get lease oven -o jsonpath={.spec.renewTime}"),
            "2026-01-02T03:04:05.123456Z"
        );
    });
}
