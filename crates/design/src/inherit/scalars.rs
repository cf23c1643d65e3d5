//! The scalar rule: an unset field inherits, `!` clears, anything else overrides. The empty string is a value.

use std::fmt;

use super::{
    field_path::FieldPath,
    ledger::{Ledger, Manner},
};
use crate::model::Field;

/// A scalar that has a way to say "unset".
pub(super) trait Scalar: Clone + fmt::Display + PartialEq {
    fn unsets(&self) -> bool;
}

impl Scalar for String {
    fn unsets(&self) -> bool {
        self == "!"
    }
}

impl Scalar for i64 {
    fn unsets(&self) -> bool {
        *self == -1
    }
}

impl Scalar for bool {
    fn unsets(&self) -> bool {
        false
    }
}

pub(super) fn merge<T: Scalar>(
    ledger: &mut Ledger,
    path: &FieldPath<'_>,
    parent: &Field<T>,
    child: &Field<T>,
) -> Field<T> {
    let Some(child) = child else { return parent.clone() };
    let unset = child.value.unsets();
    if let Some(parent) = parent {
        let manner = if unset { Manner::Removed } else { Manner::Overridden };
        ledger.note(path, manner, &parent.value, &parent.by, &child.by);
    }
    (!unset).then(|| child.clone())
}
