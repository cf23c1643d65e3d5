//! The file under the engine, and what is done when it fails: open it again where that is safe, halt where it is not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use redb::{Database, ReadableDatabase, ReadableTable, WriteTransaction};

use super::batch::{Batch, Row};
use super::device::Device;
use super::file::{self, Reached, failed};
use super::leases::{KeptLease, Leases};
use super::records;
use super::storage::Durability;
use super::tables::{ENDS, LEASES, META, META_REACHED, OBJECTS, RECORDS, end_key};
use crate::error::{Error, Result};
use crate::history::archive::Edit;
use crate::version::Revision;

/// Most objects and records fit into this many bytes.
const BUFFER: usize = 4_096;

pub(crate) struct Disk {
    device: Arc<dyn Device>,
    cache: usize,
    database: ArcSwapOption<Database>,
    durability: Arc<Durability>,
    /// The number of the last batch on disk that left a note. Only the committer changes it.
    batch: AtomicU64,
    record_bytes: AtomicU64,
    /// The last write found no room.
    is_full: AtomicBool,
}

impl Disk {
    pub fn open(device: Arc<dyn Device>, cache: usize) -> Result<Disk> {
        let disk = Disk {
            durability: Durability::of(device.clone()),
            device,
            cache,
            database: ArcSwapOption::empty(),
            batch: AtomicU64::new(0),
            record_bytes: AtomicU64::new(0),
            is_full: AtomicBool::new(false),
        };
        disk.reopen()?;
        Ok(disk)
    }

    /// The database to read from. It must not be kept: an open one stands in the way of opening it again.
    pub fn database(&self) -> Result<Arc<Database>> {
        self.check()?;
        self.database.load_full().ok_or_else(|| {
            Error::Unavailable(format!("{} failed and is not open again yet", self.device.name()))
        })
    }

    /// [`Error::ReadOnly`] once no more writes are taken.
    pub fn check(&self) -> Result<()> {
        self.durability.check()
    }

    /// [`Error::Full`] while there is no room for what is written.
    pub fn has_room(&self) -> Result<()> {
        match self.is_full.load(Ordering::Relaxed) {
            true => Err(Error::Full(format!(
                "the disk of {} is full: nothing can be written until there is room",
                self.device.name()
            ))),
            false => Ok(()),
        }
    }

    /// Takes no more writes.
    pub fn halt(&self, why: String) {
        self.durability.halt(why);
    }

    /// Whether the file is open: if not, the last write failed, and nobody knows yet how far it came.
    pub fn is_open(&self) -> bool {
        self.database.load().is_some()
    }

    /// How many bytes the records take.
    pub fn record_bytes(&self) -> u64 {
        self.record_bytes.load(Ordering::Acquire)
    }

    /// Opens the file again after a failure and tells how far it has come. All that it shows is on disk then.
    pub fn reopen(&self) -> Result<Reached> {
        let database = file::open(&self.device, self.cache, &self.durability)?;
        let reached = Reached::by(&database.begin_read().map_err(failed)?)?;
        self.reached(&reached);
        self.database.store(Some(Arc::new(database)));
        Ok(reached)
    }

    /// Writes a batch, which makes `revision` or changes something else, and waits until it is on disk. After an
    /// error the batch is not there and never will be, except when the error is [`Error::Unknown`].
    pub fn write(&self, batch: &mut Batch, revision: Revision) -> Result<()> {
        let database = self.database()?;
        let number = self.batch.load(Ordering::Acquire) + u64::from(batch.needs_note());
        let mut goal = Reached { revision, batch: number, record_bytes: self.record_bytes() };
        self.durability.begin();
        let outcome = write(&database, batch, &mut goal);
        drop(database);
        let error = match outcome {
            Ok(()) => {
                self.reached(&goal);
                self.is_full.store(false, Ordering::Relaxed);
                return Ok(());
            }
            Err(error) => error,
        };
        self.is_full.store(matches!(error, Error::Full(_)), Ordering::Relaxed);
        let in_doubt = self.durability.may_have_landed();
        if let Err(halted) = self.check() {
            // Opening the file again would read the page cache, and that shows what the disk may not have. The failed
            // database stays as it is: it writes nothing any more, and its lock keeps others away.
            return Err(if in_doubt { unknown_until_restart(&halted) } else { halted });
        }
        // The database does not trust itself after an error, and neither do we.
        self.close();
        match self.reopen() {
            // A batch without a note has records, and so a revision of its own.
            Ok(found) if found.batch >= goal.batch && found.revision >= goal.revision => Ok(()),
            Ok(_) => Err(error),
            Err(again) => {
                tracing::error!(%error, %again, file = self.device.name(), "the store's file failed");
                Err(match self.check() {
                    _ if !in_doubt => error,
                    Ok(()) => Error::unknown(error),
                    Err(halted) => unknown_until_restart(&halted),
                })
            }
        }
    }

