//! Literals that would fail whenever the expression runs, or that should: durations, times, patterns, formats, and lists of
//! this and that.

use super::Checked;
use crate::cel::ast::{Expr, ExprId, Literal};
use crate::cel::library::{format, pattern, time};
use crate::cel::report::Issues;
use crate::cel::types::Type;

pub(super) fn check(checked: &Checked, issues: &mut Issues) {
    mixed(checked, checked.ast.root, issues);
    for function in ["duration", "timestamp", "matches"] {
        arguments(checked, function, issues);
    }
    for id in 0..checked.ast.exprs.len() {
        format_call(checked, id, issues);
    }
}

/// Lists and maps of this and that, anywhere but in what is formatted.
fn mixed(checked: &Checked, id: ExprId, issues: &mut Issues) {
    match checked.ast.get(id) {
        Expr::Call { function, .. } if function == "format" => return,
        Expr::List { items, optional } => {
            let mut first = None;
            for (item, optional) in items.iter().zip(optional) {
                if !same(checked, &mut first, *item, *optional, issues) {
                    break;
                }
            }
        }
        Expr::Map { entries } => {
            let (mut key, mut value) = (None, None);
            for entry in entries {
                same(checked, &mut key, entry.key, false, issues);
                same(checked, &mut value, entry.value, entry.optional, issues);
            }
        }
        _ => {}
    }
    for child in checked.ast.children(id) {
        mixed(checked, child, issues);
    }
}

/// Whether an item is of the type of the first.
fn same<'c>(
    checked: &'c Checked,
    first: &mut Option<&'c Type>,
    item: ExprId,
    optional: bool,
    issues: &mut Issues,
) -> bool {
    let mut of = checked.type_of(item);
    if optional {
        of = of.unwrapped().0;
    }
    let expected = *first.get_or_insert(of);
    if expected != of {
        issues.report(checked.ast.offsets[item], format!("expected type '{expected}' but found '{of}'"));
    }
    expected == of
}

fn arguments(checked: &Checked, function: &str, issues: &mut Issues) {
    for expr in &checked.ast.exprs {
        let Expr::Call { function: called, args, .. } = expr else { continue };
        let Some(arg) = args.first().filter(|_| called == function) else { continue };
        let holds = match (function, checked.ast.get(*arg)) {
            ("duration", Expr::Literal(Literal::String(text))) => time::parse_duration(text).is_ok(),
            ("timestamp", Expr::Literal(Literal::String(text))) => {
                time::Stamp::parse(text).is_ok_and(|stamp| time::YEARS.contains(&stamp.moment.seconds))
            }
            ("timestamp", Expr::Literal(Literal::Int(seconds))) => time::YEARS.contains(seconds),
            ("matches", Expr::Literal(Literal::String(text))) => pattern::constant(text).is_ok(),
            _ => true,
        };
        if !holds {
            issues.report(checked.ast.offsets[*arg], format!("invalid {function} argument"));
        }
    }
}

/// A format that is a literal, on a list that is one.
fn format_call(checked: &Checked, id: ExprId, issues: &mut Issues) {
    let Expr::Call { function, target: Some(target), args } = checked.ast.get(id) else { return };
    let (true, Some(list)) = (function == "format", args.first()) else { return };
    let Expr::Literal(Literal::String(text)) = checked.ast.get(*target) else { return };
    let Expr::List { items, .. } = checked.ast.get(*list) else { return };
    let clauses = match format::clauses(text) {
        Ok(clauses) => clauses,
        Err(fault) => return issues.report(checked.ast.offsets[id], fault),
    };
    for (index, clause) in clauses.iter().enumerate() {
        let Some(item) = items.get(index) else {
            issues.report(checked.ast.offsets[id], format!("index {index} out of range"));
            return;
        };
        if let Err(fault) = clause.takes(checked.type_of(*item)) {
            let message = format!("error during formatting: {fault}");
            return issues.report(checked.ast.offsets[*item], message);
        }
    }
    if items.len() > clauses.len() {
        let (expected, got) = (clauses.len(), items.len());
        issues.report(
            checked.ast.offsets[id],
            format!("too many arguments supplied to string.format (expected {expected}, got {got})"),
        );
    }
}
