//! The past as it is kept in etcd.

use std::sync::Arc;

use bytes::Bytes;

use super::client::wire::RequestOp;
use super::client::wire::range_request::SortOrder;
use super::client::wire::{KeyValue, RangeRequest};
use super::layout::{delete, one, put, split_record_key, txn, under, written_at};
use super::shared::{Shared, failed};
use crate::error::{Conflict, Error, Result};
use crate::history::archive::{Archive, Edit, Filed, Later, LogEntry, Mark, Order, Row, RowId};
use crate::history::past::SKEW;
use crate::history::record::{Record, RecordId};
use crate::history::{Cursor, Deed};
use crate::key::Key;
use crate::transaction::Fence;
use crate::version::{Revision, Version};

#[derive(Clone)]
pub(crate) struct EtcdArchive {
    pub shared: Arc<Shared>,
    pub max_operations: usize,
    pub max_bytes: usize,
    /// The revision of etcd to read at; 0: the newest.
    pub at: i64,
}

/// What a record takes in etcd, by experience: its size is not worth reading all of them.
const RECORD_BYTES: u64 = 512;

impl EtcdArchive {
    pub(super) async fn range(&self, request: RangeRequest) -> Result<Vec<KeyValue>> {
        let request = RangeRequest { revision: self.at, ..request };
        Ok(self.shared.client.range(request).await.map_err(failed)?.kvs)
    }

    /// Keys under `prefix`, strictly beyond `beyond` in the given order.
    pub(super) fn beyond(
        &self,
        prefix: Bytes,
        beyond: Option<Bytes>,
        order: Order,
        limit: usize,
    ) -> RangeRequest {
        let mut request = under(prefix);
        request.limit = limit as i64;
        let sort = match order {
            Order::OldestFirst => SortOrder::Ascend,
            Order::NewestFirst => SortOrder::Descend,
        };
        request.set_sort_order(sort);
        match (beyond, order) {
            (None, _) => {}
            (Some(edge), Order::NewestFirst) => request.range_end = edge,
            (Some(edge), Order::OldestFirst) => {
                let mut next = edge.to_vec();
                next.push(0);
                request.key = next.into();
            }
        }
        request
    }

    /// A version that was written before its revision was known gets it from the key it stands in.
    pub(super) fn version(&self, kept: Version, kv: &KeyValue) -> Version {
        match kept.revision() {
            Revision::ZERO => Version::of(self.shared.revision(kv.mod_revision), kept.position()),
            _ => kept,
        }
    }

    fn record(&self, kv: &KeyValue) -> Result<Record> {
        let record: Record = postcard::from_bytes(&kv.value).map_err(|_| {
            let key = String::from_utf8_lossy(&kv.key[..kv.key.len().saturating_sub(13)]).into_owned();
            Error::damaged(format_args!("a change at {key} can't be decoded"))
        })?;
        Ok(Record { version: self.version(record.version, kv), ..record })
    }

    pub(super) fn row(&self, kv: &KeyValue) -> Result<Row> {
        let mut entries: Vec<LogEntry> = postcard::from_bytes(&kv.value)?;
        for line in &mut entries {
            line.version = self.version(line.version, kv);
        }
        let prefix = self.shared.layout.rows();
        Ok(Row { id: RowId(kv.key.slice(prefix.len()..)), entries })
    }

    fn filed_at(&self, kv: &KeyValue) -> Result<Filed> {
        let rest = &kv.key[self.shared.layout.records().len()..];
        let (key, place) = split_record_key(rest).ok_or_else(|| Error::damaged("the key of a record"))?;
        Ok(Filed { key: Key::new(key)?, place, record: self.record(kv)? })
    }
}

impl Archive for EtcdArchive {
    fn pinned(&self, revision: Revision) -> Box<dyn Archive> {
        Box::new(EtcdArchive { at: self.shared.etcd_revision(revision), ..self.clone() })
    }

    fn at_hand(&self) -> Option<Box<dyn Archive>> {
        None
    }

