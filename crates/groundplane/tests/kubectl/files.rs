//! Files and folders as people keep them, and requests made by hand.

use serde_json::{Value, json};

use crate::program::with_each;

#[test]
fn a_folder_is_applied_with_its_customizations() {
    with_each(|kubectl| {
        let folder = kubectl.server.data().with_file_name("kitchen");
        std::fs::create_dir_all(&folder).unwrap();
        let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: menu}\ndata: {soup: leek}\n";
        std::fs::write(folder.join("menu.yaml"), map).unwrap();
        let customization = "namePrefix: spring-\nlabels: [{pairs: {season: spring}}]\nresources: [menu.yaml]\nsecretGenerator: [{name: till, literals: [pin=1234]}]\n";
        std::fs::write(folder.join("kustomization.yaml"), customization).unwrap();
        let said = kubectl.run(&format!("apply -k {}", folder.display()));
        assert!(
            said.contains("configmap/spring-menu created") && said.contains("secret/spring-till-"),
            "{said}"
        );
        assert_eq!(kubectl.run("get configmaps,secrets -l season=spring -o name").lines().count(), 2);
        let said = kubectl.run(&format!("apply -k {} --server-side", folder.display()));
        assert!(said.contains("configmap/spring-menu serverside-applied"), "{said}");
        assert_eq!(kubectl.run(&format!("delete -k {}", folder.display())).lines().count(), 2);
    });
}

#[test]
fn what_was_last_applied_is_kept_and_changed() {
    with_each(|kubectl| {
        kubectl.run("create configmap menu --from-literal=soup=leek --save-config");
        let last = kubectl.run("apply view-last-applied configmap menu -o json");
        assert_eq!(serde_json::from_str::<Value>(&last).unwrap()["data"], json!({"soup": "leek"}));
        let menu = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: menu}\ndata: {main: pie}\n";
        assert_eq!(kubectl.run_with("apply set-last-applied -f -", menu), "configmap/menu configured\n");
        kubectl.run_with("apply -f -", menu);
        assert_eq!(
            kubectl.json("get configmap menu")["data"],
            json!({"main": "pie", "soup": "leek"}),
            "soup is nobody's"
        );
    });
}

#[test]
fn requests_are_made_by_hand() {
    with_each(|kubectl| {
        let maps = "/api/v1/namespaces/default/configmaps";
        let menu = json!({"metadata": {"name": "menu"}, "data": {"soup": "leek"}});
        let made: Value =
            serde_json::from_str(&kubectl.run_with(&format!("create --raw {maps} -f -"), &menu.to_string()))
                .unwrap();
        assert_eq!(made["kind"], "ConfigMap");
        let changed = json!({"metadata": {"name": "menu"}, "data": {"soup": "pea"}});
        kubectl.run_with(&format!("replace --raw {maps}/menu -f -"), &changed.to_string());
        let listed: Value =
            serde_json::from_str(&kubectl.run(&format!("get --raw {maps}?fieldSelector=metadata.name=menu")))
                .unwrap();
        assert_eq!(listed["items"][0]["data"]["soup"], "pea");
        let gone: Value = serde_json::from_str(&kubectl.run(&format!("delete --raw {maps}/menu"))).unwrap();
        assert_eq!((&gone["kind"], &gone["status"]), (&json!("Status"), &json!("Success")));
        for path in
            ["/", "/apis", "/api/v1", "/openapi/v2", "/openapi/v3", "/version", "/livez?verbose", "/metrics"]
        {
            assert!(!kubectl.run(&format!("get --raw {path}")).is_empty(), "{path}");
        }
        assert!(kubectl.refused("get --raw /nosuch").contains("NotFound"));
    });
}
