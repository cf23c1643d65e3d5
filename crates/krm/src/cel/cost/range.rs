//! A number that is known to lie between two others.

/// The least and the most that a size or a cost can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub min: u64,
    pub max: u64,
}

impl Range {
    /// Nothing is known.
    pub const ANY: Range = Range { min: 0, max: u64::MAX };
    /// Nothing has been seen yet: whatever it is joined with is what it becomes.
    pub const NONE: Range = Range { min: u64::MAX, max: 0 };

    pub const fn fixed(number: u64) -> Range {
        Range { min: number, max: number }
    }

    pub fn add(self, other: Range) -> Range {
        Range { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    pub fn times(self, other: Range) -> Range {
        Range { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    /// So much for each; what is broken is rounded up.
    pub fn each(self, factor: f64) -> Range {
        Range { min: scaled(self.min, factor), max: scaled(self.max, factor) }
    }

    pub fn union(self, other: Range) -> Range {
        Range { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "costs are reckoned in floats there, so they are here"
)]
fn scaled(number: u64, factor: f64) -> u64 {
    // A cast from a float that is too large gives the largest number.
    (number as f64 * factor).ceil() as u64
}
