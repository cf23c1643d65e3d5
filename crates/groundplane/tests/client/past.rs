//! Transactions, plans, history, undo, references and questions.

use client::{HistoryOptions, Transaction, Undo};
use inventory::kinds::Site;
use serde_json::json;
use testbed::server::Server;

use crate::{GROUNDPLANE, client_of, map, maps, object, word};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_is_committed_as_a_whole_or_not_at_all() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = client_of(&server).await;
    let old = maps(&client).create(&map("old", "1")).await.unwrap();
    let transaction = Transaction::new()
        .managed_by("t")
        .because("all at once")
        .apply(&map("applied", "1"))
        .create(&map("created", "1"))
        .delete(&old);
    let rehearsed = client.transact(&transaction.clone().dry_run(true)).await.unwrap();
    let results = |report: &client::Report| -> Vec<String> {
        report.items().map(|item| item["result"].as_str().unwrap_or("").to_owned()).collect()
    };
    assert_eq!(results(&rehearsed), ["created", "created", "deleted"]);
    assert!(maps(&client).find("applied").await.unwrap().is_none(), "a dry run changes nothing");

    let plan = client.plan(&transaction, Some("first")).await.unwrap();
    assert_eq!((plan.name(), plan.is_refused()), ("first", false));
    let done = client.apply_plan("first").await.unwrap();
    assert!(!done.revision().is_empty());
    assert!(maps(&client).find("old").await.unwrap().is_none());
    let again = client.apply_plan("first").await.unwrap_err();
    assert!(again.is_conflict(), "a plan is applied once: {again}");

    let refused = client.transact(&transaction).await.unwrap_err();
    assert!(refused.refusal().is_some(), "created exists by now: {refused}");
    let rehearsed = client.transact(&transaction.dry_run(true)).await.unwrap();
    assert!(rehearsed.is_refused());

    let history = maps(&client).history("applied", &HistoryOptions::default()).await.unwrap();
    assert_eq!(history[0]["message"], "all at once");
    let undo = Transaction::new().undo(json!({"revision": done.revision()}));
    client.transact(&undo).await.unwrap();
    assert!(maps(&client).find("created").await.unwrap().is_none(), "the whole commit is undone");
    assert_eq!(word(&maps(&client).get("old").await.unwrap()), "1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_has_a_past_and_can_go_back_to_it() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = client_of(&server).await;
    let maps = maps(&client);
    maps.create(&map("a", "1")).await.unwrap();
    for word in ["2", "3"] {
        maps.clone().because("more").replace(&map("a", word)).await.unwrap();
    }
    let options = HistoryOptions { diff: true, limit: Some(2), ..HistoryOptions::default() };
    let history = maps.history("a", &options).await.unwrap();
    assert_eq!(history.len(), 2);
    assert_eq!((&history[0]["message"], &history[0]["diff"][0]["after"]), (&json!("more"), &json!("3")));
    let first = client.revision(&maps.path_of("a"), history[1]["revision"].as_str().unwrap()).await.unwrap();
    assert_eq!(first["object"]["data"]["word"], "2");
    let undo = Undo { steps: Some(2), ..Undo::default() };
    assert_eq!(word(&maps.clone().dry_run().undo("a", &undo).await.unwrap()), "1");
    assert_eq!(word(&maps.get("a").await.unwrap()), "3");
    assert_eq!(word(&maps.undo("a", &undo).await.unwrap()), "1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_is_asked_who_refers_to_it_and_what_it_knows() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = client_of(&server).await;
    let of = |kind: &str, name: &str, spec| {
        object(
            json!({"apiVersion": "inventory.miloapis.com/v1alpha1", "kind": kind, "metadata": {"name": name},
            "spec": spec}),
        )
    };
    let site =
        of("Site", "fra1", json!({"displayName": "F", "regionRef": {"name": "eu"}, "type": "Datacenter"}));
    let rack = of("Rack", "r1", json!({"siteRef": {"name": "fra1"}, "heightU": 42}));
    client.transact(&Transaction::new().apply(&site).apply(&rack)).await.unwrap();
    let referrers = client.kind::<Site>().referrers("fra1").await.unwrap();
    let named: Vec<_> = referrers.iter().map(|one| (one["kind"].as_str(), one["name"].as_str())).collect();
    assert_eq!(named, [(Some("Rack"), Some("r1"))]);
    let racks = client.resource("inventory.miloapis.com/v1alpha1", "racks");
    let elevation = racks.ask("r1", "elevation", &[]).await.unwrap();
    assert_eq!(elevation["kind"], "RackElevation", "{elevation}");
}
