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
