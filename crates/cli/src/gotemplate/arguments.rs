//! What a function is given, brought to the types it takes.

use super::items::Item;
use super::run::{Ran, Run, failed};
use super::tree::{Operand, Span, Term};

/// What a function is called with.
pub struct Arguments<'a> {
    pub words: &'a [Operand],
    /// What came down the pipeline.
    pub last: Option<Item<'a>>,
    /// Where its name stands.
    pub name: Span,
    /// Where all of the call stands.
    pub call: Span,
}

/// What a function takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Anything, opened.
    Any,
    /// Anything, as it is held.
    AsIs,
    Text,
}

/// How many arguments, and of which types.
pub struct Signature {
    pub fixed: &'static [Takes],
    /// What all others are, if there may be more.
    pub more: Option<Takes>,
}

impl<'a> Arguments<'a> {
    /// Whether there are as many as there should be.
    pub fn check(&self, function: &str, signature: &Signature) -> Ran<()> {
        let (given, want) = (self.words.len() + usize::from(self.last.is_some()), signature.fixed.len());
        match signature.more {
            Some(_) if given < want => failed(
                self.name,
                format!("wrong number of args for {function}: want at least {want} got {}", self.words.len()),
            ),
            None if given != want => {
                failed(self.name, format!("wrong number of args for {function}: want {want} got {given}"))
            }
            _ => Ok(()),
        }
    }

    /// Their values.
    pub fn values(self, signature: &Signature, run: &mut Run<'a>, dot: &Item<'a>) -> Ran<Vec<Item<'a>>> {
        let takes = |at: usize| signature.fixed.get(at).copied().or(signature.more).unwrap_or(Takes::Any);
        let mut values = Vec::with_capacity(self.words.len() + 1);
        for (at, word) in self.words.iter().enumerate() {
            if takes(at) == Takes::Text {
                match &word.term {
                    Term::Nil => return failed(word.span, "cannot assign nil to string"),
                    Term::Bool(_) | Term::Int(_) | Term::Float(_) => {
                        return failed(word.span, "expected string; found a constant of another type");
                    }
                    _ => {}
                }
            }
            let value = run.value(word, dot)?;
            values.push(fitting(value, takes(at), word.span)?);
        }
        if let Some(last) = self.last {
            let takes = takes(values.len());
            values.push(fitting(last, takes, self.name)?);
        }
        Ok(values)
    }
}

fn fitting<'a>(value: Item<'a>, takes: Takes, span: Span) -> Ran<Item<'a>> {
    match takes {
        Takes::AsIs => Ok(value),
        Takes::Any => Ok(value.open()),
        Takes::Text if value.is_held_nil() => {
            failed(span, "wrong type for value; expected string; got interface {}")
        }
        Takes::Text => match value.open() {
            Item::Nothing => failed(span, "invalid value; expected string"),
            text @ Item::Text(_) => Ok(text),
            other => {
                let got = other.type_name();
                failed(span, format!("wrong type for value; expected string; got {got}"))
            }
        },
    }
}
