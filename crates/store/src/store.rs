//! The store's contract, the same on every engine.

use std::io::Write as Output;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::backup::{self, manifest::KeyNote};
use crate::contention::Contention;
use crate::entry::Entry;
use crate::environment::Environment;
use crate::error::Result;
use crate::history::archive::{Archive, Later, Order};
use crate::history::checkpoint::{self, Checkpoint};
use crate::history::past::Past;
use crate::history::verify::{self, Report};
use crate::history::{At, Change, ChangeAt, Changes, Cursor, Deed, DeedMark, Touched, deeds};
use crate::key::Key;
use crate::keys;
use crate::lease::Acquired;
use crate::limits::Limits;
use crate::memory::Memory;
use crate::memory::watch::Watch;
use crate::sign::{PublicKey, SigningKey};
use crate::snapshot::Snapshot;
use crate::transaction::{Committed, Fence, Transaction};
use crate::version::{Revision, Version};

/// Decides on a transaction while nothing else can happen; `None` when it decides against one.
pub type Decide = Box<dyn FnOnce(Snapshot) -> Option<Transaction> + Send>;

/// What every engine is made of. Only this crate makes one.
pub struct Parts {
    pub(crate) memory: Memory,
    pub(crate) archive: Arc<dyn Archive>,
    pub(crate) signing: Arc<SigningKey>,
    /// The records of history take this many bytes at most; lowered while room is short.
    pub(crate) history_bytes: AtomicU64,
    pub(crate) environment: Environment,
    /// Held by whoever rewrites or copies the past.
    pub(crate) maintenance: tokio::sync::Mutex<()>,
    /// Whether everything is committed by one thread of this process, which can decide where nothing else happens.
    pub(crate) has_one_committer: bool,
    /// Where transactions wait that would be in each other's way.
    pub(crate) contention: Contention,
    /// Until then nothing is let go of for being old.
    pub(crate) ages_from: Option<Instant>,
}

/// A store on which nothing was written for so long may have been opened by a clock that is wrong.
const LONG_AGO: u64 = 24 * 3_600_000_000;
/// How long it is waited then for the clock to be set right.
const UNTIL_SET: Duration = Duration::from_secs(3600);

impl Parts {
    /// When what is old may go, of a store that is opened now. After a machine's start its clock may be wrong for a while.
    pub(crate) async fn ages_from(archive: &dyn Archive, environment: &Environment) -> Option<Instant> {
        // Damage is told by verification, and is no reason not to open.
        let newest = archive.rows(None, Order::NewestFirst, 1).await.unwrap_or_default();
        let newest = newest.iter().flat_map(|row| &row.entries).map(|line| line.time).max();
        let clock = &environment.clock;
        let is_long_ago = newest.is_some_and(|newest| clock.now() > newest.saturating_add(LONG_AGO));
        is_long_ago.then(|| clock.instant() + UNTIL_SET)
    }

    /// Whether it is still waited for a clock that may be wrong.
    pub(crate) fn is_waiting(&self) -> bool {
        self.ages_from.is_some_and(|from| self.environment.clock.instant() < from)
    }

    fn past(&self, now: Snapshot) -> Past<'_> {
        Past { archive: &*self.archive, now }
    }
}

