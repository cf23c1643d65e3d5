//! Headers that extend the next entry of a tar file: long names (GNU), and records (PAX).

use std::io::Read;

use super::{UnpackError, reader::stopped_by};

/// The largest extension, in bytes. The parser would keep all of a larger one in memory.
const LARGEST: u64 = 1 << 20;

/// What extends the next entry.
#[derive(Debug, Default)]
pub(super) struct Extensions {
    pub(super) path: Option<Vec<u8>>,
    pub(super) link: Option<Vec<u8>>,
    pub(super) uid: Option<u64>,
    pub(super) gid: Option<u64>,
    pub(super) size: Option<u64>,
    pub(super) mtime: Option<i64>,
    pub(super) attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Extensions {
    /// Takes the entry if it is an extension.
    pub(super) fn take<R: Read>(&mut self, entry: &mut tar::Entry<'_, R>) -> Result<bool, UnpackError> {
        let kind = entry.header().entry_type();
        let is_extension = kind.is_gnu_longname()
            || kind.is_gnu_longlink()
            || kind.is_pax_local_extensions()
            || kind.is_pax_global_extensions();
        if !is_extension {
            return Ok(false);
        }
        let size = entry.header().entry_size().map_err(stopped_by)?;
        if size > LARGEST {
            return Err(UnpackError::Refused(format!(
                "a tar header of {size} bytes is larger than {LARGEST}"
            )));
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(stopped_by)?;
        if kind.is_gnu_longname() {
            self.path = Some(without_end(bytes));
        } else if kind.is_gnu_longlink() {
            self.link = Some(without_end(bytes));
        } else if kind.is_pax_local_extensions() {
            self.read_records(&bytes)?;
        }
        Ok(true)
    }

    fn read_records(&mut self, mut bytes: &[u8]) -> Result<(), UnpackError> {
        let refuse = || UnpackError::Refused("a PAX header of a layer can't be parsed".to_owned());
        while !bytes.is_empty() {
            // "LENGTH KEY=VALUE\n", where the length counts the whole record.
            let space = bytes.iter().position(|byte| *byte == b' ').ok_or_else(refuse)?;
            let length: usize = number(&bytes[..space]).and_then(|n| n.try_into().ok()).ok_or_else(refuse)?;
            if length <= space + 1 || length > bytes.len() || bytes[length - 1] != b'\n' {
                return Err(refuse());
            }
            let record = &bytes[space + 1..length - 1];
            let equals = record.iter().position(|byte| *byte == b'=').ok_or_else(refuse)?;
            self.set(&record[..equals], &record[equals + 1..]).ok_or_else(refuse)?;
            bytes = &bytes[length..];
        }
        Ok(())
    }

    fn set(&mut self, key: &[u8], value: &[u8]) -> Option<()> {
        match key {
            b"path" => self.path = Some(value.to_vec()),
            b"linkpath" => self.link = Some(value.to_vec()),
            b"uid" => self.uid = Some(number(value)?),
            b"gid" => self.gid = Some(number(value)?),
            b"size" => self.size = Some(number(value)?),
            b"mtime" => {
                let seconds = value.split(|byte| *byte == b'.').next()?;
                self.mtime = Some(std::str::from_utf8(seconds).ok()?.parse().ok()?);
            }
            _ => {
                if let Some(name) = key.strip_prefix(b"SCHILY.xattr.") {
                    self.attributes.push((name.to_vec(), value.to_vec()));
                }
            }
        }
        Some(())
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// GNU ends a long name with a zero byte.
fn without_end(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.last() == Some(&0) {
        bytes.pop();
    }
    bytes
}
