//! Garbage collection: what is owned goes with its owners, before them, or stays, as the deletion asks.

use serde_json::{Value, json};
use testbed::server::{Answer, Client};
use tokio::task::JoinSet;

use super::objects::{
    CONFIG_MAPS, LOANS, SHELVES, as_owner, config_map, finalizers, found, loan, make, names, shelf,
};
use super::server::{Pair, Server, until};

const HOLD: &str = "example.groundplane.dev/hold";

fn at(name: &str) -> String {
    format!("{CONFIG_MAPS}/{name}")
}

async fn delete(client: &Client, path: &str, policy: &str) -> Answer {
    let answer = client.delete(&format!("{path}?propagationPolicy={policy}")).await.unwrap();
    assert_eq!(answer.code, 200, "{path}: {}", answer.text());
    answer
}

async fn gone(client: &Client, path: &str) {
    until(&format!("{path} is gone"), || async { found(client, path).await.is_none() }).await;
}

async fn is_deleting(client: &Client, path: &str) -> bool {
    found(client, path).await.is_some_and(|object| object["metadata"]["deletionTimestamp"].is_string())
}

#[tokio::test]
async fn in_the_background_the_owner_goes_first_and_what_it_owns_after() {
    let server = Server::embedded().await;
    let client = server.client();
    let shelf = make(&client, SHELVES, &shelf("s1", 100)).await;
    let child = make(&client, CONFIG_MAPS, &config_map("child", &[as_owner(&shelf, false)])).await;
    make(&client, CONFIG_MAPS, &config_map("grandchild", &[as_owner(&child, true)])).await;
    let mut lent = loan("lent", "b1");
    lent["metadata"]["ownerReferences"] = json!([as_owner(&shelf, false)]);
    make(&client, LOANS, &lent).await;
    make(&client, CONFIG_MAPS, &config_map("free", &[])).await;
    delete(&client, &format!("{SHELVES}/s1"), "Background").await;
    assert_eq!(found(&client, &format!("{SHELVES}/s1")).await, None);
    for path in [at("child"), at("grandchild"), format!("{LOANS}/lent")] {
        gone(&client, &path).await;
    }
    assert!(found(&client, &at("free")).await.is_some());
}

