//! Writes the log of one run.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use super::{LogSettings, current, format, rotated};
use crate::runtime::{LogLine, Output};

/// The longest line; a longer one is written in parts.
const LONGEST: u64 = 16 << 10;

/// The log of one run.
pub(crate) struct LogWriter {
    folder: PathBuf,
    run: u32,
    settings: LogSettings,
    file: File,
    written: u64,
}

impl LogWriter {
    pub(crate) fn open(folder: PathBuf, run: u32, settings: LogSettings) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        let file = OpenOptions::new().create(true).append(true).open(current(&folder, run))?;
        let written = file.metadata()?.len();
        Ok(Self { folder, run, settings, file, written })
    }

    fn write(&mut self, line: &LogLine) -> io::Result<()> {
        let bytes = format::write(line);
        if self.written > 0 && self.written + bytes.len() as u64 > self.settings.file_bytes {
            self.rotate()?;
        }
        self.file.write_all(&bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    fn rotate(&mut self) -> io::Result<()> {
        let old = rotated(&self.folder, self.run);
        let next = old.last().map_or(1, |(number, _)| number + 1);
        let path = current(&self.folder, self.run);
        fs::rename(&path, self.folder.join(format!("{}.log.{next}", self.run)))?;
        self.file = OpenOptions::new().create(true).append(true).open(&path)?;
        self.written = 0;
        let old = rotated(&self.folder, self.run);
        let beyond = (old.len() + 1).saturating_sub(self.settings.files.max(1) as usize);
        for (position, (_, path)) in old.iter().enumerate() {
            let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
            let age = modified.ok().and_then(|modified| SystemTime::now().duration_since(modified).ok());
            if position < beyond || age.is_some_and(|age| age > self.settings.age) {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }
}

/// Writes every line that comes from a container to its log, until it closes its end. A full disk loses lines, not the
/// container: what it writes is still read.
pub(crate) fn copy_lines(from: impl Read, output: Output, log: &Mutex<LogWriter>) {
    let mut from = BufReader::with_capacity(LONGEST as usize, from);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = from.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        if !matches!(read, Ok(1..)) {
            return;
        }
        let is_whole = line.last() == Some(&b'\n');
        if is_whole {
            line.pop();
        }
        let partial = !is_whole && line.len() as u64 == LONGEST;
        let text = String::from_utf8_lossy(&line).into_owned();
        let line = LogLine { at: SystemTime::now(), output, text, partial };
        let _ = log.lock().unwrap_or_else(PoisonError::into_inner).write(&line);
    }
}
