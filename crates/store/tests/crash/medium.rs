//! A disk in memory that notes what is done to it, and fails when it is told to.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::StorageBackend;

/// One thing that was done to the disk.
#[derive(Debug, Clone)]
pub enum Operation {
    Write { offset: usize, data: Arc<[u8]> },
    SetLen(usize),
    Sync,
}

/// What kind of thing was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    SetLen,
    Sync,
}

/// From the operation `at` on (counted from 1 when it is set), operations fail.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    pub at: usize,
    pub error: io::ErrorKind,
    /// Until it is lifted; else that one operation only.
    pub lasting: bool,
    /// Whether reading counts and fails too.
    pub reads: bool,
}

/// The disk. Clones are the same disk.
#[derive(Debug, Clone, Default)]
pub struct Medium(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    bytes: Vec<u8>,
    record: Option<Vec<Operation>>,
    fault: Option<Fault>,
    done: usize,
    refused: Vec<Kind>,
}

impl Medium {
    /// A disk that holds `bytes`.
    pub fn holding(bytes: Vec<u8>) -> Medium {
        Medium(Arc::new(Mutex::new(Inner { bytes, ..Inner::default() })))
    }

    /// A disk with an empty database, as the engine makes it under another name before it opens it.
    pub fn with_empty_database() -> Medium {
        let medium = Medium::default();
        drop(redb::Database::builder().create_with_backend(medium.clone()).expect("an empty database"));
        medium
    }

    /// Notes every operation from now on.
    pub fn record(&self) {
        self.inner().record = Some(Vec::new());
    }

    /// What it holds now.
    pub fn bytes(&self) -> Vec<u8> {
        self.inner().bytes.clone()
    }

    /// How [`store::Embedded::open_on`] gets at it.
    pub fn storage(&self) -> impl Fn() -> Box<dyn StorageBackend> + Send + Sync + 'static {
        let medium = self.clone();
        move || Box::new(medium.clone())
    }

    /// How many operations were noted so far.
    pub fn recorded(&self) -> usize {
        self.inner().record.as_ref().map_or(0, Vec::len)
    }

    /// The operations noted so far.
    pub fn operations(&self) -> Vec<Operation> {
        self.inner().record.clone().unwrap_or_default()
    }

    /// Fails from now on as told.
    pub fn fail(&self, fault: Fault) {
        let mut inner = self.inner();
        inner.done = 0;
        inner.refused.clear();
        inner.fault = Some(fault);
    }

    /// Works again. Gives what was refused meanwhile.
    pub fn heal(&self) -> Vec<Kind> {
        let mut inner = self.inner();
        inner.fault = None;
        std::mem::take(&mut inner.refused)
    }

    /// What was refused since the fault was set.
    pub fn refused(&self) -> Vec<Kind> {
        self.inner().refused.clone()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn allow(&mut self, kind: Kind) -> io::Result<()> {
        let Some(fault) = self.fault else { return Ok(()) };
        if kind == Kind::Read && !fault.reads {
            return Ok(());
        }
        self.done += 1;
        if self.done == fault.at || (fault.lasting && self.done > fault.at) {
            self.refused.push(kind);
            return Err(io::Error::new(fault.error, "the test says so"));
        }
        Ok(())
    }

    fn note(&mut self, operation: Operation) {
        if let Some(record) = &mut self.record {
            record.push(operation);
        }
    }
}

impl StorageBackend for Medium {
    fn len(&self) -> io::Result<u64> {
        Ok(self.inner().bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut inner = self.inner();
        inner.allow(Kind::Read)?;
        let offset = offset as usize;
        let found = inner.bytes.get(offset..offset + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(found);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut inner = self.inner();
        inner.allow(Kind::SetLen)?;
        inner.note(Operation::SetLen(len as usize));
        inner.bytes.resize(len as usize, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut inner = self.inner();
        inner.allow(Kind::Sync)?;
        inner.note(Operation::Sync);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut inner = self.inner();
        inner.allow(Kind::Write)?;
        inner.note(Operation::Write { offset: offset as usize, data: data.into() });
        put(&mut inner.bytes, offset as usize, data);
        Ok(())
    }
}

/// Writes as a file does: beyond the end it grows, and the hole reads as zeros.
pub fn put(bytes: &mut Vec<u8>, offset: usize, data: &[u8]) {
    let end = offset + data.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[offset..end].copy_from_slice(data);
}
