//! Regular expressions.

use std::collections::BTreeMap;

use regex::Regex;

use super::operators::text;
use crate::cel::value::{Effort, Fault, Outcome, Value};
use crate::schema::Pattern;

/// What it takes to make a pattern ready.
const STEPS_TO_COMPILE: u64 = 40_000;
/// How large a pattern may get that does not stand in the expression.
const LARGEST: usize = 1 << 20;
/// How many patterns are kept ready.
const MOST_KEPT: usize = 16;

/// A pattern that stands in an expression; the error is Go's.
pub(in crate::cel) fn constant(pattern: &str) -> Result<Pattern, String> {
    Pattern::new(pattern).checked()
}

/// One of the functions, with a pattern that stands in the expression.
pub(in crate::cel) fn run<'a>(function: &str, args: &[Value<'a>], pattern: &Pattern) -> Outcome<'a> {
    call(function, args, &*pattern.program().map_err(Fault::error)?)
}

fn call<'a>(function: &str, args: &[Value<'a>], pattern: &Regex) -> Outcome<'a> {
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

/// Patterns that a run has met and may meet again.
#[derive(Debug, Default)]
pub(in crate::cel) struct PatternCache {
    ready: BTreeMap<String, Regex>,
}

impl PatternCache {
    /// One of the functions, with a pattern that is worked out.
    pub fn run<'a>(&mut self, function: &str, args: &[Value<'a>], effort: &mut Effort) -> Outcome<'a> {
        let pattern = &**text(&args[1])?;
        if !self.ready.contains_key(pattern) {
            effort.spend(STEPS_TO_COMPILE)?;
            let compiled = Pattern::within(pattern, LARGEST).compile().map_err(Fault::error)?;
            if self.ready.len() == MOST_KEPT {
                self.ready.clear();
            }
            self.ready.insert(pattern.to_owned(), compiled);
        }
        call(function, args, &self.ready[pattern])
    }
}
