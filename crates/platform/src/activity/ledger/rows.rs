//! Changes in blocks, from the newest back to where reading ended.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::ControlFlow;
use std::time::Instant;

use store::{Deed, DeedMark, Key, Level, Version};

use super::block::{Block, New, Row, Unfolded, bit};
use super::names::Names;
use super::{Found, MOST_BYTES, Passing, Seeker, Seen, Span, Stopped, life};

/// Servers that share a store may disagree on the time by this much, in microseconds.
const SKEW: u64 = 600_000_000;
/// As many blocks are looked through for a record with a whole object.
const NEAR: usize = 64;
/// As many blocks are looked through before somebody else gets a turn.
const TURN: usize = 64;
/// Of more names than this it is not asked beforehand which are wanted.
const FEW: usize = 4096;

/// All changes from a moment on.
#[derive(Default)]
pub struct Rows {
    /// Oldest first, without a gap.
    blocks: VecDeque<Block>,
    /// What they take.
    pub bytes: usize,
    /// Where objects stand: keys without the names.
    pub shelves: Names,
    /// Who did it.
    pub users: Names,
    /// Everything from here on …
    pub reached: DeedMark,
    /// … up to here is known.
    pub through: DeedMark,
    /// When it was last asked what retention has let go of, and what the answer was.
    pub trimmed: Option<(Instant, Option<DeedMark>)>,
}

/// Where a deed stands.
pub fn mark(deed: &Deed) -> DeedMark {
    DeedMark { version: deed.version, time: deed.time }
}

impl Rows {
    /// Knows nothing of before now.
    pub fn begin(&mut self, now: Version) {
        self.blocks.clear();
        self.bytes = 0;
        self.through = DeedMark { version: now, time: now_micros() };
        self.reached = DeedMark { version: Version::new(now.get().saturating_add(1)), time: u64::MAX };
    }

    /// Takes in a deed that is newer than all others.
    pub fn append(&mut self, deed: &Deed) {
        let time = self.through.time.max(deed.time);
        self.through = DeedMark { version: deed.version, time };
        let Some((shelf, name)) = told(deed) else { return };
        let (shelf, user) = (self.shelves.number(shelf), self.users.number(&deed.user));
        if self.blocks.back().is_none_or(Block::is_full) {
            self.blocks.push_back(Block::default());
        }
        let Some(block) = self.blocks.back_mut() else { return };
        let before = block.size();
        block.push(&new(deed, shelf, user, name));
        self.bytes = (self.bytes + block.size()).saturating_sub(before);
        while self.bytes > MOST_BYTES && self.blocks.len() > 1 {
            self.forget_oldest();
        }
    }

    /// Takes in older deeds, newest first; none are there when the beginning was reached.
    pub fn prepend(&mut self, deeds: &[Deed]) {
        self.reached = deeds.last().map_or(DeedMark::default(), mark);
        for block in self.folded(deeds).into_iter().rev() {
            self.bytes += block.size();
            self.blocks.push_front(block);
        }
    }

    /// Deeds, newest first, as blocks, oldest first.
    pub fn folded(&mut self, deeds: &[Deed]) -> VecDeque<Block> {
        let mut blocks: VecDeque<Block> = VecDeque::new();
        for deed in deeds.iter().rev() {
            let Some((shelf, name)) = told(deed) else { continue };
            let (shelf, user) = (self.shelves.number(shelf), self.users.number(&deed.user));
            if blocks.back().is_none_or(Block::is_full) {
                blocks.push_back(Block::default());
            }
            if let Some(block) = blocks.back_mut() {
                block.push(&new(deed, shelf, user, name));
            }
        }
        blocks
    }

    fn forget_oldest(&mut self) {
        let Some(gone) = self.blocks.pop_front() else { return };
        self.bytes = self.bytes.saturating_sub(gone.size());
        self.reached = match self.blocks.front() {
            Some(front) => front.first(),
            None => DeedMark {
                version: Version::new(self.through.version.get().saturating_add(1)),
                time: u64::MAX,
            },
        };
    }

    /// Lets go of everything older than this.
    pub fn forget_before(&mut self, horizon: DeedMark) {
        while self.blocks.front().is_some_and(|front| front.first().version < horizon.version) {
            self.forget_oldest();
        }
    }

