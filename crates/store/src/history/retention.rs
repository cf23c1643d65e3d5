//! Retention: how much of the past is kept, and letting go of the rest in small steps.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

use super::archive::{Archive, Edit, Mark, Order, Row, RowId};
use super::checkpoint;
use super::prune::prune;
use super::record::{Record, RecordId};
use super::{Level, horizon};
use crate::error::Result;
use crate::key::Key;
use crate::model::{Model, Retention};
use crate::sign::SigningKey;
use crate::transaction::Fence;
use crate::version::Revision;

/// Everything up to here was thinned out to what history keeps; for watches it is gone.
pub(crate) const FLOOR: &str = "engine/floor";
/// Rows up to here were thinned out. It names a row of this engine's log, so it is the engine's own affair.
pub(crate) const SETTLED: &str = "engine/settled";
/// Rows up to here were shed because there were too many.
const SHED: &str = "engine/aged";
/// Rows up to where were looked at for their age: see [`Aged`].
const AGED: &str = "engine/aged-by-rule";

/// Of a controller's older reports this many are kept.
const FEW: usize = 8;
/// Records of one life read at a time.
const LIFE: usize = 4_096;
/// Rows of the log handled in one step, at most.
const ROWS: usize = 512;

/// What retention works with.
pub(crate) struct Keeper<'a> {
    pub archive: &'a dyn Archive,
    pub signing: &'a SigningKey,
    pub fence: Option<&'a Fence>,
    pub model: &'a dyn Model,
}

/// How far the log was looked through for what is too old, for each age (µs) that a rule has: what is kept for an hour
/// does not wait for what is kept for a year.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Aged {
    /// A digest of the rules: under others everything is looked at anew.
    rules: Vec<u8>,
    reached: BTreeMap<u64, Bytes>,
}

/// What one round of retention did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Records let go of.
    pub records: usize,
}

