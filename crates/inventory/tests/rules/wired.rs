//! Sixty-four clients lead ports through panels, feed outlets, rename feeds and draw edges; targets go under them.

use std::time::Duration;

use serde_json::{Value, json};
use testbed::server::{Answer, Client, Failed};
use tokio::task::JoinSet;

use crate::at_once::{ROOT, make, post};
use crate::dice::Dice;
use crate::hold;
use crate::server::{Pair, Server};
use crate::tally::Tally;
use crate::watched::{State, follow};

const CLIENTS: u64 = 64;
const LASTS: Duration = Duration::from_secs(10);
/// What has to have happened often enough for the test to mean something.
const WANTED: [&str; 13] = [
    "lead",
    "rear",
    "positions",
    "feeds",
    "feed",
    "outlet",
    "inlet",
    "unplug",
    "thing",
    "unthing",
    "edge",
    "turn",
    "erase",
];
const GRAPH: &str = "/apis/graph.inventory.miloapis.com/v1alpha2";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn panels_feeds_and_the_graph_hold_on_one_server() {
    let server = Server::embedded().await;
    nothing_is_ever_broken(&[&server]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn panels_feeds_and_the_graph_hold_on_two_servers_of_one_etcd() {
    let Some(pair) = Pair::on_etcd().await else { return };
    let [first, second] = &pair.servers;
    nothing_is_ever_broken(&[first, second]).await;
}

async fn nothing_is_ever_broken(servers: &[&Server]) {
    let client = servers[0].client();
    make(&client, "regions", "r", json!({"displayName": "R"})).await;
    make(&client, "sites", "s", json!({"displayName": "S", "regionRef": {"name": "r"}, "type": "Edge"}))
        .await;
    make(&client, "racks", "r0", rack(json!([{"name": "A"}, {"name": "B"}]))).await;
    for (name, role) in [("panel", "PatchPanel"), ("pdu", "PDU")] {
        make(&client, "networkdevices", name, json!({"siteRef": {"name": "s"}, "role": role})).await;
    }
    draw(&client, "nodetypes", "NodeType", "thing", json!({})).await.unwrap();
    draw(&client, "edgetypes", "EdgeType", "joins", json!({})).await.unwrap();
    let mut watchers = Vec::new();
    for path in
        [format!("{ROOT}/racks"), format!("{ROOT}/ports"), format!("{GRAPH}/nodes"), format!("{GRAPH}/edges")]
    {
        watchers.push(follow(servers[servers.len() - 1].client(), &path).await);
    }
    let tally = Tally::new(LASTS, &WANTED, 5);
    let mut busy = JoinSet::new();
    for number in 0..CLIENTS {
        busy.spawn(try_to_break(servers[number as usize % servers.len()].client(), number, tally.clone()));
    }
    while let Some(ended) = busy.join_next().await {
        ended.unwrap();
    }
    eprintln!("{tally}");
    make(&client, "racks", "end", rack(json!([]))).await;
    make(&client, "ports", "end", on("panel", "PatchPanel", json!({}))).await;
    for name in ["end", "end2"] {
        assert_eq!(draw(&client, "nodes", "Node", name, json!({"type": "thing"})).await.unwrap().code, 201);
    }
    let edge = json!({"type": "joins", "from": {"name": "end"}, "to": {"name": "end2"}});
    assert_eq!(draw(&client, "edges", "Edge", "end", edge).await.unwrap().code, 201);
    let mut told = Vec::new();
    for watcher in watchers {
        told.extend(watcher.await.unwrap());
    }
    let last =
        told.iter().filter(|told| told.object["metadata"]["name"] == "end").map(|told| told.version).min();
    told.retain(|told| Some(told.version) < last);
    State::replay(&told, hold::wiring);
    tally.assert_enough();
    for what in ["lead", "feed", "feeds", "outlet", "unplug", "unthing", "edge"] {
        assert!(tally.has(what, 400), "{what} was never refused: {tally}");
    }
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
    let mut any = |begin: &str, most: u32| format!("{begin}{}", dice.below(most));
    let (front, rear, wall, inlet, outlet) =
        (any("front", 12), any("rear", 3), any("wall", 6), any("inlet", 3), any("outlet", 8));
    let (node, other, edge) = (any("g", 8), any("g", 8), any("e", 16));
    let at = |name: &str| format!("{ROOT}/ports/{name}");
    let feed = ["A", "B", "C"][dice.below(3) as usize];
    let through = json!({"portRef": {"name": rear}, "position": 1 + dice.below(4)});
    let (what, answer) = match dice.below(18) {
        0 | 1 => (
            "lead",
            post(client, "ports", &front, on("panel", "PatchPanel", json!({"passThrough": through}))).await,
        ),
        2 => ("lead", client.merge(&at(&front), &json!({"spec": {"passThrough": through}})).await),
        3 => {
            let spec = on("panel", "PatchPanel", json!({"positions": 1 + dice.below(4)}));
            ("rear", post(client, "ports", &rear, spec).await)
        }
        4 => {
            ("positions", client.merge(&at(&rear), &json!({"spec": {"positions": 1 + dice.below(4)}})).await)
        }
        5 => ("unplug", client.delete(&at(&rear)).await),
        6 => ("unplug", client.delete(&at(&front)).await),
        7 => {
            let feeds: Vec<Value> = ["A", "B", "C"]
                .iter()
                .filter(|_| dice.below(2) == 0)
                .map(|name| json!({"name": name}))
                .collect();
            (
                "feeds",
                client.merge(&format!("{ROOT}/racks/r0"), &json!({"spec": {"powerFeeds": feeds}})).await,
            )
        }
        8 => {
            let spec = json!({"deviceRef": {"kind": "Rack", "name": "r0"}, "type": "Power", "name": "w", "power": {"feed": feed}});
            ("feed", post(client, "ports", &wall, spec).await)
        }
        9 => ("feed", client.merge(&at(&wall), &json!({"spec": {"power": {"feed": feed}}})).await),
        10 => ("unplug", client.delete(&at(if dice.below(2) == 0 { &wall } else { &inlet })).await),
        11 => ("inlet", post(client, "ports", &inlet, on("pdu", "Power", json!({}))).await),
        12 => {
            let spec = on("pdu", "Power", json!({"power": {"inletRef": {"name": inlet}}}));
            ("outlet", post(client, "ports", &outlet, spec).await)
        }
        13 => {
            // An inlet that becomes an outlet would leave those it feeds without power.
            let name = if dice.below(2) == 0 { &outlet } else { &any_inlet(dice) };
            (
                "outlet",
                client.merge(&at(name), &json!({"spec": {"power": {"inletRef": {"name": inlet}}}})).await,
            )
        }
        14 => ("thing", draw(client, "nodes", "Node", &node, json!({"type": "thing"})).await),
        15 => ("unthing", client.delete(&format!("{GRAPH}/nodes/{node}")).await),
        16 => {
            let spec = json!({"type": "joins", "from": {"name": node}, "to": {"name": other}});
            match dice.below(2) {
                0 => ("edge", draw(client, "edges", "Edge", &edge, spec).await),
                _ => (
                    "turn",
                    client
                        .merge(&format!("{GRAPH}/edges/{edge}"), &json!({"spec": {"to": {"name": other}}}))
                        .await,
                ),
            }
        }
        _ => match dice.below(2) {
            0 => ("erase", client.delete(&format!("{GRAPH}/edges/{edge}")).await),
            _ => ("unplug", client.delete(&at(&outlet)).await),
        },
    };
    (what, answer.unwrap())
}

fn any_inlet(dice: &mut Dice) -> String {
    format!("inlet{}", dice.below(3))
}

fn rack(feeds: Value) -> Value {
    json!({"siteRef": {"name": "s"}, "heightU": 42, "powerFeeds": feeds})
}

fn on(device: &str, kind: &str, more: Value) -> Value {
    let mut spec = json!({"deviceRef": {"kind": "NetworkDevice", "name": device}, "type": kind, "name": "p"});
    for (key, value) in more.as_object().unwrap() {
        spec[key] = value.clone();
    }
    spec
}

async fn draw(client: &Client, plural: &str, kind: &str, name: &str, spec: Value) -> Result<Answer, Failed> {
    let object = json!({
        "apiVersion": "graph.inventory.miloapis.com/v1alpha2", "kind": kind, "metadata": {"name": name}, "spec": spec,
    });
    client.post(&format!("{GRAPH}/{plural}"), &object).await
}
