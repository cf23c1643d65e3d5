//! What may not be seen is told by nothing else: lists, pages, counts, watches, the past, referrers, refusals, plans, search,
//! activities, events, metrics.

use http::Method;
use serde_json::{Value, json};
use testbed::server::Client;

use super::iam::{IAM, Town, binding, made, on_kind, on_object};

const INVENTORY: &str = "/apis/inventory.miloapis.com/v1alpha1";
const GROUP: &str = "inventory.miloapis.com";
/// In the name of everything that is hidden.
const HIDDEN: &str = "zugspitze";

fn object(kind: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": "inventory.miloapis.com/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec})
}

/// A region with two sites and a namespace with two maps, of which Ann may see one each.
async fn town() -> Town {
    let town = Town::of(&["ann", "ben"], &[]).await;
    let admin = &town.admin;
    made(admin, &format!("{INVENTORY}/regions"), &object("Region", "eu", json!({"displayName": "EU"}))).await;
    for name in ["ams", HIDDEN] {
        let spec = json!({"displayName": name, "regionRef": {"name": "eu"}, "type": "Datacenter"});
        made(admin, &format!("{INVENTORY}/sites"), &object("Site", name, spec)).await;
        let map = json!({"metadata": {"name": name}, "data": {"k": "v"}});
        made(admin, "/api/v1/namespaces/default/configmaps", &map).await;
    }
    let roles = format!("{IAM}/namespaces/milo-system/roles");
    let spec = |permissions: &[&str]| json!({"launchStage": "Alpha", "includedPermissions": permissions});
    let keeper = [
        "inventory.miloapis.com/regions.get",
        "inventory.miloapis.com/regions.list",
        "inventory.miloapis.com/regions.delete",
        "inventory.miloapis.com/regions/referrers.get",
        "inventory.miloapis.com/regions/history.get",
    ];
    made(admin, &roles, &json!({"metadata": {"name": "keeper"}, "spec": spec(&keeper)})).await;
    let bindings = format!("{IAM}/namespaces/milo-system/policybindings");
    for who in ["ann", "ben"] {
        let all = on_kind(GROUP, "Region");
        made(admin, &bindings, &binding(&format!("{who}-regions"), "keeper", who, all)).await;
    }
    let viewer = format!("{GROUP}-viewer");
    made(admin, &bindings, &binding("ann-ams", &viewer, "ann", on_object(GROUP, "Site", "ams"))).await;
    let mut one = on_object("", "ConfigMap", "ams");
    one["resourceRef"]["namespace"] = "default".into();
    made(admin, &bindings, &binding("ann-map", "core.miloapis.com-viewer", "ann", one)).await;
    let looker =
        ["activity.miloapis.com/activityqueries.create", "activity.miloapis.com/eventqueries.create"];
    made(admin, &roles, &json!({"metadata": {"name": "looker"}, "spec": spec(&looker)})).await;
    for kind in ["ActivityQuery", "EventQuery"] {
        let all = on_kind("activity.miloapis.com", kind);
        made(admin, &bindings, &binding(&format!("ann-{}", kind.to_lowercase()), "looker", "ann", all)).await;
    }
    town
}

async fn told(client: &Client, path: &str) -> (u16, String) {
    let answer = client.get(path).await.unwrap();
    (answer.code, answer.text())
}

