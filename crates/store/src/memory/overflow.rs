//! Recent commits that memory has no room for, in unnamed files: watches that are further behind are fed from them.
//!
//! The files have no name, so nothing is left of them after a crash. They hold what the window held: sealed objects
//! stay sealed. A write that fails costs the files, and then a watch, but never a commit.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::recent::{Commit, Event};
use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::history::record::Head;
use crate::key::Key;
use crate::version::{Revision, Version};

/// A file that is longer than this is followed by another: whole files are let go of.
const FILE: u64 = 32 << 20;
/// A reader begins to read at most this far before the commit that it looks for.
const MARKS: u64 = 64 << 10;
/// So many bytes are read at a time; a commit that is longer is read whole.
const CHUNK: usize = 1 << 20;
/// In place of a length: there is no such object.
const NONE: u32 = u32::MAX;

/// Commits `floor+1 ..= last`, in order.
pub(crate) struct Overflow {
    /// Where the files are, and how many bytes all of them have at most; `None` where nothing is kept.
    place: Option<(PathBuf, u64)>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    segments: VecDeque<Arc<Segment>>,
    failed: bool,
}

/// One file.
struct Segment {
    file: File,
    /// The revision before its first.
    floor: Revision,
    index: Mutex<Index>,
}

#[derive(Clone, Default)]
struct Index {
    length: u64,
    last: Revision,
    /// The time of its last commit, in microseconds since 1970.
    newest: u64,
    /// Where some of its commits begin.
    marks: Vec<(Revision, u64)>,
}

/// A part of what a reader is behind.
pub(crate) struct Chunk {
    /// The changes that it asked for, in order.
    pub events: Vec<Arc<Event>>,
    /// All changes up to this revision are among them.
    pub reached: Revision,
}

impl Overflow {
    /// Keeps nothing.
    pub fn none() -> Overflow {
        Overflow { place: None, kept: Mutex::default() }
    }

    /// Keeps at most `bytes` in files without a name in `folder`.
    pub fn in_folder(folder: Option<PathBuf>, bytes: u64) -> Overflow {
        Overflow { place: folder.filter(|_| bytes > 0).map(|folder| (folder, bytes)), kept: Mutex::default() }
    }

    /// The revision after which every commit is here that is no longer in memory, whose own floor is `memory`.
    pub fn floor(&self, memory: Revision) -> Revision {
        self.locked().segments.front().map_or(memory, |first| first.floor.min(memory))
    }

    /// Takes over commits that left memory, which had all after `floor`; those from before `oldest` are let go of.
    pub fn take(&self, mut floor: Revision, commits: &[Arc<Commit>], oldest: u64) {
        let Some((folder, most)) = &self.place else { return };
        let mut kept = self.locked();
        for commit in commits {
            if commit.time < oldest || kept.failed {
                kept.segments.clear();
            } else if let Err(error) = kept.push(folder, floor, commit) {
                tracing::warn!(
                    folder = %folder.display(), %error,
                    "recent changes can't be kept on disk: watches that fall behind end with 410 sooner"
                );
                *kept = Kept { failed: true, ..Kept::default() };
            }
            floor = commit.revision;
        }
        let mut total: u64 = kept.segments.iter().map(|segment| segment.index().length).sum();
        let size = |segment: &Arc<Segment>| {
            let index = segment.index();
            (index.length, index.newest)
        };
        while let Some((length, newest)) = kept.segments.front().map(size)
            && (total > *most || newest < oldest)
        {
            total -= length;
            kept.segments.pop_front();
        }
    }

    /// Lets go of everything.
    pub fn clear(&self) {
        self.locked().segments.clear();
    }

    /// The changes under `prefix` after `position`, from commits up to `until`: some of them, and how far they go.
    /// [`Error::Gone`] if they are no longer here.
    pub fn read(&self, position: Version, prefix: &[u8], until: Revision) -> Result<Chunk> {
        let gone = |earliest| Error::Gone { asked: position.revision(), earliest };
        let wanted = match position == position.revision().end() {
            true => position.revision().next(),
            false => position.revision(),
        };
        let segment = {
            let kept = self.locked();
            let floor = kept.segments.front().map_or(until, |first| first.floor);
            if wanted <= floor {
                return Err(gone(floor));
            }
            let found = kept.segments.iter().find(|segment| segment.index().last >= wanted);
            found.cloned().ok_or_else(|| gone(until))?
        };
        segment.read(wanted, position, prefix, until)
    }

    fn locked(&self) -> MutexGuard<'_, Kept> {
        // What is under the lock is changed by single steps.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn push(&mut self, folder: &PathBuf, floor: Revision, commit: &Commit) -> io::Result<()> {
        if self.segments.back().is_some_and(|last| last.index().last != floor) {
            // Something is missing in between: what is older can't be told without a gap.
            self.segments.clear();
        }
        let last = match self.segments.back().filter(|last| last.index().length < FILE) {
            Some(last) => last.clone(),
            None => {
                let file = tempfile::tempfile_in(folder)?;
                let segment = Arc::new(Segment { file, floor, index: Mutex::default() });
                self.segments.push_back(segment.clone());
                segment
            }
        };
        last.push(commit)
    }
}

