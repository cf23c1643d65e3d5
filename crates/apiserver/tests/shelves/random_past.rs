//! Random histories: a list as of a revision or a time is what a list then returned, on both engines.

use std::time::Duration;

use serde_json::{Value, json};
use testbed::server::Client;

use super::dice::Dice;
use super::objects::{SHELVES, shelf};
use super::server::{Pair, Server};
use super::transactions::{TRANSACTIONS, item};

/// What a list once returned.
struct Seen {
    time: String,
    list: Value,
}

const STEPS: usize = 60;
const SHELF_NAMES: u32 = 8;

#[tokio::test]
async fn a_list_of_the_past_is_what_a_list_then_returned() {
    for seed in 1..=3 {
        let server = Server::embedded().await;
        random_history(seed, &[&server]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_on_etcd_with_two_servers() {
    let Some(pair) = Pair::on_etcd().await else { return };
    let [first, second] = &pair.servers;
    random_history(7, &[first, second]).await;
}

async fn random_history(seed: u64, servers: &[&Server]) {
    let clients: Vec<Client> = servers.iter().map(|server| server.client()).collect();
    let mut dice = Dice::new(seed);
    let mut seen = Vec::new();
    for _ in 0..STEPS {
        let client = &clients[dice.below(clients.len() as u32) as usize];
        change(client, &mut dice).await;
        if dice.below(2) == 0 {
            let list = client.get(SHELVES).await.unwrap().json();
            // So that the time lies between this change and the next, whatever the clock's steps.
            tokio::time::sleep(Duration::from_millis(3)).await;
            seen.push(Seen { time: servers[0].api.now().to_micros(), list });
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    }
    for then in &seen {
        let version = then.list["metadata"]["resourceVersion"].as_str().unwrap();
        for client in &clients {
            for point in [version, &then.time] {
                let told = client.get(&format!("{SHELVES}?asOf={point}")).await.unwrap();
                assert_eq!(told.code, 200, "seed {seed}, as of {point}: {}", told.text());
                assert_eq!(told.json()["items"], then.list["items"], "seed {seed}, as of {point}");
            }
            for number in 0..SHELF_NAMES {
                let name = format!("s{number}");
                let one = client.get(&format!("{SHELVES}/{name}?asOf={version}")).await.unwrap();
                let mut listed = then.list["items"].as_array().unwrap().iter();
                let listed = listed.rfind(|shelf| shelf["metadata"]["name"] == *name);
                assert_eq!(
                    (one.code == 200).then(|| one.json()).as_ref(),
                    listed,
                    "seed {seed}, {name} as of {version}"
                );
            }
        }
    }
}

/// One change of any kind; one that is refused is none.
async fn change(client: &Client, dice: &mut Dice) {
    let name = format!("s{}", dice.below(SHELF_NAMES));
    let path = format!("{SHELVES}/{name}");
    let width = 1 + dice.below(1000);
    let sent = match dice.below(8) {
        0 | 1 => client.post(SHELVES, &shelf(&name, width)).await,
        2 | 3 => client.merge(&path, &json!({"spec": {"width": width}})).await,
        4 => client.merge(&format!("{path}/status"), &json!({"status": {"load": width}})).await,
        5 => client.delete(&path).await,
        6 => {
            client.post(&format!("{path}/{}", ["undo", "restore"][dice.below(2) as usize]), &json!({})).await
        }
        _ => {
            let others = [format!("s{}", dice.below(4)), format!("s{}", 4 + dice.below(4))];
            let items: Vec<Value> = others.iter().map(|name| item("apply", &shelf(name, width))).collect();
            client.post(TRANSACTIONS, &json!({"spec": {"items": items, "force": true}})).await
        }
    };
    let code = sent.unwrap().code;
    assert!(matches!(code, 200 | 201 | 400 | 404 | 409), "{code}");
}
