//! Where the engine's bytes are: a file with a note beside it, or what a test puts in its place.

use std::fs::{OpenOptions, remove_file};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use redb::StorageBackend;
use redb::backends::FileBackend;

/// Something that stores one database.
pub trait Device: Send + Sync + 'static {
    /// What messages call it.
    fn name(&self) -> String;

    /// Opens it. A device is opened anew when the store comes back from a failure.
    fn open(&self) -> io::Result<Box<dyn StorageBackend>>;

    /// Notes that a sync failed: what reads show may not be on disk. The note must outlive the process, and at least as
    /// long as the page cache does.
    fn distrust(&self, why: &str) -> io::Result<()>;

    /// The note, if there is one.
    fn distrusted(&self) -> io::Result<Option<String>>;

    /// Takes the note away, once everything that reads show has been written and synced again.
    fn trust(&self) -> io::Result<()>;
}

/// A file. The note is a file beside it.
pub(crate) struct FileDevice {
    path: PathBuf,
}

/// What the name of the note ends with.
const NOTE: &str = ".unsynced";

impl FileDevice {
    pub fn at(path: &Path) -> FileDevice {
        FileDevice { path: path.to_owned() }
    }

    /// The note lives in the same file system, and so in the same page cache: a crash that takes the note away also
    /// takes away the pages that it warns of.
    fn note(&self) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(NOTE);
        self.path.with_file_name(name)
    }
}

impl Device for FileDevice {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        let file = OpenOptions::new().read(true).write(true).open(&self.path)?;
        Ok(Box::new(FileBackend::new(file).map_err(io::Error::other)?))
    }

    fn distrust(&self, why: &str) -> io::Result<()> {
        let mut note =
            OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(self.note())?;
        writeln!(
            note,
            "{} could not be synced to disk: {why}\n\
             The next start writes it again, syncs it and checks it, then removes this file.",
            self.path.display()
        )?;
        // Welcome, not needed: the disk has just failed, and the page cache keeps the note as long as it must be kept.
        let _ = note.sync_all();
        Ok(())
    }

    fn distrusted(&self) -> io::Result<Option<String>> {
        match std::fs::read_to_string(self.note()) {
            Ok(note) => Ok(Some(note.lines().next().unwrap_or_default().to_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn trust(&self) -> io::Result<()> {
        match remove_file(self.note()) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_sync_is_noted_beside_the_file_until_it_is_trusted_again() {
        let folder = tempfile::tempdir().unwrap();
        let device = FileDevice::at(&folder.path().join("store.redb"));
        assert_eq!(device.distrusted().unwrap(), None);
        device.trust().unwrap();
        device.distrust("no such luck").unwrap();
        let note = device.distrusted().unwrap().unwrap();
        assert!(note.ends_with("store.redb could not be synced to disk: no such luck"), "{note}");
        device.trust().unwrap();
        assert_eq!(device.distrusted().unwrap(), None);
    }
}
