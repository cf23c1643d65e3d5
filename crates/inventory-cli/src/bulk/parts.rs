//! Splits an import that is too large for one commit into parts in dependency order.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use cli::{Failure, Session};
use krm::Object;
use krm::diff;
use krm::kind::Kind;
use serde_json::{Value, json};

use super::desired::Existing;
use super::import::Change;
use super::{ORDER, as_written};

/// Maximum size of a request in bytes: half of the server's limit.
const MOST_BYTES: usize = 32 << 20;

/// Changes in dependency order, split into commits.
pub struct Parts<'a> {
    changes: Vec<Change<'a>>,
    ends: Vec<usize>,
    kinds: BTreeMap<String, Kind>,
}

impl<'a> Parts<'a> {
    /// Splits changes into parts of at most `most` objects.
    pub fn of(changes: Vec<Change<'a>>, most: usize) -> Parts<'a> {
        let kinds: BTreeMap<String, Kind> =
            inventory::kinds::all().into_iter().map(|kind| (kind.names.kind.clone(), kind)).collect();
        let order = order(&changes, &kinds);
        let mut changes: Vec<Option<Change<'a>>> = changes.into_iter().map(Some).collect();
        let changes: Vec<Change<'a>> =
            order.into_iter().filter_map(|at| changes.get_mut(at).and_then(Option::take)).collect();
        let (mut ends, mut begun, mut bytes) = (Vec::new(), 0, 0);
        for (at, change) in changes.iter().enumerate() {
            let size = change.item.to_string().len();
            if at > begun && (at - begun == most || bytes + size > MOST_BYTES) {
                ends.push(at);
                (begun, bytes) = (at, 0);
            }
            bytes += size;
        }
        ends.push(changes.len());
        Parts { changes, ends, kinds }
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Number of parts.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// The parts in reverse order.
    pub fn to_do(&self) -> Vec<&[Change<'a>]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        let mut parts: Vec<&[Change<'a>]> =
            begins.zip(&self.ends).filter_map(|(begin, end)| self.changes.get(begin..*end)).collect();
        parts.reverse();
        parts
    }

    /// Validates each object against its schema. Rules that involve other objects run when a part is sent.
    pub fn check(&self) -> Result<(), Failure> {
        let mut faults = Vec::new();
        for change in &self.changes {
            let desired = change.desired;
            let Some(kind) = self.kinds.get(&desired.key().0) else { continue };
            let errors = kind.stored().schema.validate(&desired.object, None).into_iter();
            faults.extend(errors.map(|error| Failure::other(desired.error(&error.field, &error.message()))));
        }
        super::transact::refused(faults, "imported")
    }

    /// Prints the plan: the number of objects of each kind per part, and all changes.
    pub fn show(&self, existing: &Existing, session: &mut Session) -> Result<(), Failure> {
        for (number, part) in (1..).zip(self.to_do().into_iter().rev()) {
            let mut made: BTreeMap<usize, usize> = BTreeMap::new();
            let mut changed = Vec::new();
            for change in part {
                match existing.get(&change.desired.key()) {
                    None => *made.entry(rank(change)).or_default() += 1,
                    Some(before) => changed.push(configured(before, &change.desired.object)),
                }
            }
            let mut told: Vec<String> = made
                .iter()
                .map(|(rank, count)| {
                    format!("create {count} {}", ORDER.get(*rank).copied().unwrap_or("other"))
                })
                .collect();
            if !changed.is_empty() {
                told.push(format!("change {}", changed.len()));
            }
            let head = format!("part {number} of {}: {}", self.count(), told.join(", "));
            writeln!(session.console.out, "{head}")?;
            cli::show_plan(&json!({"items": changed}), session)?;
        }
        Ok(())
    }
}

/// A change in the form of the server's plan.
fn configured(before: &Value, after: &Value) -> Value {
    let before = as_written(before);
    let differences = diff::between(Some(&before), Some(after));
    json!({
        "result": "configured",
        "apiVersion": after["apiVersion"], "kind": after["kind"], "name": after["metadata"]["name"],
        "diff": differences.into_iter().map(diff::Difference::into_json).collect::<Vec<Value>>(),
    })
}

fn rank(change: &Change<'_>) -> usize {
    let (kind, _) = change.desired.key();
    ORDER.iter().position(|known| *known == kind).unwrap_or(ORDER.len())
}

/// The indices of changes in dependency order, then by kind. Cycles come last.
fn order(changes: &[Change<'_>], kinds: &BTreeMap<String, Kind>) -> Vec<usize> {
    let mut at: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for (index, change) in changes.iter().enumerate() {
        let (kind, name) = change.desired.key();
        if let Some(kind) = kinds.get(&kind) {
            at.insert((kind.names.plural.as_str(), name), index);
        }
    }
    let (mut waits_for, mut holds_up) = (vec![0_usize; changes.len()], vec![Vec::new(); changes.len()]);
    for (index, change) in changes.iter().enumerate() {
        let Some(kind) = kinds.get(&change.desired.key().0) else { continue };
        let Some(object) = Object::from_value(change.desired.object.clone()) else { continue };
        for reference in &kind.references {
            for (_, name) in reference.names(&object) {
                if let Some(target) = at.get(&(reference.plural.as_str(), name.to_owned()))
                    && let (Some(held), Some(waits)) = (holds_up.get_mut(*target), waits_for.get_mut(index))
                    && *target != index
                {
                    held.push(index);
                    *waits += 1;
                }
            }
        }
    }
    let ranks: Vec<usize> = changes.iter().map(rank).collect();
    let place = |index: usize| (ranks.get(index).copied().unwrap_or(0), index);
    let mut ready: BTreeSet<(usize, usize)> = BTreeSet::new();
    ready.extend((0..changes.len()).filter(|index| waits_for.get(*index) == Some(&0)).map(place));
    let mut ordered = Vec::with_capacity(changes.len());
    while let Some((_, index)) = ready.pop_first() {
        ordered.push(index);
        for held in holds_up.get(index).into_iter().flatten() {
            if let Some(waits) = waits_for.get_mut(*held) {
                *waits -= 1;
                if *waits == 0 {
                    ready.insert(place(*held));
                }
            }
        }
    }
    ordered.extend((0..changes.len()).filter(|index| waits_for.get(*index) != Some(&0)));
    ordered
}

#[cfg(test)]
mod tests {
    use super::super::desired::Desired;
    use super::*;
    use inventory::demo::{Size, fleet};
    use proptest::prelude::*;

    fn wanted(object: Value) -> Desired {
        Desired { object, file: "all.yaml".into(), row: None }
    }

    proptest! {
        // A fleet is large, and its order is what differs.
        #![proptest_config(ProptestConfig::with_cases(8))]
        #[test]
        fn whatever_order_things_come_in_each_part_refers_only_to_those_before(seed: u64, most in 1_usize..400) {
            let mut desired: Vec<Desired> =
                fleet(Size::SMALL, 1).into_iter().map(|object| wanted(object.into_value())).collect();
            // Shuffled: every object at a place that the seed decides.
            let mut noise = seed | 1;
            for at in (1..desired.len()).rev() {
                noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                desired.swap(at, (noise >> 33) as usize % (at + 1));
            }
            let none = Existing::new();
            let changes: Vec<Change> =
                desired.iter().map(|one| Change { item: one.item(&none).unwrap(), desired: one }).collect();
            let parts = Parts::of(changes, most);
            prop_assert_eq!(parts.len(), desired.len());
            prop_assert_eq!(parts.count(), desired.len().div_ceil(most));
            let mut there: BTreeSet<(String, String)> = BTreeSet::new();
            for part in parts.to_do().into_iter().rev() {
                prop_assert!(part.len() <= most);
                for change in part {
                    let (kind, name) = change.desired.key();
                    let object = Object::from_value(change.desired.object.clone()).unwrap();
                    let kind = &parts.kinds[&kind];
                    for reference in &kind.references {
                        for (field, to) in reference.names(&object) {
                            let is_there = there.contains(&(reference.plural.clone(), to.to_owned()));
                            prop_assert!(is_there, "{} {} names {} in {}", kind.names.kind, name, to, field);
                        }
                    }
                    there.insert((kind.names.plural.clone(), name));
                }
            }
        }
    }

    #[test]
    fn those_that_refer_to_each_other_are_not_lost() {
        let node = |name: &str, in_slot_of: &str| {
            let slot = json!({"deviceRef": {"kind": "Node", "name": in_slot_of}, "slot": "0"});
            wanted(json!({"kind": "Node", "metadata": {"name": name}, "spec": {"inSlot": slot}}))
        };
        let desired = [node("a", "b"), node("b", "a")];
        let none = Existing::new();
        let changes: Vec<Change> =
            desired.iter().map(|one| Change { item: one.item(&none).unwrap(), desired: one }).collect();
        assert_eq!(Parts::of(changes, 10).to_do()[0].len(), 2);
    }
}
