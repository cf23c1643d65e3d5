//! What a filter says about the values of single fields, so that an index can be asked.

use std::collections::BTreeSet;

use super::check::{Expr, Path, Step};
use super::syntax::Operator;
use super::value::Value;

/// A field that has a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Term {
    /// A field by its path, such as `spec.class`.
    Field(String, String),
    /// A label.
    Label(String, String),
}

/// More terms than this are not worth an index.
const MOST: usize = 1_000;

/// Terms of which every object that matches has at least one.
pub fn terms(expr: &Expr) -> Option<Vec<Term>> {
    let mut terms = of(expr)?;
    let mut seen = BTreeSet::new();
    terms.retain(|term| seen.insert(term.clone()));
    Some(terms)
}

fn of(expr: &Expr) -> Option<Vec<Term>> {
    match expr {
        Expr::Const(Value::Bool(false)) => Some(Vec::new()),
        Expr::Compare(Operator::Equal, left, right) => match (&**left, &**right) {
            (Expr::Field(path), Expr::Const(Value::Text(text)))
            | (Expr::Const(Value::Text(text)), Expr::Field(path)) => Some(vec![term(path, text)?]),
            _ => None,
        },
        Expr::OneOf(of, items) => {
            let Expr::Field(path) = &**of else { return None };
            let texts = items.iter().map(|item| match item {
                Expr::Const(Value::Text(text)) => term(path, text),
                _ => None,
            });
            texts.collect()
        }
        // Both sides hold: the one with fewer terms is the narrower.
        Expr::And(left, right) => match (of(left), of(right)) {
            (Some(left), Some(right)) => Some(if right.len() < left.len() { right } else { left }),
            (one, other) => one.or(other),
        },
        Expr::Or(left, right) => {
            let mut terms = of(left)?;
            terms.extend(of(right)?);
            (terms.len() <= MOST).then_some(terms)
        }
        _ => None,
    }
}

fn term(path: &Path, text: &str) -> Option<Term> {
    // A field that is not there reads as empty, and what is not there is in no index.
    if text.is_empty() {
        return None;
    }
    if let [Step::Field(metadata), Step::Field(labels), Step::Key(key)] = path.steps.as_slice() {
        let is_label = metadata.name() == "metadata" && labels.name() == "labels";
        return is_label.then(|| Term::Label(key.clone(), text.to_owned()));
    }
    Some(Term::Field(path.name()?, text.to_owned()))
}
