//! Backups: everything of a store in one stream, the same whichever engine it came from or goes to.

mod frame;
pub mod manifest;
mod read;
pub(crate) mod restore;

use std::io::Write as Output;

use frame::{Frame, Writer};
use manifest::KeyNote;
pub(crate) use read::Reader;

use crate::error::Result;
use crate::history::Level;
use crate::history::archive::{Archive, whole_log};
use crate::history::record::Head;
use crate::snapshot::Snapshot;
use crate::version::Revision;

/// What a backup or a restore moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// The revision it shows.
    pub revision: Revision,
    /// Objects.
    pub objects: u64,
    /// Records of history.
    pub records: u64,
    /// Bytes of the backup.
    pub bytes: u64,
}

const STEP: usize = 512;

/// Names under which an engine keeps what concerns only itself.
const ENGINE_ONLY: &str = "engine/";

/// Writes everything that `now` shows, at `time`, and its history; `keys` names the files that a restore needs besides.
pub(crate) async fn write(
    archive: &dyn Archive,
    now: &Snapshot,
    time: u64,
    keys: &[KeyNote],
    output: &mut (dyn Output + Send),
) -> Result<Summary> {
    let mut writer = Writer::new(output)?;
    let mut summary = Summary { revision: now.revision(), ..Summary::default() };
    writer.frame(&Frame::Start { revision: now.revision(), time })?;
    writer.frame(&manifest::frame(keys)?)?;
    for (name, value) in archive.metas("").await? {
        // A version that did not know the names of key files may have restored them as a part of the store.
        if !name.starts_with(ENGINE_ONLY) && !manifest::is_own(&name) {
            writer.frame(&Frame::Meta { name, value })?;
        }
    }
    for (key, entry) in now.list(b"") {
        let head = Head::of(entry);
        writer.frame(&Frame::Object { key: key.clone(), head, body: entry.stored() })?;
        summary.objects += 1;
    }
    let mut after = None;
    loop {
        let step = archive.all_records(after.as_ref().map(|(key, place)| (key, *place)), STEP).await?;
        let Some(last) = step.last() else { break };
        after = Some((last.key.clone(), last.place));
        for filed in step {
            if filed.record.level != Level::None && filed.record.version <= now.version() {
                writer.frame(&Frame::Record {
                    key: filed.key,
                    place: filed.place,
                    record: Box::new(filed.record),
                })?;
                summary.records += 1;
            }
        }
    }
    for line in whole_log(archive, now.version()).await? {
        if line.level != Level::None {
            writer.frame(&Frame::Line(line))?;
        }
    }
    summary.bytes = writer.finish(summary.objects, summary.records)?;
    Ok(summary)
}
