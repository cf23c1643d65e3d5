//! Who may do what: strangers next to nothing, others what a role grants them, from the very next request on.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

mod asking;
mod defined;
mod every_endpoint;
mod every_rpc;
mod iam;
mod leaks;
mod machines;
mod minting;
mod offboarding;
mod questions;
mod roles;
mod sealed;
mod secrets;
mod shipped;
mod tenancy;

use http::Method;
use serde_json::{Value, json};
use testbed::server::{Client, Server};

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test]
async fn strangers_see_health_and_version_and_nothing_else() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let stranger = server.stranger();
    for open in ["/healthz", "/livez", "/readyz", "/version"] {
        assert_eq!(stranger.get(open).await.unwrap().code, 200, "{open}");
    }
    let closed = [
        "/",
        "/api",
        "/api/v1",
        "/apis",
        "/apis/rbac.authorization.k8s.io/v1",
        "/openapi/v2",
        "/openapi/v3",
        "/metrics",
        "/api/v1/namespaces",
        "/api/v1/secrets",
        "/api/v1/namespaces/default/configmaps/x",
    ];
    for path in closed {
        let refused = stranger.get(path).await.unwrap();
        assert_eq!(
            (refused.code, &refused.json()["kind"]),
            (403, &json!("Status")),
            "{path}: {}",
            refused.text()
        );
        let message = refused.json()["message"].as_str().unwrap_or_default().to_owned();
        assert!(message.contains("User \"system:anonymous\" cannot"), "{message}");
    }
    let write = stranger.post(MAPS, &json!({"metadata": {"name": "x"}})).await.unwrap();
    assert_eq!(write.code, 403);
    assert_eq!(
        write.json()["message"],
        "configmaps is forbidden: User \"system:anonymous\" cannot create resource \"configmaps\" in API group \"\" in \
         the namespace \"default\""
    );
    let discovery = stranger.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", &json!({})).await;
    assert_eq!(discovery.unwrap().code, 403);
    let liar = stranger.clone().with_token("not-a-token").get("/healthz").await.unwrap();
    assert_eq!(
        (liar.code, &liar.json()["reason"]),
        (401, &json!("Unauthorized")),
        "a wrong token is worse than none"
    );
}

#[tokio::test]
async fn a_role_counts_from_the_next_request_on_and_not_a_request_longer() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let admin = server.client();
    let worker = server.stranger().with_token(&token(&admin, "worker").await);
    let map = json!({"metadata": {"name": "mine"}});

    let refused = worker.post(MAPS, &map).await.unwrap();
    assert_eq!(refused.code, 403);
    assert_eq!(
        refused.json()["message"],
        "configmaps is forbidden: User \"system:serviceaccount:default:worker\" cannot create resource \"configmaps\" \
         in API group \"\" in the namespace \"default\""
    );
    let rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create", "get"]}]);
    let role = json!({"metadata": {"name": "maker"}, "rules": rules});
    assert_eq!(admin.post(&format!("{rbac}/roles"), &role).await.unwrap().code, 201);
    let binding = json!({
        "metadata": {"name": "maker"},
        "subjects": [{"kind": "ServiceAccount", "name": "worker", "namespace": "default"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "maker"},
    });
    for round in 0..20 {
        let bound = admin.post(&format!("{rbac}/rolebindings"), &binding).await.unwrap();
        assert_eq!(bound.code, 201, "{}", bound.text());
        let made = worker.post(MAPS, &json!({"metadata": {"name": format!("mine-{round}")}})).await.unwrap();
        assert_eq!(made.code, 201, "round {round}: {}", made.text());
        assert_eq!(worker.get(MAPS).await.unwrap().code, 403, "to list was not granted");
        let elsewhere = worker.post("/api/v1/namespaces/kube-system/configmaps", &map).await.unwrap();
        assert_eq!(elsewhere.code, 403, "granted in one namespace alone");
        assert_eq!(admin.delete(&format!("{rbac}/rolebindings/maker")).await.unwrap().code, 200);
        assert_eq!(worker.post(MAPS, &map).await.unwrap().code, 403, "round {round}: still allowed");
    }
}

