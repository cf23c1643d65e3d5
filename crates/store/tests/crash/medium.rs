//! A disk under a page cache, both in memory. Reads see the cache; a sync moves what is dirty to the disk; a failed
//! sync loses pages as Linux does; a power failure leaves the disk, with any part of what was not synced.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use redb::StorageBackend;
use store::Device;

use super::dice::Dice;

pub const PAGE: usize = 4_096;
/// What a disk writes as a whole or not at all.
pub const SECTOR: usize = 512;

/// One thing that was done to the storage.
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
    /// A write to pages that take up room already.
    Write,
    /// A write that takes up more room.
    Grow,
    SetLen,
    Sync,
}

/// What a full disk refuses.
pub const FULL: &[Kind] = &[Kind::Grow, Kind::SetLen];
/// What fails without a sync being asked for.
pub const WRITES: &[Kind] = &[Kind::Write, Kind::Grow, Kind::SetLen];
/// What changes something.
pub const CHANGES: &[Kind] = &[Kind::Write, Kind::Grow, Kind::SetLen, Kind::Sync];
/// Everything.
pub const ALL: &[Kind] = &[Kind::Read, Kind::Write, Kind::Grow, Kind::SetLen, Kind::Sync];

/// From the operation `at` on (of these kinds, counted from 1 when it is set), operations fail.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    pub at: usize,
    pub error: Failure,
    /// Until it is lifted; else that one operation only.
    pub lasting: bool,
    /// What counts and fails.
    pub kinds: &'static [Kind],
    pub loss: Loss,
}

/// How an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    Io,
    Full,
    /// A bug instead of a disk: the operation panics.
    Panic,
}

/// What a failed sync does to dirty pages, and a failed write to what it should have written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Nothing happens: what was dirty stays dirty.
    Nothing,
    /// Some pages reach the disk, the rest does not; all are clean, and the cache shows them as written (ext4). A failed
    /// write has written all the same.
    Hidden,
    /// Some pages reach the disk; the cache shows what the disk has (XFS, btrfs). A failed write has written a part.
    Shown,
}

/// The machine's storage. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Medium(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    cache: Vec<u8>,
    disk: Vec<u8>,
    /// Every content that a page had since the last sync: any of them may be on disk already.
    dirty: BTreeMap<usize, Vec<Box<[u8]>>>,
    /// Every length since the last sync.
    lengths: Vec<usize>,
    /// The pages that take up room.
    taken: BTreeSet<usize>,
    note: Option<String>,
    /// Pages were lost while nobody was looking. The next sync says so, once.
    unreported: bool,
    /// Which process has it: the one before was killed, and does nothing more to it.
    process: u64,
    chance: Option<Dice>,
    record: Option<Vec<Operation>>,
    fault: Option<Fault>,
    done: usize,
    refused: Vec<Kind>,
    reads: usize,
}

impl Medium {
    /// One whose disk holds `bytes`.
    pub fn holding(bytes: Vec<u8>) -> Medium {
        let taken = (0..bytes.len().div_ceil(PAGE)).filter(|page| !is_empty(&bytes, *page)).collect();
        Medium(Arc::new(Mutex::new(Inner { cache: bytes.clone(), disk: bytes, taken, ..Inner::default() })))
    }

    /// One with an empty database, as the engine makes it under another name before it opens it.
    pub fn with_empty_database() -> Medium {
        static EMPTY: OnceLock<Vec<u8>> = OnceLock::new();
        let empty = EMPTY.get_or_init(|| {
            let medium = Medium::default();
            let handle = Handle { medium: medium.clone(), process: 0 };
            drop(redb::Database::builder().create_with_backend(handle).expect("an empty database"));
            medium.bytes()
        });
        Medium::holding(empty.clone())
    }

    /// What is up to chance comes from these dice.
    pub fn with_chance(self, dice: Dice) -> Medium {
        self.inner().chance = Some(dice);
        self
    }

    /// Notes every operation from now on.
    pub fn record(&self) {
        self.inner().record = Some(Vec::new());
    }

    /// What reads see now.
    pub fn bytes(&self) -> Vec<u8> {
        self.inner().cache.clone()
    }

