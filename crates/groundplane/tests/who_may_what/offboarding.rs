//! Off-boarding: an account that is inactive or gone may do nothing anywhere, from the next request on and on open watches, and
//! nobody inherits anything by taking its name.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use testbed::server::{Client, Lines, Server};

use super::GROUNDPLANE;
use super::iam::{IAM, TENANCY, Town, again, binding, made, on_kind, sent, user};

const RM: &str = "resourcemanager.miloapis.com";
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn plane(project: &str) -> String {
    format!("{TENANCY}/projects/{project}/control-plane")
}

/// Everything by which somebody may have rights: RBAC by name, IAM by user and by group, and a project that they make.
async fn with_rights(admin: &Client, person: &Client, name: &str) {
    let role = json!({"metadata": {"name": format!("{name}-role")}, "rules": [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]},
        {"apiGroups": [RM], "resources": ["projects"], "verbs": ["create", "get"]},
    ]});
    made(admin, &format!("{RBAC}/clusterroles"), &role).await;
    made(admin, &format!("{RBAC}/clusterrolebindings"), &rbac_binding(name, &[name])).await;
    let system = format!("{IAM}/namespaces/milo-system");
    let viewer = "iam.miloapis.com-viewer";
    made(
        admin,
        &format!("{system}/policybindings"),
        &binding(&format!("{name}-user"), viewer, name, on_kind("iam.miloapis.com", "User")),
    )
    .await;
    made(admin, &format!("{system}/groups"), &json!({"metadata": {"name": format!("{name}-group")}})).await;
    let membership = json!({
        "metadata": {"name": format!("{name}-member")},
        "spec": {"userRef": {"name": name}, "groupRef": {"name": format!("{name}-group"), "namespace": "milo-system"}},
    });
    made(admin, &format!("{system}/groupmemberships"), &membership).await;
    let mut by_group = binding(
        &format!("{name}-by-group"),
        "inventory.miloapis.com-viewer",
        &format!("{name}-group"),
        on_kind("inventory.miloapis.com", "Region"),
    );
    by_group["spec"]["subjects"][0] =
        json!({"kind": "Group", "name": format!("{name}-group"), "namespace": "milo-system"});
    made(admin, &format!("{system}/policybindings"), &by_group).await;
    made(person, &format!("{TENANCY}/projects"), &json!({"metadata": {"name": format!("{name}-lab")}})).await;
    let inside = format!("{}{MAPS}", plane(&format!("{name}-lab")));
    made(person, &inside, &json!({"metadata": {"name": "notes"}})).await;
}

fn rbac_binding(name: &str, users: &[&str]) -> Value {
    let subjects: Vec<Value> = users
        .iter()
        .map(|user| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}))
        .collect();
    json!({
        "metadata": {"name": format!("{name}-rbac")},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": format!("{name}-role")},
        "subjects": subjects,
    })
}

/// What each of those rights allows, as codes.
async fn reads(person: &Client, name: &str) -> Vec<u16> {
    let inside = plane(&format!("{name}-lab"));
    let mut codes = Vec::new();
    for path in [
        MAPS.to_owned(),
        format!("{IAM}/users"),
        "/apis/inventory.miloapis.com/v1alpha1/regions".to_owned(),
        format!("{inside}{MAPS}/notes"),
        format!("{inside}/api/v1/namespaces"),
    ] {
        codes.push(person.get(&path).await.unwrap().code);
    }
    codes
}

/// Watches in the root and in the project, past what is there already.
async fn watches(person: &Client, name: &str) -> Vec<Lines> {
    let mut open = Vec::new();
    for path in [MAPS.to_owned(), format!("{}{MAPS}", plane(&format!("{name}-lab")))] {
        let version = person.get(&path).await.unwrap().json()["metadata"]["resourceVersion"].clone();
        let path = format!("{path}?watch=1&resourceVersion={}", version.as_str().unwrap());
        let watch = person.watch(&path).await.unwrap();
        assert_eq!(watch.code, 200);
        open.push(watch);
    }
    open
}

/// Watches end with the reason, although nothing was changed that they watch.
async fn end(watches: Vec<Lines>, why: &str) {
    for mut watch in watches {
        let mut next =
            async || tokio::time::timeout(Duration::from_secs(20), watch.next()).await.unwrap().unwrap();
        let mut last = next().await;
        // Every namespace gets a map of the server's own, now or later.
        while last["object"]["metadata"]["name"] == "kube-root-ca.crt" {
            last = next().await;
        }
        assert_eq!((&last["type"], &last["object"]["code"]), (&json!("ERROR"), &json!(403)), "{last}");
        assert!(last["object"]["message"].as_str().unwrap().contains(why), "{last}");
        let after = tokio::time::timeout(Duration::from_secs(20), watch.next()).await.unwrap();
        assert_eq!(after, None, "it is over");
    }
}