impl Keeper<'_> {
    /// Thins out what no watch can ask for any more: everything up to `floor`.
    pub async fn settle(&self, floor: Revision) -> Result<Pruned> {
        let mut pruned = Pruned::default();
        let mut brief = BTreeSet::new();
        let mut beyond = self.archive.meta(SETTLED).await?.map(RowId);
        loop {
            let rows = self.archive.rows(beyond.as_ref(), Order::OldestFirst, ROWS).await?;
            let old = |row: &Row| row.entries.iter().all(|line| line.version.revision() <= floor);
            let mut edits = Vec::new();
            let mut reached = None;
            for mut row in rows.into_iter().take_while(old) {
                let last = row.entries.iter().map(|line| line.version.revision()).max();
                reached = Some((row.id.clone(), last.unwrap_or(floor)));
                let before = row.entries.len();
                for line in row.entries.extract_if(.., |line| line.level == Level::None) {
                    edits.push(Edit::DropRecord(line.key, line.place, line.version));
                }
                let briefs = row.entries.iter().filter(|line| line.level == Level::Brief);
                brief.extend(briefs.map(|line| (line.key.clone(), line.place.born)));
                pruned.records += before - row.entries.len();
                if row.entries.is_empty() {
                    edits.push(Edit::DropRow(row.id));
                } else if row.entries.len() < before {
                    edits.push(Edit::PutRow(row));
                }
            }
            let Some((id, revision)) = reached else { break };
            edits.push(Edit::PutMeta(SETTLED.into(), id.0.clone()));
            edits.push(Edit::PutMeta(FLOOR.into(), Bytes::copy_from_slice(&revision.get().to_be_bytes())));
            self.archive.edit(edits, self.fence).await?;
            beyond = Some(id);
        }
        let settled = self.settled().await?;
        for (key, born) in brief {
            pruned.records += self.thin_reports(&key, born, settled).await?;
        }
        Ok(pruned)
    }

    /// The last revision that was settled: what came after it may be asked for by a watch, also after a restart.
    async fn settled(&self) -> Result<Revision> {
        let found = self.archive.meta(FLOOR).await?;
        let number = found.and_then(|bytes| Some(u64::from_be_bytes(bytes.as_ref().try_into().ok()?)));
        Ok(Revision::new(number.unwrap_or(0)))
    }

    /// Lets go of what is older than the rule of its key keeps, and, while the records take more than
    /// `most_bytes`, of the oldest whatever its age.
    pub async fn age(&self, now: u64, most_bytes: u64) -> Result<Pruned> {
        let floor = self.settled().await?;
        let mut pruned = Pruned { records: self.shed(floor, now, most_bytes).await? };
        let rules = self.model.rules();
        let digest = digest_of(&rules);
        let found = self.archive.meta(AGED).await?;
        let mut aged: Aged = found.and_then(|bytes| postcard::from_bytes(&bytes).ok()).unwrap_or_default();
        if aged.rules != digest {
            aged = Aged { rules: digest, ..Aged::default() };
        }
        let ages: BTreeSet<u64> = rules.iter().map(|(_, rule)| micros(rule.age)).collect();
        for age in ages {
            pruned.records += self.age_by(age, &mut aged, floor, now).await?;
        }
        Ok(pruned)
    }

    /// Lets go of what is too old by the rules of one age.
    async fn age_by(&self, age: u64, aged: &mut Aged, floor: Revision, now: u64) -> Result<usize> {
        let mut pruned = 0;
        loop {
            let beyond = aged.reached.get(&age).cloned().map(RowId);
            let rows = self.archive.rows(beyond.as_ref(), Order::OldestFirst, ROWS).await?;
            let settled = self.archive.meta(SETTLED).await?.map(RowId);
            let is_due = |row: &Row| {
                let is_settled = settled.as_ref().is_some_and(|settled| row.id <= *settled);
                is_settled && row.entries.iter().all(|line| line.time.saturating_add(age) <= now)
            };
            let mut lives = BTreeSet::new();
            let mut reached = None;
            for row in rows.into_iter().take_while(is_due) {
                let ours = row.entries.iter().filter(|line| self.age_of(&line.key) == age);
                lives.extend(ours.map(|line| (line.key.clone(), line.place.born)));
                reached = Some(row.id);
            }
            let Some(id) = reached else { return Ok(pruned) };
            for (key, born) in lives {
                pruned += self.age_life(&key, born, floor, now, None).await?;
            }
            aged.reached.insert(age, id.0);
            let kept = postcard::to_stdvec(aged)?;
            self.archive.edit(vec![Edit::PutMeta(AGED.into(), kept.into())], self.fence).await?;
        }
    }

    /// Lets go of the oldest while the records take too many bytes.
    async fn shed(&self, floor: Revision, now: u64, most_bytes: u64) -> Result<usize> {
        let mut pruned = 0;
        let mut beyond = self.archive.meta(SHED).await?.map(RowId);
        // Of what is not old yet a little first, then more and more: not much too much, and not for ever.
        let mut few = 1;
        while self.archive.bytes().await? > most_bytes {
            let rows = self.archive.rows(beyond.as_ref(), Order::OldestFirst, few).await?;
            few = (few * 2).min(ROWS);
            let settled = self.archive.meta(SETTLED).await?.map(RowId);
            let is_settled = |row: &Row| settled.as_ref().is_some_and(|settled| row.id <= *settled);
            let mut lives = BTreeSet::new();
            let mut reached = None;
            for row in rows.into_iter().take_while(is_settled) {
                lives.extend(row.entries.iter().map(|line| (line.key.clone(), line.place.born)));
                reached = Some(row);
            }
            let Some(row) = reached else { break };
            let cut = row.entries.iter().map(|line| line.time).max().unwrap_or(0);
            for (key, born) in lives {
                pruned += self.age_life(&key, born, floor, now, Some(cut)).await?;
            }
            self.archive.edit(vec![Edit::PutMeta(SHED.into(), row.id.0.clone())], self.fence).await?;
            beyond = Some(row.id);
        }
        Ok(pruned)
    }

    fn age_of(&self, key: &Key) -> u64 {
        micros(self.model.retention(key).age)
    }

    async fn thin_reports(&self, key: &Key, born: u64, floor: Revision) -> Result<usize> {
        let life = self.life(key, born).await?;
        let old = |record: &Record| record.level == Level::Brief && record.version.revision() <= floor;
        let count = life.iter().filter(|(_, record)| old(record)).count();
        // Wait until there are twice as many: one signature then serves several.
        if count <= 2 * FEW {
            return Ok(0);
        }
        let mut to_drop = count - FEW;
        let mut dropped = vec![false; life.len()];
        let last = life.len() - 1;
        for (index, (_, record)) in life.iter().enumerate().take(last) {
            if to_drop > 0 && old(record) {
                dropped[index] = true;
                to_drop -= 1;
            }
        }
        let edits = prune(key, &life, &dropped, self.signing)?;
        self.archive.edit(edits, self.fence).await?;
        Ok(dropped.iter().filter(|dropped| **dropped).count())
    }

    async fn age_life(
        &self,
        key: &Key,
        born: u64,
        floor: Revision,
        now: u64,
        cut: Option<u64>,
    ) -> Result<usize> {
        let life = self.life(key, born).await?;
        let Some(((_, newest), older)) = life.split_last() else { return Ok(0) };
        let rule = self.model.retention(key);
        let oldest_kept = now.saturating_sub(self.age_of(key));
        let old = |record: &Record| match cut {
            Some(cut) => record.time <= cut,
            None => record.time < oldest_kept,
        };
        let outdated = |record: &Record| record.version.revision() <= floor && old(record);
        let whole = newest.deleted && outdated(newest);
        let mut dropped = vec![whole; life.len()];
        if !whole {
            let keep = if cut.is_some() { 1 } else { rule.count.max(1) as usize };
            let beyond_count = life.len().saturating_sub(keep);
            for (index, (_, record)) in older.iter().enumerate() {
                // A prefix only: once one is kept, so are all after it.
                if index >= beyond_count || !outdated(record) {
                    break;
                }
                dropped[index] = true;
            }
        }
        let count = dropped.iter().filter(|dropped| **dropped).count();
        if count == 0 {
            return Ok(0);
        }
        let mut edits = prune(key, &life, &dropped, self.signing)?;
        let gone: Vec<&(RecordId, Record)> =
            life.iter().zip(&dropped).filter(|(_, dropped)| **dropped).map(|(r, _)| r).collect();
        let first_kept = life.get(count).map_or(newest, |(_, record)| record);
        edits.extend(self.unlist(&gone).await?);
        let mark = Mark { version: first_kept.version, time: first_kept.time };
        edits.extend(horizon::moved(self.archive, self.model.kept_alike(key), mark).await?);
        let full: Vec<_> =
            gone.iter().filter(|(_, record)| record.level == Level::Full).map(|(_, r)| r.version).collect();
        edits.extend(checkpoint::amended(self.archive, self.signing, &full).await?);
        self.archive.edit(edits, self.fence).await?;
        Ok(count)
    }

    /// Takes the lines of these records out of the log.
    async fn unlist(&self, gone: &[&(RecordId, Record)]) -> Result<Vec<Edit>> {
        let mut rows: BTreeMap<RowId, Row> = BTreeMap::new();
        for (_, record) in gone {
            if let Some(found) = self.archive.row_of(record.time, record.version).await? {
                let row = rows.entry(found.id.clone()).or_insert(found);
                row.entries.retain(|line| line.version != record.version);
            }
        }
        let edit = |row: Row| if row.entries.is_empty() { Edit::DropRow(row.id) } else { Edit::PutRow(row) };
        Ok(rows.into_values().map(edit).collect())
    }

    async fn life(&self, key: &Key, born: u64) -> Result<Vec<(RecordId, Record)>> {
        let mut life = Vec::new();
        let mut beyond = RecordId { born, sequence: 0 };
        loop {
            let step = self.archive.records(key, Some(beyond.into()), Order::OldestFirst, LIFE).await?;
            let more = step.len() == LIFE;
            for (place, record) in step {
                if place.born != born {
                    return Ok(life);
                }
                beyond = place;
                life.push((place, record));
            }
            if !more {
                return Ok(life);
            }
        }
    }
}

fn micros(age: Duration) -> u64 {
    age.as_micros().min(u128::from(u64::MAX / 2)) as u64
}

fn digest_of(rules: &[(String, Retention)]) -> Vec<u8> {
    let mut context = Context::new(&SHA256);
    for (about, rule) in rules {
        context.update(format!("{about}\0{}\0{}\n", micros(rule.age), rule.count).as_bytes());
    }
    context.finish().as_ref().to_vec()
}
