//! A source that lies in random ways for a thousand rounds: no assigned host is touched, no host that exists is deleted, and told
//! the truth at the end, everything converges.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::collections::BTreeMap;

use fulfillment::kinds::hardware::Hardware;
use krm::Object;
use krm::time::Moment;
use serde_json::{Value, json};
use sources::adapter::Page;
use sources::kinds::SourceFinding;
use sources::kinds::source::MissingPolicy;
use sources::kinds::source_finding::{Decision, SourceFindingSpec};
use sources::labels;
use sources::observation::HostRecord;
use sources::sync::{FIELDS, Listing, Memory, Policy, Stored, Write, plan};

const ROUNDS: usize = 1000;
const HOUR: i64 = 3600;

/// Numbers that are random and always the same.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).unwrap()
    }

    fn once_in(&mut self, rounds: usize) -> bool {
        self.below(rounds) == 0
    }
}

fn record(number: usize) -> HostRecord {
    HostRecord {
        id: format!("host-{number}"),
        name: format!("node{number:03}"),
        class: Some(["gpu", "cpu"][number % 2].to_owned()),
        boot_mac: Some(format!("52:54:00:00:{:02x}:{:02x}", number / 256, number % 256)),
        rack: Some(format!("rack-{}", number / 4)),
        hardware: Some(Hardware { serial: Some(format!("SN{number}")), ..Hardware::default() }),
        ..HostRecord::default()
    }
}

/// The server: hosts by their identifiers.
#[derive(Default)]
struct World {
    hosts: BTreeMap<String, Object>,
    writes: usize,
}

impl World {
    fn set(host: &mut Object, policy: &Policy, record: &HostRecord, stored: &str) {
        let field = FIELDS.iter().find(|field| field.stored == stored).unwrap();
        let Some(found) = (field.found)(policy, record) else { return };
        let value = match stored {
            "spec.hardware" => serde_json::from_str(&found).unwrap(),
            "spec.bmc.insecure" => Value::Bool(found == "true"),
            _ => Value::String(found),
        };
        host.set_at(stored, value);
    }

    fn carry_out(
        &mut self,
        policy: &Policy,
        listing: &Listing,
        writes: Vec<Write>,
        now: i64,
        truth: &BTreeMap<String, HostRecord>,
    ) {
        self.writes += writes.len();
        for write in writes {
            match write {
                Write::Create(place) => {
                    let record = &listing.hosts[place];
                    let mut host = Object::new("fulfillment.groundplane.dev/v1alpha1", "Host");
                    host.set_meta("name", Some(record.id.as_str().into()));
                    host.set_label(labels::SOURCE, Some("liar"));
                    for field in &FIELDS {
                        World::set(&mut host, policy, record, field.stored);
                    }
                    assert!(self.hosts.insert(record.id.clone(), host).is_none(), "{} exists", record.id);
                }
                Write::Update(update) => {
                    let host = self.hosts.get_mut(&update.host).unwrap();
                    for field in &update.fields {
                        World::set(host, policy, &listing.hosts[update.record], field.stored);
                    }
                    if update.is_back {
                        host.set_label(labels::MISSING, None);
                        annotate(host, labels::MISSING_SINCE, None);
                    }
                    if update.notes_id {
                        let id = &listing.hosts[update.record].id;
                        annotate(host, labels::NATIVE_ID, Some(id));
                    }
                }
                Write::Missing { host, .. } => {
                    let host = self.hosts.get_mut(&host).unwrap();
                    host.set_label(labels::MISSING, Some("true"));
                    let since = Moment::of_seconds(now).to_string();
                    annotate(host, labels::MISSING_SINCE, Some(&since));
                }
                Write::Delete { name, .. } => {
                    assert!(!truth.contains_key(&name), "{name} exists and was deleted");
                    assert!(!is_assigned(&self.hosts[&name]), "{name} is assigned and was deleted");
                    self.hosts.remove(&name);
                }
            }
        }
    }
}

fn annotate(host: &mut Object, key: &str, value: Option<&str>) {
    let mut all = host.meta("annotations").and_then(Value::as_object).cloned().unwrap_or_default();
    match value {
        Some(value) => drop(all.insert(key.to_owned(), value.into())),
        None => drop(all.remove(key)),
    }
    host.set_meta("annotations", Some(Value::Object(all)));
}

fn is_assigned(host: &Object) -> bool {
    host.at("status.cluster").is_some()
}

/// What must never change in an assigned host.
fn identity(host: &Object) -> (Option<Value>, Option<Value>, Option<Value>) {
    let at = |path: &str| host.at(path).cloned();
    (at("spec.class"), at("spec.hardware.serial"), at("status.cluster"))
}

/// What the source says: the truth, or a lie about it. Nothing if it fails in the middle.
fn say(truth: &BTreeMap<String, HostRecord>, chance: &mut Chance) -> Option<Vec<HostRecord>> {
    let mut said: Vec<HostRecord> = truth.values().cloned().collect();
    let some = chance.below(said.len());
    let other = chance.below(said.len());
    match chance.below(14) {
        0 => said.truncate(said.len() / 2),
        1 => said.clear(),
        2 => said.truncate(some),
        3 => return None,
        4 => said.push(HostRecord { name: "another".to_owned(), ..said[some].clone() }),
        5 => said.iter_mut().for_each(|record| record.name = format!("{}-new", record.name)),
        6 => {
            let (one, two) = (said[some].id.clone(), said[other].id.clone());
            said[some].id = two;
            said[other].id = one;
        }
        7 => said.iter_mut().for_each(|record| record.class = Some("default".to_owned())),
        8 => drop(said.remove(some)),
        9 => said[some].class = Some("strange".to_owned()),
        10 => {
            said[some].hardware =
                Some(Hardware { serial: Some("SN-other".to_owned()), ..Hardware::default() })
        }
        11 => said.iter_mut().enumerate().for_each(|(at, record)| record.id = format!("re-{at}")),
        _ => {}
    }
    Some(said)
}

