//! What was done to all objects, read off the log in etcd.

use bytes::Bytes;

use super::archive::EtcdArchive;
use super::client::wire::{KeyValue, RangeRequest, RequestOp, request_op::Request, response_op::Response};
use super::layout::{one, split_record_key, txn};
use super::shared::failed;
use crate::error::{Error, Result};
use crate::history::Deed;
use crate::history::archive::{LogEntry, Mark, Order, Row, RowId};
use crate::history::deeds::Teller;
use crate::history::past::SKEW;
use crate::history::record::Glimpse;
use crate::key::Key;
use crate::version::Version;

/// Rows of the log read at a time.
const ROWS: usize = 512;
/// Records read at a time: each may be as large as an object.
const RECORDS: usize = 64;

impl EtcdArchive {
    pub(super) async fn deeds_from(&self, from: Mark) -> Result<Vec<Deed>> {
        let mut lines = Vec::new();
        let mut edge = Some(row_at(from.time.saturating_sub(SKEW)));
        loop {
            let beyond = edge.as_ref().map(|edge| self.shared.layout.row(edge));
            let mut request = self.beyond(self.shared.layout.rows(), beyond, Order::OldestFirst, ROWS);
            // Clocks differ: a row of this time may be old. etcd knows.
            request.min_mod_revision = self.shared.etcd_revision(from.version.revision()).max(1);
            let rows = self.some_rows(request).await?;
            let Some(last) = rows.last() else { break };
            edge = Some(last.id.clone());
            lines.extend(
                rows.into_iter().flat_map(|row| row.entries).filter(|line| line.version > from.version),
            );
        }
        lines.sort_by_key(|line| line.version);
        self.done(lines).await
    }

    /// Rows are only roughly in order: what lies above the newest line that an older row may still come before is known
    /// to be all there is.
    pub(super) async fn deeds_to(&self, below: Mark, enough: usize) -> Result<Vec<Deed>> {
        let mut lines: Vec<LogEntry> = Vec::new();
        let mut edge = (below.time < u64::MAX).then(|| row_at(below.time.saturating_add(SKEW)));
        loop {
            let beyond = edge.as_ref().map(|edge| self.shared.layout.row(edge));
            let request = self.beyond(self.shared.layout.rows(), beyond, Order::NewestFirst, ROWS);
            let rows = self.some_rows(request).await?;
            let Some(last) = rows.last() else { break };
            let reached = last.entries.iter().map(|line| line.time).min().unwrap_or(0);
            edge = Some(last.id.clone());
            lines.extend(
                rows.into_iter().flat_map(|row| row.entries).filter(|line| line.version < below.version),
            );
            let young = lines.iter().filter(|line| line.time < reached.saturating_add(SKEW));
            let sure_above = young.map(|line| line.version).max().unwrap_or(Version::ZERO);
            if lines.iter().filter(|line| line.version > sure_above).count() >= enough {
                lines.retain(|line| line.version > sure_above);
                break;
            }
        }
        lines.sort_by_key(|line| std::cmp::Reverse(line.version));
        lines.truncate(enough);
        self.done(lines).await
    }

    async fn some_rows(&self, request: RangeRequest) -> Result<Vec<Row>> {
        self.range(request).await?.iter().map(|kv| self.row(kv)).collect()
    }

    /// What the records of these lines say, in their order; retention may have let go of some since.
    async fn done(&self, lines: Vec<LogEntry>) -> Result<Vec<Deed>> {
        let mut teller = Teller::default();
        let mut deeds = Vec::with_capacity(lines.len());
        for some in lines.chunks(RECORDS.min(self.max_operations)) {
            let looks = some.iter().map(|line| {
                let key = self.shared.layout.record(&line.key, line.place);
                let range = RangeRequest { revision: self.at, ..one(key) };
                RequestOp { request: Some(Request::RequestRange(range)) }
            });
            let answer = self.shared.client.txn(txn(Vec::new(), looks.collect())).await.map_err(failed)?;
            for answer in answer.responses {
                let Some(Response::ResponseRange(found)) = answer.response else { continue };
                for kv in &found.kvs {
                    deeds.push(self.deed(&mut teller, kv)?);
                }
            }
        }
        Ok(deeds)
    }

    fn deed(&self, teller: &mut Teller, kv: &KeyValue) -> Result<Deed> {
        let rest = &kv.key[self.shared.layout.records().len()..];
        let (key, _) = split_record_key(rest).ok_or_else(|| Error::damaged("the key of a record"))?;
        let key = Key::new(key)?;
        let record: Glimpse<'_> = postcard::from_bytes(&kv.value)
            .map_err(|_| Error::damaged(format_args!("a change at {key} can't be decoded")))?;
        Ok(teller.deed(key, self.version(record.version, kv), &record))
    }
}

fn row_at(time: u64) -> RowId {
    RowId(Bytes::copy_from_slice(&time.to_be_bytes()))
}
