//! Verification: reads the whole past and names every record that is not as it was written.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::Level;
use super::archive::{Archive, Filed, LogEntry, whole_log};
use super::chain;
use super::checkpoint;
use super::prune::vouched;
use super::record::{Hash, Head, NO_HASH, RecordId};
use crate::backup::restore::RAISE;
use crate::entry::Entry;
use crate::error::Result;
use crate::key::Key;
use crate::sign::PublicKey;
use crate::snapshot::Snapshot;
use crate::version::Version;

/// What a verification found.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Objects whose bytes were compared with the end of their chain.
    pub objects: usize,
    /// Records read.
    pub records: usize,
    /// Checkpoints read.
    pub checkpoints: usize,
    /// Changes up to here are covered by a checkpoint.
    pub covered: Version,
    /// What is wrong, in the order it was found; empty when all is well.
    pub problems: Vec<Problem>,
    /// What could not be proved, though nothing speaks against it.
    pub unproven: Vec<String>,
}

/// Something that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The object whose record it is.
    pub key: Option<Key>,
    /// The change it belongs to.
    pub version: Option<Version>,
    /// What is wrong with it.
    pub what: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.key, &self.version) {
            (Some(key), Some(version)) => write!(f, "{key} at version {version}: {}", self.what),
            (Some(key), None) => write!(f, "{key}: {}", self.what),
            _ => f.write_str(&self.what),
        }
    }
}

/// Records or rows read at a time.
const STEP: usize = 512;

/// Checks the chains, the log and the checkpoints against each other and against the objects of `now`.
pub(crate) async fn verify(archive: &dyn Archive, now: &Snapshot, signers: &[PublicKey]) -> Result<Report> {
    let chained = now.list(b"").filter(|(_, entry)| entry.chain.hash != NO_HASH).map(|(key, _)| key.clone());
    let mut verifier =
        Verifier { now, signers, report: Report::default(), log: HashMap::new(), unseen: chained.collect() };
    let lines = verifier.read_log(archive).await?;
    verifier.checkpoints(archive, &lines).await?;
    drop(lines);
    verifier.chains(archive).await?;
    verifier.live_objects();
    verifier.missing_records();
    Ok(verifier.report)
}

struct Verifier<'a> {
    now: &'a Snapshot,
    signers: &'a [PublicKey],
    report: Report,
    /// Lines of the log whose record was not seen yet.
    log: HashMap<(Key, RecordId), LogEntry>,
    /// Objects of which no record was seen yet.
    unseen: BTreeSet<Key>,
}

/// The end of the newest life of a key.
struct End {
    hash: Hash,
    place: RecordId,
    deleted: bool,
}

