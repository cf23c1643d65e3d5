//! The database file: making it, opening it, and opening it again after the disk failed it.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fs::{File, hard_link, remove_file};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use redb::{Database, ReadTransaction, ReadableTable};
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};

use super::device::{Device, FileDevice};
use super::settle::{Settled, settle};
use super::storage::{Durability, Storage};
use super::tables::{ENDS, FORMAT, LEASES, META, META_FORMAT, META_REACHED, OBJECTS, RECORDS};
use crate::error::{Error, Result};
use crate::version::{Revision, Version};

/// Opens the database, makes what is missing in it, and refuses a format it does not know. All that it shows is on disk
/// then. `durability` is told from then on what is written to it.
pub(crate) fn open(device: &Arc<dyn Device>, cache: usize, durability: &Arc<Durability>) -> Result<Database> {
    durability.check()?;
    let opened = open_settled(device, cache, durability).and_then(|database| {
        make_tables(&database)?;
        Ok(database)
    });
    // A sync may fail behind an error that hides it.
    durability.check()?;
    opened
}

fn open_settled(device: &Arc<dyn Device>, cache: usize, durability: &Arc<Durability>) -> Result<Database> {
    let name = device.name();
    let opening = |error| opening(&name, error);
    let storage = Storage::open(durability).map_err(|error| opening(error.into()))?;
    let settled = settle(&storage, device).map_err(|error| opening(error.into()))?;
    if settled == Settled::InUse {
        return Err(opening(redb::DatabaseError::DatabaseAlreadyOpen));
    }
    let database = Database::builder().set_cache_size(cache).create_with_backend(storage);
    let mut database = database.map_err(opening)?;
    if settled == Settled::Rewritten {
        database.check_integrity().map_err(opening)?;
        tracing::info!(file = name, "the store's file is whole, and on disk");
    }
    Ok(database)
}

/// Makes an empty database where there is none. Under another name first: one whose making was cut off can't be opened,
/// so none such may ever stand at `path`. A link instead of a rename, lest it replaces what another process made.
pub(crate) fn make_if_missing(path: &Path) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    make(path).map_err(|error| opening(&path.display().to_string(), error))
}

fn make(path: &Path) -> Result<(), redb::DatabaseError> {
    let mut random = [0; 8];
    let drawn = SystemRandom::new().fill(&mut random);
    drawn.map_err(|_| io::Error::other("the operating system gave no random bytes"))?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{:016x}{UNFINISHED}", u64::from_be_bytes(random)));
    let new = path.with_file_name(name);
    let made = make_synced(&new).and_then(|()| private(&new)).and_then(|()| {
        match hard_link(&new, path) {
            // Another process was faster; it may have taken ours for a leftover by now.
            Err(_) if path.exists() => Ok(()),
            Err(error) => Err(error.into()),
            Ok(()) => Ok(()),
        }
    });
    let _ = remove_file(&new);
    made?;
    File::open(folder_of(path))?.sync_all()?;
    Ok(())
}

/// The database also syncs when it is dropped, and can't tell by itself that this failed.
fn make_synced(path: &Path) -> Result<(), redb::DatabaseError> {
    let device: Arc<dyn Device> = Arc::new(FileDevice::at(path));
    let durability = Durability::of(device.clone());
    File::create_new(path)?;
    Database::builder().create_with_backend(Storage::open(&durability)?).map(drop)?;
    if let Some(why) = durability.halted() {
        device.trust()?;
        return Err(io::Error::other(why.to_owned()).into());
    }
    Ok(())
}

/// Only its owner may read what is stored.
fn private(path: &Path) -> Result<(), redb::DatabaseError> {
    Ok(std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?)
}

/// What the name of a file ends with that is still being made.
const UNFINISHED: &str = ".new";

/// Removes what a process left behind that was killed while it made the file. Only to be called by who has the
/// database open, and with it its lock: whoever still makes a file then makes it in vain.
pub(crate) fn remove_unfinished(path: &Path) {
    let Ok(files) = std::fs::read_dir(folder_of(path)) else { return };
    for file in files.flatten().filter(|file| is_unfinished(&file.file_name(), path)) {
        match remove_file(file.path()) {
            Ok(()) => tracing::info!(file = %file.path().display(), "removed a file that was never finished"),
            Err(error) => tracing::warn!(file = %file.path().display(), %error, "a leftover stays"),
        }
    }
}

/// Whether it has one of the names that [`make`] draws.
fn is_unfinished(name: &OsStr, path: &Path) -> bool {
    let drawn = || {
        let rest = name.to_str()?.strip_prefix(path.file_name()?.to_str()?)?;
        rest.strip_prefix('.')?.strip_suffix(UNFINISHED)
    };
    drawn().is_some_and(|drawn| drawn.len() == 16 && drawn.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
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
                return match found.cmp(&FORMAT) {
                    Ordering::Less => Err(Error::Older { found, known: FORMAT }),
                    Ordering::Greater => Err(Error::Newer { found, known: FORMAT }),
                    // Nothing to make: leave the file as it is.
                    Ordering::Equal => {
                        drop(meta);
                        write.abort().map_err(failed)
                    }
                };
            }
        }
        write.open_table(OBJECTS).map_err(failed)?;
        write.open_table(RECORDS).map_err(failed)?;
        write.open_table(ENDS).map_err(failed)?;
        write.open_table(LEASES).map_err(failed)?;
    }
    write.commit().map_err(failed)
}

/// How far a file has come.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Reached {
    pub revision: Revision,
    /// The number of the last batch that left a note.
    pub batch: u64,
    pub record_bytes: u64,
}

impl Reached {
    /// What the last note said, and what the records tell that were written since: most batches leave no note,
    /// which would be a page more to write for each.
    pub fn by(read: &ReadTransaction) -> Result<Reached> {
        let meta = read.open_table(META).map_err(failed)?;
        let mut reached = match meta.get(META_REACHED).map_err(failed)? {
            Some(value) => postcard::from_bytes(value.value())?,
            None => Reached::default(),
        };
        let records = read.open_table(RECORDS).map_err(failed)?;
        // Whoever takes a record away leaves a note, so nothing that was noted as bytes is missing here.
        for row in records.range(reached.revision.end().get()..).map_err(failed)? {
            let (version, record) = row.map_err(failed)?;
            reached.revision = Version::new(version.value()).revision();
            reached.record_bytes += record.value().len() as u64;
        }
        Ok(reached)
    }
}

fn opening(file: &str, error: redb::DatabaseError) -> Error {
    match error {
        redb::DatabaseError::DatabaseAlreadyOpen => {
            Error::Unavailable(format!("{file} is in use by another process; stop it first"))
        }
        redb::DatabaseError::Storage(error) => match failed(error) {
            Error::Full(why) => Error::Full(why),
            Error::Damaged(what) => Error::Damaged(format!(
                "{file} can't be opened: {what}; keep the file for inquiries, and restore the last backup into an \
                 empty folder (groundplane restore-backup)"
            )),
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