    /// Shows what is wanted, newest first.
    pub fn walk(
        &self,
        seeker: &mut dyn Seeker,
        span: Span,
        passing: &Passing,
        show: &mut dyn FnMut(&Row, &str) -> ControlFlow<()>,
    ) -> Stopped {
        let (window, below) = (span.window, span.below.version);
        let shelves = bits(&self.shelves, |number, name| seeker.wants_shelf(number, name));
        let users = bits(&self.users, |number, name| seeker.wants_user(number, name));
        let mut unfolded = Unfolded::default();
        let mut turns = 0;
        for block in self.blocks.iter().rev().chain(passing.blocks.iter().rev()) {
            if block.last() <= span.above || block.latest().saturating_add(SKEW) < window.start {
                return Stopped::Past;
            }
            if block.first().version >= below || !block.may_have(window.start, window.end, shelves, users) {
                continue;
            }
            unfolded.read(block);
            for row in unfolded.rows.iter().rev() {
                if row.at.version <= span.above {
                    return Stopped::Past;
                }
                if row.at.version >= below || !window.has(row.at.time) {
                    continue;
                }
                let name = unfolded.name(row);
                let is_wanted = self.is_wanted(seeker, row, name);
                if (is_wanted && show(row, name).is_break()) || seeker.is_tired(0) {
                    return Stopped::At(row.at);
                }
            }
            turns += 1;
            if seeker.is_tired(block.len()) || turns >= TURN {
                return Stopped::At(block.first());
            }
        }
        let reached = passing.reached.unwrap_or(self.reached);
        let is_all = reached.version == Version::ZERO || reached.time.saturating_add(SKEW) < window.start;
        if is_all {
            Stopped::Past
        } else {
            Stopped::Unread(if reached < span.below { reached } else { span.below })
        }
    }

    fn is_wanted(&self, seeker: &mut dyn Seeker, row: &Row, name: &str) -> bool {
        let (Some(shelf), Some(user)) = (self.shelves.name(row.shelf), self.users.name(row.user)) else {
            return false;
        };
        let seen =
            Seen { at: row.at, shelf: row.shelf, user: row.user, what: row.what, name, life: row.life };
        seeker.wants_shelf(row.shelf, shelf) && seeker.wants_user(row.user, user) && seeker.wants(&seen)
    }

    /// What is told of a change that was found.
    pub fn found(&self, row: &Row, name: &str) -> Option<Found> {
        let key = Key::new(format!("{}{name}", self.shelves.name(row.shelf)?)).ok()?;
        Some(Found { at: row.at, key, near: Version::ZERO })
    }

    /// Finds for each change a later one of the same object, not far from it, whose record holds a whole object: the
    /// store needs not begin at the end of a long life then.
    pub fn point_at_wholes(&self, found: &mut [(Row, String, Found)]) {
        let mut near: HashMap<(u32, &str), Version> = HashMap::new();
        let mut later = Unfolded::default();
        let newest = found.first().map_or(Version::ZERO, |(row, ..)| row.at.version);
        let from = self.blocks.partition_point(|block| block.last() <= newest);
        // Newest first, so that what is nearest is noted last.
        let mut wholes: Vec<(u32, String, Version)> = Vec::new();
        let wanted: HashSet<(u32, &str)> =
            found.iter().map(|(row, name, _)| (row.shelf, name.as_str())).collect();
        for block in self.blocks.iter().skip(from).take(NEAR) {
            later.read(block);
            for row in later.rows.iter().filter(|row| row.is_whole && row.at.version > newest) {
                let name = later.name(row);
                if wanted.contains(&(row.shelf, name)) {
                    wholes.push((row.shelf, name.to_owned(), row.at.version));
                }
            }
        }
        for (shelf, name, version) in wholes.iter().rev() {
            near.insert((*shelf, name), *version);
        }
        for (row, name, found) in found.iter_mut() {
            found.near = near.get(&(row.shelf, name.as_str())).copied().unwrap_or_default();
            if row.is_whole {
                near.insert((row.shelf, name), row.at.version);
            }
        }
    }
}

/// What the ledger tells of a deed: where its object stands, and its name. What controllers report, and what has no past,
/// is no activity.
fn told(deed: &Deed) -> Option<(&str, &str)> {
    let key = std::str::from_utf8(deed.key.as_bytes()).ok().filter(|_| deed.level == Level::Full)?;
    let (end, _) = key.match_indices('/').nth(3)?;
    Some(key.split_at(end + 1))
}

fn new<'a>(deed: &Deed, shelf: u32, user: u32, name: &'a str) -> New<'a> {
    New { at: mark(deed), shelf, user, what: deed.what, is_whole: deed.is_whole, life: life(deed.uid), name }
}

/// The bits of those names that are wanted; of many names all of them.
fn bits(names: &Names, mut is_wanted: impl FnMut(u32, &str) -> bool) -> u64 {
    if names.len() > FEW {
        return u64::MAX;
    }
    names
        .all()
        .filter(|(number, name)| is_wanted(*number, name))
        .fold(0, |bits, (number, _)| bits | bit(number))
}

fn now_micros() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}
