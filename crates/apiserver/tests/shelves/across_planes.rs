//! Across planes: projects refer to the root and take what is there, each once, and learn no more than they may.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use testbed::server::{Answer, Client};
use tokio::task::JoinSet;

use super::objects::{causes, found, make, names};
use super::reading_room::{CLASSES, DESKS, SEATS, class, desk, seat, seat_next_to};
use super::server::{Pair, Server, until};

const PROJECTS: &str = "/apis/tenants.example.groundplane.dev/v1alpha1/tenants";
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

const TAKERS: usize = 64;
const THERE: usize = 48;

fn seats_of(project: &str) -> String {
    format!("{PROJECTS}/{project}/control-plane{SEATS}")
}

pub async fn make_project(client: &Client, name: &str) {
    let project = json!({"apiVersion": "tenants.example.groundplane.dev/v1alpha1", "kind": "Tenant",
        "metadata": {"name": name}});
    make(client, PROJECTS, &project).await;
}

pub async fn make_desks(client: &Client, of: &str, limit: Option<u32>, count: usize) {
    make(client, CLASSES, &class(of, limit)).await;
    for number in 0..count {
        make(client, DESKS, &desk(&format!("{of}-{number:02}"), of)).await;
    }
}

/// Which seat has which desk, as the desks say.
pub async fn taken(client: &Client) -> BTreeMap<String, String> {
    let list = client.get(DESKS).await.unwrap().json();
    let of = |desk: &Value| {
        let taker = desk.pointer("/status/seat/uid")?.as_str()?.to_owned();
        Some((desk["metadata"]["name"].as_str()?.to_owned(), taker))
    };
    list["items"].as_array().unwrap().iter().filter_map(of).collect()
}

