//! Bare redb doing the least that an engine of revisions must do: put the object, put it into a log of
//! revisions, trim the log; one durable transaction for all that is queued.

use std::path::Path;
use std::sync::Arc;

use redb::{Database, ReadableDatabase, TableDefinition};
use tokio::sync::{mpsc, oneshot};

use crate::Outcome;
use crate::load::Subject;
use crate::objects;

const OBJECTS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("objects");
const LOG: TableDefinition<u64, &[u8]> = TableDefinition::new("log");
const META: TableDefinition<&str, u64> = TableDefinition::new("meta");

/// Revisions that stay in the log.
pub const LOG_LENGTH: u64 = 10_000;
/// As in our committer.
const GROUP: usize = 1_024;

pub struct BareRedb {
    database: Arc<Database>,
    queue: mpsc::UnboundedSender<Job>,
}

struct Job {
    key: String,
    body: Vec<u8>,
    durable: oneshot::Sender<()>,
}

impl BareRedb {
    pub fn open(folder: &Path, cache: usize) -> Outcome<BareRedb> {
        let database = Database::builder().set_cache_size(cache).create(folder.join("bare.redb"))?;
        let database = Arc::new(database);
        let (queue, jobs) = mpsc::unbounded_channel();
        let writer = database.clone();
        std::thread::Builder::new().name("bare-commit".into()).spawn(move || commit(&writer, jobs))?;
        Ok(BareRedb { database, queue })
    }

    /// The first byte and the length of an object, in a transaction of its own.
    pub fn get(&self, key: &[u8]) -> Outcome<Option<(u8, usize)>> {
        let objects = self.database.begin_read()?.open_table(OBJECTS)?;
        let found = objects.get(key)?;
        Ok(found.map(|value| (value.value()[0], value.value().len())))
    }

    /// Copies all objects under `prefix` into one buffer; tells how many.
    pub fn list(&self, prefix: &[u8], into: &mut Vec<u8>) -> Outcome<usize> {
        let objects = self.database.begin_read()?.open_table(OBJECTS)?;
        let mut count = 0;
        for row in objects.range(prefix..)? {
            let (key, value) = row?;
            if !key.value().starts_with(prefix) {
                break;
            }
            into.extend_from_slice(value.value());
            count += 1;
        }
        Ok(count)
    }
}

impl Subject for BareRedb {
    async fn write(&self, number: usize, body: Vec<u8>) -> Outcome {
        let (durable, wait) = oneshot::channel();
        let job = Job { key: objects::key(number), body, durable };
        self.queue.send(job).map_err(|_| "bare redb has stopped")?;
        Ok(wait.await?)
    }
}

fn commit(database: &Database, mut jobs: mpsc::UnboundedReceiver<Job>) {
    let mut revision = 0;
    while let Some(first) = jobs.blocking_recv() {
        let mut group = vec![first];
        while group.len() < GROUP
            && let Ok(job) = jobs.try_recv()
        {
            group.push(job);
        }
        if let Err(error) = write(database, &group, &mut revision) {
            // The writers see their answer dropped, and end the run.
            return eprintln!("bare redb: {error}");
        }
        for job in group {
            let _ = job.durable.send(());
        }
    }
}

fn write(database: &Database, group: &[Job], revision: &mut u64) -> Outcome {
    let write = database.begin_write()?;
    {
        let mut objects = write.open_table(OBJECTS)?;
        let mut log = write.open_table(LOG)?;
        for job in group {
            *revision += 1;
            objects.insert(job.key.as_bytes(), job.body.as_slice())?;
            log.insert(*revision, job.body.as_slice())?;
            if let Some(old) = revision.checked_sub(LOG_LENGTH) {
                log.remove(old)?;
            }
        }
        write.open_table(META)?.insert("revision", *revision)?;
    }
    Ok(write.commit()?)
}
