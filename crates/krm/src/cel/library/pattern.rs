//! Regular expressions.

use regex::Regex;

use super::Run;
use super::operators::text;
use crate::cel::value::{Fault, Outcome, Value};
use crate::schema::Pattern;

pub(super) fn find(name: &str) -> Option<Run> {
    Some(match name {
        "matches" => |args| run("matches", args, &compiled(&args[1])?),
        "find" => |args| run("find", args, &compiled(&args[1])?),
        "findAll" => |args| run("findAll", args, &compiled(&args[1])?),
        _ => return None,
    })
}

/// A pattern, ready to run; the error is Go's.
pub(in crate::cel) fn compile(pattern: &str) -> Result<Regex, String> {
    Pattern::new(pattern).program().cloned().map_err(ToOwned::to_owned)
}

/// One of the functions, with its pattern ready.
pub(in crate::cel) fn run<'a>(function: &str, args: &[Value<'a>], pattern: &Regex) -> Outcome<'a> {
    let text = text(&args[0])?;
    match function {
        "matches" => Ok(Value::Bool(pattern.is_match(text))),
        "find" => Ok(Value::text(pattern.find(text).map_or("", |found| found.as_str()))),
        _ => {
            let most = match args.get(2) {
                None => usize::MAX,
                Some(Value::Int(most)) => usize::try_from(*most).unwrap_or(usize::MAX),
                Some(_) => return Err(Fault::NoOverload),
            };
            Ok(Value::texts(pattern.find_iter(text).take(most).map(|found| found.as_str())))
        }
    }
}

fn compiled(pattern: &Value<'_>) -> Result<Regex, Fault> {
    compile(text(pattern)?).map_err(Fault::Error)
}
