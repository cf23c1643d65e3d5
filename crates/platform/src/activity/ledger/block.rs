//! A block of a thousand changes, delta-encoded.

use std::ops::Range;

use store::{DeedMark, Done, Version};

/// As many changes stand in one block.
pub const FULL: usize = 1024;

/// One change.
#[derive(Debug, Clone)]
pub struct Row {
    /// Where it stands.
    pub at: DeedMark,
    /// The number of where its object stands, without the name.
    pub shelf: u32,
    /// The number of who did it.
    pub user: u32,
    /// What was done.
    pub what: Done,
    /// Whether its record holds a whole object.
    pub is_whole: bool,
    /// A few bits of the uid.
    pub life: u16,
    name: Range<usize>,
}

/// A change that is put into a block.
pub struct New<'a> {
    /// Where it stands.
    pub at: DeedMark,
    /// The number of where its object stands, without the name.
    pub shelf: u32,
    /// The number of who did it.
    pub user: u32,
    /// What was done.
    pub what: Done,
    /// Whether its record holds a whole object.
    pub is_whole: bool,
    /// A few bits of the uid.
    pub life: u16,
    /// The object's name.
    pub name: &'a str,
}

/// Changes in the order of their versions.
#[derive(Debug, Default)]
pub struct Block {
    rows: usize,
    first: DeedMark,
    last: DeedMark,
    earliest: u64,
    latest: u64,
    /// A bit for each shelf, by the end of its number: whether one of those is here.
    shelves: u64,
    /// The same of users.
    users: u64,
    bytes: Vec<u8>,
    last_name: String,
}

/// The bit of a number among the 64 that a block knows.
pub fn bit(number: u32) -> u64 {
    1 << (number % 64)
}

impl Block {
    /// How many changes are in it.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether no more should be put into it.
    pub fn is_full(&self) -> bool {
        self.rows >= FULL
    }

    /// How many bytes it takes.
    pub fn size(&self) -> usize {
        size_of::<Block>() + self.bytes.capacity() + self.last_name.capacity()
    }

    /// The oldest.
    pub fn first(&self) -> DeedMark {
        self.first
    }

    /// The newest.
    pub fn last(&self) -> Version {
        self.last.version
    }

    /// When the last of them happened; clocks differ.
    pub fn latest(&self) -> u64 {
        self.latest
    }

    /// Whether something of these shelves and users, told as bits, may have happened between two moments here.
    pub fn may_have(&self, start: u64, end: u64, shelves: u64, users: u64) -> bool {
        self.latest >= start && self.earliest < end && self.shelves & shelves != 0 && self.users & users != 0
    }

    /// Adds a change that is newer than all others.
    pub fn push(&mut self, new: &New<'_>) {
        if self.rows == 0 {
            self.first = new.at;
            (self.earliest, self.latest) = (u64::MAX, 0);
        }
        let (before, now) = (self.last.version, new.at.version);
        // Few write more than one thing in a commit, and those write many.
        match now.revision().get().saturating_sub(before.revision().get()) {
            0 => put(&mut self.bytes, u64::from(now.position().saturating_sub(before.position())) << 1 | 1),
            commits => {
                put(&mut self.bytes, commits << 1);
                put(&mut self.bytes, u64::from(now.position()));
            }
        }
        let later = new.at.time.wrapping_sub(self.last.time).cast_signed();
        put(&mut self.bytes, ((later << 1) ^ (later >> 63)).cast_unsigned());
        put(&mut self.bytes, u64::from(new.shelf));
        let what = match new.what {
            Done::Made => 0,
            Done::Changed => 1,
            Done::Removed => 2,
        };
        put(&mut self.bytes, u64::from(new.user) << 3 | what << 1 | u64::from(new.is_whole));
        self.bytes.extend_from_slice(&new.life.to_be_bytes());
        let common = common(&self.last_name, new.name);
        let rest = &new.name[common..];
        put(&mut self.bytes, common as u64);
        put(&mut self.bytes, rest.len() as u64);
        self.bytes.extend_from_slice(rest.as_bytes());

        self.last_name.truncate(common);
        self.last_name.push_str(rest);
        self.last = new.at;
        self.earliest = self.earliest.min(new.at.time);
        self.latest = self.latest.max(new.at.time);
        self.shelves |= bit(new.shelf);
        self.users |= bit(new.user);
        self.rows += 1;
        if self.is_full() {
            self.bytes.shrink_to_fit();
            self.last_name = String::new();
        }
    }
}

/// How much of the beginning of two texts is the same, in bytes.
fn common(one: &str, other: &str) -> usize {
    let mut same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    while !other.is_char_boundary(same) {
        same -= 1;
    }
    same
}

/// The changes of a block, to be looked at.
#[derive(Debug, Default)]
pub struct Unfolded {
    /// The changes, oldest first.
    pub rows: Vec<Row>,
    names: String,
}

