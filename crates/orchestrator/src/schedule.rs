//! The planner of a task over many nodes: which nodes begin now.

use std::collections::HashSet;

/// Nodes of a task by how they are.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Nodes that are worked on.
    pub active: HashSet<String>,
    /// Nodes that succeeded.
    pub succeeded: HashSet<String>,
    /// Nodes that failed.
    pub failed: HashSet<String>,
    /// Nodes that failed before the last retry was asked for, and have not been tried again.
    pub stale: HashSet<String>,
    /// Nodes that stopped because the task was cancelled.
    pub terminated: HashSet<String>,
}

/// What a task does next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Turn {
    /// Nodes that begin, in the order of the design.
    pub begin: Vec<String>,
    /// Nodes that failed and are tried again.
    pub retry: Vec<String>,
    /// Nodes that wait for their turn.
    pub waiting: usize,
    /// Whether nothing is left to do.
    pub has_ended: bool,
}

/// Decides which nodes begin: at most `parallel` are worked on at once. Nodes that are to be tried again come after those that
/// have not begun. Of a task that is cancelled, none begins.
pub fn turn(names: &[String], known: &Known, parallel: usize, is_cancelled: bool) -> Turn {
    let is_new = |name: &&String| {
        !known.active.contains(*name)
            && !known.succeeded.contains(*name)
            && !known.failed.contains(*name)
            && !known.stale.contains(*name)
            && !known.terminated.contains(*name)
    };
    let new: Vec<&String> = names.iter().filter(is_new).collect();
    let again: Vec<&String> = names.iter().filter(|name| known.stale.contains(*name)).collect();
    if is_cancelled {
        return Turn { has_ended: known.active.is_empty(), waiting: new.len(), ..Turn::default() };
    }
    let room = parallel.saturating_sub(known.active.len());
    let begin: Vec<String> = new.iter().take(room).map(|name| (*name).clone()).collect();
    let retry: Vec<String> = again.iter().take(room - begin.len()).map(|name| (*name).clone()).collect();
    let waiting = new.len() - begin.len() + again.len() - retry.len();
    let has_ended = known.active.is_empty() && begin.is_empty() && retry.is_empty() && waiting == 0;
    Turn { begin, retry, waiting, has_ended }
}

#[cfg(test)]
pub(crate) mod dice {
    /// Numbers that follow from a seed.
    pub struct Dice(u64);

    impl Dice {
        pub fn new(seed: u64) -> Dice {
            Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
        }

        pub fn below(&mut self, most: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % most.max(1) as u64) as usize
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use krm::time::Moment;

    use super::dice::Dice;
    use super::*;
    use crate::action::{Action, Step};
    use crate::kinds::task::{StepState, StepStatus};
    use crate::progress::{self, Ending, Limits, Next, Report, Seen};

    /// What a step comes to in a random world.
    fn report(dice: &mut Dice) -> Report {
        match dice.below(20) {
            0 => Report::Failed { message: "broken".to_owned(), may_retry: false },
            1..=3 => Report::Failed { message: "flaky".to_owned(), may_retry: true },
            4..=11 => Report::Running { message: "busy".to_owned() },
            _ => Report::Done { message: String::new(), skips: Vec::new() },
        }
    }

    struct Running {
        steps: Vec<StepStatus>,
        hangs: bool,
        is_claimed: bool,
    }

