//! What must be in the store after each crash, worked out from the journal and checked against the watch.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use store::{Embedded, Event, Revision, Store, Version};

use super::journal::{Attempt, Line};

/// Everything known of the store up to the last check.
#[derive(Default)]
pub struct Ledger {
    objects: BTreeMap<String, (Version, Bytes)>,
    revision: Revision,
    /// The last version acknowledged before the last kill; a watch goes on from here.
    resume: Option<Version>,
    /// What the watch told after it by now.
    tail: Vec<Told>,
    /// Commits that were acknowledged, in all.
    pub acknowledged: usize,
    /// Commits that landed though the kill came before the acknowledgement.
    pub unacknowledged: usize,
}

/// An event as the watch told it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    version: Version,
    key: String,
    after: Option<Bytes>,
}

/// What became of an attempt, as far as its writer knew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Open,
    Acknowledged(Option<Revision>),
    Refused,
}

struct Tried {
    attempt: Attempt,
    fate: Fate,
    /// The newest revision that anyone had been told when this was tried.
    after: Revision,
    landed: Option<Revision>,
}

impl Ledger {
    /// Checks the store against the journal of one round.
    pub async fn check(&mut self, store: &Embedded, lines: &[Line]) {
        let mut tried = fates(lines);
        let now = store.latest();
        let told = self.told(store);
        for commit in told.chunk_by(|one, other| one.version.revision() == other.version.revision()) {
            self.commit(commit, &mut tried);
        }
        assert_eq!(self.revision, now.revision(), "the watch told everything there is");

        for tried in &tried {
            if let Fate::Acknowledged(Some(revision)) = tried.fate {
                assert_eq!(tried.landed, Some(revision), "acknowledged and lost: {:?}", tried.attempt);
                self.acknowledged += 1;
            } else if tried.landed.is_some() {
                self.unacknowledged += 1;
            }
        }
        let objects: BTreeMap<String, (Version, Bytes)> = now
            .list(b"")
            .map(|(key, entry)| (key.to_string(), (entry.version(), entry.bytes().clone())))
            .collect();
        assert!(objects == self.objects, "the objects are not what the commits made of them");
        let report = store.verify(&[]).await.expect("history can be read");
        assert!(report.problems.is_empty(), "{:?}", report.problems);

        self.tail.extend(told);
        if let Some(newest) = tried.iter().filter_map(Tried::acknowledged).max() {
            // Inside the commit, so that a watch is cut between two objects of it.
            let resume = Version::of(newest, 0);
            self.tail.retain(|told| told.version > resume);
            self.resume = Some(resume);
        }
    }

    /// What a watch tells that was cut off by the last kill; without what it told by then already.
    fn told(&self, store: &Embedded) -> Vec<Told> {
        let resume = self.resume.unwrap_or(Revision::ZERO.end());
        let mut watch = store.watch(b"", resume).expect("the window reaches back to the last round");
        let mut told: Vec<Told> = Vec::new();
        while watch.position() < store.latest().version() {
            told.extend(
                watch.ready().expect("nothing is let go of meanwhile").iter().map(|event| tell(event)),
            );
        }
        assert!(told.is_sorted_by(|one, next| one.version < next.version), "out of order, or twice");
        assert!(told.starts_with(&self.tail), "what was told before the crash is not told again as it was");
        told.split_off(self.tail.len())
    }

    /// One commit must be all of one attempt, at the next revision, on what was there before it.
    fn commit(&mut self, commit: &[Told], tried: &mut [Tried]) {
        let revision = commit[0].version.revision();
        assert_eq!(revision, self.revision.next(), "a revision is missing");
        let told_of = tried.iter().position(|tried| tried.acknowledged() == Some(revision));
        let fits = |tried: &Tried| {
            tried.is_open() && self.effect(&tried.attempt, revision).as_deref() == Some(commit)
        };
        let made_by = told_of.or_else(|| tried.iter().position(fits));
        let Some(made_by) = made_by else { panic!("nobody wanted this: {commit:?}") };
        let made_by = &mut tried[made_by];
        assert_eq!(self.effect(&made_by.attempt, revision).as_deref(), Some(commit), "{:?}", made_by.attempt);
        assert!(
            made_by.after < revision,
            "older than what was acknowledged before it: {:?}",
            made_by.attempt
        );
        made_by.landed = Some(revision);
        self.revision = revision;
        for told in commit {
            match &told.after {
                Some(value) => drop(self.objects.insert(told.key.clone(), (told.version, value.clone()))),
                None => drop(self.objects.remove(&told.key)),
            }
        }
    }

    /// What an attempt does now; `None` when a guard does not hold.
    fn effect(&self, attempt: &Attempt, revision: Revision) -> Option<Vec<Told>> {
        let mut told = Vec::new();
        for planned in &attempt.writes {
            let found = self.objects.get(&planned.key);
            if planned.at.is_some_and(|at| at != found.map_or(Version::ZERO, |(version, _)| *version)) {
                return None;
            }
            if planned.delete && found.is_none() {
                continue;
            }
            let after = (!planned.delete).then(|| attempt.value(&planned.key));
            let version = Version::of(revision, told.len() as u16);
            told.push(Told { version, key: planned.key.clone(), after });
        }
        Some(told)
    }
}

impl Tried {
    fn acknowledged(&self) -> Option<Revision> {
        match self.fate {
            Fate::Acknowledged(revision) => revision,
            _ => None,
        }
    }

    fn is_open(&self) -> bool {
        self.fate == Fate::Open && self.landed.is_none()
    }
}

fn tell(event: &Event) -> Told {
    let after = event.after().map(|entry| entry.bytes().clone());
    Told { version: event.version(), key: event.key().to_string(), after }
}

fn fates(lines: &[Line]) -> Vec<Tried> {
    let mut tried: Vec<Tried> = Vec::new();
    let mut by_name = HashMap::new();
    let mut newest = Revision::ZERO;
    for line in lines {
        let (name, fate) = match line {
            Line::Try(attempt) => {
                by_name.insert((attempt.writer, attempt.number), tried.len());
                let attempt = attempt.clone();
                tried.push(Tried { attempt, fate: Fate::Open, after: newest, landed: None });
                continue;
            }
            Line::Acknowledged { writer, number, revision } => {
                newest = newest.max(revision.unwrap_or(newest));
                ((*writer, *number), Fate::Acknowledged(*revision))
            }
            Line::Refused { writer, number } => ((*writer, *number), Fate::Refused),
        };
        tried[by_name[&name]].fate = fate;
    }
    tried
}
