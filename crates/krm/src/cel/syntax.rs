//! Reads an expression.

mod lex;
mod macros;
mod operand;
mod parse;
mod recover;
mod token;
mod unescape;

pub(super) use operand::RESERVED;

use super::ast::{Ast, Expr};
use super::report::Issues;

/// How deep expressions may nest.
const DEEPEST: usize = 250;
/// How many characters an expression may have.
const LONGEST: usize = 100_000;

/// Reads an expression; the error is everything that is wrong with it, for people.
pub(super) fn parse(source: &str) -> Result<Ast, String> {
    let mut issues = Issues::default();
    let length = source.chars().count();
    if length > LONGEST {
        issues.report_whole(format!(
            "expression code point size exceeds limit: size: {length}, limit {LONGEST}"
        ));
        return Err(issues.render(source));
    }
    let ast = parse::Parser::new(source, &mut issues).expression();
    if issues.is_empty() && depth(&ast) > DEEPEST {
        issues.report_whole("max recursion depth exceeded");
    }
    if issues.is_empty() { Ok(ast) } else { Err(issues.render(source)) }
}

/// How many operations stand in one another.
fn depth(ast: &Ast) -> usize {
    let mut depths = vec![0; ast.exprs.len()];
    // Parts are made before what they are parts of.
    for id in 0..ast.exprs.len() {
        let below = ast.children(id).into_iter().map(|child| depths[child]).max().unwrap_or(0);
        let itself = match ast.get(id) {
            Expr::Call { function, .. } => !matches!(function.as_str(), "_&&_" | "_||_" | "!_" | "-_"),
            Expr::Select { .. } | Expr::Fold(_) => true,
            _ => false,
        };
        depths[id] = below + usize::from(itself);
    }
    depths.get(ast.root).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;
