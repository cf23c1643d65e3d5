//! An error or warning in a document, with its position.

use std::fmt;

use crate::yaml::Position;

/// One thing wrong with one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub fault: Fault,
    /// The place of the mistake.
    pub at: Position,
    /// The path in the document, such as `storage.physical_devices.sda`.
    pub path: String,
    /// Message.
    pub message: String,
}

/// The severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It does not have the shape of its kind (`DD001`); it is left out of the design.
    Shape,
    /// It has the shape, but says something that cannot be (`DD000`); it is left out of the design.
    Value,
    /// Something that it must have is missing (`DD000`); it is left out of the design, unless another source adds it.
    Missing,
    /// Something in it is not understood and has no effect.
    Ignored,
}

impl Fault {
    /// Whether the document is refused.
    pub fn refuses(self) -> bool {
        self != Self::Ignored
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            write!(f, "{}: {}", self.at, self.message)
        } else {
            write!(f, "{}: {}: {}", self.at, self.path, self.message)
        }
    }
}
