//! Fills an empty prefix of etcd from a backup.

use std::io::Read;

use bytes::Bytes;
use prost::Message;
use tokio::runtime::Handle;

use super::Options;
use super::client::Client;
use super::client::wire::{RangeRequest, RequestOp};
use super::commit::row_id;
use super::layout::{FORMAT, Layout, delete, one, put, txn, under};
use super::load::revision;
use super::shared::failed;
use crate::backup::{self, restore::Restore};
use crate::error::{Error, Result};
use crate::history::archive::LogEntry;
use crate::history::record::{Head, Record, RecordId};
use crate::key::Key;
use crate::version::{Revision, Version};

pub(crate) async fn restore(options: Options, mut input: Box<dyn Read + Send>) -> Result<backup::Summary> {
    let client = Client::new(options.client.clone()).map_err(failed)?;
    let layout = Layout::under(&options.prefix);
    let counted = RangeRequest { count_only: true, ..under(layout.all()) };
    let found = client.range(counted).await.map_err(failed)?.count;
    if found > 0 {
        return Err(Error::Invalid(format!(
            "there are {found} keys under {}: a backup is restored into an empty prefix only",
            options.prefix
        )));
    }
    let runtime = Handle::current();
    let task = tokio::task::spawn_blocking(move || {
        let mut filling = Filling {
            runtime,
            client,
            layout,
            max_operations: options.max_operations,
            max_bytes: options.max_bytes,
            offset: 0,
            position: 0,
            pending: Vec::new(),
            pending_bytes: 0,
            lines: Vec::new(),
        };
        backup::restore::feed(&mut *input, &mut filling)
    });
    task.await.map_err(|error| Error::Unavailable(error.to_string()))?
}

struct Filling {
    runtime: Handle,
    client: Client,
    layout: Layout,
    max_operations: usize,
    max_bytes: usize,
    offset: u64,
    /// Of the next object inside its transaction.
    position: u16,
    pending: Vec<RequestOp>,
    pending_bytes: usize,
    lines: Vec<LogEntry>,
}

/// Lines in one row of the log.
const ROW: usize = 64;

impl Filling {
    fn push(&mut self, operation: RequestOp) -> Result<()> {
        self.pending_bytes += operation.encoded_len();
        self.pending.push(operation);
        Ok(())
    }

    fn make_room(&mut self, bytes: usize) -> Result<()> {
        let full = self.pending.len() + 1 >= self.max_operations
            || self.pending_bytes + bytes + 4096 > self.max_bytes;
        if full { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if !self.pending.is_empty() {
            let request = txn(Vec::new(), std::mem::take(&mut self.pending));
            // Puts of what is to be there: one that may have landed may be sent again.
            let mut outcome = self.runtime.block_on(self.client.txn(request.clone()));
            if outcome.as_ref().is_err_and(super::client::Error::may_have_applied) {
                outcome = self.runtime.block_on(self.client.txn(request));
            }
            outcome.map_err(failed)?;
        }
        self.position = 0;
        self.pending_bytes = 0;
        Ok(())
    }

    fn flush_lines(&mut self) -> Result<()> {
        let lines = std::mem::take(&mut self.lines);
        if let Some(first) = lines.first() {
            let id = row_id(first.time, &first.version.get().to_be_bytes());
            let value = postcard::to_stdvec(&lines)?;
            self.make_room(value.len())?;
            self.push(put(self.layout.row(&id), value))?;
        }
        Ok(())
    }
}

impl Restore for Filling {
    fn start(&mut self, base: Revision) -> Result<()> {
        let now = self.runtime.block_on(self.client.range(one(self.layout.format()))).map_err(failed)?;
        self.offset = base.get().saturating_sub(revision(&now) as u64);
        self.push(put(self.layout.restoring(), Bytes::from_static(b"under way")))?;
        self.flush()
    }

    fn meta(&mut self, name: String, value: &[u8]) -> Result<()> {
        self.make_room(value.len())?;
        self.push(put(self.layout.meta(&name), Bytes::copy_from_slice(value)))
    }

    fn object(&mut self, key: Key, mut head: Head, body: &[u8]) -> Result<()> {
        self.make_room(body.len())?;
        head.version = Version::of(Revision::ZERO, self.position);
        self.position += 1;
        self.push(put(self.layout.object(&key), head.encode(body)?))
    }

    fn record(&mut self, key: Key, place: RecordId, record: Record) -> Result<()> {
        let value = postcard::to_stdvec(&record)?;
        self.make_room(value.len())?;
        self.push(put(self.layout.record(&key, place), value))
    }

    fn line(&mut self, line: LogEntry) -> Result<()> {
        // A line is found again by its time: only lines of one time share a row.
        let same = self.lines.last().is_none_or(|last| last.time == line.time);
        if !same || self.lines.len() == ROW {
            self.flush_lines()?;
        }
        self.lines.push(line);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.flush_lines()?;
        self.flush()?;
        self.push(put(self.layout.offset(), self.offset.to_be_bytes().to_vec()))?;
        self.push(put(self.layout.format(), FORMAT.to_string()))?;
        self.push(delete(self.layout.restoring()))?;
        self.flush()
    }
}
