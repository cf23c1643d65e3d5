//! Reads a backup, frame by frame, and trusts it only once its last frame has vouched for it.

use std::io::Read;

use ring::digest::{Context, SHA256};

use super::frame::{FORMAT, Frame, MAGIC, MAX_FRAME};
use crate::error::{Error, Result};
use crate::history::chain::finish;
use crate::history::record::Hash;

pub(crate) struct Reader<'a> {
    input: &'a mut (dyn Read + Send),
    digest: Context,
    objects: u64,
    records: u64,
    ended: bool,
}

impl<'a> Reader<'a> {
    pub fn new(input: &'a mut (dyn Read + Send)) -> Result<Reader<'a>> {
        let mut reader =
            Reader { input, digest: Context::new(&SHA256), objects: 0, records: 0, ended: false };
        let head = reader.take(MAGIC.len() + 9)?;
        let format =
            head.strip_prefix(MAGIC).and_then(|rest| std::str::from_utf8(rest.strip_suffix(b"\n")?).ok());
        let format = format.and_then(|digits| digits.parse::<u32>().ok());
        match format {
            None => {
                Err(Error::Invalid("this is not a backup of groundplane: it does not start like one".into()))
            }
            Some(found) if found > FORMAT => Err(Error::Newer { found, known: FORMAT }),
            Some(_) => Ok(reader),
        }
    }

    /// The next frame but for the last, which ends the reading; an error when the backup is cut off or changed.
    pub fn next(&mut self) -> Result<Option<Frame>> {
        if self.ended {
            return Ok(None);
        }
        let before = self.digest.clone();
        let length = self.take(4)?;
        let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]) as usize;
        if length > MAX_FRAME {
            return Err(damaged("a frame is impossibly large"));
        }
        let bytes = self.take(length)?;
        let frame = postcard::from_bytes(&bytes).map_err(|_| damaged("a frame can't be read"))?;
        match &frame {
            Frame::Object { .. } => self.objects += 1,
            Frame::Record { .. } => self.records += 1,
            Frame::End { objects, records, digest } => {
                self.end(*objects, *records, digest, finish(before))?;
                return Ok(None);
            }
            _ => {}
        }
        Ok(Some(frame))
    }

    fn end(&mut self, objects: u64, records: u64, expected: &Hash, found: Hash) -> Result<()> {
        if *expected != found || objects != self.objects || records != self.records {
            return Err(damaged("its checksum is wrong"));
        }
        self.ended = true;
        Ok(())
    }

    fn take(&mut self, length: usize) -> Result<Vec<u8>> {
        // Read as it comes: a length that lies must not reserve what is not there.
        let mut bytes = Vec::new();
        let read = self.input.take(length as u64).read_to_end(&mut bytes);
        read.map_err(|error| Error::Unavailable(format!("the backup can't be read: {error}")))?;
        if bytes.len() < length {
            return Err(damaged("it ends too early"));
        }
        self.digest.update(&bytes);
        Ok(bytes)
    }
}

fn damaged(what: &str) -> Error {
    Error::Damaged(format!("the backup is not whole: {what}"))
}
