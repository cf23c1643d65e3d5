//! Crowds: ten thousand watchers and a thousand that never read, those that are stuck for long, ten thousand namespaces.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use testbed::need;
use testbed::server::{Client, Lines, Server};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio_rustls::client::TlsStream;

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// One crowd at a time: each wants the machine for itself.
static ALONE: Mutex<()> = Mutex::const_new(());

const WATCHERS: usize = 10_000;
/// Watchers of one program share a connection, as informers do.
const PER_CONNECTION: usize = 100;
const SLOW: usize = 1_000;
const WRITES: usize = 200;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_watchers_see_every_change_while_a_thousand_never_read() {
    let _alone = ALONE.lock().await;
    if !has_enough_files() {
        return;
    }
    let server = Server::fresh(GROUNDPLANE, &["--audit-log", "none"]).unwrap();
    let client = server.client();
    let before = server.memory();
    let begun = Instant::now();
    let start = newest(&client).await;
    let path = format!("{MAPS}?watch=1&resourceVersion={start}");
    let mut opening = JoinSet::new();
    for _ in 0..WATCHERS / PER_CONNECTION {
        let (client, path) = (client.clone(), path.clone());
        opening.spawn(async move {
            let shared = client.shared().await.unwrap();
            let mut watches = Vec::new();
            for _ in 0..PER_CONNECTION {
                let watch = shared.watch(&path).await.unwrap();
                assert_eq!(watch.code, 200);
                watches.push(watch);
            }
            watches
        });
    }
    let watches: Vec<Lines> = opening.join_all().await.into_iter().flatten().collect();
    let slow = never_reading(&client, &path, SLOW).await;
    eprintln!(
        "{WATCHERS} watchers and {SLOW} slow ones after {:?}: {} MiB instead of {before}",
        begun.elapsed(),
        server.memory()
    );

    let mut watching = JoinSet::new();
    for watch in watches {
        watching.spawn(async move { versions(watch, WRITES).await });
    }
    let begun = Instant::now();
    let mut longest = Duration::ZERO;
    for number in 0..WRITES {
        let map = json!({"metadata": {"name": format!("map-{number}")}, "data": {"n": number.to_string()}});
        let asked = Instant::now();
        assert_eq!(client.post(MAPS, &map).await.unwrap().code, 201);
        longest = longest.max(asked.elapsed());
    }
    let wrote = begun.elapsed();
    let mut seen = None;
    while let Some(versions) = watching.join_next().await {
        let versions = versions.unwrap();
        assert!(versions.windows(2).all(|pair| pair[0] < pair[1]), "out of order: {versions:?}");
        assert_eq!(seen.get_or_insert_with(|| versions.clone()), &versions, "all see the same");
    }
    let told = WATCHERS * WRITES;
    eprintln!(
        "{WRITES} writes in {wrote:?} (the longest {longest:?}), {told} events told after {:?}, {} MiB",
        begun.elapsed(),
        server.memory()
    );
    assert!(begun.elapsed() < Duration::from_secs(180), "it took {:?}", begun.elapsed());
    assert_eq!(client.get("/readyz").await.unwrap().code, 200);
    assert!(server.memory() < before + 2_000, "{} MiB", server.memory());
    drop(slow);
}

/// Watchers, each on a connection of its own, that read nothing, not even the head of the answer.
async fn never_reading(client: &Client, path: &str, count: usize) -> Vec<TlsStream<TcpStream>> {
    let mut opening = JoinSet::new();
    for _ in 0..count {
        let client = client.clone();
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n");
        opening.spawn(async move {
            let mut stream = client.secured_narrow().await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            stream.flush().await.unwrap();
            stream
        });
    }
    opening.join_all().await
}

/// The versions of the next changes.
async fn versions(mut watch: Lines, count: usize) -> Arc<[u64]> {
    let mut versions = Vec::with_capacity(count);
    while versions.len() < count {
        let line = watch.next_bytes().await.expect("the stream ended");
        versions.push(version(&line));
    }
    versions.into()
}

