//! Parts of versions.

use std::cmp::Ordering;
use std::rc::Rc;

use super::Run;
use super::operators::text;
use super::semver::Semver;
use crate::cel::value::{Fault, Outcome, Value};

pub(super) fn find(name: &str) -> Option<Run> {
    Some(match name {
        "semver" => |args| parse(args)?.map(|version| Value::Semver(Rc::new(version))).map_err(Fault::Error),
        "isSemver" => |args| Ok(Value::Bool(parse(args)?.is_ok())),
        "major" => |args| part(args, |version| version.major),
        "minor" => |args| part(args, |version| version.minor),
        "patch" => |args| part(args, |version| version.patch),
        _ => return None,
    })
}

pub(super) fn order(a: &Value<'_>, b: &Value<'_>) -> Result<Ordering, Fault> {
    match (a, b) {
        (Value::Semver(a), Value::Semver(b)) => Ok(a.compare(b)),
        _ => Err(Fault::NoOverload),
    }
}

fn parse(args: &[Value<'_>]) -> Result<Result<Semver, String>, Fault> {
    let text = text(&args[0])?;
    match args.get(1) {
        None | Some(Value::Bool(false)) => Ok(Semver::parse(text)),
        Some(Value::Bool(true)) => Ok(Semver::parse_loosely(text)),
        Some(_) => Err(Fault::NoOverload),
    }
}

#[expect(clippy::cast_possible_wrap, reason = "the same happens there")]
fn part<'a>(args: &[Value<'a>], of: fn(&Semver) -> u64) -> Outcome<'a> {
    match &args[0] {
        Value::Semver(version) => Ok(Value::Int(of(version) as i64)),
        _ => Err(Fault::NoOverload),
    }
}
