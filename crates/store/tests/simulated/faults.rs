//! What each fault does. Time is paused: everything takes place on one thread and in no time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use store::simulated::{Disk, Fault, Faults, Operation, Point, Simulated, SimulatedClock};
use store::{
    Author, Body, Conflict, Environment, Error, Guard, Key, Keys, Model, Put, Refused, Seeded, Settings,
    Store, Term, Transaction, Uid, Version,
};

/// Answers the commit of a key with faults, and everything else with none.
#[derive(Default)]
struct Planned {
    faults: Mutex<Vec<(&'static str, Vec<Fault>)>>,
    /// What was carried out, and how it ended.
    seen: Mutex<Vec<String>>,
}

impl Planned {
    fn on(&self, key: &'static str, faults: impl Into<Vec<Fault>>) {
        self.faults.lock().unwrap().push((key, faults.into()));
    }

    fn seen(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

impl Faults for Planned {
    fn at(&self, point: &Point) -> Vec<Fault> {
        let about: Vec<String> = match &point.operation {
            Operation::Commit { writes, .. } => writes.iter().map(|(_, key)| key.to_string()).collect(),
            Operation::Renew(name) => vec![name.to_string()],
            Operation::Read => vec!["read".to_owned()],
            _ => Vec::new(),
        };
        let mut planned = self.faults.lock().unwrap();
        let found = planned.iter().position(|(key, _)| about.iter().any(|one| one == key));
        found.map(|at| planned.remove(at).1).unwrap_or_default()
    }

    fn carried_out(&self, point: &Point, outcome: &store::Result<String>) {
        self.seen.lock().unwrap().push(format!("{}: {outcome:?}", point.operation));
    }

    fn stopped(&self, point: &Point) {
        self.seen.lock().unwrap().push(format!("stopped at step {}", point.step.unwrap()));
    }
}

struct Words;

impl Model for Words {
    fn terms(&self, _key: &Key, bytes: &[u8], terms: &mut Vec<Term>) {
        let words = bytes.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        terms.extend(words.map(|word| Term::bucket(Bytes::copy_from_slice(word))));
    }
}

struct Stage {
    disk: Disk,
    keys: Keys,
    planned: Arc<Planned>,
    store: Arc<Simulated>,
}

impl Stage {
    async fn new() -> Stage {
        let (disk, planned) = (Disk::new(), Arc::<Planned>::default());
        let keys = Keys::in_memory(Arc::new(Seeded::new(1))).unwrap();
        let store = open(&disk, &keys, &planned).await;
        Stage { disk, keys, planned, store }
    }

    async fn restart(&mut self) {
        self.store = open(&self.disk, &self.keys, &self.planned).await;
    }
}

async fn open(disk: &Disk, keys: &Keys, planned: &Arc<Planned>) -> Arc<Simulated> {
    let environment = Environment {
        clock: Arc::new(SimulatedClock::starting_at(1_000_000_000)),
        randomness: Arc::new(Seeded::new(2)),
        is_single_threaded: true,
    };
    let settings = Settings { model: Some(Arc::new(Words)), environment, ..Settings::default() };
    Simulated::open(disk, keys.clone(), settings, planned.clone()).await.unwrap()
}

fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

fn write(name: &str, body: &'static str) -> Transaction {
    let put = Put::new(key(name), Uid([7; 16]), Body::plain(body));
    Transaction::by(Author::new("alice", "tests")).put(put)
}

fn body(store: &dyn Store, name: &str) -> Option<String> {
    store.latest().get(&key(name)).map(|entry| String::from_utf8(entry.bytes().to_vec()).unwrap())
}

fn absent(name: &str) -> Guard {
    Guard::At { key: key(name), version: Version::ZERO }
}

#[tokio::test(start_paused = true)]
async fn what_fails_before_it_lands_is_not_written() {
    let stage = Stage::new().await;
    stage.planned.on("a", [Fault::Before]);
    let refused = stage.store.commit(write("a", "1")).await.unwrap_err();
    assert!(matches!(refused, Error::Unavailable(_)), "{refused}");
    assert_eq!(body(&*stage.store, "a"), None);
    stage.store.commit(write("a", "2")).await.unwrap();
    assert_eq!(body(&*stage.store, "a").as_deref(), Some("2"));
}

#[tokio::test(start_paused = true)]
async fn what_fails_after_it_landed_is_written_and_its_outcome_unknown() {
    let mut stage = Stage::new().await;
    stage.planned.on("a", [Fault::After]);
    let told = stage.store.commit(write("a", "1")).await.unwrap_err();
    assert!(matches!(told, Error::Unknown(_)), "{told}");
    assert_eq!(body(&*stage.store, "a").as_deref(), Some("1"));
    stage.restart().await;
    assert_eq!(body(&*stage.store, "a").as_deref(), Some("1"));
}

#[tokio::test(start_paused = true)]
async fn what_is_delayed_lands_later_also_when_nobody_waits_any_more() {
    let stage = Stage::new().await;
    stage.planned.on("a", [Fault::Delayed(Duration::from_secs(5))]);
    let waiting = tokio::time::timeout(Duration::from_secs(1), stage.store.commit(write("a", "late")));
    assert!(waiting.await.is_err(), "it was not delayed");
    stage.store.commit(write("a", "early")).await.unwrap();
    assert_eq!(body(&*stage.store, "a").as_deref(), Some("early"));
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(body(&*stage.store, "a").as_deref(), Some("late"));
}

#[tokio::test(start_paused = true)]
async fn what_is_delivered_twice_meets_its_own_first_delivery() {
    let stage = Stage::new().await;
    stage.planned.on("a", [Fault::Repeated]);
    let told = stage.store.commit(write("a", "1").guard(absent("a"))).await.unwrap_err();
    assert!(matches!(told, Error::Conflict(Conflict::Changed { .. })), "{told}");
    assert_eq!(body(&*stage.store, "a").as_deref(), Some("1"));

    let stamped = |name: &str| Put::new(key(name), Uid([8; 16]), Body::plain(Bytes::from_static(b"x")));
    stage.planned.seen();
    stage.planned.on("b", [Fault::Repeated]);
    let delete = Transaction::by(Author::new("alice", "tests")).put(stamped("b")).delete(key("a"));
    stage.store.commit(delete).await.unwrap();
    assert_eq!(stage.planned.seen().len(), 2, "carried out twice");
    assert_eq!(body(&*stage.store, "a"), None);
}

#[tokio::test(start_paused = true)]
async fn a_stale_kind_is_shown_as_it_was_and_guards_know_better() {
    let stage = Stage::new().await;
    let other = stage.store.another("other");
    other.commit(write("racks/one", "rack")).await.unwrap();
    let mut racks = other.watch(b"racks/", other.latest().version()).unwrap();
    let mut hosts = other.watch(b"hosts/", other.latest().version()).unwrap();

    // The fault belongs to the server that commits; what others commit then does not reach it.
    let stale = Fault::Stale { prefix: Bytes::from_static(b"racks/"), time: Duration::from_secs(60) };
    stage.planned.on("hosts/one", [stale]);
    other.commit(write("hosts/one", "host")).await.unwrap();
    stage.store.commit(write("racks/two", "rack")).await.unwrap();
    stage.store.commit(write("hosts/two", "host")).await.unwrap();

    assert_eq!(body(&*stage.store, "racks/two").as_deref(), Some("rack"), "the other server sees it");
    assert_eq!(body(&*other, "racks/two"), None, "racks are stale");
    assert_eq!(body(&*other, "hosts/two").as_deref(), Some("host"), "hosts are not");
    assert!(racks.ready().unwrap().is_empty());
    assert_eq!(hosts.ready().unwrap().len(), 2);
    assert!(other.current().await.unwrap().get(&key("racks/two")).is_some(), "current reads are");

    // Decided on stale racks, refused, and decided anew on current ones.
    let store: Arc<dyn Store> = other.clone();
    let decided = Arc::new(Mutex::new(Vec::new()));
    let counts = decided.clone();
    let count = store.transact(Author::new("alice", "tests"), move |view| {
        let count = view.bucket(&Bytes::from_static(b"rack")).len();
        counts.lock().unwrap().push(count);
        view.put(Put::new(key("count"), Uid([9; 16]), Body::plain(count.to_string())));
        Ok::<_, ()>(count)
    });
    let (count, _) = count.await.unwrap();
    assert_eq!((count, decided.lock().unwrap().clone()), (2, vec![1, 2]));

    let seen = tokio::time::timeout(Duration::from_secs(61), racks.next()).await.unwrap().unwrap();
    assert_eq!(seen.iter().map(|event| event.key().to_string()).collect::<Vec<_>>(), ["racks/two"]);
    assert_eq!(body(&*other, "racks/two").as_deref(), Some("rack"));
}

#[tokio::test(start_paused = true)]
async fn a_server_sees_what_it_has_acknowledged_itself() {
    let stage = Stage::new().await;
    let stale = Fault::Stale { prefix: Bytes::new(), time: Duration::from_secs(60) };
    stage.planned.on("a", [stale]);
    let mut watch = stage.store.watch(b"", stage.store.latest().version()).unwrap();
    stage.store.commit(write("a", "1")).await.unwrap();
    assert_eq!(body(&*stage.store, "a").as_deref(), Some("1"));
    assert!(watch.ready().unwrap().is_empty(), "the watch is late");
    watch.next().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_cut_ends_and_the_next_goes_on_from_a_list() {
    let stage = Stage::new().await;
    let mut racks = stage.store.watch(b"racks/", Version::ZERO).unwrap();
    let mut hosts = stage.store.watch(b"hosts/", Version::ZERO).unwrap();
    stage.planned.on("racks/one", [Fault::CutWatches { prefix: Bytes::from_static(b"racks/") }]);
    stage.store.commit(write("racks/one", "rack")).await.unwrap();
    assert!(matches!(racks.next().await, Err(Error::Gone { .. })));
    assert!(hosts.ready().unwrap().is_empty());
    let now = stage.store.current().await.unwrap();
    let mut again = stage.store.watch(b"racks/", now.version()).unwrap();
    drop(racks);
    stage.store.commit(write("racks/two", "rack")).await.unwrap();
    assert_eq!(again.next().await.unwrap().len(), 1);
    assert_eq!(stage.store.watches(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_lost_early_guards_no_write() {
    let stage = Stage::new().await;
    let minute = Duration::from_secs(60);
    let fence = stage.store.acquire("leader", "one", minute).await.unwrap().fence().unwrap();
    assert!(stage.store.renew(&fence).await.unwrap());
    stage.planned.on("leader", [Fault::LoseLease("leader".into())]);
    assert!(!stage.store.renew(&fence).await.unwrap());
    let refused = stage.store.commit(write("a", "1").guard(fence.guard())).await.unwrap_err();
    assert!(matches!(refused, Error::Conflict(Conflict::LeaseLost(_))), "{refused}");
    assert!(stage.store.acquire("leader", "two", minute).await.unwrap().fence().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_lease_runs_out_in_simulated_time() {
    let stage = Stage::new().await;
    let fence = stage.store.acquire("leader", "one", Duration::from_secs(60)).await.unwrap().fence().unwrap();
    tokio::time::sleep(Duration::from_secs(59)).await;
    assert!(stage.store.renew(&fence).await.unwrap());
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert!(!stage.store.renew(&fence).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_stopped_process_writes_nothing_more_and_answers_nobody() {
    for (fault, landed) in [(Fault::StopBefore, None), (Fault::StopAfter, Some("1"))] {
        let mut stage = Stage::new().await;
        stage.store.commit(write("first", "1")).await.unwrap();
        stage.planned.seen();
        stage.planned.on("a", [fault]);
        let answer = tokio::time::timeout(Duration::from_secs(60), stage.store.commit(write("a", "1")));
        assert!(answer.await.is_err(), "a stopped process answers nobody");
        let later = tokio::time::timeout(Duration::from_secs(60), stage.store.commit(write("b", "1")));
        assert!(later.await.is_err());
        assert_eq!(stage.planned.seen().last().unwrap(), "stopped at step 2");
        stage.restart().await;
        assert_eq!(body(&*stage.store, "a").as_deref(), landed);
        assert_eq!(body(&*stage.store, "b"), None);
        assert_eq!(body(&*stage.store, "first").as_deref(), Some("1"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_of_what_is_current_can_fail_and_a_decision_says_so() {
    let stage = Stage::new().await;
    stage.planned.on("read", [Fault::Before]);
    let store: Arc<dyn Store> = stage.store.clone();
    let refused = store.transact(Author::new("alice", "tests"), |_view| Err::<(), _>("no")).await;
    assert!(matches!(refused, Err(Refused::Store(Error::Unavailable(_)))));
}

#[tokio::test(start_paused = true)]
async fn a_copy_of_the_disk_goes_its_own_way() {
    let stage = Stage::new().await;
    stage.store.commit(write("a", "1")).await.unwrap();
    let copy = stage.disk.copy();
    stage.store.commit(write("a", "2")).await.unwrap();
    let other = open(&copy, &stage.keys, &stage.planned).await;
    assert_eq!(body(&*other, "a").as_deref(), Some("1"));
    assert_eq!(body(&*stage.store, "a").as_deref(), Some("2"));
}

#[tokio::test(start_paused = true)]
async fn times_are_those_of_the_simulation() {
    let stage = Stage::new().await;
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    stage.store.commit(write("a", "1")).await.unwrap();
    let changes = stage.store.changes(&key("a"), None, 10).await.unwrap();
    assert_eq!(changes.items[0].time, 1_000_000_000 + 3_600_000_000);
    assert_eq!(stage.store.environment().clock.now(), 1_000_000_000 + 3_600_000_000);
}
