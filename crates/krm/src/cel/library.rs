//! What functions do.

mod address;
pub(super) mod cidr;
mod convert;
pub(super) mod format;
mod lists;
pub(super) mod named_format;
mod network;
pub(super) mod operators;
mod optionals;
pub(super) mod pattern;
mod quantities;
pub(super) mod quantity;
pub(super) mod semver;
mod semvers;
mod sets;
mod strings;
pub(super) mod time;
mod times;
pub(super) mod url;
mod urls;

use super::value::{Effort, Outcome, Value};

/// A function: what it gives for its arguments, the one it is called on first.
pub(super) type Run = for<'a> fn(&[Value<'a>]) -> Outcome<'a>;

/// One that may take longer than its cost tells.
pub(super) type DeepRun = for<'a> fn(&[Value<'a>], &mut Effort) -> Outcome<'a>;

/// The function for a signature of a name.
pub(super) fn of_overload(name: &str, overload: &str) -> Option<Run> {
    if name == "sum" { Some(lists::sum_of(overload)) } else { find(name) }
}

/// The function of a name, if it is one that may take longer than its cost tells.
pub(super) fn find_deep(name: &str) -> Option<DeepRun> {
    operators::find_deep(name)
        .or_else(|| strings::find_deep(name))
        .or_else(|| lists::find_deep(name))
        .or_else(|| sets::find_deep(name))
}

/// The function of a name. Operators that do not look at all their arguments, and macros, are not among them.
fn find(name: &str) -> Option<Run> {
    operators::find(name)
        .or_else(|| convert::find(name))
        .or_else(|| strings::find(name))
        .or_else(|| lists::find(name))
        .or_else(|| optionals::find(name))
        .or_else(|| times::find(name))
        .or_else(|| urls::find(name))
        .or_else(|| network::find(name))
        .or_else(|| quantities::find(name))
        .or_else(|| semvers::find(name))
        .or_else(|| named_format::find(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cel::functions;

    #[test]
    fn every_function_that_can_be_called_does_something() {
        let elsewhere = [
            "_?_:_",
            "_&&_",
            "_||_",
            "@not_strictly_false",
            "_?._",
            "or",
            "orValue",
            "matches",
            "find",
            "findAll",
            "_[_]",
            "_[?_]",
        ];
        for name in functions::names().filter(|name| !elsewhere.contains(name)) {
            assert!(
                find(name).is_some() || find_deep(name).is_some(),
                "{name} is declared, and does nothing"
            );
        }
    }
}
