//! What the writers of the crash test wanted and were told, line by line in a file that outlives them.
//!
//! A line is one `write` to a file opened for appending, so a killed process leaves whole lines, and their order
//! is the order in which things happened.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write as Output;
use std::path::Path;

use bytes::Bytes;
use store::{Author, Body, Guard, Key, Level, Put, Revision, Transaction, Uid, Version};

use super::dice::Dice;

/// One transaction that a writer is about to submit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    pub round: u64,
    pub writer: u64,
    pub number: u64,
    pub writes: Vec<Planned>,
}

/// One write of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    pub key: String,
    pub delete: bool,
    /// Guarded by this version.
    pub at: Option<Version>,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// About to be submitted.
    Try(Attempt),
    /// Acknowledged at this revision; with `None` it changed nothing.
    Acknowledged { writer: u64, number: u64, revision: Option<Revision> },
    /// A guard did not hold.
    Refused { writer: u64, number: u64 },
}

impl Attempt {
    /// The value this attempt gives to a key: no other attempt ever gives the same.
    pub fn value(&self, key: &str) -> Bytes {
        let seed = self.round << 40 | self.writer << 32 | self.number;
        let length = 16 + Dice::seeded(seed).below(600) as usize;
        let name = format!("{}/{}/{} {key} ", self.round, self.writer, self.number);
        name.bytes().cycle().take(name.len() + length).collect()
    }

    pub fn transaction(&self) -> Transaction {
        let mut transaction = Transaction::by(Author::new(format!("writer-{}", self.writer), "crash"));
        for planned in &self.writes {
            let key = Key::new(&planned.key).expect("a plain key");
            if let Some(version) = planned.at {
                transaction = transaction.guard(Guard::At { key: key.clone(), version });
            }
            transaction = if planned.delete {
                transaction.delete(key)
            } else {
                let put = Put::new(key, uid(&planned.key), Body::plain(self.value(&planned.key)));
                transaction.put(put.level(level(&planned.key)))
            };
        }
        transaction
    }
}

/// Every level of history is written, each key at one of them.
fn level(key: &str) -> Level {
    match key.bytes().last() {
        Some(b'0') => Level::None,
        Some(b'1') => Level::Brief,
        _ => Level::Full,
    }
}

fn uid(key: &str) -> Uid {
    let mut uid = [0; 16];
    uid[..key.len()].copy_from_slice(key.as_bytes());
    Uid(uid)
}

/// The file.
pub struct Journal(File);

impl Journal {
    pub fn append_to(path: &Path) -> Journal {
        Journal(OpenOptions::new().create(true).append(true).open(path).expect("the journal opens"))
    }

    pub fn note(&self, line: &Line) {
        let line = format!("{line}\n");
        let written = (&self.0).write(line.as_bytes()).expect("the journal takes a line");
        assert_eq!(written, line.len(), "a line is written at once");
    }

    /// All lines of a journal; a last one that was cut off does not count.
    pub fn read(path: &Path, round: u64) -> Vec<Line> {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.split_inclusive('\n')
            .filter_map(|line| line.strip_suffix('\n'))
            .map(|line| parse(line, round).unwrap_or_else(|| panic!("not a line of the journal: {line:?}")))
            .collect()
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Line::Try(Attempt { writer, number, writes, .. }) => {
                write!(f, "try {writer} {number}")?;
                for Planned { key, delete, at } in writes {
                    let verb = if *delete { "delete" } else { "put" };
                    match at {
                        Some(at) => write!(f, " {verb}:{key}:{at}")?,
                        None => write!(f, " {verb}:{key}:any")?,
                    }
                }
                Ok(())
            }
            Line::Acknowledged { writer, number, revision: Some(revision) } => {
                write!(f, "acknowledged {writer} {number} {revision}")
            }
            Line::Acknowledged { writer, number, revision: None } => {
                write!(f, "acknowledged {writer} {number} unchanged")
            }
            Line::Refused { writer, number } => write!(f, "refused {writer} {number}"),
        }
    }
}

fn parse(line: &str, round: u64) -> Option<Line> {
    let mut words = line.split(' ');
    let what = words.next()?;
    let writer = words.next()?.parse().ok()?;
    let number = words.next()?.parse().ok()?;
    match what {
        "try" => {
            let writes = words.map(planned).collect::<Option<_>>()?;
            Some(Line::Try(Attempt { round, writer, number, writes }))
        }
        "acknowledged" => {
            let revision = match words.next()? {
                "unchanged" => None,
                revision => Some(Revision::new(revision.parse().ok()?)),
            };
            Some(Line::Acknowledged { writer, number, revision })
        }
        "refused" => Some(Line::Refused { writer, number }),
        _ => None,
    }
}

fn planned(word: &str) -> Option<Planned> {
    let mut parts = word.split(':');
    let delete = match parts.next()? {
        "put" => false,
        "delete" => true,
        _ => return None,
    };
    let key = parts.next()?.to_owned();
    let at = match parts.next()? {
        "any" => None,
        version => Some(version.parse().ok()?),
    };
    Some(Planned { key, delete, at })
}
