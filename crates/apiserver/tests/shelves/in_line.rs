//! Waiting in line: who got nothing is served when something becomes free, first come, first served, without polling.

use std::collections::BTreeSet;
use std::sync::Arc;

use apiserver::controllers::host;
use testbed::server::Client;
use tokio::task::JoinSet;

use super::across_planes::{make_desks, make_project, taken};
use super::objects::{found, make};
use super::reading_room::request::Porter;
use super::reading_room::{REQUESTS, request};
use super::server::{Pair, Server, until};

const PROJECTS: &str = "/apis/tenants.example.groundplane.dev/v1alpha1/tenants";
const DESKS: usize = 48;
const PLANES: usize = 12;

/// Where the request of a number is: they are spread over the projects.
fn path(number: usize) -> String {
    format!("{PROJECTS}/p{}/control-plane{REQUESTS}/r{number:02}", number % PLANES)
}

async fn ask(client: &Client, number: usize) {
    let all = format!("{PROJECTS}/p{}/control-plane{REQUESTS}", number % PLANES);
    make(client, &all, &request(&format!("r{number:02}"), "oak")).await;
}

async fn granted(client: &Client, numbers: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut granted = Vec::new();
    for number in numbers {
        let request = found(client, &path(number)).await;
        if request.is_some_and(|request| request["status"]["granted"] == true) {
            granted.push(number);
        }
    }
    granted
}

/// Attempts of the controller on all servers.
fn attempts(servers: &[&Server]) -> u64 {
    let states = servers.iter().flat_map(|server| server.api.controllers().states());
    states.filter(|state| state.name == "porter").map(|state| state.counts.attempts()).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ninety_six_wait_for_forty_eight_desks_and_all_are_served_in_the_end_on_one_server() {
    let server = Server::embedded().await;
    everybody_is_served(&[&server]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ninety_six_wait_for_forty_eight_desks_and_all_are_served_in_the_end_on_two_servers_of_one_etcd() {
    let Some(pair) = Pair::on_etcd().await else { return };
    let [first, second] = &pair.servers;
    everybody_is_served(&[first, second]).await;
}

async fn everybody_is_served(servers: &[&Server]) {
    let client = servers[0].client();
    make_desks(&client, "oak", None, DESKS).await;
    for number in 0..PLANES {
        make_project(&client, &format!("p{number}")).await;
    }
    for (number, server) in servers.iter().enumerate() {
        tokio::spawn(host::run(Arc::new(Porter), server.api.clone(), Some(format!("holder-{number}"))));
    }
    let mut asking = JoinSet::new();
    for number in 0..DESKS {
        let client = servers[number % servers.len()].client();
        asking.spawn(async move { ask(&client, number).await });
    }
    asking.join_all().await;
    until("all desks are taken", || async { granted(&client, 0..DESKS).await.len() == DESKS }).await;
    let distinct: BTreeSet<String> = taken(&client).await.into_values().collect();
    assert_eq!(distinct.len(), DESKS, "none twice");

    // Those who come later wait, one after the other.
    for number in DESKS..2 * DESKS {
        ask(&client, number).await;
    }
    let waiting = || async {
        let states: Vec<_> = servers.iter().flat_map(|server| server.api.controllers().states()).collect();
        states
            .iter()
            .filter(|state| state.name == "porter")
            .map(|state| state.depth.ready + state.depth.working)
            .sum::<usize>()
    };
    until("nobody is planned any more", || async { waiting().await == 0 }).await;
    assert!(granted(&client, DESKS..2 * DESKS).await.is_empty());

    // One desk becomes free: the first in line has it, and the others are left alone.
    let before = attempts(servers);
    assert_eq!(client.delete(&path(7)).await.unwrap().code, 200);
    until("the first in line has it", || async { granted(&client, DESKS..2 * DESKS).await == [DESKS] }).await;
    let planned = attempts(servers) - before;
    assert!(planned <= 12, "{planned} plans for one desk, of {DESKS} that wait");

    // Each that goes lets the next one in, until everybody was served.
    let mut gone: Vec<usize> = (0..DESKS).filter(|number| *number != 7).collect();
    for batch in [1, 2, 4, 8, 16, 16] {
        for number in gone.split_off(gone.len() - batch) {
            assert_eq!(client.delete(&path(number)).await.unwrap().code, 200);
        }
        let served = 2 * DESKS - 1 - gone.len();
        let in_order: Vec<usize> = (DESKS..=served).collect();
        until("as many are served as have gone", || async {
            granted(&client, DESKS..2 * DESKS).await.len() == in_order.len()
        })
        .await;
        assert_eq!(granted(&client, DESKS..2 * DESKS).await, in_order, "first come, first served");
    }
    assert!(gone.is_empty());
    let desks = taken(&client).await;
    assert_eq!(desks.into_values().collect::<BTreeSet<String>>().len(), DESKS, "none twice");
}
