//! Why the program could not do what was asked: one line for people.

use std::fmt;

/// One line that says what was tried, why it failed, and what to do.
#[derive(Debug)]
pub struct Failure {
    line: String,
    is_reported: bool,
}

impl Failure {
    /// What was tried, and why it failed.
    pub fn new(tried: impl fmt::Display, why: impl fmt::Display) -> Failure {
        Failure { line: format!("{tried}: {why}"), is_reported: false }
    }

    /// The same, when the user has been told already.
    pub fn reported(self) -> Failure {
        Failure { is_reported: true, ..self }
    }

    /// Whether the user has been told.
    pub fn is_reported(&self) -> bool {
        self.is_reported
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line.replace('\n', " "))
    }
}

impl std::error::Error for Failure {}
