//! The definition itself, for histories of a handful of operations.

use crate::linearizable::{Kind, Op, Value};

pub(super) fn has_an_order(history: &[Op]) -> bool {
    extends(&history.iter().collect::<Vec<_>>(), None)
}

fn extends(rest: &[&Op], holds: Option<Value>) -> bool {
    if rest.iter().all(|op| op.ret.is_none()) {
        return true;
    }
    (0..rest.len()).any(|nth| {
        let op = rest[nth];
        let others: Vec<&Op> =
            rest.iter().enumerate().filter(|(at, _)| *at != nth).map(|(_, op)| *op).collect();
        let somebody_returned_before = others.iter().any(|other| other.ret.is_some_and(|ret| ret < op.call));
        !somebody_returned_before && after(op, holds).is_some_and(|holds| extends(&others, holds))
    })
}

/// What the register holds after `op`, if `op` fits.
fn after(op: &Op, holds: Option<Value>) -> Option<Option<Value>> {
    match (op.kind, op.ret) {
        (Kind::Write(value), _) => Some(Some(value)),
        (Kind::Delete, _) => Some(None),
        (Kind::Read(_), None) => Some(holds),
        (Kind::Read(found), Some(_)) => (found == holds).then_some(holds),
        (Kind::Cas { expect, ok: false, .. }, Some(_)) => (expect != holds).then_some(holds),
        (Kind::Cas { expect, new, .. }, _) => (expect == holds).then_some(Some(new)),
    }
}