    /// For [`store::Embedded::open_on`], by a process that lives until the next kill.
    pub fn device(&self) -> Arc<dyn Device> {
        Arc::new(Handle { medium: self.clone(), process: self.inner().process })
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

    /// How often it was read.
    pub fn reads(&self) -> usize {
        self.inner().reads
    }

    /// The process that has it is killed. The cache stays, and so does what is dirty.
    pub fn kill(&self) {
        self.inner().process += 1;
    }

    /// The process is killed, and then the kernel fails to write what it left dirty.
    pub fn kill_and_lose(&self, loss: Loss) {
        let mut inner = self.inner();
        inner.process += 1;
        inner.unreported = !inner.dirty.is_empty() && loss != Loss::Nothing;
        inner.lose(loss);
    }

    /// Power fails: the cache is lost. Of what was not synced, any part may be on disk, in any order, and torn.
    pub fn power_failure(&self) {
        let inner = &mut *self.inner();
        inner.process += 1;
        inner.unreported = false;
        let dice = inner.chance.as_mut().expect("chance decides what a power failure leaves");
        // The file system's journal keeps the order of lengths.
        let kept = dice.below(inner.lengths.len() as u64 + 1) as usize;
        inner.lengths.drain(..).take(kept).for_each(|length| inner.disk.resize(length, 0));
        for (page, versions) in std::mem::take(&mut inner.dirty) {
            let any = |dice: &mut Dice| dice.below(versions.len() as u64) as usize;
            let whole = any(dice);
            let fate = dice.below(4);
            for sector in sectors(page, inner.disk.len()) {
                let version = match fate {
                    // Lost.
                    0 => continue,
                    // Torn: of each sector what was written at some time, or nothing.
                    1 if dice.one_in(2) => continue,
                    1 => any(dice),
                    _ => whole,
                };
                let within = sector - page * PAGE..sector - page * PAGE + SECTOR;
                inner.disk[sector..sector + SECTOR].copy_from_slice(&versions[version][within]);
            }
        }
        inner.cache = inner.disk.clone();
        // It may not have been synced either.
        if dice.one_in(2) {
            inner.note = None;
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Whether an operation may go on; else what it does all the same, and the error.
    fn allow(&mut self, kind: Kind) -> Result<(), (Loss, io::Error)> {
        let Some(fault) = self.fault.filter(|fault| fault.kinds.contains(&kind)) else { return Ok(()) };
        self.done += 1;
        if self.done < fault.at || (self.done > fault.at && !fault.lasting) {
            return Ok(());
        }
        self.refused.push(kind);
        let error = match fault.error {
            // As the operating system tells it.
            Failure::Io => io::Error::from_raw_os_error(5),
            Failure::Full => io::Error::from_raw_os_error(28),
            Failure::Panic => panic!("the test says so"),
        };
        Err((fault.loss, error))
    }

    fn note(&mut self, operation: Operation) {
        if let Some(record) = &mut self.record {
            record.push(operation);
        }
    }

    fn write(&mut self, offset: usize, data: &[u8]) {
        if self.cache.len() < offset + data.len() {
            self.lengths.push(offset + data.len());
        }
        put(&mut self.cache, offset, data);
        for page in offset / PAGE..(offset + data.len()).div_ceil(PAGE) {
            let end = self.cache.len().min((page + 1) * PAGE);
            let mut content = vec![0; PAGE].into_boxed_slice();
            content[..end - page * PAGE].copy_from_slice(&self.cache[page * PAGE..end]);
            self.dirty.entry(page).or_default().push(content);
            self.taken.insert(page);
        }
    }

    fn set_len(&mut self, length: usize) {
        self.cache.resize(length, 0);
        self.lengths.push(length);
        let beyond = length.div_ceil(PAGE);
        self.dirty.split_off(&beyond);
        self.taken.split_off(&beyond);
    }

    fn sync(&mut self) {
        self.lengths.drain(..).for_each(|length| self.disk.resize(length, 0));
        for (page, _) in std::mem::take(&mut self.dirty) {
            let end = self.cache.len().min((page + 1) * PAGE);
            self.disk[page * PAGE..end].copy_from_slice(&self.cache[page * PAGE..end]);
        }
    }

    /// Every dirty page is clean afterwards; half of them are on disk.
    fn lose(&mut self, loss: Loss) {
        if loss == Loss::Nothing {
            return;
        }
        self.lengths.drain(..).for_each(|length| self.disk.resize(length, 0));
        for (page, _) in std::mem::take(&mut self.dirty) {
            let pages = page * PAGE..self.cache.len().min((page + 1) * PAGE);
            let reached = self.chance.as_mut().is_some_and(|dice| dice.one_in(2));
            if reached {
                self.disk[pages.clone()].copy_from_slice(&self.cache[pages]);
            } else if loss == Loss::Shown {
                self.cache[pages.clone()].copy_from_slice(&self.disk[pages]);
            }
        }
    }
}

/// The medium as one process has it.
#[derive(Debug)]
struct Handle {
    medium: Medium,
    process: u64,
}

impl Handle {
    fn inner(&self) -> io::Result<MutexGuard<'_, Inner>> {
        let inner = self.medium.inner();
        match inner.process == self.process {
            true => Ok(inner),
            false => Err(io::Error::other("this process is dead")),
        }
    }
}

impl Device for Handle {
    fn name(&self) -> String {
        "the disk of the test".into()
    }

    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        Ok(Box::new(Handle { medium: self.medium.clone(), process: self.process }))
    }

    fn distrust(&self, why: &str) -> io::Result<()> {
        self.inner()?.note = Some(why.to_owned());
        Ok(())
    }

    fn distrusted(&self) -> io::Result<Option<String>> {
        Ok(self.inner()?.note.clone())
    }

    fn trust(&self) -> io::Result<()> {
        self.inner()?.note = None;
        Ok(())
    }
}

impl StorageBackend for Handle {
    fn len(&self) -> io::Result<u64> {
        Ok(self.inner()?.cache.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut inner = self.inner()?;
        inner.reads += 1;
        inner.allow(Kind::Read).map_err(|(_, error)| error)?;
        let offset = offset as usize;
        let found = inner.cache.get(offset..offset + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(found);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut inner = self.inner()?;
        if let Err((loss, error)) = inner.allow(Kind::SetLen) {
            if loss == Loss::Hidden {
                inner.set_len(len as usize);
            }
            return Err(error);
        }
        inner.note(Operation::SetLen(len as usize));
        inner.set_len(len as usize);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut inner = self.inner()?;
        if let Err((loss, error)) = inner.allow(Kind::Sync) {
            inner.lose(loss);
            return Err(error);
        }
        if std::mem::take(&mut inner.unreported) {
            inner.refused.push(Kind::Sync);
            return Err(io::Error::from_raw_os_error(5));
        }
        inner.note(Operation::Sync);
        inner.sync();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut inner = self.inner()?;
        let offset = offset as usize;
        let pages = offset / PAGE..(offset + data.len()).div_ceil(PAGE);
        let grows = pages.clone().any(|page| !inner.taken.contains(&page));
        if let Err((loss, error)) = inner.allow(if grows { Kind::Grow } else { Kind::Write }) {
            match loss {
                Loss::Nothing => {}
                Loss::Hidden => inner.write(offset, data),
                Loss::Shown => inner.write(offset, &data[..data.len() / 2 / PAGE * PAGE]),
            }
            return Err(error);
        }
        inner.note(Operation::Write { offset, data: data.into() });
        inner.write(offset, data);
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

/// Where the sectors of a page begin, as far as they are whole within `length`.
fn sectors(page: usize, length: usize) -> impl Iterator<Item = usize> {
    let end = length.min((page + 1) * PAGE);
    (page * PAGE..end).step_by(SECTOR).filter(move |sector| sector + SECTOR <= end)
}

fn is_empty(bytes: &[u8], page: usize) -> bool {
    let page = &bytes[page * PAGE..bytes.len().min((page + 1) * PAGE)];
    page == &[0; PAGE][..page.len()]
}
