//! History: who changed what, when and why, and how everything was before.
//!
//! Each change leaves a [`record::Record`] with the way back to the object before it. The records of one
//! life of an object form a hash chain; a log names them in the order of the commits; signed checkpoints
//! cover the log.

pub(crate) mod archive;
pub(crate) mod chain;
pub(crate) mod checkpoint;
pub(crate) mod deeds;
pub(crate) mod draft;
pub(crate) mod horizon;
pub(crate) mod keeper;
pub(crate) mod past;
pub(crate) mod prune;
pub(crate) mod record;
pub(crate) mod retention;
pub(crate) mod verify;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use self::deeds::{ChangeAt, Deed, DeedMark, DeedPlace, Done};

use self::record::RecordId;
use crate::entry::{Entry, Uid};
use crate::key::Key;
use crate::version::{Revision, Version};

/// How much of a change is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub enum Level {
    /// Kept as long as retention says.
    #[default]
    Full,
    /// Kept while it is recent; of the older ones only the last few. For what controllers report.
    Brief,
    /// Kept for watches only. For what has no past worth telling, such as leases and events.
    None,
}

/// A point in the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// Right after this commit.
    Revision(Revision),
    /// At this time, in microseconds since 1970.
    Time(u64),
}

/// What was changed after a point.
#[derive(Debug, Clone)]
pub struct Touched {
    /// The point: the last version that is not after it.
    pub version: Version,
    /// Each change that is known: whose it is, and where it stands.
    pub keys: BTreeSet<(Key, Version)>,
    /// Groups of keys [whose past is kept alike](crate::Model::kept_alike), and from when on it is whole, in microseconds since 1970: of
    /// those, changes after the point may be forgotten.
    pub forgotten: Vec<(String, u64)>,
}

/// One change of one object, as history tells it.
#[derive(Debug, Clone)]
pub struct Change {
    /// Where it stands.
    pub version: Version,
    /// Which change of which life.
    pub place: DeedPlace,
    /// Microseconds since 1970.
    pub time: u64,
    /// Which life of the key.
    pub uid: Uid,
    /// In whose name.
    pub user: Arc<str>,
    /// Who acted as the user, where somebody did.
    pub impersonator: Option<Arc<str>>,
    /// By which program.
    pub manager: Arc<str>,
    /// What the client called it.
    pub verb: Arc<str>,
    /// The reason given.
    pub message: Option<Arc<str>>,
    /// How much of it is kept.
    pub level: Level,
    /// The object before it; `None` when it was made by this change, or when that past is no longer kept.
    pub before: Option<Arc<Entry>>,
    /// The object after it; `None` when it was deleted.
    pub after: Option<Arc<Entry>>,
    /// Whether older changes of this object were let go of by retention right before this one.
    pub pruned_before: bool,
}

/// Changes of one object, newest first.
#[derive(Debug, Clone)]
pub struct Changes {
    /// The changes.
    pub items: Vec<Change>,
    /// Give this to get the next, older ones; `None` at the end.
    pub next: Option<Cursor>,
}

/// Where a page of changes ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cursor {
    pub(crate) place: RecordId,
    /// A record of the same life at this place or not far after it, that holds a whole object: an engine that finds
    /// records only by following one to the next starts there. Zero where none is known; it may be gone, too.
    pub(crate) near: Version,
}

impl From<RecordId> for Cursor {
    fn from(place: RecordId) -> Cursor {
        Cursor { place, near: Version::ZERO }
    }
}
