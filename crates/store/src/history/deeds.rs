//! Everything that was ever changed, in the order it happened: who did what to which object, without the objects.

use std::sync::Arc;

use super::archive::{Archive, Filed, Mark};
use super::past::Past;
use super::record::{Place, Record};
use super::{Change, Cursor, Level};
use crate::entry::Uid;
use crate::error::Result;
use crate::key::Key;
use crate::version::Version;

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
    /// Which change of which life.
    pub place: DeedPlace,
    /// Whether its record holds the whole object before it, so that older ones are read from here.
    pub is_whole: bool,
}

/// Which change of which life of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeedPlace {
    /// When the life began, in microseconds.
    pub born: u64,
    /// Changes since then.
    pub sequence: u32,
}

/// How far deeds were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeedMark {
    /// The version of the last.
    pub version: Version,
    /// Its time.
    pub time: u64,
}

/// The changes of all objects after a mark, oldest first: all, or the first of them, no fewer than `enough`.
pub(crate) async fn after(archive: &dyn Archive, mark: DeedMark, enough: usize) -> Result<Vec<Deed>> {
    let mark = Mark { version: mark.version, time: mark.time };
    Ok(archive.filed(mark, enough).await?.into_iter().map(deed).collect())
}

/// One change with the object before and after it; nothing once retention has let go of it. `near` is the version of a
/// change of the same life, not far after it, whose record [is whole](Deed::is_whole); zero where none is known.
pub(crate) async fn change(
    past: &Past<'_>,
    key: &Key,
    place: DeedPlace,
    near: Version,
) -> Result<Option<Change>> {
    let beyond = Place { born: place.born, sequence: place.sequence.saturating_add(1) };
    let found = past.changes(key, Some(Cursor { place: beyond, near }), 1).await?.items.into_iter().next();
    Ok(found.filter(|found| found.place == place))
}

fn deed(filed: Filed) -> Deed {
    let Filed { key, place, record } = filed;
    let is_whole = is_whole(&record);
    Deed {
        version: record.version,
        time: record.time,
        key,
        uid: record.uid,
        user: record.user,
        level: record.level,
        place: DeedPlace { born: place.born, sequence: place.sequence },
        is_whole,
    }
}

fn is_whole(record: &Record) -> bool {
    record.before.as_ref().is_some_and(|before| before.body.is_whole())
}
