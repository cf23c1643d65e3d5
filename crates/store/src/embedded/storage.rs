//! The bytes under the database, and what is known to be on disk of what was written to them.

use std::io;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use redb::{BackendError, StorageBackend};

use super::device::Device;
use crate::error::{Error, Result};

/// What is known of the writes that were given to the operating system.
///
/// A batch counts once the file's header, which names it, is on disk together with the pages that it names. From the
/// moment the header is written the kernel may put it on disk by itself, at any time and in any order, so a batch that
/// fails later is in doubt until a sync has succeeded.
///
/// A sync that *failed* can't be repeated: Linux reports the error once, marks the pages clean although they never
/// reached the disk, and goes on showing them to readers. The next sync would succeed and prove nothing. So a failed
/// sync halts the engine for the life of the process.
pub(crate) struct Durability {
    device: Arc<dyn Device>,
    header_written: AtomicBool,
    halted: OnceLock<String>,
}

impl Durability {
    pub fn of(device: Arc<dyn Device>) -> Arc<Durability> {
        Arc::new(Durability { device, header_written: AtomicBool::new(false), halted: OnceLock::new() })
    }

    /// Called before each batch.
    pub fn begin(&self) {
        self.header_written.store(false, Ordering::Release);
    }

    /// Whether the batch may be on disk, now or later, though writing it failed.
    pub fn may_have_landed(&self) -> bool {
        self.header_written.load(Ordering::Acquire)
    }

    /// Why no more writes are taken; `None` while they are.
    pub fn halted(&self) -> Option<&str> {
        self.halted.get().map(String::as_str)
    }

    /// [`Error::ReadOnly`] once the engine is halted.
    pub fn check(&self) -> Result<()> {
        self.halted().map_or(Ok(()), |why| Err(Error::ReadOnly(why.to_owned())))
    }

    /// Takes no more writes, for the life of the process.
    pub fn halt(&self, why: String) {
        if self.halted.set(why.clone()).is_ok() {
            tracing::error!(reason = why, "the store takes no more writes");
        }
    }

    fn sync_failed(&self, error: &io::Error) {
        if self.halted().is_some() {
            return;
        }
        let name = self.device.name();
        // First of all: whoever opens the file next must not believe what the page cache shows.
        if let Err(mark) = self.device.distrust(&error.to_string()) {
            tracing::error!(
                file = name,
                error = %mark,
                "the failed sync can't be noted beside the file: unmount its file system, or reboot, before the next start"
            );
        }
        self.halt(format!(
            "{name} could not be synced to disk ({error}), so it is not known what the disk holds. Reads go on from \
             memory; check the disk, then restart the server"
        ));
    }
}

/// A storage that notes what becomes of its writes.
pub(crate) struct Storage {
    bytes: Box<dyn StorageBackend>,
    durability: Arc<Durability>,
}

impl Storage {
    pub fn open(durability: &Arc<Durability>) -> io::Result<Storage> {
        Ok(Storage { bytes: durability.device.open()?, durability: durability.clone() })
    }

    fn check(&self) -> io::Result<()> {
        match self.durability.halted() {
            Some(why) => Err(io::Error::other(why.to_owned())),
            None => Ok(()),
        }
    }
}

impl std::fmt::Debug for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Storage").field(&self.durability.device.name()).finish()
    }
}

impl StorageBackend for Storage {
    fn len(&self) -> io::Result<u64> {
        self.bytes.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.bytes.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.check()?;
        self.bytes.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.check()?;
        self.bytes.sync_data().inspect_err(|error| self.durability.sync_failed(error))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.check()?;
        if offset == 0 {
            // Before the attempt: one that fails may have written all the same.
            self.durability.header_written.store(true, Ordering::Release);
        }
        self.bytes.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.bytes.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.bytes.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.bytes.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.bytes.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.bytes.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.bytes.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.bytes.query_lock_range(start, end)
    }
}
