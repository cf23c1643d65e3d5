//! Shelves that shrink or go while books are put on them: never a book beyond its shelf, and never one on no shelf.

use std::time::{Duration, Instant};

use serde_json::json;
use testbed::server::Client;
use tokio::task::JoinSet;

use super::dice::Dice;
use super::objects::{BOOKS, SHELVES, book, make, shelf};
use super::server::{Pair, Server};
use super::watched::{State, follow, name_of, place_of, shelf_of};

const WRITERS: u64 = 8;
const LASTS: Duration = Duration::from_secs(5);
const NAMES: [&str; 3] = ["s0", "s1", "s2"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_book_is_ever_beyond_its_shelf_or_on_none_on_one_server() {
    let server = Server::embedded().await;
    every_book_is_ever_on_its_shelf(&[&server]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_book_is_ever_beyond_its_shelf_or_on_none_on_two_servers_of_one_etcd() {
    let Some(pair) = Pair::on_etcd().await else { return };
    let [first, second] = &pair.servers;
    every_book_is_ever_on_its_shelf(&[first, second]).await;
}

async fn every_book_is_ever_on_its_shelf(servers: &[&Server]) {
    let client = servers[0].client();
    let last = servers[servers.len() - 1];
    let watchers = [follow(last.client(), SHELVES).await, follow(last.client(), BOOKS).await];
    let mut busy = JoinSet::new();
    for number in 0..WRITERS {
        let server = servers[number as usize % servers.len()];
        busy.spawn(put_and_take(server.client(), number));
        busy.spawn(change_shelves(server.client(), number + WRITERS));
    }
    let mut done = [0; 4];
    while let Some(more) = busy.join_next().await {
        let more = more.unwrap();
        done.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    }
    eprintln!("put, taken, resized, deleted: {done:?}");
    assert!(done.iter().all(|count| *count > 5), "hardly anything happened: {done:?}");
    make(&client, SHELVES, &shelf("end", 100)).await;
    make(&client, BOOKS, &book("end", "end", 0, 1)).await;
    let mut told = Vec::new();
    for watcher in watchers {
        told.extend(watcher.await.unwrap());
    }
    State::replay(&told, |state, told| {
        for book in state.of("Book") {
            let at = format!("version {}: Book {}", told.version, name_of(book));
            let shelf = state.get("Shelf", shelf_of(book));
            let shelf = shelf.unwrap_or_else(|| panic!("{at} is on {}, which is not there", shelf_of(book)));
            let width = shelf["spec"]["width"].as_u64().unwrap();
            assert!(place_of(book).1 <= width, "{at} ends at {} of {width}", place_of(book).1);
        }
    });
}

/// How many books it put and took away.
async fn put_and_take(client: Client, number: u64) -> [usize; 4] {
    let mut dice = Dice::new(number + 1);
    let (mut put, mut taken) = (0, 0);
    let begun = Instant::now();
    while begun.elapsed() < LASTS {
        let shelf = NAMES[dice.below(3) as usize];
        let name = format!("{shelf}-{}", dice.below(3));
        let answer = match dice.below(3) {
            0 => client.post(BOOKS, &book(&name, shelf, dice.below(1000), 1 + dice.below(40))).await.unwrap(),
            _ => client.delete(&format!("{BOOKS}/{name}")).await.unwrap(),
        };
        assert!(matches!(answer.code, 200 | 201 | 404 | 409 | 422), "{}", answer.text());
        put += usize::from(answer.code == 201);
        taken += usize::from(answer.code == 200);
    }
    [put, taken, 0, 0]
}

/// How many shelves it resized and deleted.
async fn change_shelves(client: Client, number: u64) -> [usize; 4] {
    let mut dice = Dice::new(number + 1);
    let (mut resized, mut deleted) = (0, 0);
    let begun = Instant::now();
    while begun.elapsed() < LASTS {
        let name = NAMES[dice.below(3) as usize];
        let path = format!("{SHELVES}/{name}");
        let width = 200 + dice.below(900);
        let what = dice.below(3);
        let answer = match what {
            0 => client.post(SHELVES, &shelf(name, width)).await.unwrap(),
            1 => client.merge(&path, &json!({"spec": {"width": width}})).await.unwrap(),
            _ => client.delete(&path).await.unwrap(),
        };
        assert!(matches!(answer.code, 200 | 201 | 404 | 409 | 422), "{}", answer.text());
        resized += usize::from(what == 1 && answer.code == 200);
        deleted += usize::from(what == 2 && answer.code == 200);
    }
    [0, 0, resized, deleted]
}
