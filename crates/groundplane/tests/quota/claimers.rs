//! 64 claimers of one bucket: moves, deletes and changes of the limit included.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use testbed::etcd::Cluster;
use testbed::need;
use testbed::server::{Client, Pair};
use tokio::task::JoinSet;

use super::*;

const CLAIMERS: usize = 64;
const TURNS: usize = 5;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_bucket_is_ever_above_its_limit_on_one_server() {
    let (_server, client) = server();
    prepare(&client).await;
    let stop = Arc::new(AtomicBool::new(false));
    let raising = tokio::spawn(raise(client.apart(), stop.clone()));
    let names = all_claim(vec![client.apart()], None).await;
    stop.store(true, Ordering::Relaxed);
    raising.await.unwrap();
    let replayed = replay::check(&client, "acme", &names).await;
    assert!(replayed.granted >= CLAIMERS, "{} grants", replayed.granted);
    assert!(replayed.most >= 60, "the limit was reached: {}", replayed.most);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_bucket_is_ever_above_its_limit_on_two_servers_of_one_etcd_of_which_one_is_killed() {
    if !Cluster::available() {
        return need::passed_over("there is no etcd");
    }
    let Pair { first, second, cluster: _cluster, folder: _folder } = Pair::start(GROUNDPLANE).unwrap();
    let client = first.client();
    prepare(&client).await;
    let stop = Arc::new(AtomicBool::new(false));
    let raising = tokio::spawn(raise(client.apart(), stop.clone()));
    let clients = vec![first.client(), second.client()];
    let names = all_claim(clients, Some(second)).await;
    stop.store(true, Ordering::Relaxed);
    raising.await.unwrap();
    let replayed = replay::check(&client, "acme", &names).await;
    assert!(replayed.granted >= CLAIMERS / 2, "{} grants", replayed.granted);
}

async fn prepare(client: &Client) {
    make_project(client, "acme").await;
    define_widgets(client, "acme").await;
    meter_widgets(client, "Refuse").await;
    make(client, &grants(), &grant("acme", "acme", 100)).await;
}

/// Raises and lowers the limit, below what is used too.
async fn raise(client: Client, stop: Arc<AtomicBool>) {
    for amount in [100, 130, 60, 110].into_iter().cycle() {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        set_grant(&client, "acme", amount).await;
        tokio::time::sleep(Duration::from_millis(60)).await;
    }
}

/// Everybody creates, changes and deletes some; the names of all claims that may have come of it. A server that is given
/// is killed in the middle of it.
async fn all_claim(clients: Vec<Client>, killed: Option<Server>) -> Vec<String> {
    let mut claiming = JoinSet::new();
    for number in 0..CLAIMERS {
        let at_first = clients[number % clients.len()].apart();
        let later = clients[0].apart();
        claiming.spawn(async move { claim(number, &at_first, &later).await });
    }
    if let Some(server) = killed {
        tokio::time::sleep(Duration::from_millis(700)).await;
        server.kill();
    }
    claiming.join_all().await.into_iter().flatten().collect()
}

async fn claim(number: usize, at_first: &Client, later: &Client) -> Vec<String> {
    let mut names = Vec::new();
    let mut client = at_first;
    for turn in 0..TURNS {
        let name = format!("w-{number}-{turn}");
        // A change of size is a claim of its own.
        names.extend([format!("widget-{name}"), format!("widget-{name}-2")]);
        let size = i64::try_from(1 + (number + turn) % 3).unwrap();
        let made = client.post(&widgets("acme"), &widget(&name, size)).await;
        let Ok(made) = made else {
            // The server is gone; what came of it is for the history to tell.
            client = later;
            continue;
        };
        if made.code != 201 {
            assert_eq!(made.code, 403, "{}", made.text());
            assert!(made.text().contains("exceeded quota: shop.example.com/widgets"), "{}", made.text());
            continue;
        }
        let path = format!("{}/{name}", widgets("acme"));
        let outcome = match turn % 3 {
            0 => client.merge(&path, &json!({"spec": {"size": size + 2}})).await,
            1 => client.delete(&path).await,
            _ => continue,
        };
        match outcome {
            Ok(answer) => assert!(matches!(answer.code, 200 | 403), "{}", answer.text()),
            Err(_) => client = later,
        }
    }
    names
}
