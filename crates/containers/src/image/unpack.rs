//! Unpacks a layer of an image, which a stranger made.
//!
//! Every path is walked name by name below the folder, and no symbolic link is ever followed, so nothing outside of the folder
//! is read or written. What breaks a rule is refused with its reason, and the caller deletes the folder.

mod entry;
mod extension;
mod path;
mod reader;
mod tree;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::digest::Digest;
use entry::Entry;
use extension::Extensions;
use reader::{LayerReader, stopped_by};
use tree::Tree;

/// How large a layer may get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnpackLimits {
    /// Bytes of the uncompressed layer.
    pub bytes: u64,
    /// Files, folders and links.
    pub entries: u64,
    /// Uncompressed bytes for one compressed byte, once `ratio_from` bytes came out.
    pub ratio: u64,
    /// Uncompressed bytes from which on the ratio is looked at.
    pub ratio_from: u64,
}

impl Default for UnpackLimits {
    /// 8 GiB, a million entries, a ratio of 250 beyond 64 MiB.
    fn default() -> Self {
        Self { bytes: 8 << 30, entries: 1_000_000, ratio: 250, ratio_from: 64 << 20 }
    }
}

/// Whose files the unpacked ones are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdShift {
    /// Added to every user and group id: where the range of the user namespace begins.
    pub base: u32,
    /// Size of the range; ids beyond it are refused.
    pub size: u32,
}

/// What was unpacked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpacked {
    /// Digest of the uncompressed layer.
    pub diff_id: Digest,
    /// Bytes of its files.
    pub bytes: u64,
    /// Number of its entries.
    pub entries: u64,
}

/// Why a layer was not unpacked.
#[derive(Debug)]
pub enum UnpackError {
    /// The layer breaks a rule.
    Refused(String),
    /// The disk is full.
    NoSpace,
    /// The machine failed.
    Machine(io::Error),
}

impl fmt::Display for UnpackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(reason) => f.write_str(reason),
            Self::NoSpace => f.write_str("no space left"),
            Self::Machine(error) => error.fmt(f),
        }
    }
}

impl From<io::Error> for UnpackError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull => Self::NoSpace,
            _ => Self::Machine(error),
        }
    }
}

impl From<rustix::io::Errno> for UnpackError {
    fn from(error: rustix::io::Errno) -> Self {
        Self::from(io::Error::from(error))
    }
}

/// Unpacks a layer, plain or compressed by gzip or zstd, into an empty folder, as a layer of overlayfs: what the layer deletes
/// becomes a device 0:0, a folder that hides those below it gets the attribute `trusted.overlay.opaque`.
pub fn unpack(
    layer: File,
    folder: &Path,
    limits: UnpackLimits,
    ids: Option<IdShift>,
) -> Result<Unpacked, UnpackError> {
    let mut reader = LayerReader::open(layer, limits)?;
    let mut tree = Tree::open(folder, ids)?;
    let mut entries = 0;
    let unpacked = unpack_entries(&mut reader, &mut tree, limits, &mut entries);
    // A limit stops the reader; what the tar parser makes of that is not the reason.
    if let Some(reason) = reader.refusal() {
        return Err(UnpackError::Refused(reason));
    }
    unpacked?;
    // What follows the end of the archive is part of the digest.
    let drained = io::copy(&mut reader, &mut io::sink());
    if let Some(reason) = reader.refusal() {
        return Err(UnpackError::Refused(reason));
    }
    drained.map_err(stopped_by)?;
    Ok(Unpacked { diff_id: reader.finish(), bytes: tree.bytes(), entries })
}

fn unpack_entries(
    reader: &mut LayerReader,
    tree: &mut Tree,
    limits: UnpackLimits,
    count: &mut u64,
) -> Result<(), UnpackError> {
    let mut archive = tar::Archive::new(reader);
    let mut extensions = Extensions::default();
    for entry in archive.entries().map_err(stopped_by)?.raw(true) {
        let mut entry = entry.map_err(stopped_by)?;
        *count += 1;
        if *count > limits.entries {
            return Err(UnpackError::Refused(format!("a layer has more than {} entries", limits.entries)));
        }
        if extensions.take(&mut entry)? {
            continue;
        }
        let parsed = Entry::parse(entry.header(), std::mem::take(&mut extensions))?;
        tree.add(&parsed, &mut entry as &mut dyn Read)?;
    }
    Ok(())
}
