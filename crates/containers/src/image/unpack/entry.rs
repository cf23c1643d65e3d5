//! An entry of a layer, with the rules about its kind.

use std::ffi::OsString;

use super::UnpackError;
use super::extension::Extensions;
use super::path::{names, shown};
use super::reader::stopped_by;

/// The longest target of a symbolic link, in bytes.
const LONGEST_TARGET: usize = 4095;

/// An entry that may be unpacked.
pub(super) struct Entry {
    /// Its path as it was written, for messages.
    pub(super) shown: String,
    pub(super) names: Vec<OsString>,
    pub(super) kind: Kind,
    pub(super) mode: u32,
    pub(super) uid: u64,
    pub(super) gid: u64,
    pub(super) mtime: i64,
    pub(super) attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

pub(super) enum Kind {
    Folder,
    File {
        size: u64,
    },
    Symlink {
        target: Vec<u8>,
    },
    HardLink {
        target: Vec<OsString>,
    },
    /// Something that a container gets its own of.
    Skipped,
}

impl Entry {
    pub(super) fn parse(header: &tar::Header, extensions: Extensions) -> Result<Self, UnpackError> {
        let path = extensions.path.unwrap_or_else(|| header.path_bytes().into_owned());
        let shown = shown(&path);
        let names = names(&path, "entry")?;
        let refuse = |why: &str| UnpackError::Refused(format!("entry {shown:?} {why}"));
        let size = header.entry_size().map_err(stopped_by)?;
        if extensions.size.is_some_and(|other| other != size) {
            return Err(refuse("has two sizes"));
        }
        let link = extensions.link.or_else(|| header.link_name_bytes().map(|link| link.into_owned()));
        let kind = match header.entry_type() {
            tar::EntryType::Directory => Kind::Folder,
            tar::EntryType::Regular | tar::EntryType::Continuous if path.ends_with(b"/") => Kind::Folder,
            tar::EntryType::Regular | tar::EntryType::Continuous => Kind::File { size },
            tar::EntryType::Symlink => {
                let target = link.ok_or_else(|| refuse("is a link without a target"))?;
                if target.is_empty() || target.len() > LONGEST_TARGET || target.contains(&0) {
                    return Err(refuse("is a symbolic link with an unfit target"));
                }
                Kind::Symlink { target }
            }
            tar::EntryType::Link => {
                let target = link.ok_or_else(|| refuse("is a link without a target"))?;
                Kind::HardLink { target: self::names(&target, &format!("target of hard link {shown:?}"))? }
            }
            // Every container gets a /dev of its own, which hides the image's.
            tar::EntryType::Char | tar::EntryType::Block | tar::EntryType::Fifo if is_below_dev(&names) => {
                Kind::Skipped
            }
            tar::EntryType::Char | tar::EntryType::Block => return Err(refuse("is a device node")),
            tar::EntryType::Fifo => return Err(refuse("is a named pipe")),
            tar::EntryType::GNUSparse => return Err(refuse("is a sparse file, which is not supported")),
            other => return Err(refuse(&format!("is of the unknown kind {:?}", other.as_byte() as char))),
        };
        Ok(Self {
            kind,
            mode: header.mode().map_err(stopped_by)?,
            uid: extensions.uid.map_or_else(|| header.uid(), Ok).map_err(stopped_by)?,
            gid: extensions.gid.map_or_else(|| header.gid(), Ok).map_err(stopped_by)?,
            mtime: extensions.mtime.unwrap_or_else(|| header.mtime().map_or(0, |mtime| mtime as i64)),
            attributes: extensions.attributes,
            names,
            shown,
        })
    }
}

fn is_below_dev(names: &[OsString]) -> bool {
    names.len() > 1 && names[0] == "dev"
}
