//! A kind in all control planes at once.

use std::time::Duration;

use client::{Client, DeleteOptions, Event, InPlane, ListOptions};
use krm::Object;
use serde_json::json;
use testbed::server::Server;

use crate::{GROUNDPLANE, access, client_of, map, maps, object, word};

async fn make_project(client: &Client, name: &str) -> Client {
    let project = object(json!({"apiVersion": "resourcemanager.miloapis.com/v1alpha1", "kind": "Project",
        "metadata": {"name": name}}));
    client.resource("resourcemanager.miloapis.com/v1alpha1", "projects").create(&project).await.unwrap();
    client.in_plane(name)
}

fn told(one: &InPlane<Object>) -> String {
    let project = one.project.as_deref().unwrap_or("root");
    assert_eq!(one.object.annotations().count(), 0, "the object is as it is in its plane");
    format!("{project}:{}={}", one.object.name(), word(&one.object))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kind_is_listed_and_watched_in_all_planes() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let root = client_of(&server).await;
    // In keys a slash follows the name: the order is not that of the names.
    let (web, website) = (make_project(&root, "web").await, make_project(&root, "web-1").await);
    for (client, names) in [(&root, ["a", "b"]), (&web, ["a", "c"]), (&website, ["a", "d"])] {
        for name in names {
            maps(client).create(&map(name, "1")).await.unwrap();
        }
    }
    let only = ListOptions {
        field_selector: Some("metadata.name!=kube-root-ca.crt".to_owned()),
        page: Some(1),
        ..ListOptions::default()
    };
    let all = maps(&root).list_all_planes(only.clone()).all().await.unwrap();
    let all: Vec<String> = all.iter().map(told).collect();
    assert_eq!(all, ["root:a=1", "root:b=1", "web-1:a=1", "web-1:d=1", "web:a=1", "web:c=1"]);

    let mut watch = maps(&root).watch_all_planes(only);
    let mut next =
        async || tokio::time::timeout(Duration::from_secs(60), watch.next()).await.unwrap().unwrap();
    for expected in &all {
        match next().await {
            Event::Added(one) => assert_eq!(&told(&one), expected),
            other => panic!("{expected}: {other:?}"),
        }
    }
    assert_eq!(next().await, Event::Synced);
    maps(&web).replace(&map("a", "2")).await.unwrap();
    // Another kind is none of it.
    let account =
        object(json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}));
    web.resource("v1", "serviceaccounts").in_namespace("default").create(&account).await.unwrap();
    maps(&website).delete("d", &DeleteOptions::default()).await.unwrap();
    let shop = make_project(&root, "shop").await;
    maps(&shop).create(&map("new", "1")).await.unwrap();
    let mut rest = Vec::new();
    while rest.len() < 3 {
        rest.push(match next().await {
            Event::Changed(one) => format!("~{}", told(&one)),
            Event::Added(one) => format!("+{}", told(&one)),
            Event::Deleted { key, last } => format!("-{}:{} {}", key.project, key.name, last.is_some()),
            Event::Synced => "synced".to_owned(),
        });
    }
    assert_eq!(rest, ["~web:a=2", "-web-1:d true", "+shop:new=1"]);
    assert_eq!(maps(&web).get("a").await.unwrap().annotations().count(), 0, "nothing is stored of it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_takes_a_right_of_its_own_in_the_root() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let root = client_of(&server).await;
    let web = make_project(&root, "web").await;
    maps(&web).create(&map("a", "1")).await.unwrap();
    let mut access = access(&server).await;
    access.acts_as.0 = Some("ann".to_owned());
    let ann = Client::new(access).unwrap();
    let rbac = |kind: &str, plural: &'static str, name: &str, more: serde_json::Value| {
        let mut value =
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": name}});
        for (field, more) in more.as_object().unwrap() {
            value[field] = more.clone();
        }
        let collection = root.resource("rbac.authorization.k8s.io/v1", plural);
        async move { collection.create(&object(value)).await.unwrap() }
    };
    let grant = async |name: &str, rules: serde_json::Value| {
        rbac("ClusterRole", "clusterroles", name, json!({"rules": rules})).await;
        let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name});
        let ann = json!([{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ann"}]);
        rbac("ClusterRoleBinding", "clusterrolebindings", name, json!({"roleRef": role, "subjects": ann}))
            .await;
    };
    // Whoever may read everything in the root, and do everything with ConfigMaps there, has nothing in projects.
    grant("reader", json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}]))
        .await;
    grant("maps", json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]}])).await;
    maps(&ann).list(ListOptions::default()).all().await.unwrap();
    let refused = maps(&ann).list_all_planes(ListOptions::default()).all().await.unwrap_err();
    assert_eq!(refused.code(), 403, "{refused}");
    assert_eq!(maps(&ann).watch_all_planes(ListOptions::default()).next().await.unwrap_err().code(), 403);

    grant("across", json!([{"apiGroups": [""], "resources": ["configmaps/allplanes"], "verbs": ["read"]}]))
        .await;
    let all = maps(&ann).list_all_planes(ListOptions::default()).all().await.unwrap();
    assert!(all.iter().any(|one| told(one) == "web:a=1"), "{all:?}");
    let accounts = ann.resource("v1", "serviceaccounts").list_all_planes(ListOptions::default()).all().await;
    assert_eq!(accounts.unwrap_err().code(), 403, "of that kind alone");
    let elsewhere = maps(&web).list_all_planes(ListOptions::default()).all().await.unwrap_err();
    assert_eq!(elsewhere.code(), 400, "{elsewhere}");
    let secrets = root.resource("v1", "secrets").list_all_planes(ListOptions::default()).all().await;
    assert_eq!(secrets.unwrap_err().code(), 400);
}
