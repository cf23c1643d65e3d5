//! Literals that would fail whenever the expression runs: durations, times, patterns, formats.

use super::Checked;
use crate::cel::ast::{Expr, ExprId, Literal};
use crate::cel::library::{format, pattern, time};
use crate::cel::report::Issues;
use crate::time::Moment;

pub(super) fn check(checked: &Checked, issues: &mut Issues) {
    for function in ["duration", "timestamp", "matches"] {
        arguments(checked, function, issues);
    }
    for id in 0..checked.ast.exprs.len() {
        format_call(checked, id, issues);
    }
}

fn arguments(checked: &Checked, function: &str, issues: &mut Issues) {
    for expr in &checked.ast.exprs {
        let Expr::Call { function: called, args, .. } = expr else { continue };
        let Some(arg) = args.first().filter(|_| called == function) else { continue };
        let Expr::Literal(Literal::String(text)) = checked.ast.get(*arg) else { continue };
        let holds = match function {
            "duration" => time::parse_duration(text).is_ok(),
            "timestamp" => Moment::parse(text).is_ok(),
            _ => pattern::compile(text).is_ok(),
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
