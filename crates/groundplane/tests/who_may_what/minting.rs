//! Credentials give no more than whoever makes them holds.

use serde_json::{Value, json};
use testbed::server::Client;

use super::iam::{Town, binding, made, on_kind, sent};

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const ACCOUNTS: &str = "/apis/iam.miloapis.com/v1alpha1/namespaces/default/machineaccounts";
const KEYS: &str = "/apis/iam.miloapis.com/v1alpha1/namespaces/default/machineaccountkeys";
const BINDINGS: &str = "/apis/iam.miloapis.com/v1alpha1/namespaces/milo-system/policybindings";

/// Gives a cluster role to a user by RBAC.
fn to_user(name: &str, role: &str, user: &str) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    })
}

fn role(name: &str, groups: &[&str], resources: &[&str], verbs: &[&str]) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name},
        "rules": [{"apiGroups": groups, "resources": resources, "verbs": verbs}],
    })
}

async fn key(client: &Client, name: &str, account: &str) -> (u16, String) {
    let key = json!({"metadata": {"name": name}, "spec": {"machineAccountName": account}});
    let answer = sent(client, KEYS, &key).await.unwrap();
    (answer.code, answer.text())
}

#[tokio::test]
async fn a_machine_key_gives_no_more_than_its_maker_holds() {
    let town = Town::of(&["ann"], &[]).await;
    let (admin, ann) = (&town.admin, town.person("ann"));
    for account in ["robot", "other", "modest"] {
        made(admin, ACCOUNTS, &json!({"metadata": {"name": account}})).await;
    }
    made(
        admin,
        &format!("{RBAC}/clusterroles"),
        &role("keys", &["iam.miloapis.com"], &["machineaccountkeys"], &["create"]),
    )
    .await;
    made(admin, &format!("{RBAC}/clusterroles"), &role("maps", &[""], &["configmaps"], &["get"])).await;
    made(admin, &format!("{RBAC}/clusterrolebindings"), &to_user("ann-keys", "keys", "ann")).await;
    made(admin, &format!("{RBAC}/clusterrolebindings"), &to_user("ann-maps", "maps", "ann")).await;
    // One account has everything by RBAC, another something by IAM, the third no more than Ann.
    let robot = "robot@default.machineaccounts.groundplane.dev";
    made(admin, &format!("{RBAC}/clusterrolebindings"), &to_user("robot", "cluster-admin", robot)).await;
    let mut other =
        binding("other", "inventory.miloapis.com-viewer", "other", on_kind("inventory.miloapis.com", "Site"));
    other["spec"]["subjects"][0] = json!({"kind": "MachineAccount", "name": "other", "namespace": "default"});
    made(admin, BINDINGS, &other).await;
    let modest = "modest@default.machineaccounts.groundplane.dev";
    made(admin, &format!("{RBAC}/clusterrolebindings"), &to_user("modest", "maps", modest)).await;

    for account in ["robot", "other"] {
        let (code, told) = key(&ann, &format!("{account}-1"), account).await;
        assert_eq!(code, 403, "{account}: {told}");
        assert!(told.contains("not currently held"), "{told}");
    }
    let (code, told) = key(&ann, "modest-1", "modest").await;
    assert_eq!(code, 201, "{told}");
    // Nor by way of a transaction, or of rights that are in one namespace.
    let item = json!({"operation": "create", "object": {
        "apiVersion": "iam.miloapis.com/v1alpha1", "kind": "MachineAccountKey",
        "metadata": {"name": "robot-2", "namespace": "default"}, "spec": {"machineAccountName": "robot"},
    }});
    let transaction = json!({"spec": {"items": [item]}});
    let refused = ann.post("/apis/groundplane.dev/v1alpha1/transactions", &transaction).await.unwrap();
    assert_eq!(refused.code, 403, "{}", refused.text());
    let mut local = to_user("modest-there", "edit", modest);
    local["kind"] = "RoleBinding".into();
    made(admin, &format!("{RBAC}/namespaces/kube-system/rolebindings"), &local).await;
    let (code, told) = key(&ann, "modest-2", "modest").await;
    assert_eq!(code, 403, "{told}");
    assert_eq!(key(admin, "robot-3", "robot").await.0, 201, "whoever may do everything may");
}

