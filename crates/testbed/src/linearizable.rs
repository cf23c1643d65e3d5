//! Checks recorded histories of concurrent clients: is there an order of the operations, each at one instant
//! between its call and its return, that a single register per key could have gone through?

mod register;
mod search;
mod settle;
#[cfg(test)]
mod tests;
mod timeline;
mod violation;

use std::collections::BTreeMap;

pub use violation::{Violation, Why};

/// What a register holds. Clients write each value once: the search stays correct without that, but slow.
pub type Value = u64;

/// One recorded operation of one client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op {
    /// The client, for the report.
    pub process: usize,
    /// The register.
    pub key: String,
    /// When it was called. Any clock that all clients share.
    pub call: u64,
    /// When it returned. `None`: the outcome is unknown, and it may have happened at any time after the call or
    /// never.
    pub ret: Option<u64>,
    /// What was asked, and what was answered.
    pub kind: Kind,
}

/// What an operation did to its register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Put a value.
    Write(Value),
    /// Found this value, or none.
    Read(Option<Value>),
    /// Left no value.
    Delete,
    /// Put `new` if `expect` was found.
    Cas {
        /// What must be there; `None` for a creation.
        expect: Option<Value>,
        /// What was to be put.
        new: Value,
        /// Whether it was. Means nothing when the outcome is unknown.
        ok: bool,
    },
}

/// Checks every key on its own; all registers start empty. The first key in order that fails is reported.
pub fn check(history: &[Op]) -> Result<(), Violation> {
    let mut by_key: BTreeMap<&str, Vec<Op>> = BTreeMap::new();
    for op in history {
        by_key.entry(&op.key).or_default().push(op.clone());
    }
    by_key.into_values().try_for_each(|ops| check_key(&ops))
}

fn check_key(ops: &[Op]) -> Result<(), Violation> {
    if let Some(read) = first_unwritten_read(ops) {
        return Err(Violation::never_written(read));
    }
    match search::search(ops) {
        search::Outcome::Linearizable => Ok(()),
        search::Outcome::Undecided => Err(Violation::undecided(ops)),
        search::Outcome::Stuck(_) => Err(shortest_stuck_prefix(ops)),
    }
}

/// A value nobody wrote needs no search, and the plainest report.
fn first_unwritten_read(ops: &[Op]) -> Option<&Op> {
    let written: std::collections::HashSet<Value> = ops.iter().filter_map(may_put).collect();
    let unwritten = |op: &&Op| found(op).is_some_and(|value| !written.contains(&value));
    ops.iter().filter(unwritten).min_by_key(|op| op.ret)
}

fn may_put(op: &Op) -> Option<Value> {
    match op.kind {
        Kind::Write(value) => Some(value),
        Kind::Cas { new, ok, .. } if ok || op.ret.is_none() => Some(new),
        _ => None,
    }
}

fn found(op: &Op) -> Option<Value> {
    op.ret?;
    match op.kind {
        Kind::Read(found) => found,
        Kind::Cas { expect, ok: true, .. } => expect,
        _ => None,
    }
}

/// A history whose prefix is wrong is wrong, so the first return that cannot be explained is found by halving.
fn shortest_stuck_prefix(ops: &[Op]) -> Violation {
    let mut returns: Vec<u64> = ops.iter().filter_map(|op| op.ret).collect();
    returns.sort_unstable();
    let stuck = |at: u64| match search::search(&known_at(ops, at)) {
        search::Outcome::Stuck(stuck) => Some(stuck),
        _ => None,
    };
    let first = returns.partition_point(|at| stuck(*at).is_none());
    let at = returns.get(first).copied().unwrap_or(u64::MAX);
    let ops = known_at(ops, at);
    match search::search(&ops) {
        search::Outcome::Stuck(stuck) => Violation::stuck(&ops, at, &stuck),
        _ => Violation::undecided(&ops),
    }
}

/// The history as one would have recorded it up to `at`: what returned later has no known outcome yet.
fn known_at(ops: &[Op], at: u64) -> Vec<Op> {
    let called = ops.iter().filter(|op| op.call <= at);
    called.map(|op| Op { ret: op.ret.filter(|ret| *ret <= at), ..op.clone() }).collect()
}
