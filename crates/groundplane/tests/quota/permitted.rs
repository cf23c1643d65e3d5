//! Verbs of their own: using a network and consuming a service are permissions besides reading and writing.

use super::*;

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const NETWORK: &str = "networking.datumapis.com";

/// Gives eve these rules in the project.
async fn allow(client: &Client, name: &str, rules: Value) {
    let role = json!({"metadata": {"name": name}, "rules": rules});
    make(client, &inside("acme", &format!("{RBAC}/clusterroles")), &role).await;
    let binding = json!({"metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "User", "name": "eve", "apiGroup": "rbac.authorization.k8s.io"}]});
    make(client, &inside("acme", &format!("{RBAC}/clusterrolebindings")), &binding).await;
}

fn rule(group: &str, resource: &str, verbs: &[&str]) -> Value {
    json!([{"apiGroups": [group], "resources": [resource], "verbs": verbs}])
}

#[tokio::test]
async fn attaching_to_a_network_takes_the_permission_to_use_it() {
    let (_server, client) = server();
    make_project(&client, "acme").await;
    let networks = inside("acme", &namespaced(NETWORKING, "default", "networks"));
    make(&client, &networks, &object(NETWORKING, "Network", "default", json!({"ipam": {"mode": "Auto"}})))
        .await;
    let eve =
        client.apart().with("impersonate-user", "eve").with("impersonate-group", "system:authenticated");
    allow(&client, "binder", rule(NETWORK, "networkbindings", &["create", "get", "update"])).await;
    let bindings = inside("acme", &namespaced(NETWORKING, "default", "networkbindings"));
    let spec = json!({"network": {"name": "default"}, "location": {"name": "dfw"}});
    let binding = object(NETWORKING, "NetworkBinding", "b", spec);
    let refused = eve.post(&bindings, &binding).await.unwrap();
    assert_eq!(refused.code, 403);
    let why = refused.json()["message"].as_str().unwrap().to_owned();
    assert!(
        why.contains(
            "User \"eve\" cannot use resource \"networks\" in API group \"networking.datumapis.com\""
        ),
        "{why}"
    );
    allow(&client, "user", rule(NETWORK, "networks", &["use"])).await;
    make(&eve, &bindings, &binding).await;
    // What is named already takes nothing more.
    assert_eq!(
        client.delete(&inside("acme", &format!("{RBAC}/clusterrolebindings/user"))).await.unwrap().code,
        200
    );
    // A controller may write its status between the two requests.
    let code = loop {
        let unchanged = eve.get(&format!("{bindings}/b")).await.unwrap().json();
        match eve.put(&format!("{bindings}/b"), &unchanged).await.unwrap().code {
            409 => {}
            code => break code,
        }
    };
    assert_eq!(code, 200);
}

#[tokio::test]
async fn asking_for_a_service_takes_the_permission_to_consume_it() {
    let (_server, client) = server();
    for project in ["acme", "provider"] {
        make_project(&client, project).await;
    }
    let spec = json!({"serviceName": "shop.example.com", "phase": "Published", "displayName": "Shop",
        "owner": {"producerProjectRef": {"name": "provider"}}});
    make(&client, &cluster(SERVICES, "services"), &object(SERVICES, "Service", "shop", spec)).await;
    let eve =
        client.apart().with("impersonate-user", "eve").with("impersonate-group", "system:authenticated");
    allow(&client, "asker", rule("services.miloapis.com", "serviceentitlements", &["create"])).await;
    let entitlement = object(SERVICES, "ServiceEntitlement", "shop", json!({"serviceRef": {"name": "shop"}}));
    let entitlements = inside("acme", &cluster(SERVICES, "serviceentitlements"));
    assert_eq!(eve.post(&entitlements, &entitlement).await.unwrap().code, 403);
    allow(&client, "consumer", rule("services.miloapis.com", "services", &["consume"])).await;
    make(&eve, &entitlements, &entitlement).await;
}

#[tokio::test]
async fn iam_grants_these_verbs_in_a_project_and_reviews_tell_it_from_the_root() {
    let (_server, client) = server();
    make_project(&client, "acme").await;
    let iam = "iam.miloapis.com/v1alpha1";
    let user = object(iam, "User", "eve", json!({"email": "eve@example.com"}));
    let user = make(&client, &cluster(iam, "users"), &user).await;
    let project = get(&client, &format!("{PROJECTS}/acme")).await;
    let binding = object(
        iam,
        "PolicyBinding",
        "eve",
        json!({
            "roleRef": {"name": "project-editor", "namespace": "milo-system"},
            "subjects": [{"kind": "User", "name": "eve", "uid": user["metadata"]["uid"]}],
            "resourceSelector": {"resourceRef": {"apiGroup": "resourcemanager.miloapis.com", "kind": "Project",
                "name": "acme", "uid": project["metadata"]["uid"]}},
        }),
    );
    make(&client, &namespaced(iam, "milo-system", "policybindings"), &binding).await;
    let asked = async |group: &str, resource: &str, verb: &str, project: &str| {
        let extra = json!({"iam.miloapis.com/parent-api-group": ["resourcemanager.miloapis.com"],
            "iam.miloapis.com/parent-type": ["Project"], "iam.miloapis.com/parent-name": [project]});
        let attributes = json!({"group": group, "resource": resource, "verb": verb, "name": "default", "namespace": "default"});
        let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": "eve", "extra": extra, "resourceAttributes": attributes}});
        let answer =
            client.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", &review).await.unwrap();
        answer.json()["status"]["allowed"] == true
    };
    assert!(asked(NETWORK, "networks", "use", "acme").await, "an editor uses networks");
    assert!(asked("services.miloapis.com", "services", "consume", "acme").await, "and consumes services");
    assert!(!asked(NETWORK, "networks", "use", "other").await, "of that project alone");
    let role =
        get(&client, &format!("{}/networking.datumapis.com-viewer", namespaced(iam, "milo-system", "roles")))
            .await;
    assert!(!role["spec"].to_string().contains("networks.use"), "a viewer does not");
}
