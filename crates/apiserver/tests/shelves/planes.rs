//! Planes: what a project has is its own, and its rules look at nothing else.

use serde_json::{Value, json};
use testbed::server::Client;

use super::objects::{
    BOOKS, CONFIG_MAPS, LOANS, SHELVES, book, config_map, finalizers, found, loan, make, names, shelf,
};
use super::server::{Server, until};

const PROJECT: &str = "/apis/tenants.example.groundplane.dev/v1alpha1/tenants/p1/control-plane";
const OTHER: &str = "/apis/tenants.example.groundplane.dev/v1alpha1/tenants/p2/control-plane";

/// Where projects are.
const PROJECTS: &str = "/apis/tenants.example.groundplane.dev/v1alpha1/tenants";

/// A server with two projects.
async fn server_with_projects() -> Server {
    let server = Server::embedded().await;
    for name in ["p1", "p2"] {
        make(&server.client(), PROJECTS, &project(name)).await;
    }
    server
}

fn project(name: &str) -> Value {
    json!({
        "apiVersion": "tenants.example.groundplane.dev/v1alpha1", "kind": "Tenant", "metadata": {"name": name},
    })
}

/// Somebody without any rights of their own, as the administrator acts.
fn eve(server: &Server) -> Client {
    server.client().with("impersonate-user", "eve").with("impersonate-group", "system:authenticated")
}

#[tokio::test]
async fn a_plane_is_there_when_its_project_is_and_for_those_who_belong_to_it() {
    let server = server_with_projects().await;
    let client = server.client();
    assert_eq!(
        names(&client, &format!("{PROJECT}/api/v1/namespaces")).await.len(),
        3,
        "from the first request on"
    );
    let nowhere = client.get(&PROJECT.replace("p1", "p9")).await.unwrap();
    let foreign = eve(&server).get(&format!("{PROJECT}/api/v1/namespaces")).await.unwrap();
    assert_eq!((nowhere.code, foreign.code), (404, 404));
    assert_eq!(
        nowhere.json()["message"].as_str().unwrap().replace("p9", "p1"),
        foreign.json()["message"].as_str().unwrap(),
        "nobody can tell one that is not there from one that is not theirs"
    );
    assert_eq!(eve(&server).get(&format!("{PROJECT}/apis")).await.unwrap().code, 404);
    let binding = json!({
        "metadata": {"name": "eve"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "User", "name": "eve", "apiGroup": "rbac.authorization.k8s.io"}],
    });
    let bindings = format!("{PROJECT}/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings");
    make(&client, &bindings, &binding).await;
    let maps = format!("{PROJECT}{CONFIG_MAPS}");
    assert_eq!(eve(&server).get(&maps).await.unwrap().code, 200, "what ships counts in every plane");
    assert_eq!(eve(&server).get(&format!("{PROJECT}/apis")).await.unwrap().code, 200);
    assert_eq!(eve(&server).post(&maps, &config_map("a", &[])).await.unwrap().code, 403);
    assert_eq!(eve(&server).get(&maps.replace("p1", "p2")).await.unwrap().code, 404);
    assert_eq!(eve(&server).get(CONFIG_MAPS).await.unwrap().code, 403, "the root is another");
}

#[tokio::test]
async fn who_makes_a_project_is_its_administrator() {
    let server = Server::embedded().await;
    let client = server.client();
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let role = json!({"metadata": {"name": "maker"}, "rules": [
        {"apiGroups": ["tenants.example.groundplane.dev"], "resources": ["tenants"], "verbs": ["create"]}]});
    make(&client, &format!("{rbac}/clusterroles"), &role).await;
    let binding = json!({"metadata": {"name": "maker"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "maker"},
        "subjects": [{"kind": "User", "name": "eve", "apiGroup": "rbac.authorization.k8s.io"}]});
    make(&client, &format!("{rbac}/clusterrolebindings"), &binding).await;
    let eve = eve(&server);
    make(&eve, PROJECTS, &project("p1")).await;
    make(&eve, &format!("{PROJECT}{CONFIG_MAPS}"), &config_map("a", &[])).await;
    assert_eq!(
        eve.get(&format!("{PROJECTS}/p1")).await.unwrap().code,
        403,
        "in the root it is another matter"
    );
}

#[tokio::test]
async fn with_a_project_goes_everything_in_its_plane_and_a_later_one_sees_nothing_of_it() {
    let server = server_with_projects().await;
    let client = server.client();
    make(&client, &format!("{PROJECT}{SHELVES}"), &shelf("s1", 500)).await;
    make(&client, &format!("{PROJECT}{BOOKS}"), &book("b1", "s1", 0, 30)).await;
    let maps = format!("{PROJECT}{CONFIG_MAPS}");
    make(&client, &maps, &config_map("a", &[])).await;
    finalizers(&client, &format!("{maps}/a"), &["example.com/wait"]).await;
    assert_eq!(client.delete(&format!("{PROJECTS}/p1")).await.unwrap().code, 200);
    let refused = client.post(&maps, &config_map("b", &[])).await.unwrap();
    assert_eq!(refused.code, 403, "{}", refused.text());
    until("all that waits for nothing is gone", || async {
        names(&client, &format!("{PROJECT}{BOOKS}")).await.is_empty()
    })
    .await;
    assert!(found(&client, &format!("{PROJECTS}/p1")).await.is_some(), "something still waits");
    let plane = apiserver::plane::Plane::project("p1");
    let inside = apiserver::client::Client::system(&server.api, "tests").in_plane(&plane);
    let kind = server.api.kinds().of(&plane).resource("", "configmaps").unwrap().clone();
    until("what waits is told to go", || async {
        inside.read(&kind, "default", "a").is_some_and(|map| map.is_deleting())
    })
    .await;
    let mut map = inside.read(&kind, "default", "a").unwrap();
    map.set_finalizers(Vec::new());
    inside.update(map).await.unwrap();
    until("the project is gone", || async { found(&client, &format!("{PROJECTS}/p1")).await.is_none() })
        .await;
    make(&client, PROJECTS, &project("p1")).await;
    assert_eq!(client.get(&format!("{PROJECT}{SHELVES}/s1/history")).await.unwrap().code, 404);
    assert_eq!(client.post(&format!("{PROJECT}{SHELVES}/s1/restore"), &json!({})).await.unwrap().code, 404);
    assert!(names(&client, &format!("{PROJECT}{SHELVES}")).await.is_empty());
}

