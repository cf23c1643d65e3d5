//! The writer thread of the audit log and its queue.
//!
//! A request waits for the queue a moment at most. When the disk cannot keep up, events are lost and counted rather
//! than requests.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::Event;
use super::rotation::{RotatedFile, Rotation};
use super::sample::{self, Admitted, Sampler};

/// What may be waiting to be written, in KiB.
const QUEUE_KIB: u32 = 64 << 10;
/// How long a request waits when that much is waiting.
const WAIT: Duration = Duration::from_millis(100);
/// How long the end of the log waits for what is still to be written.
const LAST_WAIT: Duration = Duration::from_secs(5);
/// How much is written at once.
const BATCH_BYTES: usize = 256 << 10;
/// How long the next events are gathered for, so that a busy server does not wake the thread for each.
const GATHER: Duration = Duration::from_millis(2);
/// How often a disk that refuses is complained about.
const COMPLAIN_EVERY: Duration = Duration::from_secs(60);

/// How many older files of requests without credentials are kept.
const MOST_UNAUTHENTICATED_FILES: u32 = 2;
/// The annotation of an event with the number of those before it that were left out.
const LEFT_OUT: &str = "groundplane.dev/events-left-out";

/// Why there is no audit log.
#[derive(Debug, thiserror::Error)]
pub enum AuditLogError {
    /// The file cannot be written.
    #[error("cannot write the audit log {}: check that its directory exists and is writable by this user", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// There is no thread to write it.
    #[error("cannot start the thread that writes the audit log")]
    Thread(#[source] std::io::Error),
}

/// Writes events to a file.
///
/// Requests without credentials have a file of their own, of a quarter of the size: nobody who may do nothing pushes out what
/// others did. Of those requests, and of those that are refused to one user, only so many a second are written.
pub struct AuditLog {
    main: Lane,
    unauthenticated: OnceLock<Option<Lane>>,
    rotation: Rotation,
    sampler: Sampler,
    counts: Arc<AuditCounts>,
}

/// One file with its queue and its thread.
struct Lane {
    path: PathBuf,
    sender: Mutex<Option<UnboundedSender<Waiting>>>,
    done: Mutex<Option<oneshot::Receiver<()>>>,
    room: Arc<Semaphore>,
    counts: Arc<AuditCounts>,
}

/// What became of events.
#[derive(Debug, Default)]
pub struct AuditCounts {
    written: AtomicU64,
    dropped: AtomicU64,
    failed: AtomicU64,
    left_out: AtomicU64,
}

impl AuditCounts {
    /// How many were left out because there were too many of one user, or without credentials.
    pub fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }

    /// How many are in the file.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// How many were lost because too many were waiting.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// How many were lost because the file could not be written.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }
}

struct Waiting {
    event: Box<Event>,
    _room: OwnedSemaphorePermit,
}

impl AuditLog {
    /// Opens the file and starts the thread that writes it.
    pub fn open(path: &Path, rotation: Rotation) -> Result<AuditLog, AuditLogError> {
        let counts = Arc::new(AuditCounts::default());
        let main = Lane::open(path, rotation, counts.clone())?;
        let sampler = Sampler::default();
        Ok(AuditLog { main, unauthenticated: OnceLock::new(), rotation, sampler, counts })
    }

    /// The file that is written now.
    pub fn path(&self) -> &Path {
        &self.main.path
    }

    /// The file of requests without credentials, beside the other.
    pub fn unauthenticated_path(&self) -> PathBuf {
        let stem = self.main.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut name = format!("{stem}-unauthenticated");
        if let Some(extension) = self.main.path.extension() {
            name = format!("{name}.{}", extension.to_string_lossy());
        }
        self.main.path.with_file_name(name)
    }

    /// Writes an event down. When too much is waiting it waits a moment, then the event is lost and counted.
    pub async fn write(&self, event: Event) {
        if let Some((lane, event)) = self.lane_of(event) {
            lane.write(event).await;
        }
    }

    /// The same without waiting, for places that cannot.
    pub fn write_now(&self, event: Event) {
        if let Some((lane, event)) = self.lane_of(event) {
            lane.write_now(event);
        }
    }

