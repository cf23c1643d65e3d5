//! Organizations and projects: who owns what, and what is left when they go.

use serde_json::json;

use super::iam::{IAM, TENANCY, Town, again, binding, made, on_kind, on_object, sent};

const RM: &str = "resourcemanager.miloapis.com";

fn plane(project: &str) -> String {
    format!("{TENANCY}/projects/{project}/control-plane")
}

#[tokio::test]
async fn the_owner_of_an_organization_has_its_projects_and_nobody_else_s() {
    let town = Town::of(&["ann", "ben", "cat"], &[]).await;
    let (admin, ann, ben, cat) = (&town.admin, town.person("ann"), town.person("ben"), town.person("cat"));
    let editor = format!("{RM}-editor");
    let system = format!("{IAM}/namespaces/milo-system/policybindings");
    for name in ["ann", "ben"] {
        let mut wanted = binding(name, &editor, name, on_kind(RM, "Organization"));
        wanted["spec"]["roleRef"]["name"] = json!("may-found");
        if name == "ann" {
            let role = json!({"metadata": {"name": "may-found"}, "spec": {
                "launchStage": "Alpha", "includedPermissions": [format!("{RM}/organizations.create")],
            }});
            made(admin, &format!("{IAM}/namespaces/milo-system/roles"), &role).await;
        }
        made(admin, &system, &wanted).await;
    }
    let organization = |name: &str| json!({"metadata": {"name": name}, "spec": {}});
    made(&ann, &format!("{TENANCY}/organizations"), &organization("acme")).await;
    made(&ben, &format!("{TENANCY}/organizations"), &organization("beta")).await;
    assert_eq!(
        ann.get(&format!("{TENANCY}/organizations/acme")).await.unwrap().code,
        200,
        "who founds it owns it"
    );
    assert_eq!(ann.get(&format!("{TENANCY}/organizations/beta")).await.unwrap().code, 404);
    let mine = ann.get(&format!("{TENANCY}/organizations")).await.unwrap().json();
    assert_eq!(mine["items"].as_array().unwrap().len(), 1);

    let project = |name: &str, owner: &str| {
        json!({
            "metadata": {"name": name}, "spec": {"ownerRef": {"kind": "Organization", "name": owner}},
        })
    };
    let made_it = made(&ann, &format!("{TENANCY}/projects"), &project("acme-web", "acme")).await;
    assert_eq!(made_it["status"]["conditions"][0]["status"], "True", "it is there at once");
    let foreign = sent(&ann, &format!("{TENANCY}/projects"), &project("trojan", "beta")).await.unwrap();
    assert_eq!(foreign.code, 403, "{}", foreign.text());
    let nobodys =
        sent(&ann, &format!("{TENANCY}/projects"), &json!({"metadata": {"name": "stray"}})).await.unwrap();
    assert_eq!(nobodys.code, 403, "{}", nobodys.text());
    let web = plane("acme-web");
    made(&ann, &format!("{web}/api/v1/namespaces/default/configmaps"), &json!({"metadata": {"name": "m"}}))
        .await;
    for stranger in [&ben, &cat] {
        for path in
            ["/api", "/apis", "/api/v1/namespaces", "/api/v1/namespaces/default/configmaps/m", "/openapi/v3"]
        {
            let answer = stranger.get(&format!("{web}{path}")).await.unwrap();
            let absent = stranger.get(&format!("{}{path}", plane("no-such"))).await.unwrap();
            assert_eq!((answer.code, absent.code), (404, 404), "{path}: {}", answer.text());
            assert_eq!(answer.text().replace("acme-web", "no-such"), absent.text());
        }
    }
    // Ann lets Cat look at this one project, and Cat sees it and no other.
    let acme = format!("{IAM}/namespaces/organization-acme/policybindings");
    made(&ann, &acme, &binding("cat", "project-viewer", "cat", on_object(RM, "Project", "acme-web"))).await;
    assert_eq!(cat.get(&format!("{web}/api/v1/namespaces/default/configmaps/m")).await.unwrap().code, 200);
    let secrets = format!("{web}/api/v1/namespaces/default/secrets");
    made(&ann, &secrets, &json!({"metadata": {"name": "pin"}, "stringData": {"pin": "1234"}})).await;
    let seen = cat.get(&format!("{secrets}/pin")).await.unwrap().json();
    assert_eq!(seen["data"], json!({"pin": ""}), "not what its secrets hold");
    let write = sent(
        &cat,
        &format!("{web}/api/v1/namespaces/default/configmaps"),
        &json!({"metadata": {"name": "n"}}),
    )
    .await;
    assert_eq!(write.unwrap().code, 403);
    let seen = cat.get(&format!("{TENANCY}/projects")).await.unwrap().json();
    assert_eq!(seen["items"].as_array().unwrap().len(), 1, "{seen}");
    assert_eq!(cat.get(&acme).await.unwrap().code, 403, "who else may is not hers to know");
    // What Ann may give ends with her organization.
    let beyond =
        sent(&ann, &acme, &binding("x", "project-viewer", "cat", on_kind(RM, "Project"))).await.unwrap();
    assert_eq!(beyond.code, 403, "{}", beyond.text());
    let whoami = sent(&cat, &format!("{web}/apis/authentication.k8s.io/v1/selfsubjectreviews"), &json!({}))
        .await
        .unwrap()
        .json();
    assert_eq!(
        whoami["status"]["userInfo"]["extra"]["iam.miloapis.com/parent-name"],
        json!(["acme-web"]),
        "{whoami}"
    );
    let blocked = ann.delete(&format!("{TENANCY}/organizations/acme")).await.unwrap();
    assert_eq!(blocked.code, 409, "it has projects: {}", blocked.text());
}