fn lie(seed: u64) {
    let mut chance = Chance(seed * 7919 + 1);
    let mut truth: BTreeMap<String, HostRecord> =
        (0..40).map(record).map(|record| (record.id.clone(), record)).collect();
    let mut policy = Policy {
        source: "liar".to_owned(),
        classes: BTreeMap::new(),
        missing: MissingPolicy::Delete,
        delete_after: std::time::Duration::from_secs(168 * 3600),
        max_change_percent: 20,
        enriches: Vec::new(),
        confirmed: None,
        joins_inventory: true,
    };
    let (mut world, mut memory, mut next) = (World::default(), Memory::default(), 40);
    let mut not_believed = 0;
    for round in 0..ROUNDS {
        let now = 1_700_000_000 + round as i64 * HOUR;
        if chance.once_in(20) {
            truth.insert(format!("host-{next}"), record(next));
            next += 1;
        }
        if chance.once_in(40) && truth.len() > 20 {
            let gone = truth.keys().nth(chance.below(truth.len())).unwrap().clone();
            truth.remove(&gone);
        }
        if chance.once_in(5) && !world.hosts.is_empty() {
            let at = chance.below(world.hosts.len());
            let host = world.hosts.values_mut().nth(at).unwrap();
            host.set("status", (!is_assigned(host)).then(|| json!({"cluster": "c1"})));
        }
        let Some(said) = say(&truth, &mut chance) else { continue };
        let mut listing = Listing::complete();
        listing.take_in(Page { hosts: said, ..Page::default() });
        let assigned: BTreeMap<String, _> = world
            .hosts
            .iter()
            .filter(|(_, host)| is_assigned(host))
            .map(|(id, host)| (id.clone(), identity(host)))
            .collect();
        let stored: Vec<Stored> = world.hosts.values().filter_map(Stored::read).collect();
        assert_eq!(stored.len(), world.hosts.len());
        let planned = plan(&policy, &listing, stored, &BTreeMap::new(), &memory, Moment::of_seconds(now));
        if planned.doubts.is_some() {
            not_believed += 1;
            assert!(planned.writes.is_empty(), "what is not believed is not written");
        }
        memory.saw(&planned, Moment::of_seconds(now));
        world.carry_out(&policy, &listing, planned.writes, now, &truth);
        for (id, before) in assigned {
            let host =
                world.hosts.get(&id).unwrap_or_else(|| panic!("seed {seed}, round {round}: {id} is gone"));
            assert_eq!(identity(host), before, "seed {seed}, round {round}: {id}");
        }
    }
    assert!(not_believed > ROUNDS / 4, "the lies were believed");
    // The truth at last. What has gone is confirmed once, and an operator accepts machines that a lie got wrong at first sight.
    let mut known: BTreeMap<String, SourceFinding> = BTreeMap::new();
    for round in 0..4 {
        let now = 1_800_000_000 + round * HOUR;
        let mut listing = Listing::complete();
        listing.take_in(Page { hosts: truth.values().cloned().collect(), ..Page::default() });
        let stored = || world.hosts.values().filter_map(Stored::read).collect::<Vec<_>>();
        let mut planned = plan(&policy, &listing, stored(), &known, &memory, Moment::of_seconds(now));
        if let Some(doubts) = planned.doubts {
            policy.confirmed = Some(doubts.digest);
            planned = plan(&policy, &listing, stored(), &known, &memory, Moment::of_seconds(now));
        }
        assert!(
            round < 3 || planned.writes.is_empty(),
            "seed {seed}: a second run writes {:?}",
            planned.writes
        );
        let findings = planned.findings;
        world.carry_out(&policy, &listing, planned.writes, now, &truth);
        let accepted = |spec: SourceFindingSpec| {
            let host = spec.host.clone();
            (host, SourceFinding::new(SourceFindingSpec { decision: Some(Decision::Found), ..spec }))
        };
        known = findings.into_iter().map(accepted).collect();
    }
    for (id, record) in &truth {
        let matches = |host: &&Object| {
            let native = host.annotation(labels::NATIVE_ID).unwrap_or_else(|| host.name());
            native == id
        };
        let host = world.hosts.values().find(matches).unwrap_or_else(|| panic!("seed {seed}: {id} is lost"));
        assert_eq!(host.label(labels::MISSING), None, "seed {seed}: {id}");
        assert_eq!(host.at("spec.hardware.serial"), Some(&json!(record.hardware.as_ref().unwrap().serial)));
        if !is_assigned(host) {
            assert_eq!(host.at("spec.class"), Some(&json!(record.class)), "seed {seed}: {id}");
            assert_eq!(host.at("displayName"), Some(&json!(record.name)), "seed {seed}: {id}");
        }
    }
}

#[test]
fn a_source_that_lies_for_a_thousand_rounds_harms_nobody() {
    (1..=8).for_each(lie);
}
