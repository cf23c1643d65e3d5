//! A file that is rotated by size, with a limited number of old files.

use std::fs::{File, OpenOptions, remove_file, rename};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// When a file is put aside, and how many of those are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    /// A file is put aside before it gets larger than this.
    pub max_bytes: u64,
    /// How many that were put aside are kept.
    pub keep: u32,
}

impl Default for Rotation {
    /// 100 MiB, and ten older ones.
    fn default() -> Rotation {
        Rotation { max_bytes: 100 << 20, keep: 10 }
    }
}

/// The file that is written now.
pub(super) struct RotatedFile {
    path: PathBuf,
    rotation: Rotation,
    open: Option<(File, u64)>,
}

impl RotatedFile {
    /// Opens the file, or makes it for its owner alone.
    pub fn open(path: &Path, rotation: Rotation) -> io::Result<RotatedFile> {
        let mut file = RotatedFile { path: path.to_owned(), rotation, open: None };
        file.current(0)?;
        Ok(file)
    }

    /// Appends whole lines. After an error, the file is reopened the next time.
    pub fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let written = self.current(lines.len() as u64).and_then(|(file, size)| {
            file.write_all(lines)?;
            *size += lines.len() as u64;
            Ok(())
        });
        if written.is_err() {
            self.open = None;
        }
        written
    }

    /// Makes what was written survive a loss of power.
    pub fn sync(&self) -> io::Result<()> {
        self.open.as_ref().map_or(Ok(()), |(file, _)| file.sync_data())
    }

    fn current(&mut self, more: u64) -> io::Result<&mut (File, u64)> {
        let full = |size: u64| size > 0 && size.saturating_add(more) > self.rotation.max_bytes;
        if self.open.as_ref().is_some_and(|(_, size)| full(*size)) {
            self.open = None;
            self.put_aside()?;
        }
        if self.open.is_none() {
            let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?;
            let size = file.metadata()?.len();
            self.open = Some((file, size));
        }
        self.open.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// `audit.log` becomes `audit.log.1`, that one `audit.log.2`, and the oldest goes.
    fn put_aside(&self) -> io::Result<()> {
        let numbered = |number: u32| {
            let mut name = self.path.as_os_str().to_owned();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        let gone_is_fine = |result: io::Result<()>| match result {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
        if self.rotation.keep == 0 {
            return gone_is_fine(remove_file(&self.path));
        }
        gone_is_fine(remove_file(numbered(self.rotation.keep)))?;
        for number in (1..self.rotation.keep).rev() {
            gone_is_fine(rename(numbered(number), numbered(number + 1)))?;
        }
        gone_is_fine(rename(&self.path, numbered(1)))
    }
}
