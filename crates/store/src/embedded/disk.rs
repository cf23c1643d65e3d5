//! The file under the engine, and what is done when it fails: nothing half-written, and open again when it can be.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use redb::{Database, ReadableDatabase, ReadableTable, WriteTransaction};

use super::batch::Batch;
use super::file::{self, Place, Reached, failed};
use super::leases::{KeptLease, Leases};
use super::records;
use super::tables::{ENDS, LEASES, LOG, META, META_REACHED, OBJECTS, RECORDS, end_key, u64_of};
use crate::error::{Error, Result};
use crate::history::archive::{Edit, LogEntry, RowId};
use crate::version::Revision;

pub(crate) struct Disk {
    place: Place,
    cache: usize,
    database: ArcSwapOption<Database>,
    sync_failed: Arc<AtomicBool>,
    /// The number of the last batch that is on disk. Only the committer changes it.
    batch: AtomicU64,
}

impl Disk {
    pub fn open(place: Place, cache: usize) -> Result<Disk> {
        let (database, sync_failed, batch) = (ArcSwapOption::empty(), Arc::default(), AtomicU64::new(0));
        let disk = Disk { place, cache, database, sync_failed, batch };
        disk.reopen()?;
        Ok(disk)
    }

    /// The database to read from. It must not be kept: an open one stands in the way of opening it again.
    pub fn database(&self) -> Result<Arc<Database>> {
        self.database.load_full().ok_or_else(|| {
            Error::Unavailable(format!("{} failed and is not open again yet", self.place.describe()))
        })
    }

    /// Whether the file is open: if not, the last write failed, and nobody knows yet how far it came.
    pub fn is_open(&self) -> bool {
        self.database.load().is_some()
    }

    /// Opens the file again after a failure and tells how far it has come.
    pub fn reopen(&self) -> Result<Reached> {
        let database = file::open(&self.place, self.cache, &self.sync_failed)?;
        let reached = Reached::by(&database.begin_read().map_err(failed)?)?;
        self.batch.store(reached.batch, Ordering::Release);
        self.database.store(Some(Arc::new(database)));
        Ok(reached)
    }

    /// Writes a batch and waits until it is on disk. After an error the batch is not there, except when the
    /// error is [`Error::Unknown`].
    pub fn write(&self, batch: &mut Batch, revision: Revision, record_bytes: u64) -> Result<u64> {
        let number = self.batch.load(Ordering::Acquire) + 1;
        self.sync_failed.store(false, Ordering::Release);
        let database = self.database()?;
        let outcome = write(&database, batch, number, revision, record_bytes);
        drop(database);
        let error = match outcome {
            Ok(bytes) => {
                self.batch.store(number, Ordering::Release);
                return Ok(bytes);
            }
            Err(error) => error,
        };
        let sync_failed = self.sync_failed.load(Ordering::Acquire);
        // The database does not trust itself after an error, and neither do we.
        self.close();
        match self.reopen() {
            Ok(reached) if reached.batch >= number => Ok(reached.record_bytes),
            Ok(_) => Err(error),
            Err(again) => {
                tracing::error!(%error, %again, file = self.place.describe(), "the store's file failed");
                Err(if sync_failed { Error::Unknown(error.to_string()) } else { error })
            }
        }
    }

    pub fn leases(&self) -> Result<Leases> {
        let mut leases = Leases::default();
        let now = Instant::now();
        let read = self.database()?.begin_read().map_err(failed)?;
        for row in read.open_table(LEASES).map_err(failed)?.iter().map_err(failed)? {
            let (name, kept) = row.map_err(failed)?;
            leases.found(name.value().into(), postcard::from_bytes::<KeptLease>(kept.value())?, now);
        }
        Ok(leases)
    }

