//! Operations of unknown outcome that must have happened after all.

use std::collections::HashMap;

use super::{Kind, Op, Value, found, may_put};

/// `ops`, where an operation of unknown outcome that alone can have put a value which somebody found is a
/// definite one: it happened before the first who found it returned.
///
/// What it found itself was then found for certain, which may settle another.
pub(super) fn settled(ops: &[Op]) -> Vec<Op> {
    let mut ops = ops.to_vec();
    let makers = only_makers(&ops);
    let mut unread: Vec<(Value, u64)> = ops.iter().filter_map(found_by).collect();
    // From the last, so that what is popped first is the earliest: the tightest bound settles.
    unread.sort_by_key(|(_, ret)| std::cmp::Reverse(*ret));
    while let Some((value, before)) = unread.pop() {
        let Some(Some(maker)) = makers.get(&value) else { continue };
        let op = &mut ops[*maker];
        // Found before it was called: no order can explain that, and the search will say so.
        if op.ret.is_some() || op.call > before {
            continue;
        }
        op.ret = Some(before);
        if let Kind::Cas { ok, .. } = &mut op.kind {
            *ok = true;
        }
        unread.extend(found_by(op));
    }
    ops
}

fn found_by(op: &Op) -> Option<(Value, u64)> {
    Some((found(op)?, op.ret?))
}

/// Who may have put each value, if that is one operation only.
fn only_makers(ops: &[Op]) -> HashMap<Value, Option<usize>> {
    let mut makers = HashMap::new();
    for (nth, op) in ops.iter().enumerate() {
        if let Some(value) = may_put(op) {
            makers.entry(value).and_modify(|maker| *maker = None).or_insert(Some(nth));
        }
    }
    makers
}
