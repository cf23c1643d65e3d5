//! The client against real etcd members.

mod access;
mod failures;
mod keys;
mod limits;
mod watches;

use std::{error::Error as StdError, time::Duration};

use bytes::Bytes;
use testbed::etcd::Cluster;

use super::{
    Client, Config, Error, Watcher,
    wire::{
        Compare, PutRequest, RangeRequest, RequestOp, TxnRequest, TxnResponse, WatchCreateRequest, compare,
        request_op::Request,
    },
};

type Outcome = Result<(), Box<dyn StdError>>;

/// Whether the test has to be skipped, which it says.
fn without_etcd() -> bool {
    let missing = !Cluster::available();
    if missing {
        eprintln!("skipped: etcd and etcdctl are not installed");
    }
    missing
}

fn client_of(cluster: &Cluster) -> Result<Client, Error> {
    Client::new(Config::new(cluster.endpoints()))
}

fn put(key: &str, value: impl Into<Bytes>) -> RequestOp {
    let put = PutRequest { key: Bytes::copy_from_slice(key.as_bytes()), value: value.into(), lease: 0 };
    RequestOp { request: Some(Request::RequestPut(put)) }
}

fn get(key: &str) -> RangeRequest {
    RangeRequest { key: Bytes::copy_from_slice(key.as_bytes()), ..RangeRequest::default() }
}

fn changes(success: Vec<RequestOp>) -> TxnRequest {
    TxnRequest { success, ..TxnRequest::default() }
}

/// Puts only if the key is still at this revision; 0 for a key that is not there.
fn put_at_revision(key: &str, value: &'static str, revision: i64) -> TxnRequest {
    let unchanged = Compare {
        result: compare::CompareResult::Equal.into(),
        target: compare::CompareTarget::Mod.into(),
        key: Bytes::copy_from_slice(key.as_bytes()),
        target_union: Some(compare::TargetUnion::ModRevision(revision)),
        ..Compare::default()
    };
    TxnRequest { compare: vec![unchanged], ..changes(vec![put(key, value)]) }
}

async fn write(client: &Client, key: &str, value: impl Into<Bytes>) -> Result<i64, Error> {
    client.txn(changes(vec![put(key, value)])).await.map(|response| revision(&response))
}

async fn read(client: &Client, key: &str) -> Result<Option<Bytes>, Error> {
    Ok(client.range(get(key)).await?.kvs.pop().map(|kv| kv.value))
}

fn revision(response: &TxnResponse) -> i64 {
    response.header.as_ref().map_or(0, |header| header.revision)
}

/// A watch of every key.
fn all_from(start_revision: i64) -> WatchCreateRequest {
    let zero = Bytes::from_static(b"\0");
    WatchCreateRequest { key: zero.clone(), range_end: zero, start_revision, ..WatchCreateRequest::default() }
}

/// Key and revision of the next changes, until there are `count`.
async fn next_changes(watcher: &mut Watcher, count: usize) -> Result<Vec<(String, i64)>, Box<dyn StdError>> {
    let mut seen = Vec::new();
    while seen.len() < count {
        let next = tokio::time::timeout(Duration::from_secs(10), watcher.next()).await??;
        let response = next.ok_or("the watch ended")?;
        for kv in response.events.into_iter().filter_map(|event| event.kv) {
            seen.push((String::from_utf8_lossy(&kv.key).into_owned(), kv.mod_revision));
        }
    }
    Ok(seen)
}

/// Compiles: what the store awaits in its tasks may move between threads.
#[allow(dead_code, reason = "the compiler is the test")]
fn calls_can_be_spawned(client: &'static Client, watcher: &'static mut Watcher) {
    fn spawn<T: Send>(_: T) {}
    spawn(client.probe());
    spawn(client.txn(TxnRequest::default()));
    spawn(client.lease_keep_alive_once(0));
    spawn(client.status(0));
    spawn(client.watch(WatchCreateRequest::default()));
    spawn(watcher.next());
}