#[tokio::test]
async fn nobody_grants_what_he_has_not() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let admin = server.client();
    let worker = server.stranger().with_token(&token(&admin, "worker").await);
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let may_grant = json!({
        "metadata": {"name": "granter"},
        "rules": [{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["*"], "verbs": ["*"]}],
    });
    // "*" includes escalate and bind; take the plain verbs.
    let mut may_grant = may_grant;
    may_grant["rules"][0]["verbs"] = json!(["create", "get", "list", "update", "patch", "delete"]);
    assert_eq!(admin.post(&format!("{rbac}/clusterroles"), &may_grant).await.unwrap().code, 201);
    let binding = json!({
        "metadata": {"name": "granter"},
        "subjects": [{"kind": "ServiceAccount", "name": "worker", "namespace": "default"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "granter"},
    });
    assert_eq!(admin.post(&format!("{rbac}/clusterrolebindings"), &binding).await.unwrap().code, 201);

    let everything = json!({
        "metadata": {"name": "everything"},
        "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}],
    });
    let refused = worker.post(&format!("{rbac}/clusterroles"), &everything).await.unwrap();
    assert_eq!(refused.code, 403, "{}", refused.text());
    assert!(refused.text().contains("is attempting to grant RBAC permissions not currently held"));
    let mut to_admin = binding.clone();
    to_admin["metadata"]["name"] = json!("mine");
    to_admin["roleRef"]["name"] = json!("cluster-admin");
    let refused = worker.post(&format!("{rbac}/clusterrolebindings"), &to_admin).await.unwrap();
    assert_eq!(refused.code, 403, "{}", refused.text());
}

#[tokio::test]
async fn a_token_dies_with_its_account() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let admin = server.client();
    let worker = server.stranger().with_token(&token(&admin, "worker").await);
    assert_eq!(worker.get(MAPS).await.unwrap().code, 403, "known, but not allowed");
    let gone = admin.delete("/api/v1/namespaces/default/serviceaccounts/worker").await.unwrap();
    assert_eq!(gone.code, 200);
    assert_eq!(worker.get(MAPS).await.unwrap().code, 401);
    // Another account of that name is another account.
    token(&admin, "worker").await;
    assert_eq!(worker.get(MAPS).await.unwrap().code, 401);
}

#[tokio::test]
async fn acting_as_somebody_else_takes_permission_and_gives_only_theirs() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let admin = server.client();
    let as_ann = admin.apart().with("impersonate-user", "ann");
    assert_eq!(as_ann.get(MAPS).await.unwrap().code, 403);
    let me =
        as_ann.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", &review("SelfSubjectReview")).await;
    let me = me.unwrap();
    assert_eq!(me.code, 201, "{}", me.text());
    assert_eq!(me.json()["status"]["userInfo"]["username"], "ann");
    let worker = server.stranger().with_token(&token(&admin, "worker").await);
    let refused = worker.with("impersonate-user", "ann").get(MAPS).await.unwrap();
    assert_eq!(refused.code, 403);
    assert_eq!(
        refused.json()["message"],
        "users \"ann\" is forbidden: User \"system:serviceaccount:default:worker\" cannot impersonate resource \
         \"users\" in API group \"\" at the cluster scope"
    );
}

#[tokio::test]
async fn history_names_who_acts_as_somebody_else() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let admin = server.client();
    let as_ann = admin.apart().with("impersonate-user", "ann").with("impersonate-group", "system:masters");
    let map = json!({"metadata": {"name": "by-proxy"}});
    assert_eq!(as_ann.post(MAPS, &map).await.unwrap().code, 201);
    let labels = json!({"metadata": {"labels": {"a": "b"}}});
    assert_eq!(admin.merge(&format!("{MAPS}/by-proxy"), &labels).await.unwrap().code, 200);
    let history = admin.get(&format!("{MAPS}/by-proxy/history")).await.unwrap().json();
    let items = history["items"].as_array().unwrap();
    assert_eq!((&items[1]["user"], &items[1]["impersonatedBy"]), (&json!("ann"), &json!("system:admin")));
    assert_eq!((&items[0]["user"], items[0].get("impersonatedBy")), (&json!("system:admin"), None));
}

