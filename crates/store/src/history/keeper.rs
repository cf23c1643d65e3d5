//! Where the newest checkpoint is kept besides in the store, so that a store which was rolled back is noticed.

use std::fs::{File, OpenOptions, rename};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::checkpoint::Checkpoint;

/// Keeps the newest checkpoint outside of the store: in a file on another disk, on another server, in a transparency log.
pub trait CheckpointKeeper: Send + Sync + 'static {
    /// Keeps a checkpoint, in place of the one before.
    fn keep(&self, checkpoint: &Checkpoint) -> io::Result<()>;

    /// The checkpoint that was kept last; nothing if there was none.
    fn kept(&self) -> io::Result<Option<Checkpoint>>;

    /// Where it is, for messages.
    fn place(&self) -> String;
}

/// Keeps the newest checkpoint in a file.
#[derive(Debug, Clone)]
pub struct FileKeeper {
    path: PathBuf,
}

impl FileKeeper {
    /// In this file.
    pub fn at(path: impl Into<PathBuf>) -> FileKeeper {
        FileKeeper { path: path.into() }
    }
}

impl CheckpointKeeper for FileKeeper {
    fn keep(&self, checkpoint: &Checkpoint) -> io::Result<()> {
        let mut name = self.path.as_os_str().to_owned();
        name.push(".new");
        let new = PathBuf::from(name);
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(&serde_json::to_vec(checkpoint)?)?;
        file.sync_all()?;
        rename(&new, &self.path)?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    }

    fn kept(&self) -> io::Result<Option<Checkpoint>> {
        match std::fs::read(&self.path) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }
}