#[tokio::test]
async fn nothing_tells_of_what_may_not_be_seen() {
    let town = town().await;
    let ann = town.person("ann");
    let sites = format!("{INVENTORY}/sites");
    let seen = ann.get(&sites).await.unwrap().json();
    let now = format!("asOf={}", seen["metadata"]["resourceVersion"].as_str().unwrap());
    for path in [
        sites.clone(),
        format!("{sites}?limit=1"),
        format!("{sites}?{now}"),
        format!("{sites}?watch=1&timeoutSeconds=1"),
        format!("{sites}?fieldSelector=spec.regionRef.name%3Deu&limit=1"),
        "/api/v1/configmaps".to_owned(),
        "/api/v1/namespaces/default/configmaps?limit=1".to_owned(),
        "/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true".to_owned(),
        format!("{INVENTORY}/regions/eu"),
        format!("{INVENTORY}/regions/eu/history?diff=true"),
        format!("{INVENTORY}/regions/eu/referrers"),
        format!("/apis/groundplane.dev/v1alpha1/search?q={HIDDEN}").replace(HIDDEN, "zug"),
        "/apis/groundplane.dev/v1alpha1/search?q=spitze".to_owned(),
        "/apis/groundplane.dev/v1alpha1/search?q=a".to_owned(),
    ] {
        let (code, text) = told(&ann, &path).await;
        assert_eq!(code, 200, "{path}: {text}");
        assert!(!text.contains(HIDDEN), "{path}: {text}");
        assert!(!text.contains("remainingItemCount"), "{path}: {text}");
        if path.contains("limit=1") {
            let page: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(page["items"].as_array().unwrap().len(), 1, "{path}: {text}");
            assert!(page["metadata"]["continue"].as_str().unwrap_or_default().is_empty(), "{path}: {text}");
        }
    }
    // What is there and may not be seen is answered about as what is not there.
    for path in [
        format!("{INVENTORY}/sites/{HIDDEN}"),
        format!("{INVENTORY}/sites/{HIDDEN}?{now}"),
        format!("{INVENTORY}/sites/{HIDDEN}/history"),
        format!("{INVENTORY}/sites/{HIDDEN}/referrers"),
        format!("{INVENTORY}/sites/{HIDDEN}/status"),
        format!("/api/v1/namespaces/default/configmaps/{HIDDEN}"),
        format!("/api/v1/namespaces/default/configmaps/{HIDDEN}/history"),
    ] {
        let (there, absent) = (told(&ann, &path).await, told(&ann, &path.replace(HIDDEN, "no-such")).await);
        assert_eq!((there.0, absent.0), (404, 404), "{path}: {}", there.1);
        assert_eq!(there.1.replace(HIDDEN, "no-such"), absent.1, "{path}");
    }
    for method in [Method::DELETE, Method::PUT] {
        let body = json!({}).to_string();
        let path = format!("{INVENTORY}/sites/{HIDDEN}");
        let there = ann.send(method.clone(), &path, "application/json", body.clone()).await.unwrap();
        let absent = path.replace(HIDDEN, "no-such");
        let absent = ann.send(method.clone(), &absent, "application/json", body).await.unwrap();
        assert_eq!(there.code, absent.code, "{method}: {}", there.text());
        assert_eq!(there.text().replace(HIDDEN, "no-such"), absent.text());
    }
    let metrics = told(&town.admin, "/metrics").await.1;
    assert!(!metrics.contains(HIDDEN) && !metrics.contains("ann"));
    assert_eq!(told(&ann, "/metrics").await.0, 403);
}

#[tokio::test]
async fn who_refers_is_told_to_those_who_may_see_them() {
    let town = town().await;
    let (ann, ben) = (town.person("ann"), town.person("ben"));
    let region = format!("{INVENTORY}/regions/eu");
    let list = ann.get(&format!("{region}/referrers")).await.unwrap().json();
    let names: Vec<&str> =
        list["items"].as_array().unwrap().iter().filter_map(|item| item["name"].as_str()).collect();
    assert_eq!((names, &list["incomplete"]), (vec!["ams"], &json!(true)));
    let list = ben.get(&format!("{region}/referrers")).await.unwrap().json();
    assert_eq!((list["items"].as_array().unwrap().len(), &list["incomplete"]), (0, &json!(true)));
    let whole = town.admin.get(&format!("{region}/referrers")).await.unwrap().json();
    assert_eq!((whole["items"].as_array().unwrap().len(), whole.get("incomplete")), (2, None));
    for (who, sees) in [(&ann, true), (&ben, false)] {
        let plan = json!({"spec": {"items": [{"operation": "delete", "object": object("Region", "eu", json!({}))}]}});
        let refused = [
            who.delete(&region).await.unwrap(),
            who.delete(&format!("{region}?dryRun=All")).await.unwrap(),
            who.post("/apis/groundplane.dev/v1alpha1/transactions?dryRun=All", &plan).await.unwrap(),
            who.post("/apis/groundplane.dev/v1alpha1/transactions", &plan).await.unwrap(),
        ];
        for answer in refused {
            let text = answer.text();
            assert!(!text.contains(HIDDEN), "{text}");
            assert!(text.contains("others that you are not allowed to see"), "{}: {text}", answer.code);
            assert_eq!(text.contains("ams"), sees, "{text}");
        }
    }
    let whole = town.admin.delete(&region).await.unwrap().text();
    assert!(whole.contains(HIDDEN) && !whole.contains("not allowed to see"), "{whole}");
}

