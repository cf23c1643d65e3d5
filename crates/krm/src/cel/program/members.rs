//! Constants of which a value may be one.

use std::collections::BTreeSet;

use super::Constant;
use crate::cel::value::Value;

/// A list of constants, ready to be searched.
#[derive(Debug, Default)]
pub(super) struct Members {
    texts: BTreeSet<Box<str>>,
    others: BTreeSet<Scalar>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Scalar {
    Bool(bool),
    /// Whole, of whatever type.
    Whole(i128),
    /// A number with a fraction, or none at all, by its bits.
    Broken(u64),
}

impl Members {
    /// All of them; `None` when there is one among them that is no flag, number or text.
    pub fn of(list: &[Constant]) -> Option<Members> {
        let mut members = Members::default();
        for constant in list {
            if let Constant::String(text) = constant {
                members.texts.insert(text.clone());
            } else {
                members.others.insert(scalar(&constant.value())?);
            }
        }
        Some(members)
    }

    pub fn has(&self, value: &Value<'_>) -> bool {
        match value {
            Value::String(text) => self.texts.contains(&**text),
            other => scalar(other).is_some_and(|scalar| self.others.contains(&scalar)),
        }
    }
}

fn scalar(value: &Value<'_>) -> Option<Scalar> {
    Some(match value {
        Value::Bool(flag) => Scalar::Bool(*flag),
        Value::Int(number) => Scalar::Whole(i128::from(*number)),
        Value::Uint(number) => Scalar::Whole(i128::from(*number)),
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
        Value::Double(number) if number.fract() == 0.0 && number.abs() < 1e30 => {
            Scalar::Whole(*number as i128)
        }
        Value::Double(number) => Scalar::Broken(number.to_bits()),
        _ => return None,
    })
}