impl Unfolded {
    /// Reads a block in place of what was here.
    pub fn read(&mut self, block: &Block) {
        self.rows.clear();
        self.names.clear();
        let mut bytes = block.bytes.as_slice();
        let mut last = DeedMark::default();
        let mut name = 0..0;
        while let Some(row) = self.next(&mut bytes, last, name.clone()) {
            (last, name) = (row.at, row.name.clone());
            self.rows.push(row);
        }
    }

    /// The name of the object that a change is of.
    pub fn name(&self, row: &Row) -> &str {
        self.names.get(row.name.clone()).unwrap_or_default()
    }

    fn next(&mut self, bytes: &mut &[u8], last: DeedMark, name: Range<usize>) -> Option<Row> {
        let step = take(bytes)?;
        let version = match step & 1 {
            1 => Version::new(last.version.get() + (step >> 1)),
            _ => {
                let position = u16::try_from(take(bytes)?).ok()?;
                Version::of(store::Revision::new(last.version.revision().get() + (step >> 1)), position)
            }
        };
        let later = take(bytes)?;
        let later = (later >> 1).cast_signed() ^ -(later & 1).cast_signed();
        let at = DeedMark { version, time: last.time.wrapping_add(later.cast_unsigned()) };
        let shelf = u32::try_from(take(bytes)?).ok()?;
        let who = take(bytes)?;
        let what = match who >> 1 & 3 {
            0 => Done::Made,
            1 => Done::Changed,
            _ => Done::Removed,
        };
        let (life, rest) = bytes.split_first_chunk::<2>()?;
        *bytes = rest;
        let same = usize::try_from(take(bytes)?).ok()?;
        let more = usize::try_from(take(bytes)?).ok()?;
        let (more, rest) = bytes.split_at_checked(more)?;
        *bytes = rest;
        let start = self.names.len();
        self.names.extend_from_within(name.start..name.start + same);
        self.names.push_str(std::str::from_utf8(more).ok()?);
        Some(Row {
            at,
            shelf,
            user: u32::try_from(who >> 3).ok()?,
            what,
            is_whole: who & 1 == 1,
            life: u16::from_be_bytes(*life),
            name: start..self.names.len(),
        })
    }
}

/// Seven bits to a byte, the lowest first; the eighth says that there are more.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use store::Revision;

    use super::*;

    #[test]
    fn what_was_put_in_comes_out() {
        let mut block = Block::default();
        let names = ["node-0001", "node-0002", "é", "è", "", "node-0003", "node-0003"];
        let versions = [(3, 0), (3, 1), (3, 700), (900, 4), (901, 0), (901, 1), (1 << 40, 65_534)];
        let times = [1_700_000_000_000_000, 1_700_000_000_000_001, 5, 5, u64::MAX, 0, 1_700_000_000_000_000];
        let what = [Done::Made, Done::Changed, Done::Removed];
        let at = |index: usize| {
            let (revision, position) = versions[index];
            DeedMark { version: Version::of(Revision::new(revision), position), time: times[index] }
        };
        for index in 0..names.len() {
            block.push(&New {
                at: at(index),
                shelf: index as u32 * 1000,
                user: u32::MAX - index as u32,
                what: what[index % 3],
                is_whole: index % 2 == 0,
                life: index as u16 * 9000,
                name: names[index],
            });
        }
        let mut unfolded = Unfolded::default();
        unfolded.read(&block);
        assert_eq!(unfolded.rows.len(), names.len());
        for (index, row) in unfolded.rows.iter().enumerate() {
            assert_eq!((row.at, unfolded.name(row)), (at(index), names[index]));
            assert_eq!((row.shelf, row.user), (index as u32 * 1000, u32::MAX - index as u32));
            assert_eq!((row.what, row.is_whole), (what[index % 3], index % 2 == 0));
            assert_eq!(row.life, index as u16 * 9000);
        }
        assert_eq!((block.first(), block.last(), block.latest()), (at(0), at(6).version, u64::MAX));
        assert!(block.may_have(0, 1, bit(1000), bit(u32::MAX)));
        assert!(!block.may_have(0, 1, bit(1), bit(u32::MAX)) && !block.may_have(0, 1, bit(1000), bit(5)));
    }

    #[test]
    fn changes_made_in_bulk_take_a_few_bytes_each() {
        let mut block = Block::default();
        for number in 0..FULL {
            let name = format!("node-{number:06}");
            let at = DeedMark {
                version: Version::of(Revision::new(9), number as u16),
                time: 1_700_000_000_000_000,
            };
            block.push(&New {
                at,
                shelf: 3,
                user: 2,
                what: Done::Changed,
                is_whole: false,
                life: 7,
                name: &name,
            });
        }
        assert!(block.is_full() && block.size() < 12 * FULL, "{}", block.size());
    }
}
