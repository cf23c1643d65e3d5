//! The data folder of `serve --demo`: a temporary one, unless the user names one.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::announce::say;
use super::data;
use crate::failure::Failure;
use crate::log::Format;
use crate::shell;

/// Where a server keeps its data, and whether that goes when it stops.
pub enum DataFolder {
    /// Named by the user, or the user's own default.
    Lasting(PathBuf),
    /// Made for one demo.
    Temporary {
        /// Removed when it is dropped.
        folder: TempDir,
        /// Whether it outlives the demo.
        keep: bool,
    },
}

impl DataFolder {
    /// The folder that is asked for, or the default one.
    pub fn lasting(asked: Option<&Path>) -> Result<DataFolder, Failure> {
        data::folder(asked).map(DataFolder::Lasting)
    }

    /// A fresh folder for a demo.
    pub fn temporary(keep: bool) -> Result<DataFolder, Failure> {
        let made = tempfile::Builder::new().prefix("groundplane-demo-").tempdir();
        let folder = made.map_err(|error| {
            Failure::new(
                format_args!("making a temporary folder in {}", std::env::temp_dir().display()),
                format_args!("{error}; name a folder with --data"),
            )
        })?;
        Ok(DataFolder::Temporary { folder, keep })
    }

    /// The path.
    pub fn path(&self) -> &Path {
        match self {
            DataFolder::Lasting(path) => path,
            DataFolder::Temporary { folder, .. } => folder.path(),
        }
    }

    /// Whether it was made for one demo.
    pub fn is_temporary(&self) -> bool {
        matches!(self, DataFolder::Temporary { .. })
    }

    /// Ends it after a clean stop, and says what became of a temporary one.
    pub fn close(self, format: Format) -> Result<(), Failure> {
        let DataFolder::Temporary { folder, keep } = self else { return Ok(()) };
        let path = folder.path().to_owned();
        if keep {
            let path = folder.keep();
            let again = format!(
                "{} serve --demo --data {}",
                shell::program(),
                shell::quoted(&path.display().to_string())
            );
            say(format, &format!("The demo is kept. To start it again: {again}"));
            return Ok(());
        }
        let removed = folder.close();
        removed.map_err(|error| Failure::new(format_args!("removing {}", path.display()), error))?;
        say(
            format,
            &format!("The demo's folder {} was removed; --keep-demo would have kept it.", path.display()),
        );
        Ok(())
    }
}