impl Segment {
    fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, commit: &Commit) -> io::Result<()> {
        let frame = encode(commit)?;
        let mut index = self.index();
        let at = index.length;
        self.file.write_all_at(&frame, at)?;
        if index.marks.last().is_none_or(|(_, last)| at - last >= MARKS) {
            index.marks.push((commit.revision, at));
        }
        index.length += frame.len() as u64;
        (index.last, index.newest) = (commit.revision, commit.time);
        Ok(())
    }

    fn read(&self, wanted: Revision, position: Version, prefix: &[u8], until: Revision) -> Result<Chunk> {
        let (mut at, end) = {
            let index = self.index();
            let after = index.marks.partition_point(|(revision, _)| *revision <= wanted);
            (index.marks.get(after.saturating_sub(1)).map_or(0, |(_, at)| *at), index.length)
        };
        let mut chunk = Chunk { events: Vec::new(), reached: Revision::ZERO };
        let first = at;
        while at < end && (at - first) < CHUNK as u64 + MARKS {
            let bytes = self.bytes(at, end)?;
            let mut rest = &bytes[..];
            while let Some(frame) = take_frame(&mut rest) {
                let Frame { revision, events } = frame?;
                if revision > until {
                    return Ok(chunk);
                }
                if revision >= wanted {
                    collect(events, position, prefix, &mut chunk.events)?;
                    chunk.reached = revision;
                }
            }
            at += (bytes.len() - rest.len()) as u64;
        }
        Ok(chunk)
    }

    /// A piece from `at` on, with at least one whole frame.
    fn bytes(&self, at: u64, end: u64) -> Result<Vec<u8>> {
        let mut length = [0; 4];
        self.file.read_exact_at(&mut length, at).map_err(unreadable)?;
        let one = u32::from_le_bytes(length) as usize + 4;
        let most = usize::try_from(end - at).unwrap_or(usize::MAX);
        let mut bytes = vec![0; one.max(CHUNK).min(most)];
        self.file.read_exact_at(&mut bytes, at).map_err(unreadable)?;
        Ok(bytes)
    }
}

fn unreadable(error: io::Error) -> Error {
    Error::Unavailable(format!("recent changes on disk can't be read: {error}"))
}

/// Length, revision, and per change: version, key, the object before and after.
fn encode(commit: &Commit) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; 4];
    frame.extend_from_slice(&commit.revision.get().to_le_bytes());
    for event in &commit.events {
        frame.extend_from_slice(&event.version.get().to_le_bytes());
        put(&mut frame, Some(event.key.as_bytes()))?;
        for entry in [&event.before, &event.after] {
            let value = entry.as_ref().map(|entry| Head::of(entry).encode(&entry.stored()));
            let value = value.transpose().map_err(io::Error::other)?;
            put(&mut frame, value.as_deref())?;
        }
    }
    let length = u32::try_from(frame.len() - 4).map_err(io::Error::other)?;
    frame[..4].copy_from_slice(&length.to_le_bytes());
    Ok(frame)
}

fn put(frame: &mut Vec<u8>, value: Option<&[u8]>) -> io::Result<()> {
    let length = value.map_or(Ok(NONE), |value| u32::try_from(value.len()).map_err(io::Error::other))?;
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(value.unwrap_or_default());
    Ok(())
}

struct Frame<'b> {
    revision: Revision,
    events: &'b [u8],
}

/// The next whole frame; `None` where only a part of one is left.
fn take_frame<'b>(rest: &mut &'b [u8]) -> Option<Result<Frame<'b>>> {
    let length = u32::from_le_bytes(rest.first_chunk::<4>().copied()?) as usize;
    let frame = rest.get(4..4 + length)?;
    *rest = &rest[4 + length..];
    let parsed = frame
        .split_first_chunk::<8>()
        .map(|(revision, events)| Frame { revision: Revision::new(u64::from_le_bytes(*revision)), events });
    Some(parsed.ok_or_else(cut_short))
}

fn collect(mut rest: &[u8], position: Version, prefix: &[u8], into: &mut Vec<Arc<Event>>) -> Result<()> {
    while !rest.is_empty() {
        let (version, after) = rest.split_first_chunk::<8>().ok_or_else(cut_short)?;
        rest = after;
        let version = Version::new(u64::from_le_bytes(*version));
        let key = take(&mut rest)?.ok_or_else(cut_short)?;
        let (before, after) = (take(&mut rest)?, take(&mut rest)?);
        if version > position && key.starts_with(prefix) {
            let event = Event::new(version, Key::new(key)?, entry(before)?, entry(after)?);
            into.push(Arc::new(event));
        }
    }
    Ok(())
}

fn take<'b>(rest: &mut &'b [u8]) -> Result<Option<&'b [u8]>> {
    let (length, after) = rest.split_first_chunk::<4>().ok_or_else(cut_short)?;
    *rest = after;
    let length = u32::from_le_bytes(*length);
    if length == NONE {
        return Ok(None);
    }
    let (value, after) = rest.split_at_checked(length as usize).ok_or_else(cut_short)?;
    *rest = after;
    Ok(Some(value))
}

fn entry(value: Option<&[u8]>) -> Result<Option<Arc<Entry>>> {
    let Some(value) = value else { return Ok(None) };
    let (head, body) = Head::decode(value)?;
    Ok(Some(Arc::new(head.entry(Bytes::copy_from_slice(body)))))
}

fn cut_short() -> Error {
    Error::damaged(format_args!("recent changes on disk are cut short"))
}