async fn refused_everywhere(person: &Client, name: &str, why: &str) {
    assert_eq!(reads(person, name).await, [403; 5], "{why}");
    let write = sent(person, MAPS, &json!({"metadata": {"name": "late"}})).await.unwrap();
    assert_eq!(write.code, 403, "{}", write.text());
    assert!(write.json()["message"].as_str().unwrap().contains(why), "{}", write.text());
    let inside = format!("{}{MAPS}/notes", plane(&format!("{name}-lab")));
    let written = person.merge(&inside, &json!({"data": {"a": "b"}})).await.unwrap();
    assert_eq!(written.code, 403, "{}", written.text());
    let item = json!({"operation": "create", "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "t"}}});
    let body = json!({"kind": "Transaction", "spec": {"items": [item]}});
    assert_eq!(person.post("/apis/groundplane.dev/v1alpha1/transactions", &body).await.unwrap().code, 403);
    for path in ["/api", "/apis/authentication.k8s.io/v1", "/openapi/v2"] {
        assert_eq!(person.get(path).await.unwrap().code, 403, "{path}");
    }
}

#[tokio::test]
async fn an_inactive_user_may_do_nothing_until_she_is_active_again() {
    let town = Town::of(&["ann"], &[]).await;
    let (admin, ann) = (&town.admin, town.person("ann"));
    with_rights(admin, &ann, "ann").await;
    assert_eq!(reads(&ann, "ann").await, [200; 5]);
    let open = watches(&ann, "ann").await;
    let state = async |state: &str| {
        let patch = json!({"status": {"state": state}});
        let answer = admin.merge(&format!("{IAM}/users/ann/status"), &patch).await.unwrap();
        assert_eq!(answer.code, 200, "{}", answer.text());
    };
    state("Inactive").await;
    refused_everywhere(&ann, "ann", "User \"ann\" is Inactive").await;
    end(open, "is Inactive").await;
    let acting = admin.clone().with("impersonate-user", "ann");
    assert_eq!(acting.get(MAPS).await.unwrap().code, 403, "nor may anybody in her name");
    let by_address = admin.clone().with("impersonate-user", "Ann@example.com");
    assert!(by_address.get(MAPS).await.unwrap().text().contains("is Inactive"), "under her address neither");
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {
        "user": "ann", "resourceAttributes": {"verb": "get", "resource": "configmaps"},
    }});
    let told =
        admin.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", &review).await.unwrap().json();
    assert_eq!(told["status"]["allowed"], false, "{told}");
    assert!(told["status"]["reason"].as_str().unwrap().contains("Inactive"), "{told}");
    state("Active").await;
    assert_eq!(reads(&ann, "ann").await, [200; 5], "what was hers is hers");
}

#[tokio::test]
async fn a_deleted_user_may_do_nothing_and_a_later_one_of_the_name_inherits_nothing() {
    let folder = tempfile::TempDir::new().unwrap();
    let tokens = folder.path().join("tokens.csv");
    std::fs::write(&tokens, "ann-token,ann,,\n").unwrap();
    let start = |data: &Path| {
        Server::start(GROUNDPLANE, data, &["--token-auth-file", tokens.to_str().unwrap()]).unwrap()
    };
    let data = folder.path().join("data");
    let server = start(&data);
    let (admin, ann) = (server.client(), server.stranger().with_token("ann-token"));
    made(&admin, &format!("{IAM}/users"), &user("ann")).await;
    with_rights(&admin, &ann, "ann").await;
    assert_eq!(reads(&ann, "ann").await, [200; 5]);
    let open = watches(&ann, "ann").await;
    assert_eq!(admin.delete(&format!("{IAM}/users/ann")).await.unwrap().code, 200);
    refused_everywhere(&ann, "ann", "User \"ann\" was deleted at").await;
    end(open, "was deleted at").await;

    // It is not forgotten with the process.
    server.stop();
    let server = start(&data);
    let (admin, ann) = (server.client(), server.stranger().with_token("ann-token"));
    refused_everywhere(&ann, "ann", "User \"ann\" was deleted at").await;

    made(&admin, &format!("{IAM}/users"), &user("ann")).await;
    assert_eq!(ann.get("/api").await.unwrap().code, 200, "she is somebody again");
    assert_eq!(reads(&ann, "ann").await, [403, 403, 403, 404, 404], "and has nothing of what the other had");
    // Nobody hands the old grant on by touching it.
    let rbac = format!("{RBAC}/clusterrolebindings/ann-rbac");
    let touched = admin.merge(&rbac, &json!({"metadata": {"labels": {"seen": "yes"}}})).await.unwrap();
    assert_eq!(touched.code, 403, "{}", touched.text());
    assert!(touched.text().contains("take it out of the subjects"), "{}", touched.text());
    assert_eq!(admin.merge(&rbac, &json!({"subjects": null})).await.unwrap().code, 200);
    let granted = rbac_binding("ann", &["ann"])["subjects"].clone();
    assert_eq!(admin.merge(&rbac, &json!({"subjects": granted})).await.unwrap().code, 200);
    assert_eq!(reads(&ann, "ann").await, [200, 403, 403, 404, 404], "what she is given is hers");
}

