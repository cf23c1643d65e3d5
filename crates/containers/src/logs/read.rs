//! Reads logs, and follows them over rotations and restarts.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio::sync::mpsc;

use super::{current, format, rotated};
use crate::error::Result;
use crate::runtime::LogLine;

/// How often a followed file is looked at.
const PERIOD: Duration = Duration::from_millis(100);
/// How many of the last lines an exit keeps, and how much of the file is read for them.
const LAST_LINES: usize = 20;
const LAST_BYTES: u64 = 64 << 10;

/// Which part of a log to read.
pub(crate) struct Follow {
    pub(crate) folder: PathBuf,
    pub(crate) run: u32,
    pub(crate) follow: bool,
    pub(crate) since: Option<SystemTime>,
    pub(crate) tail: Option<usize>,
}

/// Sends the lines of a log. It blocks; it ends when the reader is gone or the log is removed.
pub(crate) fn read(request: Follow, lines: &mpsc::Sender<Result<LogLine>>) {
    let Follow { folder, mut run, follow, since, tail } = request;
    let is_wanted = |line: &LogLine| since.is_none_or(|since| line.at >= since);
    let mut kept = VecDeque::new();
    let mut reader = None;
    let old = rotated(&folder, run).into_iter().map(|(_, path)| path);
    for path in old.chain([current(&folder, run)]) {
        let Ok(file) = File::open(&path) else { continue };
        let mut file = LineReader::new(file);
        while let Some(line) = file.next() {
            if !is_wanted(&line) {
                continue;
            }
            if tail.is_none() {
                if lines.blocking_send(Ok(line)).is_err() {
                    return;
                }
                continue;
            }
            kept.push_back(line);
            if kept.len() > tail.unwrap_or(usize::MAX) {
                kept.pop_front();
            }
        }
        reader = Some(file);
    }
    for line in kept {
        if lines.blocking_send(Ok(line)).is_err() {
            return;
        }
    }
    while follow && !lines.is_closed() && folder.is_dir() {
        let mut has_read = false;
        while let Some(line) = reader.as_mut().and_then(LineReader::next) {
            has_read = true;
            if is_wanted(&line) && lines.blocking_send(Ok(line)).is_err() {
                return;
            }
        }
        let path = current(&folder, run);
        if !reader.as_ref().is_some_and(|reader| reader.is_at(&path)) && path.exists() {
            reader = File::open(&path).ok().map(LineReader::new);
        } else if !has_read && current(&folder, run + 1).exists() {
            run += 1;
            reader = None;
        } else if !has_read {
            std::thread::sleep(PERIOD);
        }
    }
}

/// The last lines of a run, for messages.
pub(crate) fn last_lines(folder: &Path, run: u32) -> Vec<String> {
    let Ok(mut file) = File::open(current(folder, run)) else { return Vec::new() };
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let start = length.saturating_sub(LAST_BYTES);
    if file.seek(SeekFrom::Start(start)).is_err() {
        return Vec::new();
    }
    let mut bytes = Vec::new();
    let _ = file.take(LAST_BYTES).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<_> = text.lines().filter_map(format::parse).map(|line| line.text).collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].to_vec()
}

/// Whole lines of a file that may still grow.
struct LineReader {
    file: BufReader<File>,
    inode: u64,
    begun: String,
}

impl LineReader {
    fn new(file: File) -> Self {
        let inode = file.metadata().map_or(0, |metadata| metadata.ino());
        Self { file: BufReader::new(file), inode, begun: String::new() }
    }

    fn next(&mut self) -> Option<LogLine> {
        loop {
            let mut bytes = Vec::new();
            self.file.read_until(b'\n', &mut bytes).ok()?;
            if bytes.is_empty() {
                return None;
            }
            self.begun.push_str(&String::from_utf8_lossy(&bytes));
            if !self.begun.ends_with('\n') {
                return None;
            }
            let line = std::mem::take(&mut self.begun);
            if let Some(line) = format::parse(line.trim_end_matches('\n')) {
                return Some(line);
            }
        }
    }

    fn is_at(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|metadata| metadata.ino() == self.inode)
    }
}