    /// Runs a task over a random site in simulated time, and returns how long it took.
    fn run(seed: u64) -> i64 {
        let mut dice = Dice::new(seed);
        let action = [Action::PrepareNodes, Action::DeployNodes, Action::RebootNodes][dice.below(3)];
        let names: Vec<String> = (0..dice.below(40)).map(|number| format!("n{number}")).collect();
        let (parallel, tries) = (1 + dice.below(8), 1 + dice.below(4) as i64);
        let cancelled_at = if dice.below(4) == 0 { dice.below(5_000) as i64 } else { i64::MAX };
        let limits = Limits { tries, seconds: [(Step::DeployNode, 300)].into() };
        let mut known = Known::default();
        let mut running: HashMap<String, Running> = HashMap::new();
        // Hosts that somebody else holds, until when.
        let held: HashMap<String, i64> = names
            .iter()
            .filter(|_| dice.below(6) == 0)
            .map(|name| (name.clone(), name.len() as i64 * 113 % 900))
            .collect();
        let mut holder: HashMap<String, bool> = HashMap::new();
        for second in (0_i64..).step_by(10) {
            assert!(second < 2_000_000, "seed {seed}: it never ends");
            let now = Moment::of_seconds(1_700_000_000 + second);
            let is_cancelled = second >= cancelled_at;
            let turn = turn(&names, &known, parallel, is_cancelled);
            if turn.has_ended {
                let ended = known.succeeded.len() + known.failed.len() + known.terminated.len();
                let expected = if is_cancelled { ended + turn.waiting } else { ended };
                assert_eq!(
                    expected,
                    names.len(),
                    "seed {seed}: every node ends in a named state, or never began"
                );
                assert!(
                    running.is_empty() && holder.values().all(|held| !held),
                    "seed {seed}: a claim is left"
                );
                return second;
            }
            for name in turn.begin {
                let steps = progress::begin(action);
                running
                    .insert(name.clone(), Running { steps, hangs: dice.below(12) == 0, is_claimed: false });
                known.active.insert(name);
            }
            assert!(running.len() <= parallel, "seed {seed}: {} at once", running.len());
            let mut ended = Vec::new();
            for (name, one) in &mut running {
                let current =
                    one.steps.iter().find(|step| step.state == StepState::Running).map(|step| step.name);
                let told = match current {
                    None => None,
                    Some(Step::ClaimHost) => {
                        let is_free = held.get(name).is_none_or(|until| second >= *until);
                        one.is_claimed = is_free;
                        holder.insert(name.clone(), is_free);
                        Some(match is_free {
                            true => Report::Done { message: String::new(), skips: Vec::new() },
                            false => Report::Running { message: "held".to_owned() },
                        })
                    }
                    Some(step) => {
                        assert!(!step.drives_bmc() || one.is_claimed, "seed {seed}: {step} without a claim");
                        Some(if one.hangs {
                            Report::Running { message: "hangs".to_owned() }
                        } else {
                            report(&mut dice)
                        })
                    }
                };
                let seen = Seen { now, is_cancelled, is_claimed: one.is_claimed, limits: &limits };
                if let Next::End(ending) = progress::advance(&mut one.steps, told, &seen) {
                    assert!(one.steps.iter().all(|step| step.tries <= tries.max(1)), "seed {seed}");
                    ended.push((name.clone(), ending));
                }
            }
            for (name, ending) in ended {
                running.remove(&name);
                known.active.remove(&name);
                holder.insert(name.clone(), false);
                match ending {
                    Ending::Success => known.succeeded.insert(name),
                    Ending::Failure => known.failed.insert(name),
                    Ending::Terminated => known.terminated.insert(name),
                };
            }
        }
        unreachable!("the loop returns or panics")
    }

    #[test]
    fn every_run_ends_within_its_limits_and_never_drives_a_bmc_without_its_claim() {
        for seed in 0..400 {
            run(seed);
        }
    }

    #[test]
    fn failed_nodes_are_retried_after_those_that_have_not_begun() {
        let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
        let known = Known { stale: ["a".to_owned()].into(), ..Known::default() };
        let first = turn(&names, &known, 2, false);
        assert_eq!(
            (first.begin, first.retry, first.waiting),
            (vec!["b".to_owned(), "c".to_owned()], vec![], 1)
        );
        let known = Known { succeeded: ["b", "c"].map(str::to_owned).into(), ..known };
        assert_eq!(turn(&names, &known, 2, false).retry, ["a"]);
        let known = Known { stale: HashSet::new(), failed: ["a".to_owned()].into(), ..known };
        assert!(turn(&names, &known, 2, false).has_ended, "what failed again is not tried forever");
        assert!(turn(&[], &Known::default(), 2, false).has_ended);
    }
}
