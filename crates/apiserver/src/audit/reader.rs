//! Reads the audit log from its end, newest event first, through rotated files.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// How much is read at once.
const CHUNK: u64 = 256 << 10;
/// A line that is longer is passed over: none that we wrote is.
const LONGEST_LINE: usize = 64 << 20;

/// Where a line begins: all before it in its file, and all older files, come after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinePlace {
    /// The file, whatever it is called by now.
    pub file: u64,
    /// Where in it the line begins.
    pub offset: u64,
}

/// Shows each line, newest first, until it is enough; `from` goes on where an earlier reading ended. Gives `false` when
/// the file of `from` is gone by now.
pub fn read_back(
    path: &Path,
    from: Option<LinePlace>,
    mut show: impl FnMut(&[u8], LinePlace) -> ControlFlow<()>,
) -> io::Result<bool> {
    let mut from = from;
    for number in 0.. {
        let file = match File::open(numbered(path, number)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            Err(error) => return Err(error),
        };
        let about = file.metadata()?;
        let end = match from {
            Some(place) if place.file != about.ino() => continue,
            Some(place) => place.offset.min(about.len()),
            None => about.len(),
        };
        from = None;
        if read_file(&file, about.ino(), end, &mut show)?.is_break() {
            return Ok(true);
        }
    }
    Ok(from.is_none())
}

/// `audit.log`, `audit.log.1`, `audit.log.2`, …
fn numbered(path: &Path, number: u32) -> PathBuf {
    match number {
        0 => path.to_owned(),
        number => {
            let mut name = path.as_os_str().to_owned();
            name.push(format!(".{number}"));
            name.into()
        }
    }
}

fn read_file(
    file: &File,
    id: u64,
    end: u64,
    show: &mut impl FnMut(&[u8], LinePlace) -> ControlFlow<()>,
) -> io::Result<ControlFlow<()>> {
    // What was read of a line whose beginning was not reached yet.
    let mut tail: Vec<u8> = Vec::new();
    let mut at = end;
    while at > 0 {
        let length = at.min(CHUNK);
        at -= length;
        let mut chunk = vec![0; usize::try_from(length).unwrap_or(0)];
        file.read_exact_at(&mut chunk, at)?;
        chunk.append(&mut tail);
        let mut rest = chunk.as_slice();
        while let Some(newline) = rest.iter().rposition(|byte| *byte == b'\n') {
            let line = &rest[newline + 1..];
            let place = LinePlace { file: id, offset: at + newline as u64 + 1 };
            if !line.is_empty() && show(line, place).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            rest = &rest[..newline];
        }
        if rest.len() < LONGEST_LINE {
            tail = rest.to_vec();
        }
    }
    let is_whole = !tail.is_empty() && show(&tail, LinePlace { file: id, offset: 0 }).is_break();
    Ok(if is_whole { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(path: &Path, from: Option<LinePlace>, most: usize) -> (Vec<String>, Option<LinePlace>) {
        let (mut lines, mut last) = (Vec::new(), None);
        let found = read_back(path, from, |line, place| {
            lines.push(String::from_utf8_lossy(line).into_owned());
            last = Some(place);
            if lines.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(found.unwrap());
        (lines, last)
    }

    #[test]
    fn lines_are_read_from_the_newest_back_through_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        std::fs::write(folder.path().join("audit.log.1"), "one\ntwo\n").unwrap();
        std::fs::write(&path, "three\nfour\nfi").unwrap();
        // The last is still being written: it is a line for whoever asks, and no JSON.
        assert_eq!(seen(&path, None, 9).0, ["fi", "four", "three", "two", "one"]);
        let (first, place) = seen(&path, None, 2);
        assert_eq!(first, ["fi", "four"]);
        // The file is put aside meanwhile.
        std::fs::rename(folder.path().join("audit.log.1"), folder.path().join("audit.log.2")).unwrap();
        std::fs::rename(&path, folder.path().join("audit.log.1")).unwrap();
        std::fs::write(&path, "six\n").unwrap();
        assert_eq!(seen(&path, place, 9).0, ["three", "two", "one"]);
        let gone = LinePlace { file: 1, offset: 4 };
        assert!(!read_back(&path, Some(gone), |_, _| ControlFlow::Continue(())).unwrap());
    }

    #[test]
    fn lines_longer_than_a_chunk_are_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        let long = "x".repeat(3 * CHUNK as usize + 7);
        std::fs::write(&path, format!("a\n{long}\nb\n")).unwrap();
        assert_eq!(seen(&path, None, 9).0, ["b", &long, "a"]);
    }
}
