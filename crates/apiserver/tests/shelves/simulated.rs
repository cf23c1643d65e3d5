//! A whole server on the simulated store, on one thread and in simulated time: the same seed gives the same trace, and
//! rules and references hold whatever goes wrong and wherever it stops.

use std::sync::Arc;
use std::time::Duration;

use apiserver::api::Api;
use apiserver::client::Client;
use apiserver::read::watch;
use apiserver::request::accept::Accept;
use apiserver::request::query::ListOptions;
use krm::Object;
use krm::kind::{Kind, Resource};
use krm::status::Status;
use serde_json::{Value, json};
use simulation::{Chances, Simulation, walk_stops};
use store::simulated::{Fault, Operation};
use tokio::sync::mpsc;

use super::kinds::book::Book;
use super::kinds::shelf::Shelf;
use super::objects::{book, shelf};
use super::server::model;

/// Longer than anything is held back.
const SETTLED: Duration = Duration::from_secs(10);

async fn start(simulation: &Simulation) -> Result<Api, String> {
    let (kinds, model) = model();
    let store = simulation.open(Some(model)).await.map_err(|error| error.to_string())?;
    let (api, _following) = Api::start(store, kinds).await.map_err(|error| error.to_string())?;
    Ok(api)
}

fn object(value: Value) -> Object {
    match value {
        Value::Object(fields) => Object(fields),
        other => panic!("{other} is no object"),
    }
}

fn kind_of<T: Resource>(api: &Api) -> Arc<Kind> {
    api.kinds().of(&apiserver::plane::Plane::root()).resource(T::GROUP, T::PLURAL).unwrap().clone()
}

