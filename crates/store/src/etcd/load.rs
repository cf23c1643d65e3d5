//! Reads the live objects of a store from etcd.

use std::sync::Arc;

use super::client::wire::{KeyValue, RangeRequest, RangeResponse, WatchCreateRequest};
use super::client::{self, Client};
use super::layout::{FORMAT, Layout, Live, end_of, one, put, txn, under, written_at};
use super::shared::failed;
use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::history::record::Head;
use crate::key::Key;
use crate::memory::indexer::Indexer;
use crate::memory::state::State;
use crate::version::{Revision, Version};

/// What a store on etcd says of itself.
pub(crate) struct Found {
    pub offset: u64,
    /// The revision of etcd at which the store was made or restored.
    pub made: i64,
    /// The newest revision of etcd.
    pub now: i64,
}

/// Objects read in one request.
const PAGE: i64 = 1_000;

/// Finds the store under this prefix, and makes one if there is none.
pub(crate) async fn find_or_make(client: &Client, layout: &Layout) -> Result<Found> {
    let make = txn(
        vec![written_at(layout.format(), 0), written_at(layout.restoring(), 0)],
        vec![put(layout.offset(), 0u64.to_be_bytes().to_vec()), put(layout.format(), FORMAT.to_string())],
    );
    match client.txn(make).await {
        Ok(_) => {}
        // Whether it was made shows below.
        Err(error) if error.may_have_applied() => {}
        Err(error) => return Err(failed(error)),
    }
    let format = client.range(one(layout.format())).await.map_err(failed)?;
    let now = revision(&format);
    let Some(found) = format.kvs.first() else {
        return Err(Error::Unavailable(
            "a restore into this prefix of etcd was begun and not finished; delete the prefix and restore again".into(),
        ));
    };
    let number = std::str::from_utf8(&found.value).ok().and_then(|text| text.parse::<u32>().ok());
    let number = number.ok_or_else(|| Error::damaged("the format number in etcd"))?;
    if number > FORMAT {
        return Err(Error::Newer { found: number, known: FORMAT });
    }
    let offset = client.range(one(layout.offset())).await.map_err(failed)?;
    let offset = offset.kvs.first().and_then(|kv| <[u8; 8]>::try_from(&kv.value[..]).ok());
    let offset = u64::from_be_bytes(offset.ok_or_else(|| Error::damaged("the offset in etcd"))?);
    Ok(Found { offset, made: found.mod_revision, now })
}

/// Revisions before now that a starting server reads again, for watches that come back after a restart.
const READY: i64 = 20_000;

/// Everything as it was a while ago, as far back as etcd still knows: what happened since is then watched.
pub(crate) async fn window(
    client: &Client,
    layout: &Layout,
    found: &Found,
    indexer: &Indexer,
) -> Result<(State, i64)> {
    let start = (found.now - READY).max(found.made);
    match at(client, layout, found.offset, indexer, start).await {
        Ok(state) => return Ok((state?, start)),
        Err(client::Error::Compacted { .. }) => {}
        Err(error) => return Err(failed(error)),
    }
    if let Some(start) = compacted(client, layout).await?.filter(|start| *start > found.made) {
        match at(client, layout, found.offset, indexer, start).await {
            Ok(state) => return Ok((state?, start)),
            // Compacted again in the meantime: then only the present is sure.
            Err(client::Error::Compacted { .. }) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    present(client, layout, found.offset, indexer).await
}

/// The revision through which etcd was compacted. Only a watch from before it is told.
async fn compacted(client: &Client, layout: &Layout) -> Result<Option<i64>> {
    let request =
        WatchCreateRequest { key: layout.format(), start_revision: 1, ..WatchCreateRequest::default() };
    let answer = match client.watch(request).await {
        Ok(mut watcher) => watcher.next().await.map(drop),
        Err(error) => Err(error),
    };
    match answer {
        Ok(()) => Ok(None),
        Err(client::Error::Compacted { revision }) => Ok(revision),
        Err(error) => Err(failed(error)),
    }
}

/// Everything as it is now.
pub(crate) async fn present(
    client: &Client,
    layout: &Layout,
    offset: u64,
    indexer: &Indexer,
) -> Result<(State, i64)> {
    let now = revision(&client.range(one(layout.format())).await.map_err(failed)?);
    Ok((at(client, layout, offset, indexer, now).await.map_err(failed)??, now))
}

/// Everything as it was at a revision of etcd.
pub(crate) async fn at(
    client: &Client,
    layout: &Layout,
    offset: u64,
    indexer: &Indexer,
    at: i64,
) -> Result<Result<State>, client::Error> {
    let mut found = Vec::new();
    let live = layout.live();
    let end = end_of(&live);
    let mut from = live;
    loop {
        let request = RangeRequest {
            key: from.clone(),
            range_end: end.clone(),
            limit: PAGE,
            revision: at,
            ..under(from)
        };
        let page = client.range(request).await?;
        for kv in &page.kvs {
            if let Live::Object(key) = layout.read_live(&kv.key) {
                match object(key, kv, offset) {
                    Ok((key, entry)) => found.push((key, Arc::new(entry))),
                    Err(error) => return Ok(Err(error)),
                }
            }
        }
        match page.kvs.last() {
            Some(last) if page.more => {
                let mut next = last.key.to_vec();
                next.push(0);
                from = next.into();
            }
            _ => return Ok(Ok(State::opened(Revision::new(at as u64 + offset), indexer, found))),
        }
    }
}

fn object(key: &[u8], kv: &KeyValue, offset: u64) -> Result<(Key, Entry)> {
    let (head, body) = Head::decode(&kv.value)?;
    let revision = Revision::new(kv.mod_revision as u64 + offset);
    let head = Head { version: Version::of(revision, head.version.position()), ..head };
    // A copy: a slice would keep the whole page in memory.
    Ok((Key::new(key)?, head.entry_of(body)))
}

pub(crate) fn revision(response: &RangeResponse) -> i64 {
    response.header.as_ref().map_or(0, |header| header.revision)
}
