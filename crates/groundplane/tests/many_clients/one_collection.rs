//! All in one collection.

use std::time::Duration;

use serde_json::{Value, json};
use testbed::server::Client;
use tokio::task::JoinSet;

use crate::CLIENTS;
use crate::dice::Dice;
use crate::follower::{Copy, Told, listed, version, without_type};
use crate::ground::Ground;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// How many names they fight for.
const NAMES: u64 = 100;
/// How much each does.
const TURNS: usize = 30;
const WATCHERS: usize = 24;

/// All make the same object: one is told that it did, the others that it is there.
pub async fn one_of_many_creators_wins(ground: &Ground) {
    for round in 0..5 {
        let mut making = JoinSet::new();
        for number in 0..CLIENTS {
            let client = ground.client(number);
            let map =
                json!({"metadata": {"name": format!("once-{round}")}, "data": {"by": number.to_string()}});
            making.spawn(async move { (number, client.post(MAPS, &map).await.unwrap().code) });
        }
        let codes = making.join_all().await;
        let won: Vec<_> = codes.iter().filter(|(_, code)| *code == 201).map(|(number, _)| *number).collect();
        assert_eq!(won.len(), 1, "{codes:?}");
        assert_eq!(codes.iter().filter(|(_, code)| *code == 409).count(), CLIENTS - 1, "{codes:?}");
        for number in 0..2 {
            let map = ground.client(number).get(&format!("{MAPS}/once-{round}")).await.unwrap().json();
            assert_eq!(map["data"]["by"], won[0].to_string());
        }
    }
}

/// Make, change, delete and list at random, while others watch everything or a selection, from the start or from a list.
pub async fn every_watcher_ends_up_with_the_list(ground: &Ground) {
    let mut watching = JoinSet::new();
    for number in 0..WATCHERS {
        let client = ground.client(number);
        let selector = if number % 3 == 2 { "?labelSelector=parity%3Deven" } else { "" };
        watching.spawn(async move {
            // Some come when much has happened already.
            tokio::time::sleep(Duration::from_millis(60 * (number as u64 / 2))).await;
            (selector, follow(&client, selector, number % 2 == 0).await)
        });
    }
    let mut busy = JoinSet::new();
    for number in 0..CLIENTS {
        let client = ground.client(number);
        busy.spawn(async move { make_change_and_delete(&client, number).await });
    }
    busy.join_all().await;
    let end = json!({"metadata": {"name": "the-end", "labels": {"parity": "even"}}});
    assert_eq!(ground.client(0).post(MAPS, &end).await.unwrap().code, 201);

    let watched = tokio::time::timeout(Duration::from_secs(60), watching.join_all()).await;
    let watched = watched.expect("a watcher never saw the end");
    for selector in ["", "?labelSelector=parity%3Deven"] {
        let (all, _) = listed(&ground.client(1), &format!("{MAPS}{selector}"), 1_000).await;
        let (in_pages, _) = listed(&ground.client(0), &format!("{MAPS}{selector}"), 7).await;
        assert_eq!(all, in_pages);
        assert!(all.len() > 1);
        for (of, copy) in &watched {
            if *of == selector {
                let names: Vec<_> = copy.objects.keys().collect();
                assert_eq!(names, all.keys().collect::<Vec<_>>());
                let told: Vec<Value> = copy.objects.values().cloned().map(without_type).collect();
                let there: Vec<Value> = all.values().cloned().map(without_type).collect();
                assert_eq!(told, there);
            }
        }
    }
}

async fn make_change_and_delete(client: &Client, number: usize) {
    let mut dice = Dice::of(number);
    for turn in 0..TURNS {
        let name = format!("map-{}", dice.below(NAMES));
        let path = format!("{MAPS}/{name}");
        let parity = if dice.below(2) == 0 { "even" } else { "odd" };
        let map = json!({
            "metadata": {"name": name, "labels": {"parity": parity}},
            "data": {"by": format!("{number}-{turn}")},
        });
        let (answer, expected) = match dice.below(10) {
            0..4 => (client.post(MAPS, &map).await.unwrap(), [201, 409]),
            4..6 => (client.put(&path, &map).await.unwrap(), [200, 404]),
            6..7 => (client.merge(&path, &map).await.unwrap(), [200, 404]),
            7..9 => (client.delete(&path).await.unwrap(), [200, 404]),
            _ => (client.get(&format!("{MAPS}?limit=20")).await.unwrap(), [200, 200]),
        };
        assert!(expected.contains(&answer.code), "{name}: {}", answer.text());
    }
}

/// Lists and follows, or has the list streamed, until the end is told.
async fn follow(client: &Client, selector: &str, streams: bool) -> Copy {
    let mut copy = Copy::default();
    let joint = if selector.is_empty() { "?" } else { "&" };
    let base = format!("{MAPS}{selector}{joint}watch=1&allowWatchBookmarks=true");
    let mut lines = if streams {
        let query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
        let mut lines = client.watch(&format!("{base}&{query}")).await.unwrap();
        assert_eq!(lines.code, 200);
        loop {
            let line = lines.next().await.expect("the stream ended among what was there");
            match Told::read(&line) {
                // What was there comes in the order of names, not of versions.
                Some(told) => {
                    assert_eq!(told.what, "ADDED");
                    assert!(copy.objects.insert(told.name, told.object).is_none());
                }
                None if line["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"] == "true" => {
                    copy.last = version(&line["object"]);
                    break;
                }
                None => {}
            }
        }
        lines
    } else {
        let (objects, at) = listed(client, &format!("{MAPS}{selector}"), 10).await;
        copy.objects = objects;
        copy.last = at;
        client.watch(&format!("{base}&resourceVersion={at}")).await.unwrap()
    };
    while !copy.objects.contains_key("the-end") {
        let line = lines.next().await.expect("the stream ended");
        if let Some(told) = Told::read(&line) {
            copy.take(told);
        }
    }
    copy
}
