//! A disk in memory, which outlives the process that writes to it.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::StorageBackend;

use crate::backup;
use crate::embedded::{Device, fill};
use crate::error::Result;

/// What a simulated store has on disk. Clones are the same disk; [`Disk::copy`] is another one.
#[derive(Clone, Default)]
pub struct Disk(Arc<Mutex<Content>>);

#[derive(Default)]
struct Content {
    bytes: Vec<u8>,
    /// How often it was opened: whoever opened it before writes nothing any more.
    opened: u64,
}

impl Disk {
    /// An empty disk.
    pub fn new() -> Disk {
        Disk::default()
    }

    /// Another disk that holds the same.
    pub fn copy(&self) -> Disk {
        let bytes = self.lock().bytes.clone();
        Disk(Arc::new(Mutex::new(Content { bytes, opened: 0 })))
    }

    /// A disk with the store that a backup holds.
    pub fn restored(input: &mut (dyn Read + Send)) -> Result<(Disk, backup::Summary)> {
        let disk = Disk::new();
        let filled = fill(&(Arc::new(disk.clone()) as Arc<dyn Device>), input)?;
        Ok((disk, filled))
    }

    fn lock(&self) -> MutexGuard<'_, Content> {
        // No code under this lock panics half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Disk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Disk").field("bytes", &self.lock().bytes.len()).finish_non_exhaustive()
    }
}

impl Device for Disk {
    fn name(&self) -> String {
        "the simulated disk".to_owned()
    }

    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        let mut content = self.lock();
        content.opened += 1;
        Ok(Box::new(Opened { disk: self.clone(), number: content.opened }))
    }

    fn distrust(&self, _why: &str) -> io::Result<()> {
        Ok(())
    }

    fn distrusted(&self) -> io::Result<Option<String>> {
        Ok(None)
    }

    fn trust(&self) -> io::Result<()> {
        Ok(())
    }
}

/// The disk as one process has it open.
#[derive(Debug)]
struct Opened {
    disk: Disk,
    number: u64,
}

impl Opened {
    fn content(&self) -> io::Result<MutexGuard<'_, Content>> {
        let content = self.disk.lock();
        match content.opened == self.number {
            true => Ok(content),
            false => Err(io::Error::other("the process that opened the disk was stopped")),
        }
    }
}

impl StorageBackend for Opened {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.lock().bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let content = self.content()?;
        let start = offset as usize;
        let found = content.bytes.get(start..start + out.len());
        out.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.content()?.bytes.resize(len as usize, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.content().map(drop)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut content = self.content()?;
        let start = offset as usize;
        let place = content.bytes.get_mut(start..start + data.len());
        place.ok_or(io::ErrorKind::UnexpectedEof)?.copy_from_slice(data);
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        Ok(())
    }
}
