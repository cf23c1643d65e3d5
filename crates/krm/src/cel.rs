//! Rules in `x-kubernetes-validations`: expressions in the Common Expression Language about the values of an object.
//!
//! An expression is read ([`syntax`]), its types are found out by the schema ([`check`]), its worst cost is worked out
//! ([`cost`]), and it is made into a [`program`] that any number of objects can be run through. All of it says what cel-go
//! and Kubernetes say, word for word where somebody reads it.

mod ast;
mod budget;
mod check;
mod compile;
mod cost;
mod decl;
mod expression;
mod functions;
mod library;
mod program;
mod report;
mod rules;
mod scope;
mod syntax;
mod types;
mod value;

pub use budget::RequestBudget;
pub(crate) use compile::Compiled;
pub use expression::{Expression, Linked};
pub use rules::{Old, Rules, Verdict, blocked_by};
pub(crate) use scope::Scope;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;
