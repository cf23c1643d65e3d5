//! Many clients at once put books on shelves, move them and take them away, and at no moment do two stand in one place.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use testbed::server::Client;
use tokio::task::JoinSet;

use super::dice::Dice;
use super::objects::{BOOKS, SHELVES, book, make, shelf};
use super::server::{Pair, Server};
use super::tally::Tally;
use super::watched::{State, Told, follow, name_of, place_of, shelf_of};

const CLIENTS: u64 = 64;
const LASTS: Duration = Duration::from_secs(10);
/// What has to have happened often enough for the test to mean something.
const WANTED: [&str; 3] = ["insert", "move", "delete"];
const NAMES: [&str; 4] = ["s0", "s1", "s2", "s3"];
const WIDTH: u32 = 1000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_two_books_ever_overlap_on_one_server() {
    let server = Server::embedded().await;
    no_two_ever_overlap(&[&server]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_two_books_ever_overlap_on_two_servers_of_one_etcd() {
    let Some(pair) = Pair::on_etcd().await else { return };
    let [first, second] = &pair.servers;
    no_two_ever_overlap(&[first, second]).await;
}

async fn no_two_ever_overlap(servers: &[&Server]) {
    let client = servers[0].client();
    for name in NAMES {
        make(&client, SHELVES, &shelf(name, WIDTH)).await;
    }
    make(&client, SHELVES, &shelf("last", WIDTH)).await;
    let mut watchers = Vec::new();
    for server in servers {
        for _ in 0..2 {
            watchers.push(follow(server.client(), BOOKS).await);
        }
    }
    let tally = Tally::new(LASTS, &WANTED, 20);
    let mut busy = JoinSet::new();
    for number in 0..CLIENTS {
        let server = servers[number as usize % servers.len()];
        busy.spawn(shuffle(server.client(), number, tally.clone()));
    }
    tokio::time::sleep(LASTS / 2).await;
    let latecomer = follow(servers[0].client(), BOOKS).await;
    while let Some(ended) = busy.join_next().await {
        ended.unwrap();
    }
    eprintln!("{tally}");
    let listed = list(&client).await;
    make(&client, BOOKS, &book("end", "last", 0, 1)).await;
    let mut told = Vec::new();
    for watcher in watchers {
        told.push(watcher.await.unwrap());
    }
    for told in &told {
        let end = State::replay(told, nothing_overlaps);
        assert_eq!(books_of(&end), listed, "what a watcher was told adds up to what is there");
        assert!(told.windows(2).all(|pair| pair[0].version < pair[1].version), "in order, and nothing twice");
    }
    // What it was told first is what was there, in the order of names.
    let end = State::replay(&latecomer.await.unwrap(), |_, _| {});
    assert_eq!(books_of(&end), listed, "whoever comes late is told as much");
    tally.assert_enough();
}

async fn shuffle(client: Client, number: u64, tally: Tally) {
    let mut dice = Dice::new(number + 1);
    while tally.goes_on() {
        let shelf = NAMES[dice.below(4) as usize];
        // Several clients reach for the same book.
        let name = format!("{shelf}-{}", dice.below(24));
        let path = format!("{BOOKS}/{name}");
        let at = dice.below(WIDTH);
        let (what, answer) = match dice.below(5) {
            0 | 1 => ("insert", client.post(BOOKS, &book(&name, shelf, at, 10 + dice.below(60))).await),
            2 | 3 => ("move", client.merge(&path, &json!({"spec": {"at": at}})).await),
            _ => ("delete", client.delete(&path).await),
        };
        let answer = answer.unwrap();
        assert!(
            matches!(answer.code, 200 | 201 | 404 | 409 | 422),
            "{what} {name}: {} {}",
            answer.code,
            answer.text()
        );
        tally.add(what, answer.code);
    }
}

fn nothing_overlaps(state: &State, told: &Told) {
    let shelf = shelf_of(&told.object);
    let mut places: Vec<(u64, u64, &str)> = state
        .of("Book")
        .filter(|book| shelf_of(book) == shelf)
        .map(|book| (place_of(book).0, place_of(book).1, name_of(book)))
        .collect();
    places.sort_unstable();
    for pair in places.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "at version {} on {shelf}: {pair:?}", told.version);
    }
    assert!(places.last().is_none_or(|last| last.1 <= u64::from(WIDTH)), "{places:?}");
}

async fn list(client: &Client) -> BTreeMap<String, Value> {
    let mut list = client.get(BOOKS).await.unwrap().json();
    let items = list["items"].as_array_mut().unwrap();
    items.iter_mut().map(|book| (name_of(book).to_owned(), book.take())).collect()
}

fn books_of(state: &State) -> BTreeMap<String, Value> {
    let books = state.of("Book").filter(|book| name_of(book) != "end");
    books.map(|book| (name_of(book).to_owned(), book.clone())).collect()
}
