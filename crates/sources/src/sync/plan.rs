//! The plan: which hosts are created, changed, marked or deleted, and what is found and not written.

use std::collections::{BTreeMap, HashMap, HashSet};

use krm::time::Moment;

use super::belief::{self, Signs};
use super::fields::{FIELDS, Field};
use super::{Listing, Policy, Stored};
use crate::kinds::source::{Counts, Doubts, MissingPolicy};
use crate::kinds::source_finding::{Decision, FindingReason, FoundField, SourceFinding, SourceFindingSpec};
use crate::labels;
use crate::observation::{HostRecord, Secret};

/// How long a host counts as just lost, in seconds.
const DAY: i64 = 24 * 3600;
/// Longest value that a finding shows.
const SHOWN: usize = 1024;

/// What is to be done.
#[derive(Debug, Default)]
pub struct Plan {
    /// What is not believed; then nothing is written.
    pub doubts: Option<Doubts>,
    /// Writes of hosts.
    pub writes: Vec<Write>,
    /// What was found and is not written. Those that say something new are written.
    pub findings: Vec<SourceFindingSpec>,
    /// Names of findings that are settled.
    pub settled: Vec<String>,
    /// Hosts that are marked as missing, and are in this list, whether it is believed or not.
    pub seen: Vec<String>,
    /// Numbers of hosts.
    pub counts: Counts,
}

/// A write of a host.
#[derive(Debug, PartialEq)]
pub enum Write {
    /// Creates the host of a record, by its place in the list.
    Create(usize),
    /// Changes a host.
    Update(Update),
    /// Marks a host as missing.
    Missing {
        /// Its identifier.
        host: String,
        /// Whether it gets the label that keeps it from being chosen.
        is_labelled: bool,
    },
    /// Deletes a host.
    Delete {
        /// Name of its object.
        name: String,
        /// Version at which that was decided: if it changes, it is not deleted.
        version: String,
    },
}

/// A change of a host.
#[derive(Debug, PartialEq)]
pub struct Update {
    /// Identifier of the Host.
    pub host: String,
    /// Place of its record in the list.
    pub record: usize,
    /// Fields that are set from the record.
    pub fields: Vec<&'static Field>,
    /// Whether fields are taken over from whoever has set them.
    pub is_forced: bool,
    /// Whether the password is sent.
    pub with_password: bool,
    /// Whether it was missing, and is there again.
    pub is_back: bool,
    /// Whether the label that holds it back changes.
    pub changes_hold: bool,
    /// Whether its identifier at the source is to be noted.
    pub notes_id: bool,
}

/// What a synchronizer remembers between lists: hashes of the passwords that it has sent, and when hosts that are marked as
/// missing were listed all the same.
#[derive(Debug, Default, Clone)]
pub struct Memory {
    passwords: HashMap<String, u64>,
    seen: HashMap<String, i64>,
}

impl Memory {
    /// Whether the password of a host is new.
    pub fn is_new(&self, host: &str, password: &Secret) -> bool {
        self.passwords.get(host) != Some(&hash(password))
    }

    /// Notes that a password was sent.
    pub fn sent(&mut self, host: &str, password: &Secret) {
        self.passwords.insert(host.to_owned(), hash(password));
    }

    /// Notes which missing hosts a list has. A list that is not believed changes nothing, and yet it says that they are there.
    pub fn saw(&mut self, plan: &Plan, now: Moment) {
        self.seen.extend(plan.seen.iter().map(|host| (host.clone(), now.seconds)));
    }

    /// Since when a host that is missing was in no list, as far as is known.
    fn unseen_since(&self, host: &str, marked: i64) -> i64 {
        self.seen.get(host).map_or(marked, |seen| marked.max(*seen))
    }
}

fn hash(password: &Secret) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    use std::sync::OnceLock;
    // Keyed with randomness of this process: what is in memory can't be compared with a list of passwords.
    static KEYED: OnceLock<RandomState> = OnceLock::new();
    KEYED.get_or_init(RandomState::new).hash_one(password.reveal())
}

/// A host of the source and what differs in its record.
struct Matched {
    host: String,
    /// Name of the object.
    name: String,
    place: usize,
    differs: Vec<Difference>,
    is_taken: bool,
    was_missing: bool,
    changes_hold: bool,
    has_password: bool,
    notes_id: bool,
    is_replaced: bool,
}

/// A host of the source that the list lacks.
struct Lost {
    host: String,
    name: String,
    serial: Option<String>,
    stored: Stored,
}

struct Difference {
    field: &'static Field,
    found: String,
    expected: String,
    others: Option<(String, String)>,
}

