//! Why the program could not do what was asked: one line for people.

use std::fmt;

/// One line that says what was tried, why it failed, and what to do.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    /// What was tried, and why it failed.
    pub fn new(tried: impl fmt::Display, why: impl fmt::Display) -> Failure {
        Failure(format!("{tried}: {why}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.replace('\n', " "))
    }
}

impl std::error::Error for Failure {}
