//! A plan of a few steps, run by a worker that can be stopped anywhere.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use simulation::{Chances, Simulation, Stop, walk_stops};
use store::simulated::{Fault, Operation, Point, Simulated};
use store::{Author, Body, Error, Key, Put, Refused, Seeded, Store, Uid, Version, View};

const HOSTS: usize = 4;

fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

fn read(store: &dyn Store, name: &str) -> u64 {
    let snapshot = store.latest();
    snapshot.get(&key(name)).map_or(0, |entry| std::str::from_utf8(entry.bytes()).unwrap().parse().unwrap())
}

fn new_uid(simulation: &Simulation) -> Uid {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&simulation.randomness().number().to_be_bytes());
    Uid(bytes)
}

fn put(view: &mut View, name: &str, uid: Uid, value: u64) {
    let uid = view.get(&key(name)).map_or(uid, |entry| entry.uid());
    view.put(Put::new(key(name), uid, Body::plain(value.to_string())));
}

/// Decides until the store says how it ended: a failure is tried again after a pause, an unknown outcome is looked at by
/// deciding again.
async fn write(
    store: &Arc<Simulated>,
    decide: impl Fn(&mut View) -> Result<bool, String> + Clone + Send + Sync + 'static,
) -> Result<bool, String> {
    let store: Arc<dyn Store> = store.clone();
    loop {
        match store.transact(Author::new("system:worker", "worker"), decide.clone()).await {
            Ok((done, _)) => return Ok(done),
            Err(Refused::Decision(why)) => return Err(why),
            Err(Refused::Store(Error::Unavailable(_) | Error::Unknown(_) | Error::Contended { .. })) => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            Err(Refused::Store(error)) => return Err(error.to_string()),
        }
    }
}

/// Installs each host once and counts it, in one transaction: a plan that can be stopped anywhere.
async fn install_all(simulation: &Simulation) -> Result<(), String> {
    let store = simulation.open(None).await.map_err(|error| error.to_string())?;
    for host in 0..HOSTS {
        let (name, uids) = (format!("/inventory/hosts//{host}"), [new_uid(simulation), new_uid(simulation)]);
        let done = write(&store, move |view| {
            if view.get(&key(&name)).is_some() {
                return Ok(false);
            }
            let count = view.get(&key("/inventory/counts//hosts"));
            let count = count.map_or(0, |entry| std::str::from_utf8(entry.bytes()).unwrap().parse().unwrap());
            put(view, &name, uids[0], 1);
            put(view, "/inventory/counts//hosts", uids[1], count + 1);
            Ok(true)
        });
        simulation.note(format!("host {host}: {}", done.await?));
    }
    Ok(())
}

/// The same with the count in a transaction of its own: a stop between the two is not noticed.
async fn install_all_carelessly(simulation: &Simulation) -> Result<(), String> {
    let store = simulation.open(None).await.map_err(|error| error.to_string())?;
    for host in 0..HOSTS {
        let (name, uids) = (format!("/inventory/hosts//{host}"), [new_uid(simulation), new_uid(simulation)]);
        if store.latest().get(&key(&name)).is_some() {
            continue;
        }
        write(&store, move |view| {
            put(view, &name, uids[0], 1);
            Ok(true)
        })
        .await?;
        let count = read(&*store, "/inventory/counts//hosts") + 1;
        write(&store, move |view| {
            put(view, "/inventory/counts//hosts", uids[1], count);
            Ok(true)
        })
        .await?;
    }
    Ok(())
}

async fn every_host_is_counted(simulation: &Simulation) -> Result<(), String> {
    let store = simulation.open(None).await.map_err(|error| error.to_string())?;
    let found = store.latest().list(b"/inventory/hosts/").count();
    let count = read(&*store, "/inventory/counts//hosts");
    match found == HOSTS && count == HOSTS as u64 {
        true => Ok(()),
        false => Err(format!("{found} hosts, {count} counted")),
    }
}

#[test]
fn every_stop_of_a_plan_is_walked_in_one_call() {
    let walked = walk_stops(|| Simulation::seeded(1), install_all, every_host_is_counted);
    let walked = walked.unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!((walked.steps, walked.runs), (HOSTS as u64, 1 + 2 * HOSTS as u64));
}

