//! How much memory a pattern takes when it is compiled, estimated without compiling it.

use regex_syntax::hir::{Class, Hir, HirKind};

/// A compiled literal, for each byte.
const BYTE: usize = 24;
/// A compiled class, for each of its ranges: a range of Unicode is several of bytes.
const RANGE: usize = 96;
/// Whatever else stands in a pattern: an assertion, a group, a branch.
const STEP: usize = 64;

/// About how many bytes the compiled expression takes. An expression is not larger for being repeated, its program is.
pub(super) fn of(expression: &Hir) -> usize {
    match expression.kind() {
        HirKind::Empty | HirKind::Look(_) => STEP,
        HirKind::Literal(literal) => literal.0.len().saturating_mul(BYTE).saturating_add(STEP),
        HirKind::Class(Class::Unicode(class)) => class.ranges().len().saturating_mul(RANGE),
        HirKind::Class(Class::Bytes(class)) => class.ranges().len().saturating_mul(RANGE),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1) as usize;
            of(&repetition.sub).saturating_add(STEP).saturating_mul(times)
        }
        HirKind::Capture(capture) => of(&capture.sub).saturating_add(STEP),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().fold(STEP, |sum, part| sum.saturating_add(of(part)))
        }
    }
}
