//! The database file: opening it, and opening it again after the disk failed it.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use redb::{Database, ReadableDatabase, ReadableTable, StorageBackend};

use super::tables::{FORMAT, LEASES, LOG, META, META_FORMAT, OBJECTS, RECORDS};
use crate::error::{Error, Result};

/// Where the bytes live: a file, or whatever a test puts in its place.
#[derive(Clone)]
pub(crate) enum Place {
    File(PathBuf),
    Backend(Arc<dyn Fn() -> Box<dyn StorageBackend> + Send + Sync>),
}

impl Place {
    pub fn describe(&self) -> String {
        match self {
            Place::File(path) => path.display().to_string(),
            Place::Backend(_) => "the given storage".into(),
        }
    }
}

/// Opens the database, makes its tables, and refuses a format it does not know.
pub(crate) fn open(place: &Place, cache: usize) -> Result<Database> {
    let mut builder = Database::builder();
    builder.set_cache_size(cache);
    let database = match place {
        Place::File(path) => builder.create(path),
        Place::Backend(make) => builder.create_with_backend(Boxed(make())),
    }
    .map_err(|error| opening(place, error))?;

    let write = database.begin_write().map_err(failed)?;
    {
        let mut meta = write.open_table(META).map_err(failed)?;
        let found = meta.get(META_FORMAT).map_err(failed)?.map(|value| value.value().to_vec());
        match found {
            None => {
                meta.insert(META_FORMAT, FORMAT.to_be_bytes().as_slice()).map_err(failed)?;
            }
            Some(bytes) => {
                let bytes = bytes.try_into().map_err(|_| Error::damaged("the format number"))?;
                let found = u32::from_be_bytes(bytes);
                if found > FORMAT {
                    return Err(Error::Newer { found, known: FORMAT });
                }
                // Nothing to make: leave the file as it is.
                drop(meta);
                write.abort().map_err(failed)?;
                return Ok(database);
            }
        }
        write.open_table(OBJECTS).map_err(failed)?;
        write.open_table(RECORDS).map_err(failed)?;
        write.open_table(LOG).map_err(failed)?;
        write.open_table(LEASES).map_err(failed)?;
    }
    write.commit().map_err(failed)?;
    Ok(database)
}

/// The revision that a reopened file has reached.
pub(crate) fn revision(database: &Database) -> Result<u64> {
    let read = database.begin_read().map_err(failed)?;
    let meta = read.open_table(META).map_err(failed)?;
    let found = meta.get(super::tables::META_REVISION).map_err(failed)?;
    Ok(found.and_then(|value| super::tables::u64_of(value.value())).unwrap_or(0))
}

fn opening(place: &Place, error: redb::DatabaseError) -> Error {
    let file = place.describe();
    match error {
        redb::DatabaseError::DatabaseAlreadyOpen => {
            Error::Unavailable(format!("{file} is in use by another process; stop it first"))
        }
        redb::DatabaseError::Storage(error) => match failed(error) {
            Error::Full(why) => Error::Full(why),
            other => Error::Unavailable(format!("{file} can't be opened: {other}")),
        },
        other => Error::Unavailable(format!("{file} can't be opened: {other}")),
    }
}

/// What an error of the database means to the caller.
pub(crate) fn failed(error: impl Into<redb::Error>) -> Error {
    match error.into() {
        redb::Error::Io(error) if is_full(&error) => Error::Full(error.to_string()),
        redb::Error::Corrupted(what) => Error::Damaged(what),
        other => Error::Unavailable(other.to_string()),
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

/// A storage backend behind a box, which redb takes only by type.
#[derive(Debug)]
struct Boxed(Box<dyn StorageBackend>);

impl StorageBackend for Boxed {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }
    fn close(&self) -> io::Result<()> {
        self.0.close()
    }
}
