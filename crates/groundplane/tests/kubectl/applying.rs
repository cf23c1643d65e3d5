//! apply, by the client and by the server.

use serde_json::json;

use crate::program::with_each;

const MENU: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: menu\n  labels: {day: monday}\ndata:\n  soup: leek\n  main: pie\n";

#[test]
fn apply_makes_changes_and_removes_what_is_no_longer_there() {
    with_each(|kubectl| {
        assert_eq!(kubectl.run_with("apply -f -", MENU), "configmap/menu created\n");
        assert_eq!(kubectl.run_with("apply -f -", MENU), "configmap/menu unchanged\n");
        let version = kubectl.run("get configmap menu -o jsonpath={.metadata.resourceVersion}");
        assert_eq!(kubectl.run_with("diff -f -", MENU), "");
        kubectl.run("annotate configmap menu by=hand");
        let changed = MENU.replace("  main: pie\n", "  sweet: plum\n");
        let shown = kubectl.refused_with("diff -f -", &changed);
        assert!(shown.contains("-  main: pie") && shown.contains("+  sweet: plum"), "{shown}");
        assert_eq!(kubectl.run_with("apply -f -", &changed), "configmap/menu configured\n");
        let menu = kubectl.json("get configmap menu");
        assert_eq!(menu["data"], json!({"soup": "leek", "sweet": "plum"}));
        assert_eq!(menu["metadata"]["annotations"]["by"], "hand", "what others set stays");
        assert_ne!(menu["metadata"]["resourceVersion"], json!(version));
        assert!(kubectl.run("apply view-last-applied configmap menu").contains("sweet: plum"));

        let many = format!(
            "{MENU}---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: shop}}\n---\n{}",
            MENU.replace("name: menu", "name: menu\n  namespace: shop")
        );
        let said = kubectl.run_with("apply -f -", &many);
        assert_eq!(said.lines().count(), 3, "{said}");
        // The last one may have gone with its namespace by then.
        let said = kubectl.run_with("delete -f - --wait=false --ignore-not-found", &many);
        assert!(said.contains("\"menu\" deleted") && said.contains("namespace \"shop\" deleted"), "{said}");
    });
}

#[test]
fn apply_on_the_server_tells_whose_a_field_is() {
    with_each(|kubectl| {
        let apply = "apply --server-side -f -";
        assert_eq!(kubectl.run_with(apply, MENU), "configmap/menu serverside-applied\n");
        kubectl.run_with(apply, MENU);
        let theirs = MENU.replace("leek", "pea");
        let said = kubectl.refused_with(&format!("{apply} --field-manager=cook"), &theirs);
        assert!(
            said.contains("Apply failed with 1 conflict: conflict with \"kubectl\": .data.soup"),
            "{said}"
        );
        assert_eq!(kubectl.run("get configmap menu -o jsonpath={.data.soup}"), "leek");
        kubectl.run_with(&format!("{apply} --field-manager=cook --force-conflicts"), &theirs);
        assert_eq!(kubectl.run("get configmap menu -o jsonpath={.data.soup}"), "pea");
        let said = kubectl.refused_with(apply, MENU);
        assert!(said.contains("conflict with \"cook\""), "{said}");

        // What a manager no longer names goes, unless another has it too.
        let less = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: menu}\ndata: {soup: pea}\n";
        kubectl.run_with(&format!("{apply} --field-manager=cook"), less);
        assert_eq!(kubectl.json("get configmap menu")["data"], json!({"soup": "pea", "main": "pie"}));
        kubectl.run_with(apply, less);
        assert_eq!(kubectl.json("get configmap menu")["data"], json!({"soup": "pea"}));
        let managers = kubectl.json("get configmap menu --show-managed-fields");
        let mut names: Vec<_> = managers["metadata"]["managedFields"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| (entry["manager"].as_str().unwrap(), entry["operation"].as_str().unwrap()))
            .collect();
        names.sort_unstable();
        assert_eq!(names, [("cook", "Apply"), ("kubectl", "Apply")]);
        let would = kubectl.run_with(&format!("{apply} --dry-run=server"), less);
        assert_eq!(would, "configmap/menu serverside-applied (server dry run)\n");
    });
}

#[test]
fn what_was_applied_by_the_client_can_be_applied_by_the_server() {
    with_each(|kubectl| {
        kubectl.run_with("apply -f -", MENU);
        let changed = MENU.replace("leek", "pea").replace("  main: pie\n", "");
        assert_eq!(
            kubectl.run_with("apply --server-side -f -", &changed),
            "configmap/menu serverside-applied\n"
        );
        let menu = kubectl.json("get configmap menu");
        assert_eq!(
            menu["data"],
            json!({"soup": "pea"}),
            "fields of the former apply are taken over, and pruned"
        );
    });
}

#[test]
fn apply_prunes_what_is_no_longer_in_the_set() {
    with_each(|kubectl| {
        let of = |name: &str| MENU.replace("name: menu", &format!("name: {name}"));
        let prune = "apply --prune -l day=monday --prune-allowlist=core/v1/ConfigMap -f -";
        kubectl.run_with(prune, &format!("{}---\n{}", of("a"), of("b")));
        let said = kubectl.run_with(prune, &of("b"));
        assert!(said.contains("configmap/a pruned"), "{said}");
        assert_eq!(kubectl.run("get configmaps -l day=monday -o name"), "configmap/b\n");
    });
}
