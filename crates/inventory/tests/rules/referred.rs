//! Sixty-four clients make, move and delete objects of all kinds that refer to each other; nothing is ever left without what it needs.

use std::time::Duration;

use krm::Object;
use krm::kind::{Kind, Missing, OnDelete};
use serde_json::{Value, json};
use testbed::server::{Answer, Client};
use tokio::task::JoinSet;

use crate::at_once::ROOT;
use crate::dice::Dice;
use crate::server::{Pair, Server};
use crate::tally::Tally;
use crate::watched::{State, Told, follow, name_of};

const CLIENTS: u64 = 64;
const LASTS: Duration = Duration::from_secs(10);
/// What has to have happened often enough for the test to mean something.
const WANTED: [&str; 3] = ["make", "move", "delete"];
/// How many names each kind has.
const NAMES: u32 = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_goes_while_it_is_needed_on_one_server() {
    let server = Server::embedded().await;
    nothing_is_ever_missing(&[&server]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_goes_while_it_is_needed_on_two_servers_of_one_etcd() {
    let Some(pair) = Pair::on_etcd().await else { return };
    let [first, second] = &pair.servers;
    nothing_is_ever_missing(&[first, second]).await;
}

async fn nothing_is_ever_missing(servers: &[&Server]) {
    let kinds = inventory::kinds::all();
    let mut watchers = Vec::new();
    for kind in &kinds {
        let path = format!("{ROOT}/{}", kind.names.plural);
        watchers.push(follow(servers[servers.len() - 1].client(), &path).await);
    }
    let tally = Tally::new(LASTS, &WANTED, 50);
    let mut busy = JoinSet::new();
    for number in 0..CLIENTS {
        busy.spawn(try_to_break(servers[number as usize % servers.len()].client(), number, tally.clone()));
    }
    while let Some(ended) = busy.join_next().await {
        ended.unwrap();
    }
    eprintln!("{tally}");
    let client = servers[0].client();
    for kind in ORDER {
        if kind == "cables" {
            make(&client, "ports", "end2", &mut |_| "end".to_owned()).await;
        }
        let mut ports = ["end", "end2"].into_iter().cycle();
        let mut end = |of: &str| if of == "ports" { ports.next() } else { None }.unwrap_or("end").to_owned();
        make(&client, kind, "end", &mut end).await;
    }
    let mut told = Vec::new();
    for watcher in watchers {
        told.extend(watcher.await.unwrap());
    }
    let last =
        told.iter().filter(|told| told.object["metadata"]["name"] == "end").map(|told| told.version).min();
    told.retain(|told| Some(told.version) < last);
    let mut gone = 0;
    State::replay(&told, |state, told| {
        gone += usize::from(told.is_gone);
        what_is_needed_is_there(&kinds, state, told);
    });
    assert!(gone > 50, "hardly anything ever went: {tally}");
    tally.assert_enough();
    for what in WANTED {
        assert!(tally.has(what, 400), "{what} was never refused: {tally}");
    }
}

/// Whoever was written has what it has to have, and nobody is left who needs what went.
fn what_is_needed_is_there(kinds: &[Kind], state: &State, told: &Told) {
    let (kind_name, name) = (told.object["kind"].as_str().unwrap(), name_of(&told.object));
    let plural_of =
        |kind: &str| kinds.iter().find(|known| known.names.kind == kind).unwrap().names.plural.clone();
    let own = plural_of(kind_name);
    for kind in kinds {
        for reference in kind.references.iter().filter(|reference| reference.on_delete == OnDelete::Block) {
            if told.is_gone && reference.plural == own {
                for object in state.of(&kind.names.kind) {
                    let object = Object::from_value(object.clone()).unwrap();
                    let needs = reference.names(&object).iter().any(|(_, target)| *target == name);
                    let who = object.name();
                    assert!(
                        !needs,
                        "{kind_name} {name} went at {} under {} {who}",
                        told.version, kind.names.kind
                    );
                }
            }
            if !told.is_gone && kind.names.kind == kind_name && reference.missing == Missing::Refuse {
                let object = Object::from_value(told.object.clone()).unwrap();
                for (field, target) in reference.names(&object) {
                    let known = kinds.iter().find(|known| known.names.plural == reference.plural).unwrap();
                    let is_there = state.get(&known.names.kind, target).is_some();
                    assert!(is_there, "{kind_name} {name} has no {target} in {field} at {}", told.version);
                }
            }
        }
    }
}

/// The kinds, each after those it needs.
const ORDER: [&str; 12] = [
    "providers",
    "regions",
    "sites",
    "racks",
    "clusters",
    "nodes",
    "networkdevices",
    "virtualmachines",
    "ports",
    "cables",
    "links",
    "circuits",
];

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
    let plural = ORDER[dice.below(12) as usize];
    let name = format!("n{}", dice.below(NAMES));
    let path = |plural: &str| format!("{ROOT}/{plural}/{name}");
    match dice.below(6) {
        0..=2 => {
            let mut any = |_: &str| format!("n{}", dice.below(NAMES));
            ("make", post(client, plural, &name, &mut any).await)
        }
        3 => {
            let to = json!({"name": format!("n{}", dice.below(NAMES))});
            let (plural, change) = match dice.below(5) {
                0 => ("sites", json!({"providerRef": to})),
                1 => ("nodes", json!({"assignment": {"clusterRef": to, "role": "Worker"}})),
                2 => ("virtualmachines", json!({"providerRef": to})),
                3 => ("links", json!({"cableRefs": [to]})),
                _ => ("circuits", json!({"aEnd": {"kind": "Port", "name": to["name"]}})),
            };
            ("move", client.merge(&path(plural), &json!({"spec": change})).await.unwrap())
        }
        _ => ("delete", client.delete(&path(plural)).await.unwrap()),
    }
}

async fn make(client: &Client, plural: &str, name: &str, any: &mut (dyn FnMut(&str) -> String + Send)) {
    let answer = post(client, plural, name, any).await;
    assert_eq!(answer.code, 201, "{plural}: {}", answer.text());
}

async fn post(
    client: &Client,
    plural: &str,
    name: &str,
    any: &mut (dyn FnMut(&str) -> String + Send),
) -> Answer {
    let mut to = |plural: &str| json!({"name": any(plural)});
    let (kind, spec): (&str, Value) = match plural {
        "providers" => ("Provider", json!({"displayName": "P", "type": "Transit"})),
        "regions" => ("Region", json!({"displayName": "R"})),
        "sites" => {
            let (region, provider) = (to("regions"), to("providers"));
            (
                "Site",
                json!({"displayName": "S", "regionRef": region, "providerRef": provider, "type": "Edge"}),
            )
        }
        "racks" => ("Rack", json!({"siteRef": to("sites"), "heightU": 42})),
        "clusters" => (
            "Cluster",
            json!({"displayName": "C", "controlPlaneSiteRef": to("sites"), "role": "Edge", "provider": "talos"}),
        ),
        "nodes" => (
            "Node",
            json!({"siteRef": to("sites"), "hardware": {"cpuCores": 1, "cpuArchitecture": "amd64", "memoryBytes": 1},
                "assignment": {"clusterRef": to("clusters"), "role": "Worker"}}),
        ),
        "networkdevices" => {
            ("NetworkDevice", json!({"siteRef": to("sites"), "clusterRef": to("clusters"), "role": "Leaf"}))
        }
        "virtualmachines" => (
            "VirtualMachine",
            json!({"hostRef": to("nodes"), "providerRef": to("providers"), "allocation": {"vcpus": 1, "memoryBytes": 1}}),
        ),
        "ports" => {
            let device = json!({"kind": "Node", "name": to("nodes")["name"]});
            ("Port", json!({"deviceRef": device, "type": "Ethernet", "name": "eth"}))
        }
        "cables" => {
            let (first, second) = (to("ports"), to("ports"));
            ("Cable", json!({"endpoints": [first, second], "media": "Copper"}))
        }
        "links" => {
            let ends = json!([{"kind": "Site", "name": to("sites")["name"]}, {"kind": "Cluster", "name": to("clusters")["name"]}]);
            ("Link", json!({"endpoints": ends, "type": "Logical", "cableRefs": [to("cables")]}))
        }
        _ => {
            let (a, z) = (json!({"kind": "Site", "name": to("sites")["name"]}), to("ports"));
            let z = json!({"kind": "Port", "name": z["name"]});
            ("Circuit", json!({"providerRef": to("providers"), "type": "Transit", "aEnd": a, "zEnd": z}))
        }
    };
    let object = json!({
        "apiVersion": "inventory.miloapis.com/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec,
    });
    client.post(&format!("{ROOT}/{plural}"), &object).await.unwrap()
}