#[tokio::test]
async fn kinds_that_one_project_defines_are_no_affair_of_another() {
    let server = server_with_projects().await;
    let client = server.client();
    tokio::spawn(apiserver::controllers::host::run(
        std::sync::Arc::new(apiserver::controllers::definitions::DefinitionController),
        server.api.clone(),
        None,
    ));
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "lamps.example.com"},
        "spec": {"group": "example.com", "scope": "Cluster", "names": {"plural": "lamps", "singular": "lamp", "kind": "Lamp"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]},
    });
    make(&client, &format!("{PROJECT}/apis/apiextensions.k8s.io/v1/customresourcedefinitions"), &definition)
        .await;
    let lamps = format!("{PROJECT}/apis/example.com/v1/lamps");
    until("the kind is served", || async { client.get(&lamps).await.unwrap().code == 200 }).await;
    let lamp = json!({"apiVersion": "example.com/v1", "kind": "Lamp", "metadata": {"name": "l1"}});
    make(&client, &lamps, &lamp).await;
    assert_eq!(client.get(&lamps.replace("p1", "p2")).await.unwrap().code, 404);
    assert_eq!(client.get("/apis/example.com/v1/lamps").await.unwrap().code, 404);
    let groups = client.get(&format!("{PROJECT}/apis")).await.unwrap().text();
    assert!(
        groups.contains("example.com") && !groups.contains("tenants.example.groundplane.dev"),
        "{groups}"
    );
}

#[tokio::test]
async fn the_same_name_is_another_object_in_another_plane() {
    let server = server_with_projects().await;
    let client = server.client();
    for (plane, width) in [("", 1000), (PROJECT, 500), (OTHER, 700)] {
        make(&client, &format!("{plane}{SHELVES}"), &shelf("s1", width)).await;
    }
    for (plane, width) in [("", 1000), (PROJECT, 500), (OTHER, 700)] {
        let found = found(&client, &format!("{plane}{SHELVES}/s1")).await.unwrap();
        assert_eq!(found["spec"]["width"], width, "in {plane:?}");
    }
    assert_eq!(client.delete(&format!("{PROJECT}{SHELVES}/s1")).await.unwrap().code, 200);
    assert_eq!(found(&client, &format!("{PROJECT}{SHELVES}/s1")).await, None);
    assert!(found(&client, &format!("{SHELVES}/s1")).await.is_some());
}

#[tokio::test]
async fn references_buckets_and_selectors_end_at_the_plane() {
    let server = server_with_projects().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("s1", 1000)).await;
    let books = format!("{PROJECT}{BOOKS}");
    let refused = client.post(&books, &book("b1", "s1", 0, 30)).await.unwrap();
    assert_eq!(refused.code, 422, "a shelf of the root is none of the project's: {}", refused.text());
    make(&client, &format!("{PROJECT}{SHELVES}"), &shelf("s1", 200)).await;
    make(&client, &books, &book("b1", "s1", 0, 30)).await;
    make(&client, BOOKS, &book("other", "s1", 0, 30)).await;
    assert_eq!(names(&client, &format!("{books}?fieldSelector=spec.author=Boye")).await, ["b1"]);
    let referrers = client.get(&format!("{PROJECT}{SHELVES}/s1/referrers")).await.unwrap().json();
    let referring: Vec<&Value> =
        referrers["items"].as_array().unwrap().iter().map(|item| &item["name"]).collect();
    assert_eq!(referring, [&json!("b1")]);
    assert_eq!(client.delete(&format!("{BOOKS}/other")).await.unwrap().code, 200);
    assert_eq!(client.delete(&format!("{SHELVES}/s1")).await.unwrap().code, 200);
    assert_eq!(client.delete(&format!("{PROJECT}{SHELVES}/s1")).await.unwrap().code, 409);
}

#[tokio::test]
async fn a_project_has_namespaces_of_its_own_and_they_are_emptied_there() {
    let server = server_with_projects().await;
    let client = server.client();
    let loans = format!("{PROJECT}/apis/example.groundplane.dev/v1alpha1/namespaces/branch/loans");
    let missing = client.post(&loans, &loan("l1", "b1")).await.unwrap();
    assert_eq!(missing.code, 404, "{}", missing.text());
    for plane in ["", PROJECT] {
        let namespaces = format!("{plane}/api/v1/namespaces");
        make(&client, &namespaces, &json!({"metadata": {"name": "branch"}})).await;
    }
    make(&client, &loans, &loan("l1", "b1")).await;
    make(&client, &loans.replacen(PROJECT, "", 1), &loan("l1", "b1")).await;
    make(&client, LOANS, &loan("l1", "b1")).await;
    let branch = format!("{PROJECT}/api/v1/namespaces/branch");
    assert_eq!(client.delete(&branch).await.unwrap().code, 200);
    until("the project's namespace is gone", || async { found(&client, &branch).await.is_none() }).await;
    assert!(names(&client, &loans).await.is_empty());
    assert_eq!(names(&client, &loans.replacen(PROJECT, "", 1)).await, ["l1"], "the root's is another");
}