    /// The file that an event goes to, unless it is left out.
    fn lane_of(&self, mut event: Event) -> Option<(&Lane, Event)> {
        match self.sampler.admit(&event, Instant::now()) {
            Admitted::No => {
                self.counts.left_out.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            Admitted::After(0) => {}
            Admitted::After(left_out) => {
                event.annotations.insert(LEFT_OUT.to_owned(), left_out.to_string());
            }
        }
        if !sample::is_unauthenticated(&event) {
            return Some((&self.main, event));
        }
        let lane = self.unauthenticated.get_or_init(|| {
            let rotation = Rotation {
                max_bytes: (self.rotation.max_bytes / 4).max(1),
                keep: self.rotation.keep.min(MOST_UNAUTHENTICATED_FILES),
            };
            let opened = Lane::open(&self.unauthenticated_path(), rotation, self.counts.clone());
            opened
                .map_err(|error| tracing::error!(%error, "requests without credentials are not audited"))
                .ok()
        });
        if lane.is_none() {
            self.counts.failed.fetch_add(1, Ordering::Relaxed);
        }
        Some((lane.as_ref()?, event))
    }

    /// What became of the events so far.
    pub fn counts(&self) -> &AuditCounts {
        &self.counts
    }

    /// Ends the log once everything that was given to it is in the file, or says that it took too long.
    pub async fn close(&self) -> bool {
        let main = self.main.close().await;
        match self.unauthenticated.get() {
            Some(Some(lane)) => lane.close().await && main,
            _ => main,
        }
    }

    #[cfg(test)]
    pub(super) fn room_is_taken(&self) -> bool {
        self.main.room.available_permits() < QUEUE_KIB as usize
    }

    #[cfg(test)]
    pub(super) async fn take_all_room(&self) -> Option<OwnedSemaphorePermit> {
        self.main.room.clone().acquire_many_owned(QUEUE_KIB).await.ok()
    }
}

impl Lane {
    fn open(path: &Path, rotation: Rotation, counts: Arc<AuditCounts>) -> Result<Lane, AuditLogError> {
        let file = RotatedFile::open(path, rotation)
            .map_err(|source| AuditLogError::Open { path: path.to_owned(), source })?;
        let (sender, receiver) = mpsc::unbounded_channel();
        let (finished, done) = oneshot::channel();
        let writer = Writer { file, counts: counts.clone(), complained: None };
        std::thread::Builder::new()
            .name("audit".to_owned())
            .spawn(move || {
                writer.run(receiver);
                // Nobody may be waiting any more.
                let _ = finished.send(());
            })
            .map_err(AuditLogError::Thread)?;
        Ok(Lane {
            path: path.to_owned(),
            sender: Mutex::new(Some(sender)),
            done: Mutex::new(Some(done)),
            room: Arc::new(Semaphore::new(QUEUE_KIB as usize)),
            counts,
        })
    }

    async fn write(&self, event: Event) {
        let room = self.room.clone().acquire_many_owned(kib(&event));
        match tokio::time::timeout(WAIT, room).await {
            Ok(Ok(room)) => self.send(event, room),
            _ => self.drop_one(),
        }
    }

    fn write_now(&self, event: Event) {
        match self.room.clone().try_acquire_many_owned(kib(&event)) {
            Ok(room) => self.send(event, room),
            Err(_) => self.drop_one(),
        }
    }

    async fn close(&self) -> bool {
        // The writer ends when all senders are dropped.
        self.sender.lock().unwrap_or_else(PoisonError::into_inner).take();
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner).take();
        match done {
            Some(done) => tokio::time::timeout(LAST_WAIT, done).await.is_ok(),
            None => true,
        }
    }

    fn send(&self, event: Event, room: OwnedSemaphorePermit) {
        let waiting = Waiting { event: Box::new(event), _room: room };
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = sender.as_ref().is_some_and(|sender| sender.send(waiting).is_ok());
        if !sent {
            self.drop_one();
        }
    }

    fn drop_one(&self) {
        self.counts.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuditLog").field("counts", &self.counts).finish_non_exhaustive()
    }
}

fn kib(event: &Event) -> u32 {
    u32::try_from(event.weight().div_ceil(1024)).unwrap_or(u32::MAX).min(QUEUE_KIB)
}

struct Writer {
    file: RotatedFile,
    counts: Arc<AuditCounts>,
    complained: Option<Instant>,
}

impl Writer {
    fn run(mut self, mut receiver: UnboundedReceiver<Waiting>) {
        while let Some(first) = receiver.blocking_recv() {
            let mut lines = first.event.to_line();
            let mut count = 1;
            drop(first);
            while lines.len() < BATCH_BYTES
                && let Ok(next) = receiver.try_recv()
            {
                lines.extend(next.event.to_line());
                count += 1;
            }
            match self.file.append(&lines) {
                Ok(()) => self.counts.written.fetch_add(count, Ordering::Relaxed),
                Err(error) => {
                    self.complain(&error);
                    self.counts.failed.fetch_add(count, Ordering::Relaxed)
                }
            };
            std::thread::sleep(GATHER);
        }
        if let Err(error) = self.file.sync() {
            tracing::warn!(%error, "failed to sync the audit log; its last events may not be on disk");
        }
    }

    fn complain(&mut self, error: &std::io::Error) {
        if self.complained.is_none_or(|at| at.elapsed() >= COMPLAIN_EVERY) {
            self.complained = Some(Instant::now());
            tracing::error!(%error, "failed to write the audit log; events are lost until it can be written again");
        }
    }
}
