//! Who changed what when, of everything the store keeps the past of: what a page of activities is looked up in.
//!
//! It is read off the store's own log, from now backwards and only as far as somebody asks, takes a few bytes for each
//! change, and lets go of the oldest when there is too much. The objects themselves stay in the store: only those of the
//! page that is shown are read.

mod block;
mod names;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use store::{Change, ChangeAt, DeedMark, Done, Key, Store, Version};

use self::block::Block;
use self::rows::{Rows, mark};
use super::window::Window;

/// How many deeds are read at once.
const STEP: usize = 8192;
/// A reader that is this many steps behind starts over.
const FAR_BEHIND: usize = 16;
/// What is kept in memory takes at most so many bytes; older changes are read again whenever they are asked for.
const MOST_BYTES: usize = 32 << 20;
/// How often it is asked what retention has let go of.
const TRIMMED: Duration = Duration::from_secs(600);

/// All changes, as far back as anybody asked.
#[derive(Default)]
pub struct Ledger {
    rows: RwLock<Rows>,
    reading: tokio::sync::Mutex<()>,
}

/// Who looks for changes, and which they want. Each part is asked as seldom as possible.
pub trait Seeker {
    /// Whether something that stands here may be wanted; a shelf is a key without the name, and its number is its own.
    fn wants_shelf(&mut self, number: u32, shelf: &str) -> bool;
    /// Whether something by this user may be wanted.
    fn wants_user(&mut self, number: u32, user: &str) -> bool;
    /// Whether a change may be wanted, its shelf and its user being so.
    fn wants(&mut self, seen: &Seen<'_>) -> bool;
    /// Notes down that so many changes were passed; whether it has looked for long enough.
    fn is_tired(&mut self, passed: usize) -> bool;
}

/// What is known of a change without reading it.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// Where it stands.
    pub at: DeedMark,
    /// The number of the shelf.
    pub shelf: u32,
    /// The number of the user.
    pub user: u32,
    /// What was done.
    pub what: Done,
    /// The name of the object.
    pub name: &'a str,
    /// A few bits of the object's uid.
    pub life: u16,
}

/// The few bits of a uid that the ledger knows.
pub fn life(uid: store::Uid) -> u16 {
    u16::from_be_bytes([uid.0[0], uid.0[15]])
}

/// A change that was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// Where it stands.
    pub at: DeedMark,
    /// Whose change it is.
    pub key: Key,
    near: Version,
}

/// The whole changes, in their order; nothing in place of those that retention has let go of.
pub async fn changes(store: &dyn Store, found: &[Found]) -> store::Result<Vec<Option<Change>>> {
    let wanted =
        found.iter().map(|found| ChangeAt { key: found.key.clone(), at: found.at, near: found.near });
    store.changes_at(wanted.collect()).await
}

/// What is looked through.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// When it happened.
    pub window: Window,
    /// Older than this.
    pub below: DeedMark,
    /// Newer than this.
    pub above: Version,
}

/// Where looking stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Here: what is older was not looked at.
    At(DeedMark),
    /// At the oldest that is known, which is this: there may be more to be read.
    Unread(DeedMark),
    /// Before the window, where nothing more can come.
    Past,
}

/// Changes too old to be kept in memory, while somebody looks at them.
#[derive(Default)]
pub struct Passing {
    blocks: VecDeque<Block>,
    reached: Option<DeedMark>,
}

impl Ledger {
    /// Takes in what has happened since it last did.
    pub async fn catch_up(&self, store: &dyn Store) -> store::Result<()> {
        let now = store.current().await?.version();
        if self.read().through.version >= now {
            return Ok(());
        }
        let _alone = self.reading.lock().await;
        for _ in 0..FAR_BEHIND {
            let through = self.read().through;
            if through.version >= now {
                return self.trim(store).await;
            }
            if through.version == Version::ZERO {
                break;
            }
            let deeds = store.deeds_after(through, STEP).await?;
            let is_all = deeds.len() < STEP || deeds.last().is_none_or(|last| last.version >= now);
            let mut rows = self.write();
            for deed in &deeds {
                rows.append(deed);
            }
            if is_all {
                rows.through.version = rows.through.version.max(now);
            }
        }
        // The first question, or the first for long: from now on backwards, as far as is asked for.
        self.write().begin(now);
        Ok(())
    }

