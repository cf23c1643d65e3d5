//! The frames a backup is made of: a length, then one thing. The last one vouches for all before it.

use std::io::Write as Output;

use bytes::Bytes;
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::history::archive::LogEntry;
use crate::history::chain::finish;
use crate::history::record::{Hash, Head, Record, RecordId};
use crate::key::Key;
use crate::version::Revision;

/// The first bytes of every backup; the number is the format's.
pub(super) const MAGIC: &[u8] = b"groundplane backup ";
/// The format this program writes, and the newest it reads.
pub(super) const FORMAT: u32 = 1;
/// No frame is larger.
pub(super) const MAX_FRAME: usize = 1 << 30;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Frame {
    Start { revision: Revision, time: u64 },
    Meta { name: String, value: Bytes },
    Object { key: Key, head: Head, body: Bytes },
    Record { key: Key, place: RecordId, record: Box<Record> },
    Line(LogEntry),
    End { objects: u64, records: u64, digest: Hash },
}

pub(super) struct Writer<'a> {
    output: &'a mut (dyn Output + Send),
    digest: Context,
    bytes: u64,
    buffer: Vec<u8>,
}

impl<'a> Writer<'a> {
    pub fn new(output: &'a mut (dyn Output + Send)) -> Result<Writer<'a>> {
        let mut writer = Writer { output, digest: Context::new(&SHA256), bytes: 0, buffer: Vec::new() };
        writer.write(MAGIC)?;
        writer.write(format!("{FORMAT:08}\n").as_bytes())?;
        Ok(writer)
    }

    pub fn frame(&mut self, frame: &Frame) -> Result<()> {
        self.buffer.clear();
        let buffer = postcard::to_extend(frame, std::mem::take(&mut self.buffer))?;
        self.write(&(buffer.len() as u32).to_be_bytes())?;
        self.write(&buffer)?;
        self.buffer = buffer;
        Ok(())
    }

    /// Ends the backup; gives its size.
    pub fn finish(mut self, objects: u64, records: u64) -> Result<u64> {
        let digest = finish(self.digest.clone());
        self.frame(&Frame::End { objects, records, digest })?;
        self.output.flush().map_err(failed)?;
        Ok(self.bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.digest.update(bytes);
        self.bytes += bytes.len() as u64;
        self.output.write_all(bytes).map_err(failed)
    }
}

fn failed(error: std::io::Error) -> Error {
    if error.kind() == std::io::ErrorKind::StorageFull {
        return Error::Full(format!("the backup can't be written: {error}"));
    }
    Error::Unavailable(format!("the backup can't be written: {error}"))
}