    fn records<'a>(
        &'a self,
        key: &'a Key,
        beyond: Option<Cursor>,
        order: Order,
        limit: usize,
    ) -> Later<'a, Vec<(RecordId, Record)>> {
        Box::pin(async move {
            let edge = beyond.map(|beyond| self.shared.layout.record(key, beyond.place));
            let request = self.beyond(self.shared.layout.records_of(key), edge, order, limit);
            let found = self.range(request).await?;
            found.iter().map(|kv| self.filed_at(kv).map(|filed| (filed.place, filed.record))).collect()
        })
    }

    fn all_records<'a>(&'a self, after: Option<(&'a Key, RecordId)>, limit: usize) -> Later<'a, Vec<Filed>> {
        Box::pin(async move {
            let edge = after.map(|(key, place)| self.shared.layout.record(key, place));
            let request = self.beyond(self.shared.layout.records(), edge, Order::OldestFirst, limit);
            self.range(request).await?.iter().map(|kv| self.filed_at(kv)).collect()
        })
    }

    fn rows<'a>(&'a self, beyond: Option<&'a RowId>, order: Order, limit: usize) -> Later<'a, Vec<Row>> {
        Box::pin(async move {
            let edge = beyond.map(|id| self.shared.layout.row(id));
            let request = self.beyond(self.shared.layout.rows(), edge, order, limit);
            self.range(request).await?.iter().map(|kv| self.row(kv)).collect()
        })
    }

    fn lines<'a>(&'a self, from: Mark, to: Mark, _enough: usize) -> Later<'a, Vec<LogEntry>> {
        // All of them: rows are only roughly in order, so the first lines are known when the last row was read.
        Box::pin(async move {
            let id = |time: u64| RowId(Bytes::copy_from_slice(&time.to_be_bytes()));
            let mut edge = id(from.time.saturating_sub(SKEW));
            let end = self.shared.layout.row(&id(to.time.saturating_add(SKEW)));
            let mut lines = Vec::new();
            loop {
                let edge_key = self.shared.layout.row(&edge);
                let mut request =
                    self.beyond(self.shared.layout.rows(), Some(edge_key), Order::OldestFirst, 512);
                request.range_end = end.clone();
                let rows = self.range(request).await?;
                let Some(last) = rows.last() else { break };
                edge = self.row(last)?.id;
                for kv in &rows {
                    let inside = |line: &LogEntry| line.version > from.version && line.version <= to.version;
                    lines.extend(self.row(kv)?.entries.into_iter().filter(inside));
                }
            }
            lines.sort_by_key(|line| line.version);
            Ok(lines)
        })
    }

    fn deeds_after<'a>(&'a self, from: Mark, _enough: usize) -> Later<'a, Vec<Deed>> {
        Box::pin(self.deeds_from(from))
    }

    fn deeds_before<'a>(&'a self, below: Mark, enough: usize) -> Later<'a, Vec<Deed>> {
        Box::pin(self.deeds_to(below, enough))
    }

    fn place_of<'a>(&'a self, key: &'a Key, at: Mark) -> Later<'a, Option<RecordId>> {
        Box::pin(async move {
            let row = self.row_of(at.time, at.version).await?;
            let lines = row.into_iter().flat_map(|row| row.entries);
            let mut found = lines.filter(|line| line.version == at.version && line.key == *key);
            Ok(found.next().map(|line| line.place))
        })
    }

    fn row_of<'a>(&'a self, time: u64, version: Version) -> Later<'a, Option<Row>> {
        Box::pin(async move {
            let id = |time: u64| RowId(Bytes::copy_from_slice(&time.to_be_bytes()));
            let mut request = one(self.shared.layout.row(&id(time)));
            request.range_end = self.shared.layout.row(&id(time + 1));
            for kv in self.range(request).await? {
                let row = self.row(&kv)?;
                if row.entries.iter().any(|line| line.version == version) {
                    return Ok(Some(row));
                }
            }
            Ok(None)
        })
    }

    fn meta<'a>(&'a self, name: &'a str) -> Later<'a, Option<Bytes>> {
        Box::pin(
            async move { Ok(self.range(one(self.shared.layout.meta(name))).await?.pop().map(|kv| kv.value)) },
        )
    }

    fn metas<'a>(&'a self, prefix: &'a str) -> Later<'a, Vec<(String, Bytes)>> {
        Box::pin(async move {
            let root = self.shared.layout.meta("").len();
            let found = self.range(under(self.shared.layout.meta(prefix))).await?;
            Ok(found
                .into_iter()
                .map(|kv| (String::from_utf8_lossy(&kv.key[root..]).into_owned(), kv.value))
                .collect())
        })
    }

    fn edit<'a>(&'a self, edits: Vec<Edit>, fence: Option<&'a Fence>) -> Later<'a, ()> {
        Box::pin(async move {
            let mut operations =
                edits.into_iter().map(|edit| self.operation(edit)).collect::<Result<Vec<_>>>()?;
            while !operations.is_empty() {
                let mut bytes = 0;
                let mut count = 0;
                for operation in operations.iter().take(self.max_operations - 1) {
                    bytes += prost::Message::encoded_len(operation);
                    if count > 0 && bytes > self.max_bytes / 2 {
                        break;
                    }
                    count += 1;
                }
                let rest = operations.split_off(count);
                let step = std::mem::replace(&mut operations, rest);
                self.step(step, fence).await?;
            }
            Ok(())
        })
    }

    fn bytes<'a>(&'a self) -> Later<'a, u64> {
        Box::pin(async move {
            let request = RangeRequest { count_only: true, ..under(self.shared.layout.records()) };
            let counted = self.shared.client.range(request).await.map_err(failed)?;
            Ok(counted.count as u64 * RECORD_BYTES)
        })
    }
}

impl EtcdArchive {
    fn operation(&self, edit: Edit) -> Result<RequestOp> {
        let layout = &self.shared.layout;
        Ok(match edit {
            Edit::PutRecord(filed) => {
                put(layout.record(&filed.key, filed.place), postcard::to_stdvec(&filed.record)?)
            }
            Edit::DropRecord(key, place, _) => delete(layout.record(&key, place)),
            Edit::PutRow(row) => put(layout.row(&row.id), postcard::to_stdvec(&row.entries)?),
            Edit::DropRow(id) => delete(layout.row(&id)),
            Edit::PutMeta(name, value) => put(layout.meta(&name), value),
        })
    }

    async fn step(&self, operations: Vec<RequestOp>, fence: Option<&Fence>) -> Result<()> {
        let held = |fence: &Fence| {
            let taken = self.shared.etcd_revision(fence.taken.revision());
            written_at(self.shared.layout.lease(&fence.name), taken)
        };
        let request = txn(fence.map(held).into_iter().collect(), operations);
        // Every edit sets something to what it should be, so one that may have landed may be made again.
        let mut outcome = self.shared.client.txn(request.clone()).await;
        if outcome.as_ref().is_err_and(super::client::Error::may_have_applied) {
            outcome = self.shared.client.txn(request).await;
        }
        match (outcome.map_err(failed)?.succeeded, fence) {
            (false, Some(fence)) => Err(Conflict::LeaseLost(fence.name.clone()).into()),
            _ => Ok(()),
        }
    }
}
