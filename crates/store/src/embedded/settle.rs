//! Before a file is opened: whatever reads of it show is made to be on disk.

use std::io;
use std::ops::Bound;
use std::sync::Arc;

use redb::{BackendError, StorageBackend};

use super::device::Device;
use super::storage::Storage;

const PAGE: usize = 4_096;
const CHUNK: usize = 256 * PAGE;

/// What there was to settle.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// Nothing: a sync succeeded, and none had failed before.
    Synced,
    /// A sync had failed. Everything was written and synced again, and must be checked now.
    Rewritten,
    /// Another process has it open.
    InUse,
}

/// Syncs the storage: that reports a write which the kernel could not make after the last process was gone. If an
/// earlier sync failed, all of it is written again first, since pages may be in the page cache only.
pub(crate) fn settle(storage: &Storage, device: &Arc<dyn Device>) -> io::Result<Settled> {
    let Some(why) = device.distrusted()? else {
        storage.sync_data()?;
        return Ok(Settled::Synced);
    };
    let everything = (Bound::Unbounded, Bound::Unbounded);
    // Not every storage knows locks; the database, which asks next, decides what that means.
    let locked = match storage.try_lock_range(everything.0, everything.1) {
        Ok(true) => true,
        Ok(false) => return Ok(Settled::InUse),
        Err(BackendError::Unsupported) => false,
        Err(error) => return Err(io::Error::other(error)),
    };
    tracing::warn!(
        reason = why,
        "an earlier sync failed: the store's file is written again before it is used"
    );
    rewrite(storage)?;
    device.trust()?;
    if locked {
        storage.unlock_range(everything.0, everything.1).map_err(io::Error::other)?;
    }
    Ok(Settled::Rewritten)
}

/// Writes all of it again as it reads, so that the sync behind it proves that this is what the disk holds. The header
/// comes last: until then it names what it named before.
fn rewrite(storage: &Storage) -> io::Result<()> {
    let length = storage.len()?;
    let mut offset = PAGE as u64;
    let mut chunk = vec![0; CHUNK];
    while offset < length {
        let here = CHUNK.min((length - offset) as usize);
        storage.read(offset, &mut chunk[..here])?;
        write_pages(storage, offset, &chunk[..here])?;
        offset += here as u64;
    }
    storage.sync_data()?;

    let header = &mut chunk[..PAGE.min(length as usize)];
    storage.read(0, header)?;
    storage.write(0, header)?;
    storage.sync_data()
}

/// Writes what is not empty: holes stay holes, and a full disk is not asked for more. No page that counts is empty.
fn write_pages(storage: &Storage, offset: u64, chunk: &[u8]) -> io::Result<()> {
    let pages: Vec<&[u8]> = chunk.chunks(PAGE).collect();
    let mut at = 0;
    for run in pages.chunk_by(|one, next| is_empty(one) == is_empty(next)) {
        let length: usize = run.iter().map(|page| page.len()).sum();
        if !is_empty(run[0]) {
            storage.write(offset + at as u64, &chunk[at..at + length])?;
        }
        at += length;
    }
    Ok(())
}

fn is_empty(page: &[u8]) -> bool {
    page == &[0; PAGE][..page.len()]
}
