//! A namespace that is deleted goes when everything in it has gone, and takes nothing new meanwhile.

use serde_json::json;
use tokio::task::JoinSet;

use super::objects::{config_map, finalizers, found, loan, make, names};
use super::server::{Pair, Server, until};

const BRANCH: &str = "/api/v1/namespaces/branch";
const CONFIG_MAPS: &str = "/api/v1/namespaces/branch/configmaps";
const LOANS: &str = "/apis/example.groundplane.dev/v1alpha1/namespaces/branch/loans";
const HOLD: &str = "example.groundplane.dev/hold";

#[tokio::test]
async fn a_namespace_waits_for_what_waits_in_it_and_says_so() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, "/api/v1/namespaces", &json!({"metadata": {"name": "branch"}})).await;
    make(&client, LOANS, &loan("l1", "b1")).await;
    make(&client, CONFIG_MAPS, &config_map("c1", &[])).await;
    make(&client, CONFIG_MAPS, &config_map("held", &[])).await;
    let held = format!("{CONFIG_MAPS}/held");
    assert_eq!(finalizers(&client, &held, &[HOLD]).await.code, 200);

    let marked = client.delete(BRANCH).await.unwrap();
    assert_eq!((marked.code, &marked.json()["status"]["phase"]), (200, &json!("Terminating")));
    until("all that can go is gone", || async {
        names(&client, CONFIG_MAPS).await == ["held"] && names(&client, LOANS).await.is_empty()
    })
    .await;
    let refused = client.post(LOANS, &loan("l2", "b1")).await.unwrap();
    assert_eq!(refused.code, 403, "{}", refused.text());
    assert_eq!(refused.json()["details"]["causes"][0]["reason"], "NamespaceTerminating");
    until("the namespace says what keeps it", || async {
        let namespace = found(&client, BRANCH).await.unwrap();
        let conditions = namespace["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let says = |kind: &str, what: &str| {
            let condition = conditions.iter().find(|condition| condition["type"] == kind);
            condition.is_some_and(|condition| condition["message"].as_str().unwrap().contains(what))
        };
        says("NamespaceContentRemaining", "configmaps. has 1 resource instances")
            && says("NamespaceFinalizersRemaining", HOLD)
    })
    .await;

    assert_eq!(finalizers(&client, &held, &[]).await.code, 200);
    until("the namespace is gone", || async { found(&client, BRANCH).await.is_none() }).await;
    make(&client, "/api/v1/namespaces", &json!({"metadata": {"name": "branch"}})).await;
    assert!(names(&client, CONFIG_MAPS).await.is_empty(), "the next of that name is empty");
}

#[tokio::test]
async fn a_namespace_with_a_finalizer_of_its_own_is_empty_and_waits() {
    let server = Server::embedded().await;
    let client = server.client();
    let namespace = json!({"metadata": {"name": "branch", "finalizers": [HOLD]}});
    make(&client, "/api/v1/namespaces", &namespace).await;
    make(&client, LOANS, &loan("l1", "b1")).await;
    assert_eq!(client.delete(BRANCH).await.unwrap().code, 200);
    until("the namespace waits for its own finalizer alone", || async {
        let namespace = found(&client, BRANCH).await.unwrap();
        namespace["spec"]["finalizers"].as_array().is_none_or(Vec::is_empty)
    })
    .await;
    assert!(names(&client, LOANS).await.is_empty());
    assert_eq!(finalizers(&client, BRANCH, &[]).await.code, 200);
    until("the namespace is gone", || async { found(&client, BRANCH).await.is_none() }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_in_a_namespace_that_goes_while_it_is_filled() {
    let server = Server::embedded().await;
    goes_while_it_is_filled(&[&server]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_in_a_namespace_that_goes_while_it_is_filled_on_two_servers_of_one_etcd() {
    let Some(pair) = Pair::on_etcd().await else { return };
    let [first, second] = &pair.servers;
    goes_while_it_is_filled(&[first, second]).await;
}

async fn goes_while_it_is_filled(servers: &[&Server]) {
    let client = servers[0].client();
    make(&client, "/api/v1/namespaces", &json!({"metadata": {"name": "branch"}})).await;
    let mut busy = JoinSet::new();
    for number in 0..8 {
        let client = servers[number % servers.len()].client();
        busy.spawn(async move {
            for count in 0.. {
                let answer = client.post(LOANS, &loan(&format!("l-{number}-{count}"), "b1")).await.unwrap();
                match answer.code {
                    201 => {}
                    // It is being deleted, or gone already.
                    403 | 404 => return,
                    other => panic!("{other} {}", answer.text()),
                }
            }
        });
    }
    until("some are there", || async { names(&client, LOANS).await.len() > 20 }).await;
    assert_eq!(client.delete(BRANCH).await.unwrap().code, 200);
    while let Some(filled) = busy.join_next().await {
        filled.unwrap();
    }
    until("the namespace is gone", || async { found(&client, BRANCH).await.is_none() }).await;
    let all = "/apis/example.groundplane.dev/v1alpha1/loans";
    assert!(names(&client, all).await.is_empty());
}
