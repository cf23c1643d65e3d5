//! Limits on the number and size of reported errors.

use crate::field::FieldError;

/// Nobody reads more errors about one object than this.
pub const MOST_ERRORS: usize = 1000;

/// Names of fields can be as long as the object; they are not repeated without end.
pub const MOST_BYTES: usize = 1 << 20;

/// Errors about one object.
#[derive(Default)]
pub struct Report {
    errors: Vec<FieldError>,
    bytes: usize,
}

impl Report {
    /// Whether looking further would not tell anybody more.
    pub fn is_full(&self) -> bool {
        self.errors.len() >= MOST_ERRORS || self.bytes >= MOST_BYTES
    }

    /// Notes an error.
    pub fn add(&mut self, error: FieldError) {
        if !self.is_full() {
            self.bytes += error.field.len() + error.detail.len();
            self.errors.push(error);
        }
    }

    /// All that was noted.
    pub fn into_errors(self) -> Vec<FieldError> {
        self.errors
    }
}
