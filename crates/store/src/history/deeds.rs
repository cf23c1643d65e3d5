//! Everything that was ever changed, in the order it happened: who did what to which object, without the objects.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::archive::{Archive, Mark};
use super::past::Past;
use super::record::{Glimpse, RecordId};
use super::{Change, Cursor, Level, horizon};
use crate::entry::Uid;
use crate::error::{Error, Result};
use crate::key::Key;
use crate::snapshot::Snapshot;
use crate::transaction::recorded;
use crate::version::Version;

/// As many changes are asked for at once, where answers come from afar.
const AT_ONCE: usize = 16;

/// One change, told without the object.
#[derive(Debug, Clone)]
pub struct Deed {
    /// Where it stands.
    pub version: Version,
    /// Microseconds since 1970.
    pub time: u64,
    /// Whose change it is.
    pub key: Key,
    /// Which life of the key.
    pub uid: Uid,
    /// In whose name.
    pub user: Arc<str>,
    /// How much of it is kept.
    pub level: Level,
    /// What was done.
    pub what: Done,
    /// Whether its record holds the whole object before it, so that older ones are read from here.
    pub is_whole: bool,
}

/// What was done to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Done {
    /// It was made.
    Made,
    /// It was changed.
    Changed,
    /// It was deleted.
    Removed,
}

/// Which change of which life of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeedPlace {
    /// When the life began, in microseconds.
    pub born: u64,
    /// Changes since then.
    pub sequence: u32,
}

/// A change that is asked for: see [`crate::Store::change`].
#[derive(Debug, Clone)]
pub struct ChangeAt {
    /// Whose change it is.
    pub key: Key,
    /// Where it stands.
    pub at: DeedMark,
    /// The version of a later deed of the same life that [is whole](Deed::is_whole), or zero.
    pub near: Version,
}

/// Where a deed stands in the log, by both its measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct DeedMark {
    /// Its version.
    pub version: Version,
    /// Its time.
    pub time: u64,
}

impl DeedMark {
    /// Behind everything that was ever done.
    pub const END: DeedMark = DeedMark { version: Version::new(u64::MAX), time: u64::MAX };
}

impl From<DeedMark> for Mark {
    fn from(mark: DeedMark) -> Mark {
        Mark { version: mark.version, time: mark.time }
    }
}

/// Since when the past is whole; nothing while all of it is kept.
pub(crate) async fn whole_since(archive: &dyn Archive) -> Result<Option<DeedMark>> {
    let found = horizon::of(archive, b"").await?;
    Ok(found.map(|mark| DeedMark { version: mark.version, time: mark.time }))
}

/// One change with the object before and after it; nothing once retention has let go of it. `near` is the version of a
/// change of the same life, not far after it, whose record [is whole](Deed::is_whole); zero where none is known.
pub(crate) async fn change(
    past: &Past<'_>,
    key: &Key,
    at: DeedMark,
    near: Version,
) -> Result<Option<Change>> {
    let Some(place) = past.archive.place_of(key, at.into()).await? else { return Ok(None) };
    let beyond = RecordId { born: place.born, sequence: place.sequence.saturating_add(1) };
    let found = past.changes(key, Some(Cursor { place: beyond, near }), 1).await?.items.into_iter().next();
    Ok(found.filter(|found| found.version == at.version))
}

/// The changes that stand at some places, in their order.
pub(crate) async fn changes(
    archive: &Arc<dyn Archive>,
    now: Snapshot,
    wanted: Vec<ChangeAt>,
) -> Result<Vec<Option<Change>>> {
    if let Some(archive) = archive.at_hand() {
        let read = move || {
            let past = Past { archive: &*archive, now };
            wanted.iter().map(|one| at_once(change(&past, &one.key, one.at, one.near))).collect()
        };
        return tokio::task::spawn_blocking(read).await.map_err(ended)?;
    }
    let mut found = Vec::with_capacity(wanted.len());
    for some in wanted.chunks(AT_ONCE) {
        let asked: Vec<_> = some
            .iter()
            .map(|one| {
                let (archive, now, one) = (archive.clone(), now.clone(), one.clone());
                tokio::spawn(async move {
                    change(&Past { archive: &*archive, now }, &one.key, one.at, one.near).await
                })
            })
            .collect();
        for answer in asked {
            found.push(answer.await.map_err(ended)??);
        }
    }
    Ok(found)
}

fn ended(error: tokio::task::JoinError) -> Error {
    Error::Unavailable(error.to_string())
}

/// What something gives that waits for nothing.
fn at_once<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => Err(Error::Unavailable("the past is not at hand".to_owned())),
    }
}

/// Makes deeds of records. What one user does in a row is told of one name.
#[derive(Default)]
pub(crate) struct Teller {
    last: Option<Arc<str>>,
}

impl Teller {
    pub fn deed(&mut self, key: Key, version: Version, record: &Glimpse<'_>) -> Deed {
        let (found, _) = recorded(record.user);
        let user = match self.last.take() {
            Some(last) if *last == *found => last,
            _ => Arc::from(found),
        };
        self.last = Some(user.clone());
        let is_first = record.before.is_none() && record.gap.is_none();
        let what = match (record.deleted, is_first) {
            (true, _) => Done::Removed,
            (false, true) => Done::Made,
            (false, false) => Done::Changed,
        };
        Deed {
            version,
            time: record.time,
            key,
            uid: record.uid,
            user,
            level: record.level,
            what,
            is_whole: record.is_whole(),
        }
    }
}
