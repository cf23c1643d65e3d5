//! Kinds that users define have roles as those that ship, in the plane where they are defined and for as long.

use serde_json::{Value, json};
use testbed::server::Client;

use super::iam::{IAM, TENANCY, Town, again, binding, made, on_kind, on_object, sent};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const ROLES: &str = "/apis/iam.miloapis.com/v1alpha1/namespaces/milo-system/roles";
const RESOURCES: &str = "/apis/iam.miloapis.com/v1alpha1/protectedresources";

fn definition(plural: &str, kind: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.tea.example.com")},
        "spec": {"group": "tea.example.com", "scope": "Namespaced",
            "names": {"plural": plural, "singular": plural.trim_end_matches('s'), "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]},
    })
}

/// Makes a definition, and waits until it is served.
async fn define(client: &Client, plane: &str, plural: &str, kind: &str) {
    made(client, &format!("{plane}{CRDS}"), &definition(plural, kind)).await;
    let mut tries = 0;
    while client.get(&format!("{plane}/apis/tea.example.com/v1/{plural}")).await.unwrap().code != 200 {
        again(&mut tries).await;
    }
}

async fn until(client: &Client, path: &str, is_so: impl Fn(u16, &Value) -> bool) -> Value {
    let mut tries = 0;
    loop {
        let answer = client.get(path).await.unwrap();
        if is_so(answer.code, &answer.json()) {
            return answer.json();
        }
        again(&mut tries).await;
    }
}

#[tokio::test]
async fn what_a_project_defines_its_viewers_see_from_the_next_request_on() {
    let town = Town::of(&["vera", "eve", "olga", "ann"], &[]).await;
    let admin = &town.admin;
    for project in ["web", "shop"] {
        made(admin, &format!("{TENANCY}/projects"), &json!({"metadata": {"name": project}})).await;
    }
    let web = format!("{TENANCY}/projects/web/control-plane");
    let on_web = || on_object("resourcemanager.miloapis.com", "Project", "web");
    let bindings = format!("{IAM}/namespaces/milo-system/policybindings");
    for (who, role) in [("vera", "project-viewer"), ("eve", "project-editor"), ("ann", "project-admin")] {
        made(admin, &bindings, &binding(who, role, who, on_web())).await;
    }
    let (vera, eve, olga) = (town.person("vera"), town.person("eve"), town.person("olga"));
    define(&town.person("ann"), &web, "kettles", "Kettle").await;
    let kettles = format!("{web}/apis/tea.example.com/v1/namespaces/default/kettles");
    let kettle =
        json!({"apiVersion": "tea.example.com/v1", "kind": "Kettle", "metadata": {"name": "whistler"}});
    assert_eq!(vera.get(&kettles).await.unwrap().code, 200, "no sooner served than seen");
    assert_eq!(vera.post(&kettles, &kettle).await.unwrap().code, 403);
    assert_eq!(eve.post(&kettles, &kettle).await.unwrap().code, 201);
    let status =
        eve.merge(&format!("{kettles}/whistler/status"), &json!({"status": {"hot": true}})).await.unwrap();
    assert_eq!(status.code, 403, "status is for operators: {}", status.text());

    // They are objects that can be looked at and bound, by those of the project.
    let role = until(admin, &format!("{web}{ROLES}/tea.example.com-operator"), |code, _| code == 200).await;
    assert_eq!(role["metadata"]["annotations"]["kubernetes.io/display-name"], "tea.example.com Operator");
    let resource =
        until(admin, &format!("{web}{RESOURCES}/tea.example.com-kettle"), |code, _| code == 200).await;
    assert_eq!(resource["spec"]["plural"], "kettles");
    assert_eq!(resource["spec"]["subresources"][0]["name"], "history", "{resource}");
    let own = format!("{web}{IAM}/namespaces/default/policybindings");
    let all = on_kind("tea.example.com", "Kettle");
    made(&town.person("ann"), &own, &binding("olga", "tea.example.com-operator", "olga", all)).await;
    let status =
        olga.merge(&format!("{kettles}/whistler/status"), &json!({"status": {"hot": true}})).await.unwrap();
    assert_eq!(status.code, 200, "{}", status.text());
    assert_eq!(olga.delete(&format!("{kettles}/whistler")).await.unwrap().code, 403);
    until(admin, &format!("{own}/olga"), |_, told| told["status"]["conditions"][0]["status"] == "True").await;
    for elsewhere in ["", &format!("{TENANCY}/projects/shop/control-plane")] {
        assert_eq!(admin.get(&format!("{elsewhere}{ROLES}/tea.example.com-viewer")).await.unwrap().code, 404);
    }
    let reviews = format!("{web}/apis/authorization.k8s.io/v1/selfsubjectrulesreviews");
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": "default"}});
    assert!(vera.post(&reviews, &review).await.unwrap().text().contains("kettles"));

    // A second kind of the group joins the roles, and what is no longer defined leaves them.
    define(&town.person("ann"), &web, "cups", "Cup").await;
    assert_eq!(vera.get(&format!("{web}/apis/tea.example.com/v1/cups")).await.unwrap().code, 200);
    assert_eq!(admin.delete(&format!("{web}{CRDS}/kettles.tea.example.com")).await.unwrap().code, 200);
    let viewer = format!("{web}{ROLES}/tea.example.com-viewer");
    until(admin, &viewer, |_, role| {
        let held = role["spec"]["includedPermissions"].to_string();
        held.contains("cups.get") && !held.contains("kettles")
    })
    .await;
    until(admin, &format!("{web}{RESOURCES}/tea.example.com-kettle"), |code, _| code == 404).await;
    assert_eq!(admin.delete(&format!("{web}{CRDS}/cups.tea.example.com")).await.unwrap().code, 200);
    until(admin, &viewer, |code, _| code == 404).await;
}

#[tokio::test]
async fn what_the_root_defines_has_roles_like_what_ships() {
    let town = Town::of(&["ben"], &[]).await;
    let (admin, ben) = (&town.admin, town.person("ben"));
    define(admin, "", "kettles", "Kettle").await;
    let bindings = format!("{IAM}/namespaces/milo-system/policybindings");
    let all = on_kind("tea.example.com", "Kettle");
    made(admin, &bindings, &binding("ben", "tea.example.com-viewer", "ben", all)).await;
    let kettles = "/apis/tea.example.com/v1/namespaces/default/kettles";
    assert_eq!(ben.get(kettles).await.unwrap().code, 200);
    let kettle = json!({"apiVersion": "tea.example.com/v1", "kind": "Kettle", "metadata": {"name": "k"}});
    assert_eq!(sent(&ben, kettles, &kettle).await.unwrap().code, 403);
    until(admin, &format!("{RESOURCES}/tea.example.com-kettle"), |code, _| code == 200).await;
    assert_eq!(admin.delete(&format!("{CRDS}/kettles.tea.example.com")).await.unwrap().code, 200);
    until(admin, &format!("{ROLES}/tea.example.com-viewer"), |code, _| code == 404).await;
    until(admin, &format!("{RESOURCES}/tea.example.com-kettle"), |code, _| code == 404).await;
}
