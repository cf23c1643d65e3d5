//! The database file: making it, opening it, and opening it again after the disk failed it.

use std::fs::{File, OpenOptions, hard_link, remove_file};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use redb::backends::FileBackend;
use redb::{Database, ReadTransaction, ReadableTable, StorageBackend};
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};

use super::storage::Storage;
use super::tables::{ENDS, FORMAT, LEASES, LOG, META, META_FORMAT, META_REACHED, OBJECTS, RECORDS};
use crate::error::{Error, Result};
use crate::version::Revision;

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

/// Opens the database, makes what is missing of it, and refuses a format it does not know. `sync_failed` is set
/// from then on when the storage could not be synced.
pub(crate) fn open(place: &Place, cache: usize, sync_failed: &Arc<AtomicBool>) -> Result<Database> {
    if let Place::File(path) = place
        && !path.exists()
    {
        make(path).map_err(|error| opening(place, error))?;
    }
    let database = open_storage(place, cache, sync_failed).map_err(|error| opening(place, error))?;
    make_tables(&database)?;
    Ok(database)
}

fn open_storage(
    place: &Place,
    cache: usize,
    sync_failed: &Arc<AtomicBool>,
) -> Result<Database, redb::DatabaseError> {
    let bytes: Box<dyn StorageBackend> = match place {
        Place::File(path) => {
            Box::new(FileBackend::new(OpenOptions::new().read(true).write(true).open(path)?)?)
        }
        Place::Backend(make) => make(),
    };
    let storage = Storage { bytes, sync_failed: sync_failed.clone() };
    Database::builder().set_cache_size(cache).create_with_backend(storage)
}

/// Makes an empty database under another name first: one whose making was cut off can't be opened, so none
/// such may ever stand at `path`. A link instead of a rename, lest it replaces what another process made.
fn make(path: &Path) -> Result<(), redb::DatabaseError> {
    let mut random = [0; 8];
    let drawn = SystemRandom::new().fill(&mut random);
    drawn.map_err(|_| io::Error::other("the operating system gave no random bytes"))?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{:016x}.new", u64::from_be_bytes(random)));
    let new = path.with_file_name(name);
    let made = Database::create(&new).map(drop).and_then(|()| match hard_link(&new, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error.into()),
        _ => Ok(()),
    });
    let _ = remove_file(&new);
    made?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    Ok(())
}

fn make_tables(database: &Database) -> Result<()> {
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
                return write.abort().map_err(failed);
            }
        }
        write.open_table(OBJECTS).map_err(failed)?;
        write.open_table(RECORDS).map_err(failed)?;
        write.open_table(ENDS).map_err(failed)?;
        write.open_table(LOG).map_err(failed)?;
        write.open_table(LEASES).map_err(failed)?;
    }
    write.commit().map_err(failed)
}

/// How far a file has come.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Reached {
    pub revision: Revision,
    /// The number of the last batch: each has one, also those that make no revision.
    pub batch: u64,
    pub record_bytes: u64,
}

impl Reached {
    pub fn by(read: &ReadTransaction) -> Result<Reached> {
        let meta = read.open_table(META).map_err(failed)?;
        match meta.get(META_REACHED).map_err(failed)? {
            Some(value) => Ok(postcard::from_bytes(value.value())?),
            None => Ok(Reached::default()),
        }
    }
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
