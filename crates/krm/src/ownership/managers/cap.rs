//! The oldest of many update managers are remembered as one.

use std::collections::HashMap;

use super::{Identity, Managers, Operation};

/// So many managers from updates are told apart.
const MOST_UPDATERS: usize = 10;

/// The name of those that are not.
const ANCIENT: &str = "ancient-changes";

impl Managers {
    /// Puts the oldest managers from updates together, per version, until there are no more than [`MOST_UPDATERS`].
    pub(in crate::ownership) fn cap_updaters(&mut self) {
        let updaters = self.0.iter().filter(|manager| manager.identity.operation == Operation::Update);
        let mut updaters: Vec<(i64, String, Identity)> = updaters
            .map(|manager| {
                let seconds = manager.time.map_or(0, |time| time.seconds);
                (seconds, manager.identity.sort_key(), manager.identity.clone())
            })
            .collect();
        let mut surplus = updaters.len().saturating_sub(MOST_UPDATERS);
        if surplus == 0 {
            return;
        }
        updaters.sort_by(|left, right| (left.0, &left.1).cmp(&(right.0, &right.1)));
        // The oldest of each version, which others join.
        let mut firsts: HashMap<String, Identity> = HashMap::new();
        for (_, _, identity) in updaters {
            if surplus == 0 {
                return;
            }
            let Some(version) = self.get(&identity).map(|manager| manager.version.clone()) else { continue };
            match firsts.get(&version) {
                None => {
                    firsts.insert(version, identity);
                }
                Some(first) => {
                    let bucket = Identity::new(ANCIENT, Operation::Update, &version, "");
                    if identity == bucket || self.get(&bucket).is_none() {
                        self.join(first, &bucket);
                    }
                    self.join(&identity, &bucket);
                    surplus -= 1;
                }
            }
        }
    }

    /// Gives what `from` owns, and its time, to `to`.
    fn join(&mut self, from: &Identity, to: &Identity) {
        if from == to {
            return;
        }
        let Some(at) = self.position(from) else { return };
        let mut joining = self.0.swap_remove(at);
        match self.position(to) {
            Some(at) => {
                let there = &mut self.0[at];
                there.fields.extend(joining.fields);
                // They join in the order of time.
                there.time = joining.time;
            }
            None => {
                joining.identity = to.clone();
                self.0.push(joining);
            }
        }
    }
}
