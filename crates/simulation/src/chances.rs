//! Faults by chance.

use std::time::Duration;

use bytes::Bytes;
use store::simulated::{Fault, Operation, Point};
use store::{Key, Seeded};

/// How often things go wrong: each is a number of times in a thousand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Chances {
    /// An operation fails and nothing is written.
    pub before: u64,
    /// An operation is carried out and its answer is lost.
    pub after: u64,
    /// An operation is carried out later, within [`Chances::longest`].
    pub delayed: u64,
    /// An operation is delivered twice.
    pub repeated: u64,
    /// The kinds that a commit writes are stale, for up to [`Chances::longest`].
    pub stale: u64,
    /// The watches of the kinds that a commit writes end.
    pub cut: u64,
    /// The lease of an operation runs out early.
    pub lease_lost: u64,
    /// The process stops, before or after a step.
    pub stop: u64,
    /// The longest delay.
    pub longest: Duration,
}

impl Chances {
    /// A bit of everything.
    pub fn mixed() -> Chances {
        Chances {
            before: 30,
            after: 30,
            delayed: 60,
            repeated: 30,
            stale: 60,
            cut: 20,
            lease_lost: 10,
            stop: 10,
            longest: Duration::from_secs(2),
        }
    }

    /// What goes wrong at a point.
    pub fn draw(&self, point: &Point, dice: &Seeded) -> Vec<Fault> {
        // Always as many draws, so that a chance that is changed leaves the others as they were.
        let met: [bool; 8] = [
            self.before,
            self.after,
            self.delayed,
            self.repeated,
            self.stale,
            self.cut,
            self.lease_lost,
            self.stop,
        ]
        .map(|chance| dice.below(1_000) < chance);
        let (delay, lag, side) = (self.time(dice), self.time(dice), dice.below(2));
        let [before, after, delayed, repeated, stale, cut, lease_lost, stop] = met;

        let mut faults = Vec::new();
        if let Operation::Commit { writes, .. } = &point.operation
            && let Some((_, key)) = writes.first()
        {
            faults.extend(stale.then(|| Fault::Stale { prefix: kind_of(key), time: lag }));
            faults.extend(cut.then(|| Fault::CutWatches { prefix: kind_of(key) }));
        }
        if let Some(lease) = point.operation.lease().filter(|_| lease_lost) {
            faults.push(Fault::LoseLease(lease.clone()));
        }
        let ways = [
            (stop && point.step.is_some(), if side == 0 { Fault::StopBefore } else { Fault::StopAfter }),
            (before, Fault::Before),
            (after, Fault::After),
            (delayed, Fault::Delayed(delay)),
            (repeated, Fault::Repeated),
        ];
        faults.extend(ways.into_iter().find_map(|(met, fault)| met.then_some(fault)));
        faults
    }

    fn time(&self, dice: &Seeded) -> Duration {
        Duration::from_millis(dice.below(self.longest.as_millis() as u64 + 1))
    }
}

/// What the keys of a kind begin with: the plane, the group and the resource. Of other keys, all up to the last slash.
fn kind_of(key: &Key) -> Bytes {
    let bytes = key.as_bytes();
    let mut slashes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1);
    let end = slashes.nth(2).or_else(|| bytes.iter().rposition(|byte| *byte == b'/').map(|at| at + 1));
    Bytes::copy_from_slice(&bytes[..end.unwrap_or(0)])
}