fn review(kind: &str) -> Value {
    json!({"apiVersion": "authentication.k8s.io/v1", "kind": kind})
}

#[tokio::test]
async fn one_user_with_too_many_requests_is_asked_to_wait_and_the_others_are_served() {
    let server = Server::fresh(GROUNDPLANE, &["--max-watches-per-user", "3"]).unwrap();
    let admin = server.client();
    let mut watches = Vec::new();
    for _ in 0..3 {
        watches.push(admin.watch("/api/v1/configmaps?watch=1").await.unwrap());
    }
    let refused = admin.get("/api/v1/configmaps?watch=1").await.unwrap();
    assert_eq!((refused.code, &refused.json()["reason"]), (429, &json!("TooManyRequests")));
    assert!(refused.headers.contains_key("retry-after"), "{:?}", refused.headers);
    assert_eq!(admin.get(MAPS).await.unwrap().code, 200, "plain requests go on");
    drop(watches.pop());
    // The server notices that the watcher has gone.
    for _ in 0..100 {
        let again = admin.watch("/api/v1/configmaps?watch=1").await.unwrap();
        if again.code == 200 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the place of a watcher that has gone is not given to another");
}

#[tokio::test]
async fn tokens_from_a_file_are_users() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("tokens.csv");
    std::fs::write(&file, "abc123,ann,1001,\"builders,testers\"\n").unwrap();
    let server = Server::fresh(GROUNDPLANE, &["--token-auth-file", file.to_str().unwrap()]).unwrap();
    let ann = server.stranger().with_token("abc123");
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let me = ann
        .send(Method::POST, path, "application/json", review("SelfSubjectReview").to_string())
        .await
        .unwrap();
    assert_eq!(me.code, 201, "{}", me.text());
    let user = &me.json()["status"]["userInfo"];
    assert_eq!((&user["username"], &user["uid"]), (&json!("ann"), &json!("1001")));
    assert_eq!(user["groups"], json!(["builders", "testers", "system:authenticated"]));
}

async fn token(client: &Client, name: &str) -> String {
    let account = json!({"metadata": {"name": name}});
    client.post("/api/v1/namespaces/default/serviceaccounts", &account).await.unwrap();
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let path = format!("/api/v1/namespaces/default/serviceaccounts/{name}/token");
    let answer = client.post(&path, &request).await.unwrap();
    assert_eq!(answer.code, 201, "{}", answer.text());
    answer.json()["status"]["token"].as_str().unwrap().to_owned()
}

/// Rights come from the parts at once; for people to read, the rules are written into the sum.
#[tokio::test]
async fn the_sum_of_cluster_roles_shows_the_rules_of_its_parts() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = server.client();
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let part = |name: &str, resource: &str| {
        json!({
            "metadata": {"name": name, "labels": {"example.com/to-readers": "true"}},
            "rules": [{"apiGroups": ["example.com"], "resources": [resource], "verbs": ["get"]}],
        })
    };
    let sum = json!({
        "metadata": {"name": "readers"},
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"example.com/to-readers": "true"}}]},
        "rules": [],
    });
    for role in [part("read-books", "books"), sum, part("read-maps", "maps")] {
        assert_eq!(client.post(roles, &role).await.unwrap().code, 201);
    }
    shows(&client, &["books", "maps"]).await;
    assert_eq!(client.delete(&format!("{roles}/read-books")).await.unwrap().code, 200);
    shows(&client, &["maps"]).await;
    let readers = client.get(&format!("{roles}/readers")).await.unwrap().json();
    let managers = readers["metadata"]["managedFields"].as_array().unwrap();
    let applied = managers.iter().find(|entry| entry["operation"] == "Apply").unwrap();
    assert_eq!(applied["manager"], "clusterrole-aggregation-controller");
}

async fn shows(client: &Client, resources: &[&str]) {
    let mut found = Vec::new();
    for _ in 0..300 {
        let role =
            client.get("/apis/rbac.authorization.k8s.io/v1/clusterroles/readers").await.unwrap().json();
        let rules = role["rules"].as_array().cloned().unwrap_or_default();
        found = rules.iter().map(|rule| rule["resources"][0].clone()).collect();
        if found == resources {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("the sum shows {found:?}, not {resources:?}");
}