impl Verifier<'_> {
    async fn read_log(&mut self, archive: &dyn Archive) -> Result<Vec<LogEntry>> {
        let mut lines = whole_log(archive, self.now.version()).await?;
        lines.retain(|line| line.level == Level::Full);
        for line in &lines {
            self.log.insert((line.key.clone(), line.place), line.clone());
        }
        Ok(lines)
    }

    async fn checkpoints(&mut self, archive: &dyn Archive, lines: &[LogEntry]) -> Result<()> {
        let mut previous = NO_HASH;
        let mut covered = Version::ZERO;
        let mut expected_index = 1;
        for kept in checkpoint::all(archive).await? {
            self.report.checkpoints += 1;
            let said = &kept.said;
            let name = format!("checkpoint {}", said.index);
            if said.index != expected_index || said.from.version != covered || said.previous != previous {
                self.problem(
                    None,
                    None,
                    format!("{name} does not follow the one before it: one was removed or changed"),
                );
            }
            if !said.is_signed_by(self.signers) {
                self.problem(None, None, format!("{name} is not signed by a known key"));
            }
            let from = lines.partition_point(|line| line.version <= said.from.version);
            let to = lines.partition_point(|line| line.version <= said.to.version);
            match kept.expected(self.signers) {
                None => self.problem(
                    None,
                    None,
                    format!("what is said to be left of {name} is not signed by a known key"),
                ),
                Some((count, root)) => {
                    let found = &lines[from..to];
                    if found.len() as u64 != count || checkpoint::root(found) != root {
                        let what = format!(
                            "{name} covers {count} records from version {} to {}, and the log has {} that differ from them",
                            said.from.version,
                            said.to.version,
                            found.len()
                        );
                        self.problem(None, None, what);
                    }
                }
            }
            previous = said.hash();
            covered = said.to.version;
            expected_index = said.index + 1;
        }
        self.report.covered = covered;
        let beyond = lines.len() - lines.partition_point(|line| line.version <= covered);
        if beyond > 0 {
            let what = match self.report.checkpoints {
                0 => format!(
                    "no checkpoint covers any of the {beyond} changes: they may have been replaced together"
                ),
                _ => format!("{beyond} changes after version {covered} are not covered by a checkpoint yet"),
            };
            self.report.unproven.push(what);
        }
        Ok(())
    }

    async fn chains(&mut self, archive: &dyn Archive) -> Result<()> {
        let mut life: Vec<Filed> = Vec::new();
        let mut after: Option<(Key, RecordId)> = None;
        loop {
            let step = archive.all_records(after.as_ref().map(|(key, place)| (key, *place)), STEP).await?;
            let Some(last) = step.last() else { break };
            after = Some((last.key.clone(), last.place));
            for filed in step {
                if filed.record.version > self.now.version() {
                    continue;
                }
                let same = life
                    .last()
                    .is_some_and(|last| last.key == filed.key && last.place.born == filed.place.born);
                if !same {
                    self.life(&std::mem::take(&mut life));
                }
                life.push(filed);
            }
        }
        self.life(&life);
        Ok(())
    }

    /// Checks one life of an object, oldest record first.
    fn life(&mut self, life: &[Filed]) {
        let mut before: Option<&Filed> = None;
        for filed in life {
            self.report.records += 1;
            self.link(before, filed);
            before = Some(filed);
        }
        if let Some(last) = before {
            let end = End { hash: last.record.hash, place: last.place, deleted: last.record.deleted };
            self.ending(&last.key, last.record.version, &end);
            self.bytes(life);
        }
    }

    fn link(&mut self, before: Option<&Filed>, filed: &Filed) {
        let Filed { key, place, record } = filed;
        if record.level == Level::None {
            return;
        }
        if chain::link(key, *place, record) != record.hash {
            return self.record_problem(filed, "was changed: it does not match its own hash");
        }
        let (next, previous) = match &record.gap {
            Some(gap) if !vouched(key, *place, record, gap, self.signers) => {
                return self.record_problem(
                    filed,
                    "says that older records were let go of, but nobody signed for that",
                );
            }
            Some(gap) => (gap.first, gap.previous),
            None => (place.sequence, record.previous),
        };
        let follows = match before {
            Some(before) => before.place.sequence + 1 == next && before.record.hash == previous,
            // Nothing older: it is the first, or a gap reaches back to the first, or what came before was not kept.
            None => next == 1 || previous == NO_HASH,
        };
        if !follows {
            return self.record_problem(
                filed,
                "does not follow the record before it: one was removed, swapped or changed",
            );
        }
        if record.level == Level::Full {
            match self.log.remove(&(key.clone(), *place)) {
                None => self.record_problem(filed, "is missing in the log"),
                Some(line) => {
                    let same = line.hash == record.hash
                        && line.version == record.version
                        && line.time == record.time;
                    if !same {
                        self.record_problem(
                            filed,
                            "differs from its line in the log: it was moved or re-timed",
                        );
                    }
                }
            }
        }
    }

    fn ending(&mut self, key: &Key, version: Version, end: &End) {
        let live = self.now.get(key).filter(|entry| entry.chain.born == end.place.born);
        match live {
            None if !end.deleted => self.problem(
                Some(key),
                Some(version),
                "is the last record of an object that does not exist: a record or the object was removed",
            ),
            Some(_) if end.deleted => {
                self.problem(Some(key), Some(version), "records a deletion, but the object exists")
            }
            Some(entry) if entry.chain.sequence != end.place.sequence || entry.chain.hash != end.hash => {
                self.problem(
                    Some(key),
                    Some(version),
                    "is not the record that the object names as its last: one was removed or changed",
                );
            }
            _ => {}
        }
    }

    /// Walks back from the newest bytes and compares each with the digest of its record.
    fn bytes(&mut self, life: &[Filed]) {
        let Some(last) = life.last() else { return };
        let live = self.now.get(&last.key).filter(|entry| entry.chain.born == last.place.born).cloned();
        if !last.record.deleted && live.is_some() {
            self.report.objects += 1;
            self.unseen.remove(&last.key);
        }
        let mut after: Option<Arc<Entry>> = live.filter(|_| !last.record.deleted);
        for filed in life.iter().rev() {
            let Filed { place, record, .. } = filed;
            let stored = after.as_ref().map(|entry| entry.stored());
            if record.level != Level::None
                && let (Some(entry), Some(stored)) = (&after, &stored)
            {
                if chain::state(&Head::of(entry), stored) != record.digest {
                    return self.record_problem(
                        filed,
                        "does not lead to the object it was written for: that was changed",
                    );
                }
                if !stands_for(entry.version, record.version) {
                    return self.record_problem(filed, "led to another version than the object has now");
                }
            }
            let Some(before) = &record.before else { return };
            match before.entry(record, *place, &stored.unwrap_or_default()) {
                Ok(entry) => after = Some(Arc::new(entry)),
                Err(_) => {
                    return self.record_problem(filed, "has a way back that leads nowhere: it was changed");
                }
            }
        }
    }

    /// Objects whose records are all gone.
    fn live_objects(&mut self) {
        for key in std::mem::take(&mut self.unseen) {
            self.problem(Some(&key), None, "has no record of how it came to be: its records were removed");
        }
    }

    fn missing_records(&mut self) {
        let mut missing: Vec<LogEntry> = self.log.drain().map(|(_, line)| line).collect();
        missing.sort_by_key(|line| line.version);
        for line in missing {
            self.problem(
                Some(&line.key),
                Some(line.version),
                "is in the log, but nothing leads to its record: it or a newer one was removed",
            );
        }
    }

    fn record_problem(&mut self, filed: &Filed, what: &str) {
        self.problem(Some(&filed.key), Some(filed.record.version), what);
    }

    fn problem(&mut self, key: Option<&Key>, version: Option<Version>, what: impl Into<String>) {
        self.report.problems.push(Problem { key: key.cloned(), version, what: what.into() });
    }
}

/// Whether an object at version `now` can be the one that was written at `then`: it has that version, or a
/// restore has given it a new one.
fn stands_for(now: Version, then: Version) -> bool {
    now == then || now.revision().get() > then.revision().get() + RAISE
}
