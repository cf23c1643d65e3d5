//! A register part of the way through a history: what was ordered, what it holds, what is still to come.

use std::collections::HashMap;

use super::timeline::Timeline;
use super::{Kind, Op, Value};

/// A value as a small number; 0 is "no value".
pub(super) type Content = usize;
pub(super) const NOTHING: Content = 0;

/// What an operation needs of the register and does to it.
#[derive(Clone, Copy)]
pub(super) enum Effect {
    /// Changes nothing; needs this content.
    QueryContext(Content),
    /// Changes nothing; needs any other content.
    Refuse(Content),
    /// Leaves `makes`; needs `needs`, if anything.
    Put { needs: Option<Content>, makes: Content },
}

pub(super) struct Register {
    pub(super) timeline: Timeline,
    pub(super) effects: Vec<Effect>,
    /// When each operation returned, if that is known.
    pub(super) returned: Vec<Option<u64>>,
    pub(super) holds: Content,
    /// Definite operations not yet ordered. With none left the history is explained.
    pub(super) definite_left: usize,
    /// Stands for the set of ordered operations: the xor of a random number for each.
    pub(super) ordered_hash: u128,
    ordered: Vec<(usize, Content)>,
    left: Vec<Left>,
    refusals_left: usize,
    /// Whether any operation at all finds this content, or may.
    is_sought: Vec<bool>,
}

/// How many operations not yet ordered concern one content.
#[derive(Clone, Copy, Default)]
pub(super) struct Left {
    /// Definite operations that need to find it.
    pub(super) finders: usize,
    /// Changes of unknown outcome that would need to find it, and make what somebody may find.
    pub(super) possible_finders: usize,
    /// The same, but nobody finds what they make: they can only explain a refusal.
    pub(super) idle_finders: usize,
    /// Operations that make it, or may.
    pub(super) makers: usize,
    /// Definite operations that need to find something else.
    pub(super) refusals: usize,
}

impl Left {
    /// Nobody cares whether it is there.
    pub(super) fn is_only_made(self) -> bool {
        self.finders == 0 && self.possible_finders == 0 && self.refusals == 0
    }
}

impl Register {
    pub(super) fn before(ops: &[Op]) -> Register {
        let mut contents = HashMap::new();
        let effects: Vec<Effect> = ops.iter().map(|op| effect(op, &mut contents)).collect();
        let mut register = Register {
            timeline: Timeline::of(ops),
            returned: ops.iter().map(|op| op.ret).collect(),
            holds: NOTHING,
            definite_left: ops.iter().filter(|op| op.ret.is_some()).count(),
            ordered_hash: 0,
            ordered: Vec::new(),
            left: vec![Left::default(); contents.len() + 1],
            refusals_left: 0,
            is_sought: sought(&effects, contents.len() + 1),
            effects,
        };
        for op in 0..ops.len() {
            register.count(op, |number| *number += 1);
        }
        register
    }

    pub(super) fn left(&self, content: Content) -> Left {
        self.left[content]
    }

    pub(super) fn any_refusals_left(&self) -> bool {
        self.refusals_left > 0
    }

    /// Whether `op` can at most explain a refusal: it need not have happened, and nobody finds what it makes.
    pub(super) fn is_idle(&self, op: usize) -> bool {
        matches!(self.effects[op], Effect::Put { makes, .. } if !self.is_definite(op) && !self.is_sought[makes])
    }

    pub(super) fn is_definite(&self, op: usize) -> bool {
        self.returned[op].is_some()
    }

    /// How many operations have their place in the order.
    pub(super) fn ordered(&self) -> usize {
        self.ordered.len()
    }

    /// Makes `op` the next in the order.
    pub(super) fn order(&mut self, op: usize) {
        self.ordered.push((op, self.holds));
        self.timeline.take(op);
        self.count(op, |number| *number -= 1);
        self.definite_left -= usize::from(self.is_definite(op));
        self.ordered_hash ^= random_number(op);
        if let Effect::Put { makes, .. } = self.effects[op] {
            self.holds = makes;
        }
    }

    /// Takes operations back out of the order until `len` are left in it.
    pub(super) fn undo_to(&mut self, len: usize) {
        while self.ordered.len() > len
            && let Some((op, held)) = self.ordered.pop()
        {
            self.timeline.put_back(op);
            self.count(op, |number| *number += 1);
            self.definite_left += usize::from(self.is_definite(op));
            self.ordered_hash ^= random_number(op);
            self.holds = held;
        }
    }

    /// Orders everything that may be next, fits, and changes nothing.
    ///
    /// Never a mistake: in any order of the rest such an operation can be moved to the front.
    pub(super) fn order_what_changes_nothing(&mut self) {
        let mut walked = None;
        while let Some(op) = self.timeline.next_enabled(walked) {
            let fits = match self.effects[op] {
                Effect::QueryContext(content) => content == self.holds,
                Effect::Refuse(content) => content != self.holds,
                Effect::Put { .. } => false,
            };
            if fits {
                self.order(op);
            }
            walked = Some(op);
        }
    }

    fn count(&mut self, op: usize, change: impl Fn(&mut usize)) {
        match self.effects[op] {
            Effect::QueryContext(content) => change(&mut self.left[content].finders),
            Effect::Refuse(content) => {
                change(&mut self.left[content].refusals);
                change(&mut self.refusals_left);
            }
            Effect::Put { needs, makes } => {
                change(&mut self.left[makes].makers);
                match needs {
                    Some(content) if self.is_definite(op) => change(&mut self.left[content].finders),
                    Some(content) if self.is_sought[makes] => {
                        change(&mut self.left[content].possible_finders)
                    }
                    Some(content) => change(&mut self.left[content].idle_finders),
                    None => {}
                }
            }
        }
    }
}

fn sought(effects: &[Effect], contents: usize) -> Vec<bool> {
    let mut sought = vec![false; contents];
    for effect in effects {
        if let Effect::QueryContext(content) | Effect::Put { needs: Some(content), .. } = effect {
            sought[*content] = true;
        }
    }
    sought
}

fn effect(op: &Op, contents: &mut HashMap<Value, Content>) -> Effect {
    let mut content = |value: Option<Value>| {
        let new = contents.len() + 1;
        value.map_or(NOTHING, |value| *contents.entry(value).or_insert(new))
    };
    match op.kind {
        Kind::Read(found) => Effect::QueryContext(content(found)),
        Kind::Write(value) => Effect::Put { needs: None, makes: content(Some(value)) },
        Kind::Delete => Effect::Put { needs: None, makes: NOTHING },
        Kind::Cas { expect, ok: false, .. } if op.ret.is_some() => Effect::Refuse(content(expect)),
        Kind::Cas { expect, new, .. } => {
            Effect::Put { needs: Some(content(expect)), makes: content(Some(new)) }
        }
    }
}

/// The same for the same operation, and unrelated to every other's (two rounds of splitmix64).
fn random_number(op: usize) -> u128 {
    let half = |seed: u64| {
        let mut mixed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    };
    let seed = 2 * op as u64;
    u128::from(half(seed + 1)) << 64 | u128::from(half(seed + 2))
}