#[tokio::test]
async fn a_token_gives_no_more_than_who_asks_for_it_holds() {
    let town = Town::of(&["ann"], &[]).await;
    let (admin, ann) = (&town.admin, town.person("ann"));
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    for name in ["strong", "weak"] {
        made(admin, accounts, &json!({"metadata": {"name": name}})).await;
    }
    made(
        admin,
        &format!("{RBAC}/clusterroles"),
        &role("tokens", &[""], &["serviceaccounts/token"], &["create"]),
    )
    .await;
    made(admin, &format!("{RBAC}/clusterrolebindings"), &to_user("ann", "tokens", "ann")).await;
    let strong = "system:serviceaccount:default:strong";
    made(admin, &format!("{RBAC}/clusterrolebindings"), &to_user("strong", "cluster-admin", strong)).await;
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let refused = ann.post(&format!("{accounts}/strong/token"), &request).await.unwrap();
    assert_eq!(refused.code, 403, "{}", refused.text());
    assert!(refused.text().contains("not currently held"), "{}", refused.text());
    assert_eq!(ann.post(&format!("{accounts}/weak/token"), &request).await.unwrap().code, 201);
    // Whoever may impersonate the account has been given all of it on purpose.
    made(admin, &format!("{RBAC}/clusterroles"), &role("as", &[""], &["serviceaccounts"], &["impersonate"]))
        .await;
    made(admin, &format!("{RBAC}/clusterrolebindings"), &to_user("ann-as", "as", "ann")).await;
    assert_eq!(ann.post(&format!("{accounts}/strong/token"), &request).await.unwrap().code, 201);
}

/// Whoever may read Secrets without their values can't give away, or mint, a right that shows them.
#[tokio::test]
async fn reading_secrets_without_their_values_gives_nobody_the_values() {
    let town = Town::of(&["ann"], &[]).await;
    let (admin, ann) = (&town.admin, town.person("ann"));
    let viewer = binding("ann", "core.miloapis.com-viewer", "ann", on_kind("", "Secret"));
    made(admin, BINDINGS, &viewer).await;
    let grants = ["roles", "rolebindings", "clusterroles", "clusterrolebindings"];
    let granter = role("granter", &["rbac.authorization.k8s.io"], &grants, &["create", "get"]);
    made(admin, &format!("{RBAC}/clusterroles"), &granter).await;
    made(
        admin,
        &format!("{RBAC}/clusterroles"),
        &role("tokens", &[""], &["serviceaccounts/token"], &["create"]),
    )
    .await;
    made(admin, &format!("{RBAC}/clusterrolebindings"), &to_user("ann-grants", "granter", "ann")).await;
    made(admin, &format!("{RBAC}/clusterrolebindings"), &to_user("ann-tokens", "tokens", "ann")).await;
    let secrets = "/api/v1/namespaces/default/secrets";
    made(admin, secrets, &json!({"metadata": {"name": "s"}, "stringData": {"k": "hush"}})).await;
    let seen = ann.get(&format!("{secrets}/s")).await.unwrap();
    assert_eq!((seen.code, &seen.json()["data"]), (200, &json!({"k": ""})));

    let mine = role("mine", &[""], &["secrets"], &["get"]);
    let refused = ann.post(&format!("{RBAC}/clusterroles"), &mine).await.unwrap();
    assert_eq!(refused.code, 403, "{}", refused.text());
    // Nor by a token of an account that RBAC lets read Secrets.
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    made(admin, accounts, &json!({"metadata": {"name": "reader"}})).await;
    made(admin, &format!("{RBAC}/clusterroles"), &role("readers", &[""], &["secrets"], &["get"])).await;
    let reader = "system:serviceaccount:default:reader";
    made(admin, &format!("{RBAC}/clusterrolebindings"), &to_user("reader", "readers", reader)).await;
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let refused = ann.post(&format!("{accounts}/reader/token"), &request).await.unwrap();
    assert_eq!(refused.code, 403, "{}", refused.text());
}
