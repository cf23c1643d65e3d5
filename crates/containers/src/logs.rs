//! Logs of containers in files, one for each run, rotated by size and age.
//!
//! A line is `TIME STREAM TAG TEXT`, as the container runtimes of Kubernetes write it; the tag is `F`, or `P` for a line that
//! goes on in the next one.

mod format;
mod read;
mod write;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(crate) use read::{Follow, last_lines, read};
pub(crate) use write::{LogWriter, copy_lines};

/// How much of a log is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogSettings {
    /// Size of a file, in bytes, from which on the next one is begun.
    pub file_bytes: u64,
    /// Number of files of one run, the present one included.
    pub files: u32,
    /// Age from which on a file that is not written to any more is removed.
    pub age: Duration,
    /// Number of runs of a container whose logs are kept, the present one included.
    pub runs: u32,
}

impl Default for LogSettings {
    /// 5 files of 10 MiB for each of the last 2 runs, for 7 days.
    fn default() -> Self {
        Self { file_bytes: 10 << 20, files: 5, age: Duration::from_secs(7 * 86_400), runs: 2 }
    }
}

/// The file that a run writes to.
fn current(folder: &Path, run: u32) -> PathBuf {
    folder.join(format!("{run}.log"))
}

/// The files that a run has finished, the oldest first.
fn rotated(folder: &Path, run: u32) -> Vec<(u32, PathBuf)> {
    let prefix = format!("{run}.log.");
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = files
        .filter_map(|file| {
            let number = file.file_name().to_str()?.strip_prefix(&prefix)?.parse().ok()?;
            Some((number, file.path()))
        })
        .collect();
    files.sort();
    files
}

/// Removes the logs of runs before the last `keep`.
pub(crate) fn forget_runs(folder: &Path, run: u32, keep: u32) {
    let oldest = run.saturating_sub(keep.saturating_sub(1));
    for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = file.file_name();
        let number = name.to_str().and_then(|name| name.split('.').next()?.parse::<u32>().ok());
        if number.is_some_and(|number| number < oldest) {
            let _ = std::fs::remove_file(file.path());
        }
    }
}
