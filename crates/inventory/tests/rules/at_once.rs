//! Sixty-four clients place, move, cable, slot and delete; racks shrink and reserve under them.

use std::time::Duration;

use serde_json::{Value, json};
use testbed::server::{Answer, Client};
use tokio::task::JoinSet;

use crate::dice::Dice;
use crate::hold;
use crate::server::{Pair, Server};
use crate::tally::Tally;
use crate::watched::{State, follow};

const CLIENTS: u64 = 64;
const LASTS: Duration = Duration::from_secs(10);
/// What has to have happened often enough for the test to mean something.
const WANTED: [&str; 9] = ["place", "move", "remove", "cable", "uncable", "unplug", "slot", "resize", "name"];
pub const ROOT: &str = "/apis/inventory.miloapis.com/v1alpha1";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_rule_is_ever_broken_on_one_server() {
    let server = Server::embedded().await;
    nothing_is_ever_broken(&[&server]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_rule_is_ever_broken_on_two_servers_of_one_etcd() {
    let Some(pair) = Pair::on_etcd().await else { return };
    let [first, second] = &pair.servers;
    nothing_is_ever_broken(&[first, second]).await;
}

async fn nothing_is_ever_broken(servers: &[&Server]) {
    let client = servers[0].client();
    make(&client, "regions", "r", json!({"displayName": "R"})).await;
    make(&client, "sites", "s", json!({"displayName": "S", "regionRef": {"name": "r"}, "type": "Edge"}))
        .await;
    for rack in ["r0", "r1"] {
        make(&client, "racks", rack, json!({"siteRef": {"name": "s"}, "heightU": 42})).await;
    }
    make(&client, "nodes", "host", host(json!({"slots": [{"name": "0"}, {"name": "1"}]}))).await;
    let mut watchers = Vec::new();
    for plural in ["racks", "nodes", "ports", "cables"] {
        watchers.push(follow(servers[servers.len() - 1].client(), &format!("{ROOT}/{plural}")).await);
    }
    let tally = Tally::new(LASTS, &WANTED, 5);
    let mut busy = JoinSet::new();
    for number in 0..CLIENTS {
        let server = servers[number as usize % servers.len()];
        busy.spawn(try_to_break(server.client(), number, tally.clone()));
    }
    while let Some(ended) = busy.join_next().await {
        ended.unwrap();
    }
    eprintln!("{tally}");
    make(&client, "racks", "end", json!({"siteRef": {"name": "s"}, "heightU": 1})).await;
    make(&client, "nodes", "end", host(json!({}))).await;
    make(&client, "ports", "end", port()).await;
    make(&client, "ports", "end2", port()).await;
    let ends = json!([{"name": "end"}, {"name": "end2"}]);
    make(&client, "cables", "end", json!({"endpoints": ends, "media": "Copper"})).await;
    let mut told = Vec::new();
    for watcher in watchers {
        told.extend(watcher.await.unwrap());
    }
    // Watches of several kinds end at different moments; what came after the first of the ends is nobody's concern.
    let last =
        told.iter().filter(|told| told.object["metadata"]["name"] == "end").map(|told| told.version).min();
    told.retain(|told| Some(told.version) < last);
    State::replay(&told, hold::everything);
    tally.assert_enough();
}

async fn try_to_break(client: Client, number: u64, tally: Tally) {
    let mut dice = Dice::new(number + 1);
    while tally.goes_on() {
        let (what, answer) = step(&client, &mut dice).await;
        let known = matches!(answer.code, 200 | 201 | 400 | 404 | 409 | 422);
        assert!(known, "{what}: {} {}", answer.code, answer.text());
        tally.add(what, answer.code);
    }
}

async fn step(client: &Client, dice: &mut Dice) -> (&'static str, Answer) {
    let rack = ["r0", "r1"][dice.below(2) as usize];
    let node = format!("n{}", dice.below(40));
    let (at_node, at_rack) = (format!("{ROOT}/nodes/{node}"), format!("{ROOT}/racks/{rack}"));
    let port_name = |dice: &mut Dice| format!("p{}", dice.below(24));
    let (what, answer) = match dice.below(14) {
        0 | 1 => ("place", post(client, "nodes", &node, host(json!({"placement": place(rack, dice)}))).await),
        2 | 3 => {
            let change = json!({"spec": {"placement": place(rack, dice), "inSlot": null}});
            ("move", client.merge(&at_node, &change).await)
        }
        4 => ("remove", client.delete(&at_node).await),
        5 => {
            let height = 20 + dice.below(30);
            let reservations = match dice.below(3) {
                0 => json!([{"name": "kept", "startUnit": 1 + dice.below(18), "unitHeight": 2}]),
                _ => json!([]),
            };
            (
                "resize",
                client
                    .merge(&at_rack, &json!({"spec": {"heightU": height, "reservations": reservations}}))
                    .await,
            )
        }
        6 => ("port", post(client, "ports", &port_name(dice), port()).await),
        7 => ("unplug", client.delete(&format!("{ROOT}/ports/{}", port_name(dice))).await),
        8 | 9 => {
            let ends = json!([{"name": port_name(dice)}, {"name": port_name(dice)}]);
            let spec = json!({"endpoints": ends, "media": "Copper"});
            ("cable", post(client, "cables", &format!("k{}", dice.below(24)), spec).await)
        }
        10 => ("uncable", client.delete(&format!("{ROOT}/cables/k{}", dice.below(24))).await),
        11 => {
            let slot =
                json!({"deviceRef": {"kind": "Node", "name": "host"}, "slot": dice.below(2).to_string()});
            ("slot", client.merge(&at_node, &json!({"spec": {"placement": null, "inSlot": slot}})).await)
        }
        12 => (
            "name",
            client.merge(&at_node, &json!({"spec": {"serial": format!("S{}", dice.below(30))}})).await,
        ),
        _ => {
            let scrapped = client.delete(&at_rack).await;
            if scrapped.as_ref().is_ok_and(|answer| answer.code == 200) {
                post(client, "racks", rack, json!({"siteRef": {"name": "s"}, "heightU": 42})).await.unwrap();
            }
            ("scrap", scrapped)
        }
    };
    (what, answer.unwrap())
}

fn place(rack: &str, dice: &mut Dice) -> Value {
    let face = if dice.below(2) == 0 { "Front" } else { "Rear" };
    json!({
        "rackRef": {"name": rack},
        "startUnit": 1 + dice.below(44),
        "unitHeight": 1 + dice.below(3),
        "face": face,
        "fullDepth": dice.below(4) == 0,
    })
}

fn host(more: Value) -> Value {
    let mut spec = json!({
        "siteRef": {"name": "s"},
        "hardware": {"cpuCores": 8, "cpuArchitecture": "amd64", "memoryBytes": 1},
    });
    for (key, value) in more.as_object().unwrap() {
        spec[key] = value.clone();
    }
    spec
}

fn port() -> Value {
    json!({"deviceRef": {"kind": "Node", "name": "host"}, "type": "Ethernet", "name": "eth"})
}

pub async fn post(
    client: &Client,
    plural: &str,
    name: &str,
    spec: Value,
) -> Result<Answer, testbed::server::Failed> {
    let kind = match plural {
        "regions" => "Region",
        "sites" => "Site",
        "racks" => "Rack",
        "nodes" => "Node",
        "networkdevices" => "NetworkDevice",
        "ports" => "Port",
        _ => "Cable",
    };
    let object = json!({
        "apiVersion": "inventory.miloapis.com/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec,
    });
    client.post(&format!("{ROOT}/{plural}"), &object).await
}

pub async fn make(client: &Client, plural: &str, name: &str, spec: Value) {
    let answer = post(client, plural, name, spec).await.unwrap();
    assert_eq!(answer.code, 201, "{}", answer.text());
}