#[tokio::test]
async fn in_the_foreground_the_owner_waits_for_those_that_say_so() {
    let server = Server::embedded().await;
    let client = server.client();
    let owner = make(&client, CONFIG_MAPS, &config_map("owner", &[])).await;
    make(&client, CONFIG_MAPS, &config_map("waited-for", &[as_owner(&owner, true)])).await;
    make(&client, CONFIG_MAPS, &config_map("not-waited-for", &[as_owner(&owner, false)])).await;
    for name in ["waited-for", "not-waited-for"] {
        assert_eq!(finalizers(&client, &at(name), &[HOLD]).await.code, 200);
    }
    let marked = delete(&client, &at("owner"), "Foreground").await.json();
    assert_eq!(marked["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    for name in ["waited-for", "not-waited-for"] {
        until(&format!("{name} is being deleted"), || async { is_deleting(&client, &at(name)).await }).await;
    }
    assert!(is_deleting(&client, &at("owner")).await, "the owner waits");
    assert_eq!(finalizers(&client, &at("waited-for"), &[]).await.code, 200);
    gone(&client, &at("waited-for")).await;
    gone(&client, &at("owner")).await;
    assert!(is_deleting(&client, &at("not-waited-for")).await, "nobody waited for this one");
}

#[tokio::test]
async fn what_is_orphaned_stays_and_forgets_its_owner() {
    let server = Server::embedded().await;
    let client = server.client();
    let owner = make(&client, CONFIG_MAPS, &config_map("owner", &[])).await;
    let other = make(&client, CONFIG_MAPS, &config_map("other", &[])).await;
    make(&client, CONFIG_MAPS, &config_map("child", &[as_owner(&owner, true)])).await;
    make(&client, CONFIG_MAPS, &config_map("shared", &[as_owner(&owner, true), as_owner(&other, false)]))
        .await;
    delete(&client, &at("owner"), "Orphan").await;
    gone(&client, &at("owner")).await;
    let child = found(&client, &at("child")).await.unwrap();
    assert_eq!(child["metadata"].get("ownerReferences"), None);
    let shared = found(&client, &at("shared")).await.unwrap();
    assert_eq!(owners_of(&shared), ["other"]);
}

#[tokio::test]
async fn what_has_another_owner_stays_and_keeps_nobody_waiting() {
    let server = Server::embedded().await;
    let client = server.client();
    for (policy, name) in [("Background", "b"), ("Foreground", "f")] {
        let (one, two) = (format!("{name}-one"), format!("{name}-two"));
        let first = make(&client, CONFIG_MAPS, &config_map(&one, &[])).await;
        let second = make(&client, CONFIG_MAPS, &config_map(&two, &[])).await;
        let both = [as_owner(&first, true), as_owner(&second, true)];
        make(&client, CONFIG_MAPS, &config_map(name, &both)).await;
        delete(&client, &at(&one), policy).await;
        gone(&client, &at(&one)).await;
        let let_go = || async { owners_of(&found(&client, &at(name)).await.unwrap()) == [two.as_str()] };
        until("the other owner is left", let_go).await;
        assert!(!is_deleting(&client, &at(name)).await);
    }
}

#[tokio::test]
async fn an_owner_waits_no_longer_for_what_was_taken_from_it() {
    let server = Server::embedded().await;
    let client = server.client();
    let owner = make(&client, CONFIG_MAPS, &config_map("owner", &[])).await;
    for name in ["leaves", "blocks-no-more"] {
        make(&client, CONFIG_MAPS, &config_map(name, &[as_owner(&owner, true)])).await;
        assert_eq!(finalizers(&client, &at(name), &[HOLD]).await.code, 200);
    }
    delete(&client, &at("owner"), "Foreground").await;
    for name in ["leaves", "blocks-no-more"] {
        until(&format!("{name} is being deleted"), || async { is_deleting(&client, &at(name)).await }).await;
    }
    let without = json!({"metadata": {"ownerReferences": null}});
    assert_eq!(client.merge(&at("leaves"), &without).await.unwrap().code, 200);
    assert!(is_deleting(&client, &at("owner")).await);
    let unblocked = json!({"metadata": {"ownerReferences": [as_owner(&owner, false)]}});
    assert_eq!(client.merge(&at("blocks-no-more"), &unblocked).await.unwrap().code, 200);
    gone(&client, &at("owner")).await;
}

#[tokio::test]
async fn those_that_own_each_other_go_together() {
    let server = Server::embedded().await;
    let client = server.client();
    let one = make(&client, CONFIG_MAPS, &config_map("one", &[])).await;
    let two = make(&client, CONFIG_MAPS, &config_map("two", &[as_owner(&one, true)])).await;
    let back = json!({"metadata": {"ownerReferences": [as_owner(&two, true)]}});
    assert_eq!(client.merge(&at("one"), &back).await.unwrap().code, 200);
    delete(&client, &at("one"), "Foreground").await;
    gone(&client, &at("one")).await;
    gone(&client, &at("two")).await;
}

#[tokio::test]
async fn an_owner_of_another_life_or_of_an_unknown_kind_is_told_apart() {
    let server = Server::embedded().await;
    let client = server.client();
    let owner = make(&client, CONFIG_MAPS, &config_map("owner", &[])).await;
    let mut former = as_owner(&owner, false);
    former["uid"] = json!("00000000-0000-4000-8000-000000000000");
    make(&client, CONFIG_MAPS, &config_map("of-a-former-life", &[former])).await;
    let unknown = json!({"apiVersion": "unknown.example/v1", "kind": "Thing", "name": "t", "uid": "u"});
    make(&client, CONFIG_MAPS, &config_map("of-who-knows", &[unknown])).await;
    gone(&client, &at("of-a-former-life")).await;
    assert!(found(&client, &at("of-who-knows")).await.is_some(), "nothing is deleted on a guess");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_of_an_owner_that_goes_while_it_gets_more() {
    let server = Server::embedded().await;
    an_owner_goes_while_it_gets_more(&[&server]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_of_an_owner_that_goes_while_it_gets_more_on_two_servers_of_one_etcd() {
    let Some(pair) = Pair::on_etcd().await else { return };
    let [first, second] = &pair.servers;
    an_owner_goes_while_it_gets_more(&[first, second]).await;
}

async fn an_owner_goes_while_it_gets_more(servers: &[&Server]) {
    let client = servers[0].client();
    for policy in ["Background", "Foreground"] {
        let name = policy.to_lowercase();
        let owner = make(&client, CONFIG_MAPS, &config_map(&name, &[])).await;
        let mut busy = JoinSet::new();
        for number in 0..8 {
            let client = servers[number % servers.len()].client();
            let owner = as_owner(&owner, true);
            let name = name.clone();
            busy.spawn(async move {
                for count in 0..12 {
                    let child = config_map(&format!("{name}-{number}-{count}"), std::slice::from_ref(&owner));
                    make(&client, CONFIG_MAPS, &child).await;
                }
            });
        }
        until("some are there", || async { names(&client, CONFIG_MAPS).await.len() > 10 }).await;
        delete(&client, &at(&name), policy).await;
        while let Some(made) = busy.join_next().await {
            made.unwrap();
        }
        until("nothing is left", || async { names(&client, CONFIG_MAPS).await.is_empty() }).await;
    }
}

fn owners_of(object: &Value) -> Vec<&str> {
    let owners = object["metadata"]["ownerReferences"].as_array();
    owners.into_iter().flatten().map(|owner| owner["name"].as_str().unwrap()).collect()
}
