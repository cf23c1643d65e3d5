//! Fills an empty file from a backup.

use redb::{Database, WriteTransaction};

use super::file::{Reached, failed};
use super::records;
use super::tables::{ENDS, META, META_FLOOR, META_REACHED, OBJECTS, RECORDS, end_key};
use crate::backup::restore::Restore;
use crate::error::Result;
use crate::history::archive::LogEntry;
use crate::history::record::{Head, Record, RecordId};
use crate::history::retention::SETTLED;
use crate::key::Key;
use crate::version::{MAX_WRITES, Revision, Version};

/// All of a restore is one transaction of the file: it counts as a whole or not at all.
pub(crate) struct Filling {
    write: Option<WriteTransaction>,
    revision: Revision,
    position: usize,
    record_bytes: u64,
    last_record: Version,
}

impl Filling {
    pub fn new(database: &Database) -> Result<Filling> {
        let write = database.begin_write().map_err(failed)?;
        Ok(Filling {
            write: Some(write),
            revision: Revision::ZERO,
            position: 0,
            record_bytes: 0,
            last_record: Version::ZERO,
        })
    }

    fn write(&self) -> &WriteTransaction {
        self.write.as_ref().expect("taken only by finish, which is the last call")
    }
}

impl Restore for Filling {
    fn start(&mut self, base: Revision) -> Result<()> {
        self.revision = base.next();
        Ok(())
    }

    fn meta(&mut self, name: String, value: &[u8]) -> Result<()> {
        let mut meta = self.write().open_table(META).map_err(failed)?;
        meta.insert(name.as_str(), value).map_err(failed)?;
        Ok(())
    }

    fn object(&mut self, key: Key, mut head: Head, body: &[u8]) -> Result<()> {
        if self.position == MAX_WRITES {
            self.position = 0;
            self.revision = self.revision.next();
        }
        head.version = Version::of(self.revision, self.position as u16);
        self.position += 1;
        let mut objects = self.write().open_table(OBJECTS).map_err(failed)?;
        objects.insert(key.as_bytes(), head.encode(body)?.as_slice()).map_err(failed)?;
        Ok(())
    }

    fn record(&mut self, key: Key, place: RecordId, record: Record) -> Result<()> {
        let bytes = records::encode(&key, place, &record, Vec::new())?;
        self.record_bytes += bytes.len() as u64;
        self.last_record = self.last_record.max(record.version);
        let mut table = self.write().open_table(RECORDS).map_err(failed)?;
        table.insert(record.version.get(), bytes.as_slice()).map_err(failed)?;
        if record.deleted {
            let mut ends = self.write().open_table(ENDS).map_err(failed)?;
            ends.insert(end_key(&key, place.born).as_slice(), record.version.get()).map_err(failed)?;
        }
        Ok(())
    }

    fn line(&mut self, _line: LogEntry) -> Result<()> {
        // Here the records are the log.
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        {
            let mut meta = self.write().open_table(META).map_err(failed)?;
            let revision = self.revision.get().to_be_bytes();
            let reached = Reached { revision: self.revision, batch: 0, record_bytes: self.record_bytes };
            meta.insert(META_REACHED, postcard::to_stdvec(&reached)?.as_slice()).map_err(failed)?;
            meta.insert(META_FLOOR, revision.as_slice()).map_err(failed)?;
            // No watch can ask for any of it.
            let settled = self.last_record.get().to_be_bytes();
            meta.insert(SETTLED, settled.as_slice()).map_err(failed)?;
        }
        let write = self.write.take().expect("finish is called once");
        write.commit().map_err(failed)
    }
}