#[tokio::test]
async fn activities_and_events_are_of_what_may_be_seen() {
    let town = town().await;
    let ann = town.person("ann");
    let event = |name: &str| {
        json!({
            "metadata": {"name": format!("{name}.1"), "namespace": "default"}, "type": "Warning", "reason": "Fell",
            "message": format!("{name} fell"), "source": {"component": "test"},
            "involvedObject": {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": name},
        })
    };
    for name in ["ams", HIDDEN] {
        made(&town.admin, "/api/v1/namespaces/default/events", &event(name)).await;
    }
    for (kind, more) in [
        ("ActivityQuery", json!({})),
        ("ActivityQuery", json!({"search": HIDDEN})),
        ("ActivityQuery", json!({"resourceKind": "Site"})),
        ("EventQuery", json!({})),
    ] {
        let mut spec = json!({"startTime": "now-1h", "endTime": "now"});
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let query = json!({"apiVersion": "activity.miloapis.com/v1alpha1", "kind": kind, "spec": spec});
        let plural = if kind == "ActivityQuery" { "activityqueries" } else { "eventqueries" };
        let answer =
            ann.post(&format!("/apis/activity.miloapis.com/v1alpha1/{plural}"), &query).await.unwrap();
        let mut told = answer.json();
        // What was asked stands in the answer.
        told["spec"] = Value::Null;
        assert_eq!(answer.code, 201, "{kind}: {told}");
        assert!(!told.to_string().contains(HIDDEN), "{kind}: {told}");
    }
    assert_eq!(told(&ann, "/api/v1/events").await.0, 403);
    assert_eq!(told(&ann, "/apis/events.k8s.io/v1/events").await.0, 403);
    assert_eq!(told(&ann, "/apis/activity.miloapis.com/v1alpha1/activities").await.0, 403);
}

#[tokio::test]
async fn a_plan_names_nothing_that_its_rules_read_and_its_reader_may_not() {
    let town = Town::of(&["cy"], &[]).await;
    let (admin, cy) = (&town.admin, town.person("cy"));
    made(admin, &format!("{INVENTORY}/regions"), &object("Region", "eu", json!({"displayName": "EU"}))).await;
    let spec = json!({"displayName": "S", "regionRef": {"name": "eu"}, "type": "Edge"});
    made(admin, &format!("{INVENTORY}/sites"), &object("Site", "s", spec)).await;
    for name in ["ams", HIDDEN] {
        let spec = json!({"siteRef": {"name": "s"}, "heightU": 42});
        made(admin, &format!("{INVENTORY}/racks"), &object("Rack", name, spec)).await;
    }
    let planner = [
        "groundplane.dev/plans.create",
        "groundplane.dev/plans.get",
        "groundplane.dev/plans.list",
        "groundplane.dev/plans/apply.create",
        "inventory.miloapis.com/nodes.create",
        "inventory.miloapis.com/nodes.get",
    ];
    let role = json!({"launchStage": "Alpha", "includedPermissions": planner});
    let roles = format!("{IAM}/namespaces/milo-system/roles");
    made(admin, &roles, &json!({"metadata": {"name": "planner"}, "spec": role})).await;
    let bindings = format!("{IAM}/namespaces/milo-system/policybindings");
    let viewer = format!("{GROUP}-viewer");
    for (name, role, on) in [
        ("cy-plans", "planner", on_kind("groundplane.dev", "Plan")),
        ("cy-nodes", "planner", on_kind(GROUP, "Node")),
        ("cy-sites", &*viewer, on_kind(GROUP, "Site")),
        ("cy-ams", &*viewer, on_object(GROUP, "Rack", "ams")),
    ] {
        made(admin, &bindings, &binding(name, role, "cy", on)).await;
    }
    let plans = "/apis/groundplane.dev/v1alpha1/plans";
    for (name, rack, sees) in [("one", "ams", true), ("two", HIDDEN, false)] {
        let node = object(
            "Node",
            name,
            json!({
                "siteRef": {"name": "s"},
                "hardware": {"cpuCores": 8, "cpuArchitecture": "amd64", "memoryBytes": 1},
                "placement": {"rackRef": {"name": rack}, "startUnit": 1, "unitHeight": 1},
            }),
        );
        let plan = json!({"apiVersion": "groundplane.dev/v1alpha1", "kind": "Plan", "metadata": {"name": name},
            "spec": {"items": [{"operation": "create", "object": node}]}});
        let posted = cy.post(plans, &plan).await.unwrap();
        assert_eq!(posted.code, 201, "{}", posted.text());
        let read = cy.get(&format!("{plans}/{name}")).await.unwrap().json();
        let listed = cy.get(plans).await.unwrap().json();
        let listed = listed["items"].as_array().unwrap().iter().find(|plan| plan["metadata"]["name"] == name);
        let guarded =
            |plan: &Value| plan["status"]["guards"].to_string().contains(&format!("/racks//{rack}"));
        for plan in [&posted.json(), &read, listed.unwrap()] {
            assert_eq!(guarded(plan), sees, "{plan}");
            assert_eq!(plan["status"]["incomplete"] == true, !sees, "{plan}");
        }
        let whole = admin.get(&format!("{plans}/{name}")).await.unwrap().json();
        assert!(guarded(&whole) && whole["status"].get("incomplete").is_none(), "{whole}");
        // Both the rack and what is in it change.
        let path = format!("{INVENTORY}/racks/{rack}");
        let changed = admin.merge(&path, &json!({"spec": {"heightU": 40}})).await.unwrap();
        assert_eq!(changed.code, 200, "{}", changed.text());
        let mut other = node.clone();
        other["metadata"]["name"] = format!("other-{name}").into();
        other["spec"]["placement"]["startUnit"] = 7.into();
        made(admin, &format!("{INVENTORY}/nodes"), &other).await;
        let stale = cy.post(&format!("{plans}/{name}/apply"), &json!({})).await.unwrap();
        assert_eq!(stale.code, 409, "{}", stale.text());
        assert_eq!(stale.text().contains(rack), sees, "{}", stale.text());
        let says_hidden = stale.text().contains("something that you may not read has changed");
        assert_eq!(says_hidden, !sees, "{}", stale.text());
    }
}

/// A rehearsed undo of everything names what would be taken back: only what whoever asks may see.
#[tokio::test]
async fn an_undo_tells_of_nothing_that_may_not_be_seen() {
    let town = town().await;
    let revisions = "/apis/groundplane.dev/v1alpha1/transactions";
    // It is older than the town, and no controller changes it.
    let namespace = town.admin.get("/api/v1/namespaces/default").await.unwrap().json();
    let after = namespace["metadata"]["resourceVersion"].as_str().unwrap();
    for undo in [json!({"after": after}), json!({"after": after, "skipForgotten": true, "force": true})] {
        let asked = json!({"spec": {"undo": undo}});
        for who in ["ann", "ben"] {
            for path in [
                format!("{revisions}?dryRun=All"),
                format!("{revisions}?dryRun=All&diff=1"),
                revisions.to_owned(),
            ] {
                let answer = town.person(who).post(&path, &asked).await.unwrap();
                assert!(!answer.text().contains(HIDDEN), "{who} {path}: {}", answer.text());
                assert!(!answer.text().contains("policybindings"), "{who} {path}: {}", answer.text());
            }
        }
    }
    // Ann sees her site in it, and that she may not take it back.
    let asked =
        json!({"spec": {"undo": {"after": after, "resources": [{"group": GROUP, "resource": "sites"}]}}});
    let hers = town.person("ann").post(&format!("{revisions}?dryRun=All"), &asked).await.unwrap();
    assert!(hers.text().contains("\"ams\""), "{}", hers.text());
}