#[test]
fn a_walk_finds_where_a_careless_plan_breaks() {
    let failure = walk_stops(|| Simulation::seeded(1), install_all_carelessly, every_host_is_counted);
    let failure = failure.unwrap_err();
    // Installed, and not counted yet.
    assert_eq!(failure.stop, Some(Stop::After(1)));
    assert_eq!(failure.why, "4 hosts, 3 counted");
    assert!(failure.trace.lines().iter().any(|line| line.ends_with(" stops")), "{failure}");
}

#[test]
fn a_walk_notices_a_scenario_that_does_not_repeat_itself() {
    let calls = std::sync::atomic::AtomicU64::new(0);
    let scenario = async |simulation: &Simulation| {
        simulation.note(format!("call {}", calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed)));
        install_all(simulation).await
    };
    let failure = walk_stops(|| Simulation::seeded(1), scenario, every_host_is_counted).unwrap_err();
    assert!(failure.why.contains("line 2 "), "{failure}");
}

fn rough(seed: u64) -> Simulation {
    Simulation::seeded(seed)
        .with_faults(|point, dice| Chances { stop: 60, ..Chances::mixed() }.draw(point, dice))
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let run = |seed| {
        let simulation = rough(seed);
        simulation.run(install_all).unwrap();
        simulation.check(every_host_is_counted).unwrap();
        (simulation.trace().to_string(), simulation.lives())
    };
    let (mut stopped, mut traces) = (0, std::collections::BTreeSet::new());
    for seed in 0..50 {
        let (trace, lives) = run(seed);
        assert_eq!(run(seed), (trace.clone(), lives), "seed {seed}");
        stopped += u32::from(lives > 1);
        traces.insert(trace);
    }
    assert!(traces.len() > 25, "only {} differ: that shows nothing", traces.len());
    assert!(stopped > 5, "only {stopped} were stopped: that shows nothing");
}

#[test]
fn a_plan_survives_stops_amid_other_faults() {
    let fresh = || {
        let chances = Chances { stop: 0, ..Chances::mixed() };
        Simulation::seeded(3).with_faults(move |point, dice| chances.draw(point, dice))
    };
    let walked = walk_stops(fresh, install_all, every_host_is_counted);
    assert!(walked.unwrap_or_else(|failure| panic!("{failure}")).steps >= HOSTS as u64);
}

#[test]
fn the_trace_tells_steps_faults_and_notes() {
    let lose = |point: &Point, _: &Seeded| match &point.operation {
        Operation::Commit { .. } if point.step == Some(1) => vec![Fault::After],
        _ => Vec::new(),
    };
    let simulation = Simulation::seeded(5).with_faults(lose).stopped(Stop::Before(2));
    simulation
        .run(async |simulation| {
            let store = simulation.open(None).await.map_err(|error| error.to_string())?;
            let uid = new_uid(simulation);
            for name in ["a", "b"] {
                let made = write(&store, move |view| match view.get(&key(name)) {
                    Some(_) => Err("it is there".to_owned()),
                    None => {
                        put(view, name, uid, 1);
                        Ok(true)
                    }
                });
                simulation.note(format!("{name}: {:?}", made.await));
            }
            Ok(())
        })
        .unwrap();
    let trace = simulation.trace();
    let lines: Vec<&str> = trace.lines().iter().map(String::as_str).collect();
    assert_eq!(
        lines,
        [
            "1.000.000000 starts",
            "1.000.000000 step 1 server commit by system:worker with worker, update a !After",
            "1.000.000000   server at point 1: revision 1",
            "1.000.010000 a: Err(\"it is there\")",
            "1.000.010000 step 2 server commit by system:worker with worker, update b !StopBefore",
            "1.000.010000 stops",
            "2.000.000000 starts",
            "2.000.000000 a: Err(\"it is there\")",
            "2.000.000000 step 3 server commit by system:worker with worker, update b",
            "2.000.000000   server at point 5: revision 2",
            "2.000.000000 b: Ok(true)",
        ]
    );
}

#[test]
fn a_scenario_that_waits_for_nothing_is_ended() {
    let simulation = Simulation::seeded(1);
    let outcome = simulation.run(async |simulation| {
        let store = simulation.open(None).await.unwrap();
        let mut watch = store.watch(b"", Version::ZERO).unwrap();
        watch.next().await.map(drop).map_err(|error| error.to_string())
    });
    assert_eq!(outcome.unwrap_err(), "it has not ended after 3600 s of simulated time");
}