/// Plans what a list changes.
pub fn plan(
    policy: &Policy,
    listing: &Listing,
    stored: impl IntoIterator<Item = Stored>,
    known: &BTreeMap<String, SourceFinding>,
    memory: &Memory,
    now: Moment,
) -> Plan {
    let mut planner = Planner::new(policy, listing, memory, now);
    for stored in stored {
        planner.add(stored);
    }
    planner.finish(known)
}

/// Plans what a list changes, one stored host after the other: of those that agree, next to nothing is kept.
pub struct Planner<'a> {
    policy: &'a Policy,
    listing: &'a Listing,
    memory: &'a Memory,
    now: Moment,
    own_user: String,
    by_name: HashMap<String, Option<usize>>,
    signs: Signs,
    matched: Vec<Matched>,
    lost: Vec<(bool, Lost)>,
    foreign: Vec<(usize, Stored)>,
    taken: HashSet<usize>,
    /// Hosts by their serial numbers.
    serials: HashMap<String, String>,
    counts: Counts,
}

impl<'a> Planner<'a> {
    /// Begins a plan.
    pub fn new(policy: &'a Policy, listing: &'a Listing, memory: &'a Memory, now: Moment) -> Planner<'a> {
        Planner {
            policy,
            listing,
            memory,
            now,
            own_user: labels::user_of(&policy.source),
            by_name: listing.by_name(),
            signs: Signs::default(),
            matched: Vec::new(),
            lost: Vec::new(),
            foreign: Vec::new(),
            taken: HashSet::new(),
            serials: HashMap::new(),
            counts: Counts { observed: listing.hosts.len() as i64, ..Counts::default() },
        }
    }

    /// Takes in a Host as it is stored, whoever owns it.
    pub fn add(&mut self, stored: Stored) {
        let (policy, listing) = (self.policy, self.listing);
        let host = stored.host.identifier().to_owned();
        if stored.owner() != Some(policy.source.as_str()) {
            let named = self.by_name.get(stored.host.display_name()).copied().flatten();
            if let Some(place) = listing.place(&host).or(named) {
                self.foreign.push((place, stored));
            }
            return;
        }
        self.counts.owned += 1;
        if let Some(serial) = serial(&stored) {
            self.serials.insert(serial, host.clone());
        }
        let native = listing.place(stored.native_id()).filter(|place| !self.taken.contains(place));
        let own = || listing.place(&host).filter(|place| !self.taken.contains(place));
        match native.or_else(own) {
            Some(place) => {
                self.taken.insert(place);
                self.signs.owned += 1;
                let own_user = self.own_user.clone();
                let one = match_up(policy, listing, place, &stored, &own_user, self.memory, &mut self.signs);
                self.matched.push(one);
            }
            None => {
                let now = self.now.seconds;
                let is_new = stored.missing_since().is_none_or(|since| since.seconds + DAY > now);
                self.signs.owned += usize::from(is_new);
                let url =
                    stored.host.spec.bmc.as_ref().and_then(|bmc| bmc.url.as_deref()).unwrap_or_default();
                let has_seen = listing.has_seen(stored.native_id()) || listing.is_unreachable(url);
                if !has_seen && listing.is_complete {
                    let name = stored.host.display_name().to_owned();
                    let serial = serial(&stored);
                    self.lost.push((is_new, Lost { host, name, serial, stored }));
                }
            }
        }
    }

    /// The plan, with the findings that are known, by the names of their hosts.
    pub fn finish(self, known: &BTreeMap<String, SourceFinding>) -> Plan {
        let Planner { policy, listing, memory, now, own_user, by_name, mut signs, mut matched, .. } = self;
        let Planner { mut lost, foreign, mut taken, serials, mut counts, .. } = self;

        // A machine that was enrolled anew has another identifier and the same name.
        lost.retain(|(_, gone)| {
            let place = by_name.get(&gone.name).copied().flatten().filter(|place| !taken.contains(place));
            let is_same = |place: &usize| match (record_serial(&listing.hosts[*place]), &gone.serial) {
                (Some(now), Some(before)) => now == *before,
                _ => true,
            };
            let Some(place) = place.filter(is_same) else { return true };
            taken.insert(place);
            let mut again = match_up(policy, listing, place, &gone.stored, &own_user, memory, &mut signs);
            again.notes_id = true;
            matched.push(again);
            false
        });
        signs.lost = lost.iter().filter(|(is_new, _)| *is_new).map(|(_, gone)| gone.host.clone()).collect();
        counts.missing = lost.len() as i64;
        for one in matched.iter().filter(|one| one.is_replaced) {
            let now = record_serial(&listing.hosts[one.place]);
            let is_swap =
                now.is_some_and(|serial| serials.get(&serial).is_some_and(|other| *other != one.host));
            let signs = if is_swap { &mut signs.swapped } else { &mut signs.replaced };
            signs.push(one.host.clone());
        }

        let seen = matched.iter().filter(|one| one.was_missing).map(|one| one.host.clone()).collect();
        let doubts = belief::told(&signs.doubts(policy, listing), signs.owned);
        let is_confirmed =
            doubts.as_ref().is_some_and(|doubts| policy.confirmed.as_ref() == Some(&doubts.digest));
        let mut plan = Plan { counts, seen, ..Plan::default() };
        if doubts.is_some() && !is_confirmed {
            plan.doubts = doubts;
            return plan;
        }

        let mut found: HashSet<String> = HashSet::new();
        let mut keep = |plan: &mut Plan, spec: SourceFindingSpec| {
            found.insert(spec.host.clone());
            plan.findings.push(spec);
        };
        for (place, stored) in foreign {
            if !taken.insert(place) {
                continue;
            }
            let differs = differences(policy, &listing.hosts[place], &stored, &own_user);
            if policy.enriches.is_empty() {
                plan.counts.conflicts += 1;
                keep(&mut plan, conflict(policy, &stored, &differs));
                continue;
            }
            let is_enriched = |one: &Difference| policy.enriches.iter().any(|path| path == one.field.stored);
            let fields: Vec<_> = differs.iter().filter(|one| is_enriched(one)).map(|one| one.field).collect();
            if !fields.is_empty() {
                plan.writes.push(Write::Update(Update {
                    host: stored.host.identifier().to_owned(),
                    record: place,
                    fields,
                    is_forced: false,
                    with_password: false,
                    is_back: false,
                    changes_hold: false,
                    notes_id: false,
                }));
            }
        }
        let judged: HashSet<String> = matched.iter().map(|one| one.name.clone()).collect();
        for one in matched {
            let (update, finding) = settle(policy, known, one);
            if let Some(finding) = finding {
                let is_accepted = finding.decision == Some(Decision::Expected);
                plan.counts.drifted += i64::from(!is_accepted);
                keep(&mut plan, finding);
            }
            plan.writes.extend(update.map(Write::Update));
        }
        for (_, gone) in lost {
            plan.writes.extend(missing(policy, &gone, memory, now));
        }
        let fresh = (0..listing.hosts.len()).filter(|place| !taken.contains(place));
        // A source that only enriches makes no hosts.
        plan.writes.extend(fresh.filter(|_| policy.enriches.is_empty()).map(Write::Create));
        let is_settled = |finding: &&SourceFinding| {
            let host = &finding.spec.host;
            (listing.is_complete || judged.contains(host)) && !found.contains(host)
        };
        plan.settled =
            known.values().filter(is_settled).map(|finding| finding.metadata.name.clone()).collect();
        plan
    }
}

fn match_up(
    policy: &Policy,
    listing: &Listing,
    place: usize,
    stored: &Stored,
    own_user: &str,
    memory: &Memory,
    signs: &mut Signs,
) -> Matched {
    let record = &listing.hosts[place];
    let host = stored.host.identifier().to_owned();
    let differs = differences(policy, record, stored, own_user);
    let has = |path: &str| differs.iter().any(|one| one.field.stored == path);
    if has("displayName") {
        signs.renamed.push(host.clone());
    }
    if has("spec.class") && stored.host.spec.class.is_some() {
        signs.reclassed.push(host.clone());
    }
    let held = stored.host.metadata.labels.contains_key(labels::HELD_BACK);
    let password = record.bmc.password.as_ref().filter(|password| memory.is_new(&host, password));
    Matched {
        is_replaced: is_other_machine(record, stored),
        is_taken: stored.is_taken(),
        was_missing: stored.missing_since().is_some(),
        changes_hold: held != record.held_back.is_some(),
        has_password: password.is_some(),
        notes_id: record.id != stored.native_id(),
        name: stored.host.metadata.name.clone(),
        host,
        place,
        differs,
    }
}

/// Whether a record is about another machine than the one that is stored: its serial number says so, or, where that is not known,
/// both its name and the address that it boots from.
fn is_other_machine(record: &HostRecord, stored: &Stored) -> bool {
    match (record_serial(record), serial(stored)) {
        (Some(now), Some(before)) => now != before,
        _ => {
            let differs = |now: &str, before: &str| {
                !now.is_empty() && !before.is_empty() && !now.eq_ignore_ascii_case(before)
            };
            let name = crate::observation::label(&record.name);
            let before = stored.host.spec.boot_mac.as_deref().unwrap_or_default();
            differs(record.boot_mac.as_deref().unwrap_or_default(), before)
                && differs(&name, stored.host.display_name())
        }
    }
}

fn serial(stored: &Stored) -> Option<String> {
    let serial = stored.host.spec.hardware.as_ref()?.serial.as_ref()?;
    Some(serial.to_lowercase()).filter(|serial| !serial.is_empty())
}

fn record_serial(record: &HostRecord) -> Option<String> {
    let serial = record.hardware.as_ref()?.serial.as_ref()?;
    Some(serial.to_lowercase()).filter(|serial| !serial.is_empty())
}

fn differences(policy: &Policy, record: &HostRecord, stored: &Stored, own_user: &str) -> Vec<Difference> {
    let difference = |field: &'static Field| {
        let found = (field.found)(policy, record)?;
        let expected = (field.expected)(&stored.host);
        let others = || {
            let (name, time) = stored.set_by_others(field.stored, own_user)?;
            Some((name.to_owned(), time.to_owned()))
        };
        (found != expected).then(|| Difference { field, found, expected, others: others() })
    };
    FIELDS.iter().filter_map(difference).collect()
}

