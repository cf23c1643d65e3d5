//! All on one object.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use testbed::linearizable::{Kind, Op, check};
use testbed::server::Client;
use tokio::task::JoinSet;

use crate::CLIENTS;
use crate::dice::Dice;
use crate::ground::Ground;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const COUNTER: &str = "/api/v1/namespaces/default/configmaps/counter";
/// How often each counts.
const TURNS: usize = 4;

async fn make(client: &Client, name: &str, value: u64) {
    let map = json!({"metadata": {"name": name}, "data": {"n": value.to_string()}});
    assert_eq!(client.post(MAPS, &map).await.unwrap().code, 201);
}

/// Read, add one, write back; whoever was overtaken begins anew.
pub async fn no_increment_by_update_is_lost(ground: &Ground) {
    make(&ground.client(0), "counter", 0).await;
    let mut counting = JoinSet::new();
    for number in 0..CLIENTS {
        let client = ground.client(number);
        counting.spawn(async move {
            let (mut dice, mut tries) = (Dice::of(number), 0);
            for _ in 0..TURNS {
                loop {
                    tries += 1;
                    let mut counter = client.get(COUNTER).await.unwrap().json();
                    let found: u64 = counter["data"]["n"].as_str().unwrap().parse().unwrap();
                    counter["data"]["n"] = (found + 1).to_string().into();
                    let answer = client.put(COUNTER, &counter).await.unwrap();
                    match answer.code {
                        200 => break,
                        409 => pause(&mut dice).await,
                        other => panic!("{other}: {}", answer.text()),
                    }
                }
            }
            tries
        });
    }
    let tries: usize = counting.join_all().await.into_iter().sum();
    eprintln!("{} increments took {tries} tries", CLIENTS * TURNS);
    counted(ground).await;
}

/// Test and replace in one patch; whoever was overtaken learns the number anew.
pub async fn no_increment_by_patch_is_lost(ground: &Ground) {
    make(&ground.client(0), "counter", 0).await;
    let mut counting = JoinSet::new();
    for number in 0..CLIENTS {
        let client = ground.client(number);
        counting.spawn(async move {
            let mut dice = Dice::of(number);
            for _ in 0..TURNS {
                loop {
                    let counter = client.get(COUNTER).await.unwrap().json();
                    let found: u64 = counter["data"]["n"].as_str().unwrap().parse().unwrap();
                    let patch = json!([
                        {"op": "test", "path": "/data/n", "value": found.to_string()},
                        {"op": "replace", "path": "/data/n", "value": (found + 1).to_string()},
                    ]);
                    let answer = client.patch(COUNTER, &patch).await.unwrap();
                    match answer.code {
                        200 => break,
                        // The test failed, or the server gave up trying it on ever newer versions.
                        422 | 409 => pause(&mut dice).await,
                        other => panic!("{other}: {}", answer.text()),
                    }
                }
            }
        });
    }
    counting.join_all().await;
    counted(ground).await;
}

async fn pause(dice: &mut Dice) {
    tokio::time::sleep(Duration::from_millis(dice.below(60))).await;
}

async fn counted(ground: &Ground) {
    for number in 0..2 {
        let counter = ground.client(number).get(COUNTER).await.unwrap().json();
        assert_eq!(counter["data"]["n"], (CLIENTS * TURNS).to_string());
    }
}

/// Reads, blind writes and writes on condition of a few objects, all recorded, are as if one did them one by one.
pub async fn reads_and_writes_have_one_order(ground: &Ground) {
    let clock = Arc::new((Instant::now(), AtomicU64::new(1)));
    let mut history = Vec::new();
    for register in 0..4 {
        let value = clock.1.fetch_add(1, Ordering::Relaxed);
        let call = now(&clock);
        make(&ground.client(register), &format!("register-{register}"), value).await;
        let kind = Kind::Write(value);
        history.push(Op {
            process: CLIENTS,
            key: format!("register-{register}"),
            call,
            ret: Some(now(&clock)),
            kind,
        });
    }
    let mut busy = JoinSet::new();
    for number in 0..CLIENTS {
        let (client, clock) = (ground.client(number), clock.clone());
        busy.spawn(async move { operations(number, &client, &clock).await });
    }
    history.extend(busy.join_all().await.into_iter().flatten());
    eprintln!("{} operations", history.len());
    if let Err(violation) = check(&history) {
        panic!("{violation}");
    }
}

type Clock = Arc<(Instant, AtomicU64)>;

fn now(clock: &Clock) -> u64 {
    u64::try_from(clock.0.elapsed().as_nanos()).unwrap()
}

async fn operations(process: usize, client: &Client, clock: &Clock) -> Vec<Op> {
    let mut dice = Dice::of(process);
    let mut done = Vec::new();
    for _ in 0..12 {
        let key = format!("register-{}", dice.below(4));
        let path = format!("{MAPS}/{key}");
        let mut record =
            |call, kind| done.push(Op { process, key: key.clone(), call, ret: Some(now(clock)), kind });
        let mut call = now(clock);
        let mut map = client.get(&path).await.unwrap().json();
        let found: u64 = map["data"]["n"].as_str().unwrap().parse().unwrap();
        record(call, Kind::Read(Some(found)));
        let new = clock.1.fetch_add(1, Ordering::Relaxed);
        map["data"]["n"] = new.to_string().into();
        let on_condition = dice.below(2) == 0;
        if !on_condition {
            map["metadata"].as_object_mut().unwrap().remove("resourceVersion");
        }
        call = now(clock);
        let answer = client.put(&path, &map).await.unwrap();
        match (on_condition, answer.code) {
            (false, 200) => record(call, Kind::Write(new)),
            (true, 200) => record(call, Kind::Cas { expect: Some(found), new, ok: true }),
            (true, 409) => record(call, Kind::Cas { expect: Some(found), new, ok: false }),
            (_, other) => panic!("{other}: {}", answer.text()),
        }
    }
    done
}