/// Objects under keys, with revisions, guarded transactions, watches and history.
///
/// Writes are strictly serializable, each commit at one revision. A write that was acknowledged is on disk
/// (embedded) or on a quorum's disks (etcd), and every later [`Store::current`] on any server shows it.
pub trait Store: Send + Sync + 'static {
    /// What the engine shares with the rest of this crate.
    #[doc(hidden)]
    fn parts(&self) -> &Parts;

    /// Where the time and randomness of this store come from; the server on it uses the same.
    fn environment(&self) -> &Environment {
        &self.parts().environment
    }

    /// How large a transaction may be.
    fn limits(&self) -> Limits;

    /// Everything as it is now: shows every write acknowledged before the call, by any server.
    fn current(&self) -> Later<'_, Snapshot>;

    /// Commits a transaction: all of it at one revision, or, if a guard does not hold, nothing.
    fn commit(&self, transaction: Transaction) -> Later<'_, Committed>;

    /// Decides and commits while nothing else can happen, where the engine can do that.
    fn commit_alone(&self, decide: Decide) -> Later<'_, Option<Committed>>;

    /// Takes a lease for `holder`, if nobody else holds it.
    fn acquire(&self, name: &str, holder: &str, time: Duration) -> Later<'_, Acquired>;

    /// Makes a lease last for its whole time again; `false` when it is lost.
    fn renew<'a>(&'a self, fence: &'a Fence) -> Later<'a, bool>;

    /// Gives a lease back; `false` when it was lost already.
    fn release<'a>(&'a self, fence: &'a Fence) -> Later<'a, bool>;

    /// Lets go of the recent commits through `revision`: watches and lists at an older one answer
    /// [`crate::Error::Gone`].
    fn compact(&self, through: Revision) -> Later<'_, ()>;

    /// Works out every object's terms anew, after the model has changed.
    fn reindex(&self) -> Later<'_, ()>;

    /// Whether the engine can write: its file is open, or a quorum of its cluster answers.
    fn healthy(&self) -> Later<'_, ()>;

    /// Whether every thread is at work that writes and watches depend on. What this tells, only a restart mends.
    fn alive(&self) -> Result<()>;

    /// Stops the engine: ends the watches, finishes what was begun, lets go of the data.
    fn close(&self) -> Later<'_, ()>;

    /// Everything as this server last saw it: never behind what it acknowledged itself.
    fn latest(&self) -> Snapshot {
        self.parts().memory.latest()
    }

    /// Everything right after `revision`, while the recent commits reach back that far.
    fn at(&self, revision: Revision) -> Result<Snapshot> {
        self.parts().memory.at(revision)
    }

    /// Every change of a key under `prefix` after the version `from`: once, in order, without a gap.
    fn watch(&self, prefix: &[u8], from: Version) -> Result<Watch> {
        self.parts().memory.watch(prefix, from)
    }

    /// How many watches there are.
    fn watches(&self) -> usize {
        self.parts().memory.watches()
    }

    /// Objects that can't be found by their terms because working those out failed: a bug of the model.
    fn set_aside(&self) -> Vec<Key> {
        self.parts().memory.indexer.all_set_aside()
    }

    /// The bytes of an object, opened when they are sealed.
    fn reveal(&self, key: &Key, entry: &Entry) -> Result<Bytes> {
        self.parts().memory.indexer.reveal(key, entry)
    }

    /// The changes of one object, newest first, also of one that was deleted; `beyond` goes on where an
    /// earlier answer ended.
    fn changes<'a>(&'a self, key: &'a Key, beyond: Option<Cursor>, limit: usize) -> Later<'a, Changes> {
        Box::pin(async move { self.parts().past(self.current().await?).changes(key, beyond, limit).await })
    }

    /// Every change after a mark, of all objects, oldest first and without the objects: all, or the first of them, no
    /// fewer than `enough`.
    fn deeds_after(&self, after: DeedMark, enough: usize) -> Later<'_, Vec<Deed>> {
        self.parts().archive.deeds_after(after.into(), enough)
    }

    /// Every change before a mark, newest first: all, or the newest of them, no fewer than `enough`.
    fn deeds_before(&self, below: DeedMark, enough: usize) -> Later<'_, Vec<Deed>> {
        self.parts().archive.deeds_before(below.into(), enough)
    }

    /// Since when every change is still known; nothing while retention has let go of none.
    fn whole_since(&self) -> Later<'_, Option<DeedMark>> {
        Box::pin(async move { deeds::whole_since(&*self.parts().archive).await })
    }

    /// The change of a key that stands there, with the object before and after it; nothing once retention has let go of
    /// it. `near` is the version of a later deed of the same life that [is whole](Deed::is_whole), or zero.
    fn change<'a>(&'a self, key: &'a Key, at: DeedMark, near: Version) -> Later<'a, Option<Change>> {
        Box::pin(async move { deeds::change(&self.parts().past(self.latest()), key, at, near).await })
    }

    /// The same of many changes, each in its place: a good deal faster than one after the other.
    fn changes_at(&self, wanted: Vec<ChangeAt>) -> Later<'_, Vec<Option<Change>>> {
        Box::pin(async move { deeds::changes(&self.parts().archive, self.latest(), wanted).await })
    }

    /// One object as it was.
    fn object_at<'a>(&'a self, key: &'a Key, at: At) -> Later<'a, Option<Arc<Entry>>> {
        Box::pin(async move { self.parts().past(self.current().await?).object(key, at).await })
    }

    /// Everything under `prefix` as it was, for kinds with history; the rest of the snapshot is as it is now.
    fn list_at<'a>(&'a self, prefix: &'a [u8], at: At) -> Later<'a, Snapshot> {
        Box::pin(async move {
            let parts = self.parts();
            parts.past(self.current().await?).list(&parts.memory.indexer, prefix, at).await
        })
    }

    /// Which objects under `prefix` were changed after a point, and of which that is not known any more. Takes time in
    /// proportion to what changed since then.
    fn touched<'a>(&'a self, prefix: &'a [u8], after: At) -> Later<'a, Touched> {
        Box::pin(async move { self.parts().past(self.current().await?).touched(prefix, after).await })
    }

    /// Checks all of history and names what is not as it was written. Signatures of this store's own key and of
    /// `trusted` ones count.
    fn verify<'a>(&'a self, trusted: &'a [PublicKey]) -> Later<'a, Report> {
        Box::pin(async move {
            let mut signers = vec![self.parts().signing.public()];
            signers.extend_from_slice(trusted);
            verify::verify(&*self.parts().archive, &self.current().await?, &signers).await
        })
    }

    /// The newest checkpoint, to be kept elsewhere.
    fn checkpoint(&self) -> Later<'_, Option<Checkpoint>> {
        Box::pin(async move { checkpoint::latest(&*self.parts().archive).await })
    }

    /// The key that this store's checkpoints are signed with.
    fn signer(&self) -> PublicKey {
        self.parts().signing.public()
    }

    /// Whether the store still has a checkpoint that was kept elsewhere.
    fn has_checkpoint<'a>(&'a self, kept: &'a Checkpoint) -> Later<'a, bool> {
        Box::pin(async move {
            let all = checkpoint::all(&*self.parts().archive).await?;
            Ok(all.iter().any(|found| found.said == *kept))
        })
    }

    /// Writes everything, objects and history, as of one revision, in a form that either engine restores.
    /// Sealed values stay sealed, and no key is written: the backup names the key files that a restore needs.
    fn backup<'a>(&'a self, output: &'a mut (dyn Output + Send)) -> Later<'a, backup::Summary> {
        self.backup_naming(&[], output)
    }

    /// The same, naming key files of the server besides those of the store.
    fn backup_naming<'a>(
        &'a self,
        others: &'a [KeyNote],
        output: &'a mut (dyn Output + Send),
    ) -> Later<'a, backup::Summary> {
        Box::pin(async move {
            let parts = self.parts();
            let keys = [&keys::notes(parts)?[..], others].concat();
            // Retention must not rewrite the past while it is being copied.
            let _quiet = parts.maintenance.lock().await;
            let now = self.current().await?;
            let time = parts.environment.clock.now();
            backup::write(&*parts.archive.pinned(now.revision()), &now, time, &keys, output).await
        })
    }
}