/// What is written of a host, and what is only found.
fn settle(
    policy: &Policy,
    known: &BTreeMap<String, SourceFinding>,
    one: Matched,
) -> (Option<Update>, Option<SourceFindingSpec>) {
    let is_reclassed = |difference: &Difference| one.is_taken && difference.field.stored == "spec.class";
    let (mut held, mut written): (Vec<&Difference>, Vec<&Difference>) = match one.is_replaced {
        true => (one.differs.iter().collect(), Vec::new()),
        false => one.differs.iter().partition(|one| one.others.is_some() || is_reclassed(one)),
    };
    let reason = match (one.is_replaced, held.iter().any(|one| is_reclassed(one))) {
        (true, _) => FindingReason::IdentityChanged,
        (_, true) => FindingReason::Assigned,
        _ => FindingReason::Drifted,
    };
    let mut finding = (!held.is_empty()).then(|| SourceFindingSpec {
        source: policy.source.clone(),
        host: one.name.clone(),
        reason,
        owner: Some(policy.source.clone()),
        fields: held.iter().map(|one| shown(one)).collect(),
        decision: None,
    });
    let mut is_forced = false;
    let before = known.get(&one.name).map(|before| &before.spec);
    if let (Some(new), Some(before)) = (&mut finding, before)
        && new.finds_the_same(before)
    {
        new.decision = before.decision;
        // A class never changes below a cluster, whatever was decided.
        if new.decision == Some(Decision::Found) && reason != FindingReason::Assigned {
            written.extend(held.drain(..).filter(|one| !is_reclassed(one)));
            is_forced = true;
            finding = None;
        }
    }
    let is_kept = one.is_replaced && finding.is_some();
    let update = Update {
        fields: written.iter().map(|one| one.field).collect(),
        is_forced,
        with_password: one.has_password && !is_kept,
        is_back: one.was_missing,
        changes_hold: one.changes_hold && !is_kept,
        notes_id: one.notes_id && !is_kept,
        host: one.host,
        record: one.place,
    };
    let is_something = !update.fields.is_empty()
        || update.with_password
        || update.is_back
        || update.changes_hold
        || update.notes_id;
    (is_something.then_some(update), finding)
}