/// The version in a line, without reading all of it.
fn version(line: &[u8]) -> u64 {
    const FIELD: &[u8] = b"\"resourceVersion\":\"";
    let at = line.windows(FIELD.len()).position(|window| window == FIELD).unwrap() + FIELD.len();
    let digits = line[at..].iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

async fn newest(client: &Client) -> u64 {
    let list = client.get(&format!("{MAPS}?limit=1")).await.unwrap().json();
    list["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}

/// A crowd needs more open files than a shell gives; the rest of what the machine allows is asked for. Says plainly
/// when that is too little.
fn has_enough_files() -> bool {
    const ENOUGH: usize = 4_096;
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let numbers: Vec<usize> = files.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    if numbers[0] >= ENOUGH {
        return true;
    }
    let pid = std::process::id().to_string();
    let all = format!("--nofile={}:{}", numbers[1], numbers[1]);
    let raised = Command::new("prlimit").args(["--pid", &pid, &all]).status();
    let enough = numbers[1] >= ENOUGH && raised.is_ok_and(|raised| raised.success());
    if !enough {
        need::passed_over(&format!("a crowd needs {ENOUGH} open files, and the limits are {numbers:?}"));
    }
    enough
}

const STUCK: usize = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_who_never_read_cost_little_and_find_their_place_again() {
    let _alone = ALONE.lock().await;
    if !has_enough_files() {
        return;
    }
    let server = Server::fresh(GROUNDPLANE, &["--audit-log", "none"]).unwrap();
    let client = server.client();
    // A controller makes it at the first start; nothing else changes here by itself.
    while client.get(&format!("{MAPS}/kube-root-ca.crt")).await.unwrap().code != 200 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let start = newest(&client).await;
    let path = format!("{MAPS}?watch=1&resourceVersion={start}");
    let stuck = never_reading(&client, &path, STUCK).await;
    let mut late = client.watch(&path).await.unwrap();
    let before = server.memory();
    // More than fits into the buffers of the sockets in between.
    let large = "x".repeat(200_000);
    for number in 0..WRITES {
        let map = json!({"metadata": {"name": "large"}, "data": {"n": number.to_string(), "text": large}});
        let answer = match number {
            0 => client.post(MAPS, &map).await.unwrap(),
            _ => client.put(&format!("{MAPS}/large"), &map).await.unwrap(),
        };
        assert!(matches!(answer.code, 200 | 201), "{}", answer.text());
    }
    let grown = server.memory().saturating_sub(before);
    eprintln!(
        "{STUCK} stuck watchers and {} MB of changes: {grown} MiB more",
        WRITES * large.len() / 1_000_000
    );
    assert!(grown < 600, "the server holds {grown} MiB for those who never read");

    // One that was as stuck as the others begins to read: it gets all in order, or is told to list anew.
    let (mut last, mut told) = (start, 0);
    while told < WRITES {
        let Some(line) = late.next_bytes().await else { break };
        if line.starts_with(b"{\"type\":\"ERROR\"") {
            let status: serde_json::Value = serde_json::from_slice(&line).unwrap();
            assert_eq!(status["object"]["code"], 410, "{status}");
            break;
        }
        let version = version(&line);
        assert!(version > last);
        (last, told) = (version, told + 1);
    }
    eprintln!("the late reader was told {told} changes");
    let mut resumed = client.watch(&format!("{MAPS}?watch=1&resourceVersion={last}")).await.unwrap();
    while told < WRITES {
        let line = resumed.next_bytes().await.expect("the resumed watch ended");
        assert!(version(&line) > last);
        (last, told) = (version(&line), told + 1);
    }
    let large = client.get(&format!("{MAPS}/large")).await.unwrap();
    assert_eq!(last, version(&large.body));

    // Others ask for all of that again, and do not read it either.
    let before = server.memory();
    let again = never_reading(&client, &path, STUCK).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let grown = server.memory().saturating_sub(before);
    eprintln!("{STUCK} more that ask for all that happened: {grown} MiB more");
    assert!(grown < 600, "the server holds {grown} MiB for those who ask and never read");
    assert_eq!(client.get("/readyz").await.unwrap().code, 200);
    drop((stuck, again));
    let begun = Instant::now();
    loop {
        let metrics = client.get("/metrics").await.unwrap().text();
        let watches: f64 = metrics
            .lines()
            .filter(|line| line.starts_with("apiserver_longrunning_requests"))
            .filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok())
            .sum();
        // The two of above.
        if watches <= 2.0 {
            break;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "{watches} watches of clients that have gone still count"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

const NAMESPACES: usize = 10_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_namespaces_are_made_and_listed_in_pages() {
    let _alone = ALONE.lock().await;
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let from_the_start = server.client().get("/api/v1/namespaces").await.unwrap().json();
    let all = NAMESPACES + from_the_start["items"].as_array().unwrap().len();
    let begun = Instant::now();
    let mut making = JoinSet::new();
    for maker in 0..100 {
        let client = server.client();
        making.spawn(async move {
            for number in 0..NAMESPACES / 100 {
                let name = format!("project-{maker:02}-{number:03}");
                let namespace = json!({"metadata": {"name": name, "labels": {"maker": maker.to_string()}}});
                let answer = client.post("/api/v1/namespaces", &namespace).await.unwrap();
                assert_eq!(answer.code, 201, "{}", answer.text());
            }
        });
    }
    making.join_all().await;
    let made = begun.elapsed();
    let client = server.client();
    let begun = Instant::now();
    let (mut names, mut rest, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let page = client.get(&format!("/api/v1/namespaces?limit=500&continue={rest}")).await.unwrap().json();
        names.extend(
            page["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()),
        );
        pages += 1;
        match page["metadata"]["continue"].as_str().filter(|token| !token.is_empty()) {
            None => break,
            Some(token) => {
                let left = page["metadata"]["remainingItemCount"].as_u64().unwrap();
                assert_eq!(names.len() as u64 + left, all as u64);
                rest = token.to_owned();
            }
        }
    }
    let listed = begun.elapsed();
    assert_eq!((names.len(), pages), (all, 21), "with those that are always there");
    assert!(names.is_sorted());
    let begun = Instant::now();
    let whole = client.get("/api/v1/namespaces").await.unwrap().json();
    let at_once = begun.elapsed();
    assert_eq!(whole["items"].as_array().unwrap().len(), all);
    let begun = Instant::now();
    let mine = client.get("/api/v1/namespaces?labelSelector=maker%3D7").await.unwrap().json();
    assert_eq!(mine["items"].as_array().unwrap().len(), NAMESPACES / 100);
    let selected = begun.elapsed();
    let map = json!({"metadata": {"name": "a"}});
    let inside = client.post("/api/v1/namespaces/project-99-099/configmaps", &map).await.unwrap();
    assert_eq!(inside.code, 201);
    eprintln!(
        "made in {made:?}, listed in {listed:?} by pages, {at_once:?} at once, a hundredth by label in {selected:?}; {} MiB",
        server.memory()
    );
}
