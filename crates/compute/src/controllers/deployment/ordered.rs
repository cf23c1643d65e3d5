//! Ordered instance control: which instances are started, replaced and stopped next. Pure.
//!
//! * What is missing is started: with `OrderedReady` one after another, each once those before it are ready. An ordinal that
//!   was started before is started again at once.
//! * An instance of another template is replaced: at once if it is not ready, since nothing is lost; otherwise one at a time,
//!   the highest ordinal first, and only while every other one is there and ready. So at most one is down by our doing, and
//!   a template that does not work never keeps a better one from being rolled out.
//! * Ordinals that are not wanted are stopped, the highest first.

use std::collections::BTreeMap;

use crate::kinds::placement::ManagementPolicy;

/// An instance as this decision sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// Its ordinal; nothing if its name has none.
    pub ordinal: Option<u32>,
    /// Hash of the template that it was made from.
    pub hash: String,
    /// Whether it is ready.
    pub is_ready: bool,
    /// Whether it is being deleted.
    pub is_deleting: bool,
    /// Whether it waits for quota: neither its template nor we are the cause.
    pub waits_for_quota: bool,
}

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesiredState {
    /// Number of instances.
    pub desired: u32,
    /// Ordinals that were started before.
    pub started: u32,
    /// Hash of the template.
    pub hash: String,
    /// Hash of the template of the highest ordinal, if one is tried there.
    pub canary: Option<String>,
    /// Further instances while others are replaced.
    pub surge: u32,
    /// Whether instances of another template stay.
    pub is_paused: bool,
    /// In which order instances are started and stopped.
    pub policy: ManagementPolicy,
}

impl DesiredState {
    /// Hash of the template of an ordinal.
    pub fn hash_of(&self, ordinal: u32) -> &str {
        match &self.canary {
            Some(canary) if ordinal + 1 == self.desired => canary,
            _ => &self.hash,
        }
    }
}

/// What is done next.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Steps {
    /// Ordinals that are started.
    pub create: Vec<u32>,
    /// Instances that are stopped: indexes of slots.
    pub delete: Vec<usize>,
    /// Ordinals that were started by then.
    pub started: u32,
}

/// Decides about the instances of a deployment.
pub fn steps(slots: &[Slot], wanted: &DesiredState) -> Steps {
    let mut steps = Steps::default();
    let mut taken: BTreeMap<u32, usize> = BTreeMap::new();
    for (index, slot) in slots.iter().enumerate() {
        match slot.ordinal {
            Some(ordinal) if !taken.contains_key(&ordinal) => drop(taken.insert(ordinal, index)),
            // Nobody knows what it is for.
            _ if !slot.is_deleting => steps.delete.push(index),
            _ => {}
        }
    }
    let is_outdated = |ordinal: u32, slot: &Slot| slot.hash != wanted.hash_of(ordinal);
    let is_rolling = !wanted.is_paused
        && taken.range(..wanted.desired).any(|(ordinal, index)| is_outdated(*ordinal, &slots[*index]));
    let total = wanted.desired + if is_rolling { wanted.surge } else { 0 };
    let excess: Vec<usize> = taken.range(total..).map(|(_, index)| *index).collect();
    stop(slots, &excess, wanted.policy, &mut steps);
    let highest = taken.range(..total).next_back().map_or(0, |(ordinal, _)| ordinal + 1);
    let started = wanted.started.min(total).max(highest);
    start(slots, &taken, wanted, total, started, &mut steps);
    steps.started = steps.create.iter().map(|ordinal| ordinal + 1).max().unwrap_or(0).max(started);
    if !wanted.is_paused {
        replace(slots, &taken, wanted, total, &mut steps);
    }
    steps
}

/// Stops what is not wanted: what is not ready at once, the rest one at a time and the highest ordinal first.
fn stop(slots: &[Slot], excess: &[usize], policy: ManagementPolicy, steps: &mut Steps) {
    let is_stopping = excess.iter().any(|index| slots[*index].is_deleting);
    let mut may_stop = !is_stopping;
    for index in excess.iter().rev().filter(|index| !slots[**index].is_deleting) {
        let is_free = policy == ManagementPolicy::Parallel || !slots[*index].is_ready;
        if is_free || std::mem::take(&mut may_stop) {
            steps.delete.push(*index);
        }
    }
}

fn start(
    slots: &[Slot],
    taken: &BTreeMap<u32, usize>,
    wanted: &DesiredState,
    total: u32,
    started: u32,
    steps: &mut Steps,
) {
    let missing = (0..total).filter(|ordinal| !taken.contains_key(ordinal));
    let mut may_begin = true;
    for ordinal in missing {
        let was_started = ordinal < started || ordinal >= wanted.desired;
        if wanted.policy == ManagementPolicy::Parallel || was_started {
            steps.create.push(ordinal);
            continue;
        }
        // Those before it are ready, and none of them is missing.
        let are_ready = (0..ordinal).all(|before| {
            taken.get(&before).is_some_and(|index| slots[*index].is_ready && !slots[*index].is_deleting)
        });
        if are_ready && std::mem::take(&mut may_begin) {
            steps.create.push(ordinal);
        }
    }
}

fn replace(
    slots: &[Slot],
    taken: &BTreeMap<u32, usize>,
    wanted: &DesiredState,
    total: u32,
    steps: &mut Steps,
) {
    let mut is_anything_down = false;
    let mut candidate = None;
    for ordinal in 0..total {
        let Some(index) = taken.get(&ordinal) else {
            is_anything_down = true;
            continue;
        };
        let slot = &slots[*index];
        let is_outdated = slot.hash != wanted.hash_of(ordinal);
        if slot.is_deleting {
            is_anything_down = true;
        } else if slot.is_ready {
            if is_outdated {
                candidate = Some(*index);
            }
        } else if is_outdated {
            // It is down already: nothing is lost.
            steps.delete.push(*index);
            is_anything_down = true;
        } else if !slot.waits_for_quota {
            is_anything_down = true;
        }
    }
    if let Some(index) = candidate.filter(|_| !is_anything_down) {
        steps.delete.push(index);
    }
}

#[cfg(test)]
mod tests;
