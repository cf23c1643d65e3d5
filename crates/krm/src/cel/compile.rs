//! Rules as they are written made into programs.

use super::check::{self, Checked};
use super::cost;
use super::decl::{DeclId, Decls, REQUEST_BYTES};
use super::program::{self, Program};
use super::syntax;
use super::types::Type;
use crate::crd::Rule;

/// What became of a rule.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    /// What runs, unless something is wrong with it.
    pub(super) program: Option<Program>,
    /// Why the rule cannot run.
    pub fault: Option<String>,
    /// Whether it looks at the old value.
    pub uses_old_self: bool,
    /// The most that it can cost when it runs once.
    pub cost: u64,
    /// What makes its message, if something does.
    pub(super) message: Option<Program>,
    /// Why the message cannot be made.
    pub message_fault: Option<String>,
    /// The most that making the message can cost; `None` when nothing is made.
    pub message_cost: Option<u64>,
}

/// Makes a rule about values that are declared so into a program.
pub(super) fn compile(rule: &Rule<'_>, decls: &Decls, decl: DeclId) -> Compiled {
    let mut compiled = Compiled::default();
    if rule.rule.trim().is_empty() {
        return compiled;
    }
    let optional = rule.optional_old_self == Some(true);
    let checked = match read(rule.rule, decls, decl, optional) {
        Ok(checked) => checked,
        Err(issues) => {
            compiled.fault = Some(format!("compilation failed: {issues}"));
            return compiled;
        }
    };
    if *checked.result() != Type::Bool {
        compiled.fault = Some("cel expression must evaluate to a bool".to_owned());
        return compiled;
    }
    compiled.uses_old_self = checked.uses_old_self;
    match program::build(&checked) {
        Ok(program) => compiled.program = Some(program),
        Err(why) => {
            compiled.fault = Some(format!("program instantiation failed: {why}"));
            return compiled;
        }
    }
    compiled.cost = cost::worst(&checked, decls, decl);
    if !rule.message_expression.is_empty()
        && let Err(fault) = compile_message(rule, decls, decl, optional, &mut compiled)
    {
        compiled.message_fault = Some(fault);
    }
    compiled
}

/// How often values of at least this size can stand in a request.
pub(crate) fn most_in_request(least_bytes: u64) -> u64 {
    REQUEST_BYTES / (least_bytes + 1)
}

fn read(source: &str, decls: &Decls, decl: DeclId, optional: bool) -> Result<Checked, String> {
    let ast = syntax::parse(source)?;
    check::check(ast, source, (decls, decl), optional)
}

fn compile_message(
    rule: &Rule<'_>,
    decls: &Decls,
    decl: DeclId,
    optional: bool,
    compiled: &mut Compiled,
) -> Result<(), String> {
    let checked = read(rule.message_expression, decls, decl, optional)
        .map_err(|issues| format!("messageExpression compilation failed: {issues}"))?;
    if *checked.result() != Type::String {
        return Err("messageExpression must evaluate to a string".to_owned());
    }
    let program = program::build(&checked);
    compiled.message = Some(program.map_err(|why| format!("messageExpression instantiation failed: {why}"))?);
    compiled.message_cost = Some(cost::worst(&checked, decls, decl));
    Ok(())
}