/// Every project asks for a desk at the same time; what each was answered.
async fn all_take(servers: &[&Server], of: &str) -> Vec<(String, Answer)> {
    let mut taking = JoinSet::new();
    for number in 0..TAKERS {
        let client = servers[number % servers.len()].client();
        let (project, of) = (format!("p{number}"), of.to_owned());
        taking.spawn(async move {
            let answer = client.post(&seats_of(&project), &seat("s", &of)).await.unwrap();
            (project, answer)
        });
    }
    taking.join_all().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_projects_take_desks_of_one_class_each_once_on_one_server() {
    let server = Server::embedded().await;
    each_is_taken_once(&[&server]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_projects_take_desks_of_one_class_each_once_on_two_servers_of_one_etcd() {
    let Some(pair) = Pair::on_etcd().await else { return };
    let [first, second] = &pair.servers;
    each_is_taken_once(&[first, second]).await;
}

async fn each_is_taken_once(servers: &[&Server]) {
    let client = servers[0].client();
    make_desks(&client, "oak", None, THERE).await;
    for number in 0..TAKERS {
        make_project(&client, &format!("p{number}")).await;
    }
    let answers = all_take(servers, "oak").await;
    let (granted, refused): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|(_, answer)| answer.code == 201);
    assert_eq!(granted.len(), THERE, "all that there are");
    for (project, answer) in &refused {
        assert_eq!(answer.code, 409, "{project}: {}", answer.text());
        assert!(
            answer.text().contains("no desk is free"),
            "refused for another reason: {project}: {}",
            answer.text()
        );
    }
    let text = |value: &Value, pointer: &str| value.pointer(pointer).unwrap().as_str().unwrap().to_owned();
    let told: BTreeMap<String, String> = granted
        .iter()
        .map(|(_, answer)| {
            (text(&answer.json(), "/status/deskRef/name"), text(&answer.json(), "/metadata/uid"))
        })
        .collect();
    assert_eq!(told.len(), THERE, "none twice");
    assert_eq!(taken(&client).await, told, "the desks say the same as the seats");

    // What a project had is free when the project is gone, and who got nothing gets it.
    let gone: Vec<&String> = granted.iter().take(refused.len()).map(|(project, _)| project).collect();
    for project in &gone {
        assert_eq!(client.delete(&format!("{PROJECTS}/{project}")).await.unwrap().code, 200);
    }
    until("the desks are given back", || async { taken(&client).await.len() == THERE - gone.len() }).await;
    for (project, _) in &refused {
        make(&client, &seats_of(project), &seat("s", "oak")).await;
    }
    let now: BTreeSet<String> = taken(&client).await.into_values().collect();
    assert_eq!(now.len(), THERE);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_is_a_counter_that_no_number_of_takers_exceeds() {
    let server = Server::embedded().await;
    let client = server.client();
    make_desks(&client, "elm", Some(20), 40).await;
    for number in 0..TAKERS {
        make_project(&client, &format!("p{number}")).await;
    }
    let answers = all_take(&[&server], "elm").await;
    let granted: Vec<&String> =
        answers.iter().filter(|(_, answer)| answer.code == 201).map(|(project, _)| project).collect();
    assert_eq!(granted.len(), 20);
    let of_class =
        || async { found(&client, &format!("{CLASSES}/elm")).await.unwrap()["status"]["taken"].clone() };
    assert_eq!(of_class().await, 20);
    assert_eq!(client.delete(&format!("{}/s", seats_of(granted[0]))).await.unwrap().code, 200);
    assert_eq!(of_class().await, 19, "what is given back is counted back");
    assert_eq!(taken(&client).await.len(), 19);
}

#[tokio::test]
async fn a_rehearsal_takes_nothing_and_an_update_keeps_what_was_taken() {
    let server = Server::embedded().await;
    let client = server.client();
    make_desks(&client, "oak", None, 2).await;
    make_project(&client, "p1").await;
    let seats = seats_of("p1");
    let tried = client.post(&format!("{seats}?dryRun=All"), &seat("s", "oak")).await.unwrap();
    assert_eq!(tried.code, 201, "{}", tried.text());
    assert!(tried.json()["status"]["deskRef"]["name"].is_string());
    assert!(taken(&client).await.is_empty());
    let made = make(&client, &seats, &seat("s", "oak")).await;
    let mine = &made["status"]["deskRef"]["name"];
    let changed =
        client.merge(&format!("{seats}/s"), &json!({"metadata": {"labels": {"a": "b"}}})).await.unwrap();
    assert_eq!(&changed.json()["status"]["deskRef"]["name"], mine);
    assert_eq!(taken(&client).await.len(), 1);
    let managed = changed.json()["metadata"]["managedFields"].to_string();
    assert!(managed.contains("seats.example.groundplane.dev"), "the kind owns what it decides: {managed}");
    let desk = found(&client, &format!("{DESKS}/{}", mine.as_str().unwrap())).await.unwrap();
    assert!(desk["metadata"]["managedFields"].to_string().contains("seats.example.groundplane.dev"));
    assert_eq!(desk["status"]["seat"]["project"], "p1");
    let project = found(&client, &format!("{PROJECTS}/p1")).await.unwrap();
    assert_eq!(desk["status"]["seat"]["projectUid"], project["metadata"]["uid"]);
}

#[tokio::test]
async fn seats_of_one_transaction_take_different_desks() {
    let server = Server::embedded().await;
    let client = server.client();
    make_desks(&client, "oak", None, 3).await;
    make_project(&client, "p1").await;
    let item = |name: &str| json!({"operation": "create", "object": seat(name, "oak")});
    let body = json!({"spec": {"items": [item("a"), item("b"), item("c")]}});
    let transactions = format!("{PROJECTS}/p1/control-plane/apis/groundplane.dev/v1alpha1/transactions");
    let done = client.post(&transactions, &body).await.unwrap();
    assert!(matches!(done.code, 200 | 201), "{}", done.text());
    assert_eq!(taken(&client).await.into_values().collect::<BTreeSet<String>>().len(), 3);
    let body = json!({"spec": {"items": [item("d")]}});
    let full = client.post(&transactions, &body).await.unwrap();
    assert_eq!(full.code, 409, "{}", full.text());
    // A transaction stays in its plane: what is in the root is none of its kinds.
    let body = json!({"spec": {"items": [{"operation": "create", "object": desk("x", "oak")}]}});
    let refused = client.post(&transactions, &body).await.unwrap();
    assert!(refused.code >= 400 && refused.text().contains("no matches for kind"), "{}", refused.text());
}

/// Eve administers the project and has no rights in the root.
async fn eve_of(server: &Server, project: &str) -> Client {
    let binding = json!({"metadata": {"name": "eve"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "User", "name": "eve", "apiGroup": "rbac.authorization.k8s.io"}]});
    let bindings = format!("{PROJECTS}/{project}/control-plane{RBAC}/clusterrolebindings");
    make(&server.client(), &bindings, &binding).await;
    server.client().with("impersonate-user", "eve").with("impersonate-group", "system:authenticated")
}

#[tokio::test]
async fn a_desk_of_the_root_that_may_not_be_seen_is_answered_like_one_that_is_not_there() {
    let server = Server::embedded().await;
    let admin = server.client();
    make_desks(&admin, "oak", None, 3).await;
    make_project(&admin, "p1").await;
    let eve = eve_of(&server, "p1").await;
    let seats = seats_of("p1");
    assert_eq!(eve.get(&format!("{DESKS}/oak-00")).await.unwrap().code, 403);
    let hidden = eve.post(&seats, &seat_next_to("s", "oak", "oak-00")).await.unwrap();
    let missing = eve.post(&seats, &seat_next_to("s", "oak", "oak-99")).await.unwrap();
    assert_eq!(hidden.code, 422, "{}", hidden.text());
    assert_eq!(hidden.text(), missing.text().replace("oak-99", "oak-00"));
    assert_eq!(causes(&hidden), [("spec.nextToRef.name".to_owned(), "Not found: \"oak-00\"".to_owned())]);
    // A catalog is for everybody who may make a seat.
    make(&eve, &seats, &seat("plain", "oak")).await;
    let no_class = eve.post(&seats, &seat("s", "ash")).await.unwrap();
    assert_eq!(causes(&no_class), [("spec.classRef.name".to_owned(), "Not found: \"ash\"".to_owned())]);
    make(&admin, &seats, &seat_next_to("near", "oak", "oak-00")).await;
    // A plan that eve makes says nothing of what was read in the root.
    let mut object = seat("planned", "oak");
    object["apiVersion"] = "example.groundplane.dev/v1alpha1".into();
    object["kind"] = "Seat".into();
    let plan =
        json!({"metadata": {"name": "plan"}, "spec": {"items": [{"operation": "create", "object": object}]}});
    let plans = format!("{PROJECTS}/p1/control-plane/apis/groundplane.dev/v1alpha1/plans");
    let plan = eve.post(&plans, &plan).await.unwrap();
    assert_eq!(plan.code, 201, "{}", plan.text());
    let guards = plan.json()["status"]["guards"].to_string();
    assert!(guards.contains("p1/") && !guards.contains("desks"), "{guards}");
}

#[tokio::test]
async fn a_service_account_of_a_project_is_nobody_in_the_root() {
    let server = Server::embedded().await;
    let admin = server.client();
    make_desks(&admin, "oak", None, 1).await;
    make_project(&admin, "p1").await;
    // One of the same name may do everything in the root.
    let role = json!({"metadata": {"name": "robot"}, "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]});
    let binding = json!({"metadata": {"name": "robot"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "robot"},
        "subjects": [{"kind": "ServiceAccount", "name": "robot", "namespace": "default"}]});
    for plane in ["".to_owned(), format!("{PROJECTS}/p1/control-plane")] {
        make(&admin, &format!("{plane}{RBAC}/clusterroles"), &role).await;
        make(&admin, &format!("{plane}{RBAC}/clusterrolebindings"), &binding).await;
    }
    let robot = server
        .client()
        .with("impersonate-user", "system:serviceaccount:default:robot")
        .with("impersonate-group", "system:serviceaccounts");
    let own = robot.get(&format!("{DESKS}/oak-00")).await.unwrap();
    assert_eq!(own.code, 200, "the root has one of that name: {}", own.text());
    let refused = robot.post(&seats_of("p1"), &seat_next_to("s", "oak", "oak-00")).await.unwrap();
    assert_eq!(causes(&refused), [("spec.nextToRef.name".to_owned(), "Not found: \"oak-00\"".to_owned())]);
}

#[tokio::test]
async fn what_a_project_refers_to_in_the_root_is_not_deleted_and_says_by_whom_to_those_who_may_know() {
    let server = Server::embedded().await;
    let admin = server.client();
    make_desks(&admin, "oak", None, 1).await;
    make_project(&admin, "p1").await;
    make(&admin, &seats_of("p1"), &seat("s", "oak")).await;
    let path = format!("{DESKS}/oak-00");
    let refused = admin.delete(&path).await.unwrap();
    assert_eq!(refused.code, 409, "{}", refused.text());
    let said = refused.json()["message"].as_str().unwrap().to_owned();
    assert!(
        said.contains("still referenced by Seat default/s of project p1 (status.deskRef.name)"),
        "{said}"
    );
    let referrers = admin.get(&format!("{path}/referrers")).await.unwrap().json();
    assert_eq!(
        referrers["items"],
        json!([{
            "apiVersion": "example.groundplane.dev/v1alpha1", "kind": "Seat", "namespace": "default", "name": "s",
            "project": "p1", "fieldPath": "status.deskRef.name", "blocksDeletion": true,
        }])
    );
    // Somebody who looks after the desks and has no business in the project.
    let role = json!({"metadata": {"name": "porter"}, "rules": [{"apiGroups": ["example.groundplane.dev"],
        "resources": ["desks", "desks/referrers"], "verbs": ["*"]}]});
    make(&admin, &format!("{RBAC}/clusterroles"), &role).await;
    let binding = json!({"metadata": {"name": "porter"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "porter"},
        "subjects": [{"kind": "User", "name": "porter", "apiGroup": "rbac.authorization.k8s.io"}]});
    make(&admin, &format!("{RBAC}/clusterrolebindings"), &binding).await;
    let porter =
        server.client().with("impersonate-user", "porter").with("impersonate-group", "system:authenticated");
    let refused = porter.delete(&path).await.unwrap();
    assert_eq!(refused.code, 409, "{}", refused.text());
    assert!(refused.text().contains("others that you are not allowed to see"), "{}", refused.text());
    assert!(!refused.text().contains("p1") && !refused.text().contains("Seat"), "{}", refused.text());
    let list = porter.get(&format!("{path}/referrers")).await.unwrap().json();
    assert_eq!((&list["items"], &list["incomplete"]), (&json!([]), &json!(true)));

    assert_eq!(admin.delete(&format!("{PROJECTS}/p1")).await.unwrap().code, 200);
    until("the project has let go of it", || async { taken(&admin).await.is_empty() }).await;
    assert_eq!(porter.delete(&path).await.unwrap().code, 200);
    assert!(names(&admin, DESKS).await.is_empty());
}
