//! Clients that read, write, compare-and-set and delete a few registers, and write down what they saw.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use store::{Author, Body, Committed, Error, Guard, Key, Put, Store, Transaction, Uid, Version};
use testbed::linearizable::{Kind, Op, check};

const CLIENTS: usize = 16;
const REGISTERS: u64 = 8;

/// Keeps clients busy on the servers for a while and gives what they saw.
pub async fn record(servers: &[Arc<dyn Store>], time: Duration) -> Vec<Op> {
    let start = Instant::now();
    let values = Arc::new(AtomicU64::new(1));
    let clients = (0..CLIENTS).map(|process| {
        let client = Client {
            server: servers[process % servers.len()].clone(),
            process,
            start,
            values: values.clone(),
        };
        tokio::spawn(client.run(start + time))
    });
    let mut history = Vec::new();
    for client in clients.collect::<Vec<_>>() {
        history.extend(client.await.unwrap());
    }
    history
}

pub fn assert_linearizable(history: &[Op]) {
    let done = history.iter().filter(|op| op.ret.is_some()).count();
    assert!(done > 100, "only {done} operations: that shows nothing");
    eprintln!("{done} operations, {} of unknown outcome", history.len() - done);
    if let Err(violation) = check(history) {
        panic!("{violation}");
    }
}

struct Client {
    server: Arc<dyn Store>,
    process: usize,
    start: Instant,
    values: Arc<AtomicU64>,
}

impl Client {
    async fn run(self, until: Instant) -> Vec<Op> {
        let mut history = Vec::new();
        let mut dice = super::overlap::Dice(self.process as u64 + 99);
        while Instant::now() < until {
            let key = format!("register/{}", dice.below(REGISTERS));
            let call = self.now();
            let outcome = match dice.below(8) {
                0..4 => self.read(&key).await,
                4..6 => self.write(&key).await,
                6 => self.swap(&key).await,
                _ => self.delete(&key).await,
            };
            match outcome {
                Outcome::Done(kind) => history.push(self.op(key, call, Some(self.now()), kind)),
                Outcome::Swapped(read_at, read, kind, ret) => {
                    history.push(self.op(key.clone(), call, Some(read_at), Kind::Read(read)));
                    history.push(self.op(key, read_at, ret, kind));
                }
                Outcome::OnlyRead(read_at) => {
                    history.push(self.op(key, call, Some(read_at), Kind::Read(None)))
                }
                Outcome::Unknown(kind) => history.push(self.op(key, call, None, kind)),
                Outcome::Nothing => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
        history
    }

    async fn read(&self, key: &str) -> Outcome {
        match self.server.current().await {
            Ok(now) => Outcome::Done(Kind::Read(value(&now, key).map(|(value, _)| value))),
            Err(_) => Outcome::Nothing,
        }
    }

    async fn write(&self, key: &str) -> Outcome {
        let new = self.values.fetch_add(1, Ordering::Relaxed);
        sort(self.commit(self.put(key, new)).await, Kind::Write(new))
    }

    async fn delete(&self, key: &str) -> Outcome {
        let delete = self.transaction().delete(Key::new(key).unwrap());
        sort(self.commit(delete).await, Kind::Delete)
    }

    async fn swap(&self, key: &str) -> Outcome {
        let Ok(now) = self.server.current().await else { return Outcome::Nothing };
        let read_at = self.now();
        let found = value(&now, key);
        let version = found.map_or(Version::ZERO, |(_, version)| version);
        let expect = found.map(|(value, _)| value);
        let new = self.values.fetch_add(1, Ordering::Relaxed);
        let guard = Guard::At { key: Key::new(key).unwrap(), version };
        match self.commit(self.put(key, new).guard(guard)).await {
            Ok(_) => Outcome::Swapped(read_at, expect, Kind::Cas { expect, new, ok: true }, Some(self.now())),
            Err(error) if error.is_conflict() => {
                // The version changed, but a register deleted and made again has no value to tell: a refusal
                // says nothing about the value when none was there.
                match expect {
                    Some(_) => Outcome::Swapped(
                        read_at,
                        expect,
                        Kind::Cas { expect, new, ok: false },
                        Some(self.now()),
                    ),
                    None => Outcome::OnlyRead(read_at),
                }
            }
            Err(Error::Unknown(_)) => {
                Outcome::Swapped(read_at, expect, Kind::Cas { expect, new, ok: false }, None)
            }
            Err(_) => Outcome::Nothing,
        }
    }

    fn put(&self, key: &str, value: u64) -> Transaction {
        let put = Put::new(Key::new(key).unwrap(), Uid([1; 16]), Body::plain(value.to_string()));
        self.transaction().put(put)
    }

    fn transaction(&self) -> Transaction {
        Transaction::by(Author::new(format!("client-{}", self.process), "test"))
    }

    async fn commit(&self, transaction: Transaction) -> Result<Committed, Error> {
        self.server.commit(transaction).await
    }

    fn op(&self, key: String, call: u64, ret: Option<u64>, kind: Kind) -> Op {
        Op { process: self.process, key, call, ret, kind }
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
}

enum Outcome {
    Done(Kind),
    Swapped(u64, Option<u64>, Kind, Option<u64>),
    /// Nothing was found, by then; the rest says nothing.
    OnlyRead(u64),
    Unknown(Kind),
    /// It surely had no effect, and nothing was learned.
    Nothing,
}

fn sort(outcome: Result<Committed, Error>, kind: Kind) -> Outcome {
    match outcome {
        Ok(_) => Outcome::Done(kind),
        Err(Error::Unknown(_)) => Outcome::Unknown(kind),
        Err(_) => Outcome::Nothing,
    }
}

fn value(now: &store::Snapshot, key: &str) -> Option<(u64, Version)> {
    let entry = now.get(&Key::new(key).unwrap())?;
    Some((std::str::from_utf8(entry.bytes()).ok()?.parse().ok()?, entry.version()))
}