#[tokio::test]
async fn a_name_that_never_had_a_user_and_the_administrator_are_not_concerned() {
    let town = Town::of(&["nobody"], &[]).await;
    let admin = &town.admin;
    let role = json!({"metadata": {"name": "nobody-role"}, "rules": [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]},
    ]});
    made(admin, &format!("{RBAC}/clusterroles"), &role).await;
    made(admin, &format!("{RBAC}/clusterrolebindings"), &rbac_binding("nobody", &["nobody"])).await;
    assert_eq!(town.person("nobody").get(MAPS).await.unwrap().code, 200, "as in Kubernetes");
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let me = admin.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", &review);
    let name = me.await.unwrap().json()["status"]["userInfo"]["username"].as_str().unwrap().to_owned();
    let mut own = user("own");
    own["metadata"]["name"] = name.replace("system:", "").into();
    made(admin, &format!("{IAM}/users"), &own).await;
    let path = format!("{IAM}/users/{}", name.replace("system:", ""));
    let patch = json!({"status": {"state": "Inactive"}});
    assert_eq!(admin.merge(&format!("{path}/status"), &patch).await.unwrap().code, 200);
    assert_eq!(admin.delete(&path).await.unwrap().code, 200);
    assert_eq!(admin.get(MAPS).await.unwrap().code, 200);
}

#[tokio::test]
async fn who_leaves_an_organization_leaves_the_projects_she_made_in_it() {
    let town = Town::of(&["mia"], &[]).await;
    let (admin, mia) = (&town.admin, town.person("mia"));
    made(admin, &format!("{TENANCY}/organizations"), &json!({"metadata": {"name": "acme"}, "spec": {}}))
        .await;
    let role = json!({"metadata": {"name": "project-maker"}, "spec": {
        "launchStage": "Alpha", "includedPermissions": [format!("{RM}/projects.create"), format!("{RM}/organizations.get")],
    }});
    made(admin, &format!("{IAM}/namespaces/milo-system/roles"), &role).await;
    let memberships = format!("{TENANCY}/namespaces/organization-acme/organizationmemberships");
    let membership = json!({"metadata": {"name": "mia"}, "spec": {
        "organizationRef": {"name": "acme"}, "userRef": {"name": "mia"},
        "roles": [{"name": "project-maker", "namespace": "milo-system"}],
    }});
    made(admin, &memberships, &membership).await;
    let project = |name: &str| json!({"metadata": {"name": name}, "spec": {"ownerRef": {"kind": "Organization", "name": "acme"}}});
    let projects = format!("{TENANCY}/projects");
    let mut tries = 0;
    while sent(&mia, &projects, &project("mia-lab")).await.unwrap().code != 201 {
        again(&mut tries).await;
    }
    let inside = format!("{}{MAPS}", plane("mia-lab"));
    made(&mia, &inside, &json!({"metadata": {"name": "notes"}})).await;
    let version = mia.get(&inside).await.unwrap().json()["metadata"]["resourceVersion"].clone();
    let watch =
        mia.watch(&format!("{inside}?watch=1&resourceVersion={}", version.as_str().unwrap())).await.unwrap();
    assert_eq!(watch.code, 200);

    assert_eq!(admin.delete(&format!("{memberships}/mia")).await.unwrap().code, 200);
    for path in [format!("{inside}/notes"), inside.clone(), format!("{}/api", plane("mia-lab"))] {
        let answer = mia.get(&path).await.unwrap();
        assert_eq!(answer.code, 404, "{path}: {}", answer.text());
    }
    assert_eq!(sent(&mia, &inside, &json!({"metadata": {"name": "more"}})).await.unwrap().code, 404);
    assert_eq!(sent(&mia, &projects, &project("mia-next")).await.unwrap().code, 403, "nor makes others");
    assert_eq!(mia.get(&format!("{TENANCY}/organizations/acme")).await.unwrap().code, 403);
    end(vec![watch], "cannot watch resource").await;
    assert_eq!(admin.get(&format!("{inside}/notes")).await.unwrap().code, 200, "the work stays");

    // Who comes back has what the new membership gives, and not what the old one led to.
    made(admin, &memberships, &membership).await;
    let mut tries = 0;
    while sent(&mia, &projects, &project("mia-again")).await.unwrap().code != 201 {
        again(&mut tries).await;
    }
    let again = format!("{}{MAPS}", plane("mia-again"));
    made(&mia, &again, &json!({"metadata": {"name": "notes"}})).await;
    assert_eq!(mia.get(&inside).await.unwrap().code, 404);
}
