//! The bytes under the database, and whether what was written last may count without our knowing.

use std::io;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::{BackendError, StorageBackend};

/// Whether a batch may have reached the disk, in the eyes of somebody who can't look. It counts once the file's head,
/// which names it, was written and synced. Whatever fails after somebody asked for that sync leaves the question
/// open: the sync itself, or the cutting off of the file's unused end that the database does behind it.
#[derive(Debug, Default)]
pub(crate) struct Doubt {
    head_written: AtomicBool,
    head_synced: AtomicBool,
}

impl Doubt {
    /// Forgets what was written so far, before the next batch.
    pub fn clear(&self) {
        self.head_written.store(false, Ordering::Release);
        self.head_synced.store(false, Ordering::Release);
    }

    /// Whether the batch may be there though its writing failed.
    pub fn remains(&self) -> bool {
        self.head_synced.load(Ordering::Acquire)
    }
}

/// A storage that notes when a batch begins to be in doubt.
#[derive(Debug)]
pub(crate) struct Storage {
    pub bytes: Box<dyn StorageBackend>,
    pub doubt: Arc<Doubt>,
}

impl StorageBackend for Storage {
    fn len(&self) -> io::Result<u64> {
        self.bytes.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.bytes.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.bytes.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        // A file that grows is synced too, before the head is written: that makes nothing count.
        if self.doubt.head_written.load(Ordering::Acquire) {
            self.doubt.head_synced.store(true, Ordering::Release);
        }
        self.bytes.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if offset == 0 {
            self.doubt.head_written.store(true, Ordering::Release);
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