    fn reached(&self, reached: &Reached) {
        self.batch.store(reached.batch, Ordering::Release);
        self.record_bytes.store(reached.record_bytes, Ordering::Release);
    }

    /// What is kept under the names that start with `prefix`, in order.
    pub fn metas(&self, prefix: &str) -> Result<Vec<(String, Bytes)>> {
        let meta = self.database()?.begin_read().map_err(failed)?.open_table(META).map_err(failed)?;
        let mut found = Vec::new();
        for row in meta.range(prefix..).map_err(failed)? {
            let (name, value) = row.map_err(failed)?;
            if !name.value().starts_with(prefix) {
                break;
            }
            found.push((name.value().to_owned(), Bytes::copy_from_slice(value.value())));
        }
        Ok(found)
    }

    /// The leases on disk, whose holders get their full time from `now` on.
    pub fn leases(&self, now: Instant) -> Result<Leases> {
        let mut leases = Leases::default();
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

/// Until then reads show what was there before the write.
fn unknown_until_restart(halted: &Error) -> Error {
    Error::Unknown(format!("{halted}, and read the object to see whether it was written"))
}

fn write(database: &Database, batch: &mut Batch, reached: &mut Reached) -> Result<()> {
    let write = database.begin_write().map_err(failed)?;
    write_rows(&write, &batch.rows, reached)?;
    if batch.needs_note() {
        write_rest(&write, batch, reached)?;
    }
    write.commit().map_err(failed)
}

/// Writes objects and their records.
fn write_rows(write: &WriteTransaction, rows: &[Row], reached: &mut Reached) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut objects = write.open_table(OBJECTS).map_err(failed)?;
    let mut records = write.open_table(RECORDS).map_err(failed)?;
    // One for all: allocating and freeing something of this size for each would cost more than filling it.
    let mut buffer = Vec::with_capacity(BUFFER);
    for row in rows {
        let (key, version) = (row.key.as_bytes(), row.record.version.get());
        buffer.clear();
        match &row.object {
            _ if row.is_superseded => {}
            Some((head, body)) => {
                buffer = head.encode_into(body, buffer)?;
                objects.insert(key, buffer.as_slice()).map_err(failed)?;
            }
            None => drop(objects.remove(key).map_err(failed)?),
        }
        buffer.clear();
        buffer = records::encode(&row.key, row.place, &row.record, buffer)?;
        reached.record_bytes += buffer.len() as u64;
        records.insert(version, buffer.as_slice()).map_err(failed)?;
        if row.ends() {
            let mut ends = write.open_table(ENDS).map_err(failed)?;
            ends.insert(end_key(&row.key, row.place.born).as_slice(), version).map_err(failed)?;
        }
    }
    Ok(())
}

/// Writes what the records do not tell of, and how far the file has come with it.
fn write_rest(write: &WriteTransaction, batch: &mut Batch, reached: &mut Reached) -> Result<()> {
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
        reached.record_bytes = reached.record_bytes.saturating_add_signed(apply(write, edit)?);
    }
    let mut meta = write.open_table(META).map_err(failed)?;
    meta.insert(META_REACHED, postcard::to_stdvec(reached)?.as_slice()).map_err(failed)?;
    Ok(())
}

/// Makes one edit of the past; tells by how many bytes the records grew.
fn apply(write: &WriteTransaction, edit: Edit) -> Result<i64> {
    let mut grown = 0;
    match edit {
        Edit::PutRecord(filed) => {
            let mut table = write.open_table(RECORDS).map_err(failed)?;
            let record = records::encode(&filed.key, filed.place, &filed.record, Vec::new())?;
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
        // The log is read from the records: a line goes with its record.
        Edit::PutRow(_) | Edit::DropRow(_) => {}
        Edit::PutMeta(name, value) => {
            let mut meta = write.open_table(META).map_err(failed)?;
            meta.insert(name.as_str(), &*value).map_err(failed)?;
        }
    }
    Ok(grown)
}
