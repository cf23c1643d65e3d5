//! Many claimers at once: no two have an address in common, and everything comes back.

use networking::prefix::Prefix;
use serde_json::Value;
use testbed::server::Client;
use tokio::task::JoinSet;

use super::objects::{make, names};
use super::places::{allocated, claim, context, make_project, network, of};
use super::server::{Pair, Server};

const CLAIMERS: usize = 64;
const EACH: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_claimers_get_subnets_that_do_not_overlap_on_one_server() {
    let server = Server::embedded().await;
    nothing_overlaps(&[&server]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_claimers_get_subnets_that_do_not_overlap_on_two_servers_of_one_etcd() {
    let Some(pair) = Pair::on_etcd().await else { return };
    let [first, second] = &pair.servers;
    nothing_overlaps(&[first, second]).await;
}

/// Each claims some subnets of different sizes at two locations, and gives every second one back at once.
async fn nothing_overlaps(servers: &[&Server]) {
    let client = servers[0].client();
    make_project(&client).await;
    make(&client, &of("networks"), &network("net", "10.0.0.0/16", "fd20:1::/48")).await;
    for location in ["dfw", "iad"] {
        make(&client, &of("networkcontexts"), &context("net", location)).await;
    }
    let mut claiming = JoinSet::new();
    for number in 0..CLAIMERS {
        let client = servers[number % servers.len()].client();
        claiming.spawn(async move { claim_some(&client, number).await });
    }
    let kept = claiming.join_all().await.into_iter().sum::<usize>();

    let claims = items(&client, "subnetclaims").await;
    assert_eq!(claims.len(), kept);
    let prefixes: Vec<Prefix> = claims.iter().map(prefix).collect();
    for (at, one) in prefixes.iter().enumerate() {
        let other = prefixes[at + 1..].iter().find(|other| other.overlaps(one));
        assert!(other.is_none(), "{one} overlaps {}", other.unwrap());
    }
    let subnets = items(&client, "subnets").await;
    let told: Vec<(String, String)> = subnets.iter().map(|subnet| (name(subnet), of_spec(subnet))).collect();
    let wanted: Vec<(String, String)> =
        claims.iter().map(|claim| (name(claim), allocated(claim).unwrap())).collect();
    assert_eq!(told, wanted, "each claim has its subnet, and there are no others");

    for claim in &claims {
        let gone = client.delete(&format!("{}/{}", of("subnetclaims"), name(claim))).await.unwrap();
        assert_eq!(gone.code, 200, "{}", gone.text());
    }
    assert!(names(&client, &of("subnets")).await.is_empty());
    assert!(names(&client, &of("addressblocks")).await.is_empty(), "all space is given back");
}

async fn claim_some(client: &Client, number: usize) -> usize {
    let mut kept = 0;
    for turn in 0..EACH {
        let (family, length) = [("IPv4", 24), ("IPv4", 27), ("IPv6", 64), ("IPv4", 30)][(number + turn) % 4];
        let name = format!("c-{number}-{turn}");
        let wanted = claim(&name, "net", ["dfw", "iad"][turn % 2], family, length);
        let made = make(client, &of("subnetclaims"), &wanted).await;
        assert!(allocated(&made).is_some(), "there is room for all: {made}");
        if turn % 2 == 0 {
            kept += 1;
            continue;
        }
        let gone = client.delete(&format!("{}/{name}", of("subnetclaims"))).await.unwrap();
        assert_eq!(gone.code, 200, "{}", gone.text());
    }
    kept
}

async fn items(client: &Client, plural: &str) -> Vec<Value> {
    client.get(&of(plural)).await.unwrap().json()["items"].as_array().unwrap().clone()
}

fn name(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap().to_owned()
}

fn prefix(claim: &Value) -> Prefix {
    Prefix::parse(&allocated(claim).unwrap()).unwrap()
}

fn of_spec(subnet: &Value) -> String {
    format!("{}/{}", subnet["spec"]["startAddress"].as_str().unwrap(), subnet["spec"]["prefixLength"])
}
