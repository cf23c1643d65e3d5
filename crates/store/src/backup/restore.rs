//! Takes a backup in: new versions for every object, above all that the old store can have handed out.

use std::io::Read;

use super::frame::Frame;
use super::{Reader, Summary, manifest};
use crate::error::{Error, Result};
use crate::history::archive::LogEntry;
use crate::history::record::{Head, Record, RecordId};
use crate::key::Key;
use crate::version::{Revision, Version};

/// A restored store starts this far above the backup, so that nothing the old one handed out after the
/// backup was taken is ever handed out again.
pub const RAISE: u64 = 1 << 30;

/// What an engine does with the parts of a backup, in this order: start, metas, objects, records, lines, finish.
pub(crate) trait Restore {
    /// The backup shows this revision; objects go above `base`.
    fn start(&mut self, base: Revision) -> Result<()>;
    fn meta(&mut self, name: String, value: &[u8]) -> Result<()>;
    fn object(&mut self, key: Key, head: Head, body: &[u8]) -> Result<()>;
    fn record(&mut self, key: Key, place: RecordId, record: Record) -> Result<()>;
    fn line(&mut self, line: LogEntry) -> Result<()>;
    /// All is in and was found whole: from now on it counts.
    fn finish(&mut self) -> Result<()>;
}

/// Feeds a backup to an engine.
pub(crate) fn feed(input: &mut (dyn Read + Send), into: &mut dyn Restore) -> Result<Summary> {
    let mut reader = Reader::new(input)?;
    let Some(Frame::Start { revision, .. }) = reader.next()? else {
        return Err(Error::Damaged("the backup does not start with its revision".into()));
    };
    let mut summary = Summary { revision, ..Summary::default() };
    into.start(Revision::new(revision.get() + RAISE))?;
    while let Some(frame) = reader.next()? {
        match frame {
            Frame::Meta { name, .. } if manifest::is_own(&name) => {}
            Frame::Meta { name, value } => into.meta(name, &value)?,
            Frame::Object { key, mut head, body } => {
                summary.objects += 1;
                // The object gets another version; its last record keeps its own.
                if head.chain.at == Version::ZERO {
                    head.chain.at = head.version;
                }
                into.object(key, head, &body)?;
            }
            Frame::Record { key, place, record } => {
                summary.records += 1;
                into.record(key, place, *record)?;
            }
            Frame::Line(line) => into.line(line)?,
            Frame::Start { .. } | Frame::End { .. } => {
                return Err(Error::Damaged("the backup has a frame where none belongs".into()));
            }
        }
    }
    into.finish()?;
    Ok(summary)
}
