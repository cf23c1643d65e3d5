//! A run of commits that is the same each time, and what a store holds after each of them.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use store::{Author, Body, Embedded, Key, Put, Settings, Store, Transaction, Uid};

use super::dice::Dice;

/// What a store holds.
pub type Contents = BTreeMap<Key, Bytes>;

/// One commit: one to four keys, each with a new value or deleted. The first is always written, and with a value
/// that was never there, so each step makes one revision.
pub struct Step {
    writes: Vec<(Key, Option<Bytes>)>,
}

/// Few enough that most are written, deleted and written again.
const KEYS: u64 = 12;

impl Step {
    /// The step `number` of the run.
    pub fn numbered(number: u64) -> Step {
        let mut dice = Dice::seeded(number.wrapping_mul(7_919));
        let mut writes = BTreeMap::new();
        for _ in 0..dice.below(3) {
            let deleted = dice.one_in(3);
            let value = if deleted { None } else { Some(value(&mut dice)) };
            writes.insert(key(dice.below(KEYS)), value);
        }
        writes.remove(&key(number % KEYS));
        let mut writes: Vec<_> = writes.into_iter().collect();
        writes.insert(0, (key(number % KEYS), Some(value(&mut dice))));
        writes.push((marker(number), Some(Bytes::from(number.to_string()))));
        Step { writes }
    }

    pub fn transaction(&self) -> Transaction {
        let mut transaction = Transaction::by(Author::new("tester", "crash"));
        for (key, value) in &self.writes {
            transaction = match value {
                Some(value) => transaction.put(Put::new(key.clone(), uid(key), Body::plain(value.clone()))),
                None => transaction.delete(key.clone()),
            };
        }
        transaction
    }

    pub fn apply(&self, contents: &mut Contents) {
        for (key, value) in &self.writes {
            match value {
                Some(value) => drop(contents.insert(key.clone(), value.clone())),
                None => drop(contents.remove(key)),
            }
        }
    }
}

/// What the store holds now.
pub fn contents(store: &Embedded) -> Contents {
    store.latest().list(b"").map(|(key, entry)| (key.clone(), entry.bytes().clone())).collect()
}

/// Whether the step `number` landed.
pub fn landed(store: &Embedded, number: u64) -> bool {
    store.latest().get(&marker(number)).is_some()
}

/// Settings under which a store does nothing that it was not asked for.
pub fn quiet() -> Settings {
    let mut settings = Settings::default();
    settings.housekeeping.every = Duration::from_secs(3_600);
    settings
}

fn key(number: u64) -> Key {
    Key::new(format!("objects/{number:02}")).expect("a plain key")
}

fn marker(number: u64) -> Key {
    Key::new(format!("steps/{number:04}")).expect("a plain key")
}

fn uid(key: &Key) -> Uid {
    let mut uid = [0; 16];
    let bytes = key.as_bytes();
    uid[..bytes.len().min(16)].copy_from_slice(&bytes[..bytes.len().min(16)]);
    Uid(uid)
}

/// Mostly a little, sometimes several pages; no two alike.
fn value(dice: &mut Dice) -> Bytes {
    let words = if dice.one_in(8) { 2_000 } else { 20 + dice.below(200) };
    (0..words).flat_map(|_| dice.number().to_le_bytes()).collect()
}
