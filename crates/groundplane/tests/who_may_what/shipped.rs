//! What ships with the server stays, whatever way it is taken away, and the server goes on answering its probes.

use std::collections::BTreeSet;

use http::Method;
use serde_json::{Value, json};
use testbed::server::{Client, Server};

use super::GROUNDPLANE;

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const IAM: &str = "/apis/iam.miloapis.com/v1alpha1";
const TRANSACTIONS: &str = "/apis/groundplane.dev/v1alpha1/transactions";

/// The commits in which objects of a collection were made, each with a name.
async fn made_in(admin: &Client, path: &str) -> BTreeSet<(String, String)> {
    let listed = admin.get(path).await.unwrap().json();
    let items = listed["items"].as_array().unwrap().clone();
    assert!(!items.is_empty(), "{path}");
    let version = |item: &Value| item["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let name = |item: &Value| item["metadata"]["name"].as_str().unwrap().to_owned();
    items.iter().map(|item| (version(item), name(item))).collect()
}

async fn probes_work(server: &Server) {
    for path in ["/healthz", "/livez", "/readyz", "/version"] {
        assert_eq!(server.stranger().get(path).await.unwrap().code, 200, "{path}");
    }
}

#[tokio::test]
async fn no_undo_takes_away_what_the_server_needs() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let admin = server.client();
    let mut tried = 0;
    for path in [
        format!("{RBAC}/clusterroles"),
        format!("{RBAC}/clusterrolebindings"),
        format!("{IAM}/namespaces/milo-system/roles"),
        format!("{IAM}/protectedresources"),
        "/apis/activity.miloapis.com/v1alpha1/activitypolicies".to_owned(),
    ] {
        let all = made_in(&admin, &path).await;
        // One of each commit, and few of the many.
        let mut seen = BTreeSet::new();
        let commits = all
            .iter()
            .filter(|(version, _)| seen.insert(version.parse::<u64>().unwrap() >> 16) && seen.len() <= 40);
        for (version, name) in commits {
            let body = json!({"kind": "Transaction", "spec": {"undo": {"revision": version}}});
            let undone = admin.post(TRANSACTIONS, &body).await.unwrap();
            assert_eq!(undone.code, 403, "{path} {name} at {version}: {}", undone.text());
            assert!(undone.text().contains("it ships with the server"), "{}", undone.text());
            assert!(undone.text().contains("nothing was changed"), "{}", undone.text());
            assert_eq!(admin.get(&format!("{path}/{name}")).await.unwrap().code, 200);
            tried += 1;
        }
    }
    assert!(tried > 20, "{tried}");
    probes_work(&server).await;
    // Undoing since the beginning names what stands against it, and touches nothing.
    let mine = json!({"metadata": {"name": "mine"}});
    admin.post("/api/v1/namespaces/default/configmaps", &mine).await.unwrap();
    let body = json!({"kind": "Transaction", "spec": {"undo": {"after": "1"}}});
    let all = admin.post(TRANSACTIONS, &body).await.unwrap();
    assert_eq!(all.code / 100, 4, "{}", all.text());
    assert!(all.text().contains("ships with the server"), "{}", all.text());
    assert_eq!(admin.get("/api/v1/namespaces/default/configmaps/mine").await.unwrap().code, 200);
    probes_work(&server).await;
}

#[tokio::test]
async fn what_ships_is_not_deleted_emptied_or_edited_away_in_any_way() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let admin = server.client();
    let refused = |answer: &testbed::server::Answer| {
        assert_eq!(answer.code, 403, "{}", answer.text());
        assert!(answer.text().contains("it ships with the server"), "{}", answer.text());
    };
    let viewer = format!("{RBAC}/clusterrolebindings/system:public-info-viewer");
    let admins = format!("{RBAC}/clusterroles/cluster-admin");
    for path in [
        viewer.clone(),
        admins.clone(),
        format!("{RBAC}/clusterroles/system:discovery"),
        format!("{IAM}/namespaces/milo-system/roles/owner"),
        "/api/v1/namespaces/milo-system".to_owned(),
    ] {
        refused(&admin.delete(&path).await.unwrap());
        assert_eq!(admin.get(&path).await.unwrap().code, 200, "{path}");
    }
    for path in [
        format!("{RBAC}/clusterroles"),
        format!("{RBAC}/clusterrolebindings"),
        format!("{IAM}/namespaces/milo-system/roles"),
    ] {
        let before = made_in(&admin, &path).await.len();
        admin.delete(&path).await.unwrap();
        assert_eq!(made_in(&admin, &path).await.len(), before, "{path}");
    }
    refused(&admin.merge(&viewer, &json!({"subjects": null})).await.unwrap());
    let left_alone = json!({"rbac.authorization.kubernetes.io/autoupdate": "false"});
    let emptied = json!({"metadata": {"annotations": left_alone}, "rules": []});
    refused(&admin.merge(&admins, &emptied).await.unwrap());
    let patch = json!([{"op": "remove", "path": "/rules/0"}]).to_string();
    refused(&admin.send(Method::PATCH, &admins, "application/json-patch+json", patch).await.unwrap());
    let owner = format!("{IAM}/namespaces/milo-system/roles/owner");
    refused(
        &admin
            .merge(&owner, &json!({"spec": {"includedPermissions": ["core.miloapis.com/configmaps.get"]}}))
            .await
            .unwrap(),
    );
    let item = json!({"operation": "delete", "target": {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "name": "cluster-admin",
    }});
    let body = json!({"kind": "Transaction", "spec": {"items": [item]}});
    refused(&admin.post(TRANSACTIONS, &body).await.unwrap());
    // What people may do with the defaults in Kubernetes they may do here.
    let discovery = format!("{RBAC}/clusterroles/system:discovery");
    let said = admin.merge(&discovery, &json!({"rules": []})).await.unwrap();
    refused(&said);
    assert!(said.text().contains("autoupdate"), "{}", said.text());
    assert_eq!(admin.merge(&discovery, &emptied).await.unwrap().code, 200);
    let more = json!({"metadata": {"labels": {"team": "a"}}});
    assert_eq!(admin.merge(&admins, &more).await.unwrap().code, 200);
    probes_work(&server).await;
}
