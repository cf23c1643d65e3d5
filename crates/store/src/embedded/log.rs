//! The log as the embedded engine has it: the records, in the order they were written, read as its lines.

use std::ops::RangeBounds;

use redb::{ReadOnlyTable, ReadTransaction};

use super::file::failed;
use super::records;
use super::tables::RECORDS;
use crate::error::Result;
use crate::history::Deed;
use crate::history::archive::{Filed, LogEntry, Order};
use crate::history::deeds::Teller;
use crate::history::record::RecordId;
use crate::key::Key;
use crate::version::Version;

pub(crate) struct Log {
    records: ReadOnlyTable<u64, &'static [u8]>,
}

impl Log {
    pub fn open(read: &ReadTransaction) -> Result<Log> {
        Ok(Log { records: read.open_table(RECORDS).map_err(failed)? })
    }

    /// The records of these versions, in their order.
    pub fn records(
        &self,
        versions: impl RangeBounds<u64>,
    ) -> Result<impl DoubleEndedIterator<Item = Result<(Version, Filed)>>> {
        let found = self.records.range(versions).map_err(failed)?;
        Ok(found.map(|row| {
            let (at, value) = row.map_err(failed)?;
            let at = Version::new(at.value());
            Ok((at, records::decode(at, value.value())?))
        }))
    }

    /// The lines of these versions, in their order.
    pub fn lines(
        &self,
        versions: impl RangeBounds<u64>,
    ) -> Result<impl DoubleEndedIterator<Item = Result<LogEntry>>> {
        Ok(self.records(versions)?.map(|found| found.map(|(at, filed)| line(at, filed))))
    }

    /// What was done at these versions, without reading the objects.
    pub fn deeds(&self, versions: impl RangeBounds<u64>, order: Order, limit: usize) -> Result<Vec<Deed>> {
        let mut rows = self.records.range(versions).map_err(failed)?;
        let mut teller = Teller::default();
        let mut deeds = Vec::new();
        while deeds.len() < limit {
            let next = match order {
                Order::OldestFirst => rows.next(),
                Order::NewestFirst => rows.next_back(),
            };
            let Some((at, value)) = next.transpose().map_err(failed)? else { break };
            let at = Version::new(at.value());
            let (key, _, record) = records::glimpse(at, value.value())?;
            deeds.push(teller.deed(key, at, &record));
        }
        Ok(deeds)
    }

    /// Which change of which life of a key stands at a version.
    pub fn place(&self, key: &Key, version: Version) -> Result<Option<RecordId>> {
        let Some(value) = self.records.get(version.get()).map_err(failed)? else { return Ok(None) };
        let (of, place, _) = records::glimpse(version, value.value())?;
        Ok((of == *key).then_some(place))
    }
}

/// The line of the record that stands at `version`, whatever version it says it has itself: verification looks for
/// those that were moved.
fn line(version: Version, filed: Filed) -> LogEntry {
    let Filed { key, place, record } = filed;
    LogEntry { version, time: record.time, key, place, level: record.level, hash: record.hash }
}
