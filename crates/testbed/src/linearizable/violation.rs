//! What a person reads when a history has no order.

use std::fmt;

use super::search::Stuck;
use super::{Kind, Op};

/// How many operations a report shows at most.
const SHOWN: usize = 24;

/// A key whose history has no explanation, and the place where it stops having one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.report())]
pub struct Violation {
    /// The register.
    pub key: String,
    /// What is wrong.
    pub why: Why,
    /// The operations that no order explains, by time of call.
    pub window: Vec<Op>,
}

/// The ways in which a history fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// A value was found that no operation can have put there.
    NeverWritten,
    /// Everything that returned before `at` has an order; what returned then has no place in any.
    NoOrder {
        /// When the inexplicable operation returned.
        at: u64,
        /// What the register held in the longest order found, before the window.
        holding: Option<u64>,
    },
    /// The search was given up. Not a proof of anything: record fewer overlapping operations per key.
    Undecided,
}

impl Violation {
    pub(super) fn never_written(read: &Op) -> Violation {
        Violation { key: read.key.clone(), why: Why::NeverWritten, window: vec![read.clone()] }
    }

    pub(super) fn undecided(ops: &[Op]) -> Violation {
        let key = ops.first().map(|op| op.key.clone()).unwrap_or_default();
        Violation { key, why: Why::Undecided, window: Vec::new() }
    }

    pub(super) fn stuck(ops: &[Op], at: u64, stuck: &Stuck) -> Violation {
        let mut window = stuck.window.clone();
        let culprit = ops.iter().find(|op| op.ret == Some(at));
        window.extend(culprit.filter(|culprit| !stuck.window.contains(culprit)).cloned());
        window.sort_by_key(|op| (op.call, op.ret));
        let key = ops.first().map(|op| op.key.clone()).unwrap_or_default();
        Violation { key, why: Why::NoOrder { at, holding: stuck.holding }, window }
    }

    fn report(&self) -> String {
        let key = &self.key;
        let mut text = match self.why {
            Why::NeverWritten => format!("key `{key}`: a value was found that nobody can have written:"),
            Why::NoOrder { at, holding } => format!(
                "key `{key}`: the history has an order until {at}, when an operation returned that fits none.\n\
                 After the longest order found the register holds {}, and these remain:",
                shown(holding)
            ),
            Why::Undecided => {
                format!("key `{key}`: too many overlapping operations to decide; record fewer per key")
            }
        };
        for op in self.window.iter().take(SHOWN) {
            text.push_str(&format!("\n  {op}"));
        }
        if self.window.len() > SHOWN {
            text.push_str(&format!("\n  and {} more", self.window.len() - SHOWN));
        }
        text
    }
}

impl fmt::Display for Op {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Op { process, call, ret, kind, .. } = self;
        match ret {
            Some(ret) => write!(out, "[{call}..{ret}] process {process}: ")?,
            None => write!(out, "[{call}..?] process {process}: ")?,
        }
        match *kind {
            Kind::Write(value) => write!(out, "write {value}"),
            Kind::Read(found) => write!(out, "read {}", shown(found)),
            Kind::Delete => write!(out, "delete"),
            Kind::Cas { expect, new, ok } => {
                let outcome = match (ret, ok) {
                    (None, _) => "outcome unknown",
                    (_, true) => "done",
                    (_, false) => "refused",
                };
                write!(out, "{} -> {new} if unchanged, {outcome}", shown(expect))
            }
        }
    }
}

fn shown(value: Option<u64>) -> String {
    value.map_or_else(|| "nothing".to_owned(), |value| value.to_string())
}