#[tokio::test]
async fn the_roles_of_a_member_are_bound_on_the_organization() {
    let town = Town::of(&["ann", "ben"], &[]).await;
    let (admin, ben) = (&town.admin, town.person("ben"));
    made(admin, &format!("{TENANCY}/organizations"), &json!({"metadata": {"name": "acme"}})).await;
    let project =
        json!({"metadata": {"name": "web"}, "spec": {"ownerRef": {"kind": "Organization", "name": "acme"}}});
    made(admin, &format!("{TENANCY}/projects"), &project).await;
    let members = format!("{TENANCY}/namespaces/organization-acme/organizationmemberships");
    let membership = json!({"metadata": {"name": "ben"}, "spec": {
        "organizationRef": {"name": "acme"}, "userRef": {"name": "ben"},
        "roles": [{"name": "organization-viewer", "namespace": "milo-system"}, {"name": "no-such", "namespace": "milo-system"}],
    }});
    made(admin, &members, &membership).await;
    let path = format!("{members}/ben");
    let (mut told, mut tries) = (json!(null), 0);
    while told["status"]["appliedRoles"].as_array().is_none_or(Vec::is_empty) {
        again(&mut tries).await;
        told = admin.get(&path).await.unwrap().json();
    }
    assert_eq!(told["status"]["appliedRoles"][0]["status"], "Applied", "{told}");
    assert_eq!(
        told["status"]["appliedRoles"][1]["message"],
        "role 'no-such' not found in namespace 'milo-system'"
    );
    assert_eq!(told["status"]["user"]["email"], "ben@example.com");
    let maps = format!("{}/api/v1/configmaps", plane("web"));
    assert_eq!(ben.get(&maps).await.unwrap().code, 200);
    admin.merge(&path, &json!({"spec": {"roles": null}})).await.unwrap();
    while ben.get(&maps).await.unwrap().code != 404 {
        again(&mut tries).await;
    }
}

#[tokio::test]
async fn a_project_takes_everything_along_and_says_what_it_waits_for() {
    let town = Town::of(&["ann"], &[]).await;
    let (admin, ann) = (&town.admin, town.person("ann"));
    made(admin, &format!("{TENANCY}/projects"), &json!({"metadata": {"name": "p"}})).await;
    let bindings = format!("{IAM}/namespaces/milo-system/policybindings");
    made(admin, &bindings, &binding("ann", "project-admin", "ann", on_object(RM, "Project", "p"))).await;
    let maps = format!("{}/api/v1/namespaces/default/configmaps", plane("p"));
    made(&ann, &maps, &json!({"metadata": {"name": "a"}})).await;
    made(&ann, &maps, &json!({"metadata": {"name": "held", "finalizers": ["example.com/hold"]}})).await;
    let deleted = ann.delete(&format!("{TENANCY}/projects/p")).await.unwrap();
    assert_eq!(deleted.code, 200, "{}", deleted.text());
    let cleanup = |project: &serde_json::Value| {
        let all = project["status"]["conditions"].as_array().cloned().unwrap_or_default();
        all.into_iter().find(|condition| condition["type"] == "ResourceCleanup").unwrap_or_default()
    };
    let (mut told, mut tries) = (json!(null), 0);
    while told["reason"] != "CleanupAwaitingCompletion" {
        again(&mut tries).await;
        let project = admin.get(&format!("{TENANCY}/projects/p")).await.unwrap().json();
        told = cleanup(&project);
    }
    assert_eq!(
        told["message"],
        "1 object remaining: 1 of configmaps; waiting for finalizers example.com/hold"
    );
    let refused = sent(&ann, &maps, &json!({"metadata": {"name": "late"}})).await.unwrap();
    assert_eq!(refused.code, 403, "{}", refused.text());
    let let_go =
        admin.merge(&format!("{maps}/held"), &json!({"metadata": {"finalizers": null}})).await.unwrap();
    assert_eq!(let_go.code, 200, "what waits can be let go: {}", let_go.text());
    while admin.get(&format!("{TENANCY}/projects/p")).await.unwrap().code != 404 {
        again(&mut tries).await;
    }
    while admin.get(&format!("{bindings}/ann")).await.unwrap().code != 404 {
        again(&mut tries).await;
    }
    made(admin, &format!("{TENANCY}/projects"), &json!({"metadata": {"name": "p"}})).await;
    assert_eq!(ann.get(&maps).await.unwrap().code, 404, "another project of the same name is not hers");
    assert_eq!(admin.get(&maps).await.unwrap().json()["items"], json!([]));
}
