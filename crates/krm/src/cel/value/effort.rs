//! What rules may take besides their cost.

use super::{Fault, Value};

/// How many steps all rules of an object may take together that their costs do not count.
pub(in crate::cel) const MOST: u64 = 10_000_000;
/// So many bytes of a text are looked at in a step.
const BYTES_IN_STEP: u64 = 32;

/// Steps that rules can still take.
///
/// Costs are those of Kubernetes, which asks little for some things that take long: whole objects compared, long texts
/// measured. Few rules get to know of this; it keeps those few from holding up everybody.
#[derive(Debug)]
pub(in crate::cel) struct Effort {
    left: u64,
}

impl Effort {
    pub fn new() -> Effort {
        Effort { left: MOST }
    }

    /// No more than a request has left.
    pub fn at_most(steps: u64) -> Effort {
        Effort { left: MOST.min(steps) }
    }

    /// Steps that are left.
    pub fn left(&self) -> u64 {
        self.left
    }

    pub fn spend(&mut self, steps: u64) -> Result<(), Fault> {
        self.left = self.left.checked_sub(steps).ok_or(Fault::TooExpensive)?;
        Ok(())
    }

    /// For going over a text.
    pub fn read(&mut self, value: &Value<'_>) -> Result<(), Fault> {
        match value {
            Value::String(text) => self.spend(text.len() as u64 / BYTES_IN_STEP),
            Value::Bytes(bytes) => self.spend(bytes.len() as u64 / BYTES_IN_STEP),
            _ => Ok(()),
        }
    }
}