    /// Lets go of what retention may have let go of: it is read again if anybody asks.
    async fn trim(&self, store: &dyn Store) -> store::Result<()> {
        let trimmed = self.read().trimmed;
        if trimmed.is_some_and(|(when, _)| when.elapsed() < TRIMMED) {
            return Ok(());
        }
        let horizon = store.whole_since().await?;
        let mut rows = self.write();
        if let Some(horizon) = horizon.filter(|_| trimmed.is_none_or(|(_, known)| known != horizon)) {
            rows.forget_before(horizon);
        }
        rows.trimmed = Some((Instant::now(), horizon));
        Ok(())
    }

    /// Reads on where looking ended unread; whether there was anything.
    pub async fn deepen(
        &self,
        store: &dyn Store,
        below: DeedMark,
        passing: &mut Passing,
    ) -> store::Result<bool> {
        if let Some(reached) = passing.reached {
            return self.pass(store, passing, reached).await;
        }
        let reading = self.reading.lock().await;
        let reached = self.read().reached;
        if reached.version == Version::ZERO {
            return Ok(false);
        }
        if self.read().bytes >= MOST_BYTES {
            drop(reading);
            let from = if below.version < reached.version { below } else { reached };
            return self.pass(store, passing, from).await;
        }
        let deeds = store.deeds_before(reached, STEP).await?;
        self.write().prepend(&deeds);
        Ok(true)
    }

    async fn pass(&self, store: &dyn Store, passing: &mut Passing, from: DeedMark) -> store::Result<bool> {
        if from.version == Version::ZERO {
            return Ok(false);
        }
        let deeds = store.deeds_before(from, STEP).await?;
        passing.reached = Some(deeds.last().map_or(DeedMark::default(), mark));
        // What was passed is behind: memory holds one step.
        passing.blocks = self.write().folded(&deeds);
        Ok(true)
    }

    /// The newest version it has taken in.
    pub fn version(&self) -> Version {
        self.read().through.version
    }

    /// Whether everything after a version is known.
    pub fn reaches(&self, version: Version) -> bool {
        self.read().reached.version <= version
    }

    /// Gives what is wanted, newest first, until `enough` are found.
    pub fn look(
        &self,
        seeker: &mut dyn Seeker,
        span: Span,
        enough: usize,
        passing: &Passing,
    ) -> (Vec<Found>, Stopped) {
        let rows = self.read();
        let mut found = Vec::new();
        let stopped = rows.walk(seeker, span, passing, &mut |row, name| {
            found.extend(rows.found(row, name).map(|new| (row.clone(), name.to_owned(), new)));
            if found.len() >= enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        rows.point_at_wholes(&mut found);
        (found.into_iter().map(|(_, _, found)| found).collect(), stopped)
    }

    /// Counts what is wanted by shelf and user, newest first.
    pub fn count(
        &self,
        seeker: &mut dyn Seeker,
        span: Span,
        passing: &Passing,
        counts: &mut HashMap<(Arc<str>, Arc<str>), u64>,
    ) -> Stopped {
        let rows = self.read();
        let mut numbers: HashMap<(u32, u32), u64> = HashMap::new();
        let stopped = rows.walk(seeker, span, passing, &mut |row, _| {
            *numbers.entry((row.shelf, row.user)).or_default() += 1;
            ControlFlow::Continue(())
        });
        for ((shelf, user), number) in numbers {
            if let (Some(shelf), Some(user)) = (rows.shelves.name(shelf), rows.users.name(user)) {
                *counts.entry((shelf.clone(), user.clone())).or_default() += number;
            }
        }
        stopped
    }

    fn read(&self) -> RwLockReadGuard<'_, Rows> {
        self.rows.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Rows> {
        self.rows.write().unwrap_or_else(PoisonError::into_inner)
    }
}
