//! Paths into a value, as printer columns and selectable fields are written: `.status.conditions[?(@.type=="Ready")].status`.

mod find;
mod parse;
mod template;

use std::borrow::Cow;

use serde_json::Value;

pub use template::{Template, shown};

/// How many values a step may find: `..` over and over would find the same ones without end.
const MOST_FOUND: usize = 10_000;

/// A path that has been parsed.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonPath {
    steps: Vec<Step>,
}

/// One step of a path, from all values found so far to the next ones.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    /// `.name`: an entry of a map.
    Field(String),
    /// `.*`: every entry of a map, every item of a list.
    All,
    /// `..`: the value and everything within it.
    Descend,
    /// `[1]`, `[-1]`, `[0:2]`, `[*]`: items of a list.
    Slice(Slice),
    /// `[0,2]`: what several steps find.
    Union(Vec<Vec<Step>>),
    /// `[?(@.a=="b")]`: items of a list for which it holds.
    Filter(Filter),
    /// A value written into the path.
    Constant(Value),
    /// A word that paths of other tools know, such as `range`.
    Word(String),
}

#[derive(Debug, Clone, PartialEq)]
struct Slice {
    start: Option<i64>,
    end: Option<i64>,
    step: Option<i64>,
    /// Whether only the item at `start` is meant.
    is_single: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct Filter {
    left: Vec<Step>,
    /// How both sides compare; without, the left side has to be there.
    comparison: Option<(Comparison, Vec<Step>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// Something else, which fails when it is to be decided.
    Unknown,
}

impl JsonPath {
    /// Parses a path as it is written in a definition, without braces.
    pub fn parse(text: &str) -> Result<JsonPath, String> {
        Ok(JsonPath { steps: parse::steps(text)? })
    }

    /// Everything the path leads to; nothing where a field is missing, an error where the value is of another shape than the
    /// path expects.
    pub fn find<'a>(&self, root: &'a Value) -> Result<Vec<Cow<'a, Value>>, String> {
        find::walk(vec![Cow::Borrowed(root)], &self.steps, MOST_FOUND)
    }

    /// The same however many there are: for who asks about values of its own.
    pub fn find_all<'a>(&self, root: &'a Value) -> Result<Vec<Cow<'a, Value>>, String> {
        find::walk(vec![Cow::Borrowed(root)], &self.steps, usize::MAX)
    }

    /// The first value the path leads to, if it leads to any.
    pub fn first<'a>(&self, root: &'a Value) -> Option<Cow<'a, Value>> {
        // Nearly all paths are fields and nothing else; they need no list of values.
        let mut value = root;
        for (at, step) in self.steps.iter().enumerate() {
            match step {
                Step::Field(name) => value = value.as_object()?.get(name)?,
                _ => {
                    let found = find::walk(vec![Cow::Borrowed(value)], &self.steps[at..], MOST_FOUND);
                    return found.ok()?.into_iter().next();
                }
            }
        }
        Some(Cow::Borrowed(value))
    }
}

#[cfg(test)]
mod tests;