fn conflict(policy: &Policy, stored: &Stored, differs: &[Difference]) -> SourceFindingSpec {
    SourceFindingSpec {
        source: policy.source.clone(),
        host: stored.host.metadata.name.clone(),
        reason: FindingReason::SourceConflict,
        owner: stored.owner().map(str::to_owned),
        fields: differs.iter().map(shown).collect(),
        decision: None,
    }
}

fn shown(one: &Difference) -> FoundField {
    let cut = |text: &str| text.chars().take(SHOWN).collect::<String>();
    FoundField {
        field: one.field.stored.to_owned(),
        found: cut(&one.found),
        expected: cut(&one.expected),
        set_by: one.others.as_ref().map(|(name, _)| name.clone()),
        set_at: one.others.as_ref().map(|(_, time)| time.clone()).filter(|time| !time.is_empty()),
    }
}

fn missing(policy: &Policy, gone: &Lost, memory: &Memory, now: Moment) -> Option<Write> {
    let host = gone.host.clone();
    let Some(since) = gone.stored.missing_since() else {
        return Some(Write::Missing { host, is_labelled: policy.missing != MissingPolicy::Keep });
    };
    let lasts = i64::try_from(policy.delete_after.as_secs()).unwrap_or(i64::MAX);
    let since = memory.unseen_since(&host, since.seconds);
    let is_over = since.saturating_add(lasts) <= now.seconds;
    let is_deleted = policy.missing == MissingPolicy::Delete && is_over && !gone.stored.is_taken();
    let metadata = &gone.stored.host.metadata;
    let (name, version) = (metadata.name.clone(), metadata.resource_version.clone());
    is_deleted.then_some(Write::Delete { name, version })
}

#[cfg(test)]
mod tests;
