//! The words that stories are told in.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use store::{
    Author, Body, Change, Committed, Entry, Event, Guard, Key, Model, Put, Report, Result, Retention,
    Revision, Snapshot, Store, Term, Transaction, Uid, Version, Watch,
};

/// Longer than anything takes on a busy machine: running out of it means that it never comes.
pub const PATIENCE: Duration = Duration::from_secs(30);

pub fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

/// The identity of the nth life of a key.
pub fn life(name: &str, number: u8) -> Uid {
    let mut uid = [number; 16];
    for (place, byte) in name.bytes().enumerate() {
        uid[place % 15] = uid[place % 15].wrapping_mul(31).wrapping_add(byte);
    }
    Uid(uid)
}

/// An object in the first life of its key.
pub fn put(name: &str, body: impl Into<Bytes>) -> Put {
    Put::new(key(name), life(name, 1), Body::plain(body))
}

pub fn alice() -> Author {
    Author::new("alice", "tests")
}

/// One put and nothing else.
pub fn just(put: Put) -> Transaction {
    Transaction::by(alice()).put(put)
}

/// The guard that a key is as it was read.
pub fn unchanged(name: &str, version: Version) -> Guard {
    Guard::At { key: key(name), version }
}

/// The guard that there is no such key.
pub fn absent(name: &str) -> Guard {
    unchanged(name, Version::ZERO)
}

/// Writes an object, whatever was there; gives its version.
pub async fn write(store: &Arc<dyn Store>, name: &str, body: &str) -> Version {
    let committed = store.commit(just(put(name, body.to_owned()))).await.unwrap();
    version_of(&committed)
}

/// Deletes an object; gives the version of the deletion.
pub async fn remove(store: &Arc<dyn Store>, name: &str) -> Version {
    let committed = store.commit(Transaction::by(alice()).delete(key(name))).await.unwrap();
    version_of(&committed)
}

/// The version of a commit's first write.
pub fn version_of(committed: &Committed) -> Version {
    committed.entries[0].as_ref().unwrap().version()
}

pub fn text(entry: &Entry) -> String {
    String::from_utf8(entry.bytes().to_vec()).unwrap()
}

/// What a snapshot has under a name.
pub fn read(snapshot: &Snapshot, name: &str) -> Option<String> {
    snapshot.get(&key(name)).map(|entry| text(entry))
}

/// The names under a prefix, in order.
pub fn names(snapshot: &Snapshot, prefix: &str) -> Vec<String> {
    snapshot.list(prefix.as_bytes()).map(|(key, _)| key.to_string()).collect()
}

/// Names and bodies under a prefix.
pub fn picture(snapshot: &Snapshot, prefix: &str) -> Vec<(String, Version, Bytes)> {
    let row = |(key, entry): (&Key, &Arc<Entry>)| (key.to_string(), entry.version(), entry.bytes().clone());
    snapshot.list(prefix.as_bytes()).map(row).collect()
}

/// The names that have a term.
pub fn having(snapshot: &Snapshot, term: &str) -> Vec<String> {
    snapshot.having(&Bytes::from(term.to_owned())).map(Key::to_string).collect()
}

/// Waits for the next changes of a watch.
pub async fn next(watch: &mut Watch) -> Result<Vec<Arc<Event>>> {
    tokio::time::timeout(PATIENCE, watch.next()).await.expect("the watch brings something in time")
}

/// Waits until a watch has brought this many changes.
pub async fn take(watch: &mut Watch, count: usize) -> Vec<Arc<Event>> {
    let mut events = Vec::new();
    while events.len() < count {
        events.extend(next(watch).await.unwrap());
    }
    events
}

/// Changes as one reads them: `+` made, `~` changed, `-` deleted.
pub fn told(events: &[Arc<Event>]) -> Vec<String> {
    let sign = |event: &Event| match (event.before(), event.after()) {
        (None, _) => '+',
        (Some(_), Some(_)) => '~',
        (Some(_), None) => '-',
    };
    events.iter().map(|event| format!("{}{}={}", sign(event), event.key(), text(event.shown()))).collect()
}

/// Waits until something holds.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < PATIENCE, "{what} does not come");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// All changes that history knows of one object, newest first.
pub async fn changes(store: &Arc<dyn Store>, name: &str) -> Vec<Change> {
    let mut all = Vec::new();
    let mut beyond = None;
    loop {
        let step = store.changes(&key(name), beyond, 7).await.unwrap();
        all.extend(step.items);
        beyond = step.next;
        if beyond.is_none() {
            return all;
        }
    }
}

/// Lets go of everything that watches could ask for, as time does, and tidies up.
pub async fn settle(store: &Arc<dyn Store>) -> store::Tidied {
    let now = store.current().await.unwrap().revision();
    store.compact(now).await.unwrap();
    store.tidy(None).await.unwrap()
}

/// Verifies, and finds nothing wrong.
pub async fn verified(store: &Arc<dyn Store>) -> Report {
    let report = store.verify(&[]).await.unwrap();
    assert_eq!(report.problems, [], "{:?}", report.problems);
    report
}

pub fn before(revision: Revision) -> Revision {
    Revision::new(revision.get() - 1)
}

/// Milliseconds since 1970.
pub fn now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as u64
}

/// A model that finds an object by the words of its body: `in:…` is a bucket, others are not.
#[derive(Default)]
pub struct Words {
    pub retention: Retention,
}

impl Model for Words {
    fn terms(&self, _key: &Key, bytes: &[u8], terms: &mut Vec<Term>) {
        for word in String::from_utf8_lossy(bytes).split_whitespace() {
            let word = word.to_owned();
            terms.push(if word.starts_with("in:") { Term::bucket(word) } else { Term::index(word) });
        }
    }

    fn retention(&self, key: &Key) -> Retention {
        match key.as_bytes().starts_with(b"short/") {
            true => Retention { age: Duration::ZERO, count: 1 },
            false => self.retention,
        }
    }

    fn rules(&self) -> Vec<(String, Retention)> {
        vec![
            ("short".to_owned(), Retention { age: Duration::ZERO, count: 1 }),
            ("others".to_owned(), self.retention),
        ]
    }

    fn kept_alike<'k>(&self, key: &'k Key) -> &'k str {
        let text = std::str::from_utf8(key.as_bytes()).unwrap_or("");
        text.find('/').map_or("", |at| &text[..=at])
    }
}

/// Settings with [`Words`].
pub fn with_words() -> store::Settings {
    store::Settings { model: Some(Arc::new(Words::default())), ..super::fixture::quiet() }
}

/// Settings that keep the past for `age`, and after that the last `count` changes.
pub fn keeping(age: Duration, count: u32) -> store::Settings {
    let model = Words { retention: Retention { age, count } };
    store::Settings { model: Some(Arc::new(model)), ..super::fixture::quiet() }
}
