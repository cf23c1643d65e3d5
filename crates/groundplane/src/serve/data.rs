//! The folder that holds everything.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The folder that is asked for, or the running user's own; made if it is not there, readable by its owner alone.
pub fn folder(asked: Option<&Path>) -> Result<PathBuf, Failure> {
    let folder = match asked {
        Some(folder) => folder.to_owned(),
        None => default_folder()?,
    };
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map_err(|error| Failure::new(format_args!("making the data folder {}", folder.display()), error))?;
    let whole = std::fs::canonicalize(&folder);
    whole.map_err(|error| Failure::new(format_args!("finding the data folder {}", folder.display()), error))
}

/// Where data is kept when nobody says: the same place for the server and for its clients.
pub fn default_folder() -> Result<PathBuf, Failure> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_DATA_HOME").or_else(|| Some(set("HOME")?.join(".local/share")));
    base.map(|base| base.join("groundplane")).ok_or_else(|| {
        Failure::new("choosing a data folder", "neither XDG_DATA_HOME nor HOME is set; give one with --data")
    })
}

/// A file that is in a data folder while a backup is restored into it.
const UNFINISHED: &str = "restore-unfinished";

/// Marks a folder as one that a backup is being restored into.
pub fn mark_restore(folder: &Path) -> std::io::Result<()> {
    let text = "A backup is being restored into this folder. \"groundplane serve\" does not start until that is done.\n";
    std::fs::write(folder.join(UNFINISHED), text)?;
    std::fs::File::open(folder)?.sync_all()
}

/// Takes the mark away: everything is there.
pub fn unmark_restore(folder: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(folder.join(UNFINISHED)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }?;
    std::fs::File::open(folder)?.sync_all()
}

/// Refuses a folder that holds a part of a backup, which must not be served as if it were all.
pub fn refuse_unfinished_restore(folder: &Path) -> Result<(), Failure> {
    match folder.join(UNFINISHED).exists() {
        false => Ok(()),
        true => Err(Failure::new(
            format_args!("opening the data folder {}", folder.display()),
            "a restore into it was interrupted; run \"groundplane restore-backup\" with this --data again",
        )),
    }
}