    pub fn close(&self) {
        let Some(mut database) = self.database.swap(None) else { return };
        // Readers hold it for moments only; the file's lock goes with the last of them.
        let patience = Instant::now() + Duration::from_secs(10);
        loop {
            match Arc::try_unwrap(database) {
                Ok(last) => return drop(last),
                Err(shared) if Instant::now() < patience => database = shared,
                Err(_) => return tracing::error!("a reader does not let go of the failed database"),
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn write(
    database: &Database,
    batch: &mut Batch,
    number: u64,
    revision: Revision,
    record_bytes: u64,
) -> Result<u64> {
    let write = database.begin_write().map_err(failed)?;
    let mut bytes = record_bytes;
    {
        let mut objects = write.open_table(OBJECTS).map_err(failed)?;
        let mut records = write.open_table(RECORDS).map_err(failed)?;
        for row in &batch.rows {
            match &row.object {
                Some(object) => drop(objects.insert(row.key.as_bytes(), object.as_slice()).map_err(failed)?),
                None => drop(objects.remove(row.key.as_bytes()).map_err(failed)?),
            }
            bytes += row.record.len() as u64;
            records.insert(row.version.get(), row.record.as_slice()).map_err(failed)?;
            if row.ends {
                let mut ends = write.open_table(ENDS).map_err(failed)?;
                let end = end_key(&row.key, row.place.born);
                ends.insert(end.as_slice(), row.version.get()).map_err(failed)?;
            }
        }
    }
    if let Some(first) = batch.log.first() {
        let mut log = write.open_table(LOG).map_err(failed)?;
        let lines = postcard::to_stdvec(&batch.log)?;
        log.insert(first.version.revision().get(), lines.as_slice()).map_err(failed)?;
    }
    if !batch.leases.is_empty() {
        let mut leases = write.open_table(LEASES).map_err(failed)?;
        for (name, lease) in &batch.leases {
            match lease {
                Some(lease) => {
                    drop(leases.insert(&**name, postcard::to_stdvec(lease)?.as_slice()).map_err(failed)?)
                }
                None => drop(leases.remove(&**name).map_err(failed)?),
            }
        }
    }
    for edit in batch.edits.drain(..) {
        bytes = bytes.saturating_add_signed(apply(&write, edit)?);
    }
    {
        let mut meta = write.open_table(META).map_err(failed)?;
        let reached = Reached { revision, batch: number, record_bytes: bytes };
        meta.insert(META_REACHED, postcard::to_stdvec(&reached)?.as_slice()).map_err(failed)?;
    }
    write.commit().map_err(failed)?;
    Ok(bytes)
}

/// Makes one edit of the past; tells by how many bytes the records grew.
fn apply(write: &WriteTransaction, edit: Edit) -> Result<i64> {
    let mut grown = 0;
    match edit {
        Edit::PutRecord(filed) => {
            let mut table = write.open_table(RECORDS).map_err(failed)?;
            let record = records::encode(&filed.key, filed.place, &filed.record)?;
            grown += record.len() as i64;
            let old = table.insert(filed.record.version.get(), record.as_slice()).map_err(failed)?;
            grown -= old.map_or(0, |old| old.value().len() as i64);
        }
        Edit::DropRecord(key, place, version) => {
            let mut table = write.open_table(RECORDS).map_err(failed)?;
            let old = table.remove(version.get()).map_err(failed)?;
            grown -= old.map_or(0, |old| old.value().len() as i64);
            let mut ends = write.open_table(ENDS).map_err(failed)?;
            let end = end_key(&key, place.born);
            let last = ends.get(end.as_slice()).map_err(failed)?.map(|last| last.value());
            if last == Some(version.get()) {
                ends.remove(end.as_slice()).map_err(failed)?;
            }
        }
        Edit::PutRow(row) => {
            let mut log = write.open_table(LOG).map_err(failed)?;
            let lines = postcard::to_stdvec(&row.entries)?;
            log.insert(row_number(&row.id)?, lines.as_slice()).map_err(failed)?;
        }
        Edit::DropRow(id) => {
            let mut log = write.open_table(LOG).map_err(failed)?;
            log.remove(row_number(&id)?).map_err(failed)?;
        }
        Edit::PutMeta(name, value) => {
            let mut meta = write.open_table(META).map_err(failed)?;
            meta.insert(name.as_str(), &*value).map_err(failed)?;
        }
    }
    Ok(grown)
}

pub(crate) fn row_number(id: &RowId) -> Result<u64> {
    u64_of(&id.0).ok_or_else(|| Error::damaged("the number of a row of the log"))
}

pub(crate) fn row_entries(lines: &[u8]) -> Result<Vec<LogEntry>> {
    Ok(postcard::from_bytes(lines)?)
}