/// Makes an object, however often that takes; how it ended.
async fn make(client: &Client, wanted: Value) -> Result<String, String> {
    let wanted = object(wanted);
    loop {
        let refused = match client.create(wanted.clone()).await {
            Ok(made) => return Ok(format!("made {}", made.name())),
            Err(status) => status,
        };
        match refused.code {
            // It was not written, or may have been: who asks again is told if it was.
            429 | 503 | 504 => {}
            409 if refused.reason == "AlreadyExists" => return Ok("there already".to_owned()),
            409 | 422 => return Ok(format!("refused: {}", refused.message)),
            _ => return Err(refused.message),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Librarians put books on a shelf, each where another may have been faster.
async fn librarians(simulation: &Simulation) -> Result<(), String> {
    let api = start(simulation).await?;
    let lines = follow_books(&api);
    let work = async {
        let chief = Client::system(&api, "chief");
        make(&chief, shelf("poetry", 1_000)).await?;
        let shift = async |name: &'static str, step: u32| {
            let librarian = Client::system(&api, name);
            for number in 0..4 {
                let wanted = book(&format!("{name}-{number}"), "poetry", number * step, 40);
                let ended = make(&librarian, wanted).await?;
                simulation.note(format!("{name}-{number}: {ended}"));
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Ok::<_, String>(())
        };
        tokio::try_join!(shift("karin", 30), shift("harry", 50))?;
        tokio::time::sleep(SETTLED).await;
        Ok(())
    };
    note_while(simulation, lines, work).await
}

/// What a watch of all books sends.
fn follow_books(api: &Api) -> mpsc::Receiver<bytes::Bytes> {
    let (sender, lines) = mpsc::channel(64);
    let call = Client::system(api, "reader").call(&kind_of::<Book>(api), "", "", "");
    tokio::spawn(async move {
        // Whenever it ends before its time, it is opened again from the beginning, as a client does.
        while !sender.is_closed() {
            match watch::open(&call, &Accept::default(), &ListOptions::default()).await {
                Ok(Ok(opened)) => opened.follow(sender.clone()).await,
                Ok(Err(_)) | Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    });
    lines
}

async fn note_while(
    simulation: &Simulation,
    mut lines: mpsc::Receiver<bytes::Bytes>,
    work: impl Future<Output = Result<(), String>>,
) -> Result<(), String> {
    tokio::pin!(work);
    loop {
        tokio::select! {
            biased;
            Some(line) = lines.recv() => simulation.note(String::from_utf8_lossy(&line).trim_end()),
            ended = &mut work => return ended,
        }
    }
}

/// No two books overlap, each stands on a shelf that is there, and every librarian was answered for each of theirs.
async fn shelves_are_in_order(simulation: &Simulation) -> Result<(), String> {
    let api = start(simulation).await?;
    let client = Client::system(&api, "inspector");
    let snapshot = api.store().latest();
    let prefix = apiserver::keys::of_kind(&apiserver::plane::Plane::root(), Book::GROUP, Book::PLURAL);
    let mut places = Vec::new();
    for (_, entry) in snapshot.list(prefix.as_bytes()) {
        let book: Book = serde_json::from_slice(entry.bytes()).map_err(|error| error.to_string())?;
        let on = &book.spec.shelf_ref.name;
        client.get::<Shelf>("", on).await.ok_or_else(|| format!("there is no shelf {on}"))?;
        places.push((book.spec.at, book.end()));
    }
    places.sort_unstable();
    let overlap = places.windows(2).find(|pair| pair[0].1 > pair[1].0);
    let report = api.store().verify(&[]).await.map_err(|error| error.to_string())?;
    match (overlap, report.problems.is_empty(), places.len()) {
        (None, true, 4..) => Ok(()),
        _ => Err(format!("{places:?}, {:?}", report.problems)),
    }
}

fn calm(seed: u64) -> Simulation {
    Simulation::seeded(seed)
}

fn rough(seed: u64) -> Simulation {
    Simulation::seeded(seed)
        .with_faults(|point, dice| Chances { stop: 30, ..Chances::mixed() }.draw(point, dice))
}

fn run(simulation: &Simulation) -> String {
    let outcome = simulation.run(librarians).and_then(|()| simulation.check(shelves_are_in_order));
    outcome.unwrap_or_else(|why| panic!("seed {}: {why}\n{}", simulation.seed(), simulation.trace()));
    simulation.trace().to_string()
}

#[test]
fn one_seed_gives_one_trace() {
    let trace = run(&calm(1));
    assert_eq!(run(&calm(1)), trace);
    // Both librarians wanted the first place, and the watch has told of the one who got it.
    assert!(trace.contains("\"type\":\"ADDED\""), "{trace}");
    assert!(trace.contains(": refused: "), "{trace}");
    // Identities and times are of the simulation.
    assert!(trace.contains("\"creationTimestamp\":\"2026-01-01T00:00:00Z\""), "{trace}");
    assert_ne!(run(&calm(2)), trace);
}

#[test]
fn one_seed_gives_one_trace_whatever_goes_wrong() {
    let mut lives = 0;
    for seed in 0..6 {
        let simulation = rough(seed);
        let trace = run(&simulation);
        assert_eq!(run(&rough(seed)), trace, "seed {seed}");
        lives += simulation.lives();
    }
    assert!(lives > 6, "none was stopped: that shows nothing");
}

#[test]
fn a_server_that_is_stopped_at_any_step_leaves_the_shelves_in_order() {
    let walked = walk_stops(|| calm(3), librarians, shelves_are_in_order);
    let walked = walked.unwrap_or_else(|failure| panic!("{failure}"));
    // The shelf, and the books that found a place.
    assert!(walked.steps >= 5, "{walked:?}");
}

#[test]
fn drawn_names_follow_from_the_seed() {
    let names = |seed: u64| {
        let simulation = calm(seed);
        let drawn = std::sync::Mutex::new(Vec::new());
        let scenario = async |simulation: &Simulation| {
            let api = start(simulation).await?;
            let client = Client::system(&api, "tests");
            for _ in 0..3 {
                let mut wanted = object(shelf("", 100));
                wanted.set_meta("name", None);
                wanted.set_meta("generateName", Some(json!("shelf-")));
                let made = client.create(wanted).await.map_err(|status: Status| status.message)?;
                drawn.lock().unwrap().push((made.name().to_owned(), made.uid().to_owned()));
            }
            Ok(())
        };
        simulation.run(scenario).unwrap();
        drawn.into_inner().unwrap()
    };
    assert_eq!(names(7), names(7));
    assert_ne!(names(7), names(8));
}

/// The server goes on following the store when it can't be read just after the watch was lost: what is granted later holds.
#[test]
fn a_server_follows_again_however_long_the_store_can_not_be_read() {
    use std::sync::atomic::{AtomicU32, Ordering};

    let unreadable = Arc::new(AtomicU32::new(0));
    let failing = unreadable.clone();
    let simulation = Simulation::seeded(1).with_faults(move |point, _| match &point.operation {
        Operation::Commit { writes, .. }
            if writes.iter().any(|(_, key)| key.to_string().ends_with("/last")) =>
        {
            failing.store(5, Ordering::SeqCst);
            vec![Fault::CutWatches { prefix: bytes::Bytes::new() }]
        }
        Operation::Read if failing.load(Ordering::SeqCst) > 0 => {
            failing.fetch_sub(1, Ordering::SeqCst);
            vec![Fault::Before]
        }
        _ => Vec::new(),
    });
    let ended = simulation.run(async |simulation: &Simulation| {
        let api = start(simulation).await?;
        let client = Client::system(&api, "admin");
        make(&client, shelf("last", 10)).await?;
        tokio::time::sleep(Duration::from_secs(60)).await;
        match (unreadable.load(Ordering::SeqCst), api.is_following()) {
            (0, true) => {}
            other => return Err(format!("{other:?}")),
        }
        let now = make(&client, shelf("next", 10)).await?;
        api.caught_up(api.store().latest().version()).await;
        simulation.note(now);
        Ok(())
    });
    ended.unwrap();
}
