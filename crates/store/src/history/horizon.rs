//! Since when the past is whole: before that, retention has let go of something.
//!
//! It is known of each group of keys whose past is kept alike, so that what is kept for an hour does not hide what is kept
//! for a year.

use super::archive::{Archive, Edit, Mark};
use crate::error::Result;

/// One for everything, as older stores have it.
const OF_ALL: &str = "history/horizon";
const OF_GROUP: &str = "history/horizon/";

/// The past of what is under a prefix is not whole before this.
pub(crate) async fn of(archive: &dyn Archive, prefix: &[u8]) -> Result<Option<Mark>> {
    Ok(all(archive, prefix).await?.into_iter().map(|(_, mark)| mark).max())
}

/// The same of each group of keys that is part of it, or that all of it is part of.
pub(crate) async fn all(archive: &dyn Archive, prefix: &[u8]) -> Result<Vec<(String, Mark)>> {
    let prefix = std::str::from_utf8(prefix).unwrap_or("");
    let mut marks = vec![(String::new(), archive.meta(OF_ALL).await?)];
    // Groups that all of it is part of.
    let cuts = std::iter::once(0).chain(prefix.match_indices('/').map(|(at, _)| at + 1));
    for group in cuts.filter_map(|cut| prefix.get(..cut)).filter(|group| *group != prefix) {
        marks.push((group.to_owned(), archive.meta(&format!("{OF_GROUP}{group}")).await?));
    }
    // Groups that are part of it.
    for (name, mark) in archive.metas(&format!("{OF_GROUP}{prefix}")).await? {
        marks.push((name.strip_prefix(OF_GROUP).unwrap_or_default().to_owned(), Some(mark)));
    }
    let known = marks.into_iter().filter_map(|(group, mark)| Some((group, mark?)));
    known.map(|(group, mark)| Ok((group, postcard::from_bytes(&mark)?))).collect()
}

/// What is to be noted when the past of a group is whole only from `mark` on.
pub(crate) async fn moved(archive: &dyn Archive, group: &str, mark: Mark) -> Result<Option<Edit>> {
    let name = format!("{OF_GROUP}{group}");
    let known: Option<Mark> =
        archive.meta(&name).await?.map(|bytes| postcard::from_bytes(&bytes)).transpose()?;
    match known.is_none_or(|known| known < mark) {
        true => Ok(Some(Edit::PutMeta(name, postcard::to_stdvec(&mark)?.into()))),
        false => Ok(None),
    }
}
