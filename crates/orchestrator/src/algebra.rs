//! The algebra of results: how the result of a task follows from those of its parts, as Drydock has it.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Result of a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ResultStatus {
    /// Nothing succeeded or failed yet.
    #[default]
    Incomplete,
    /// All succeeded.
    Success,
    /// Some succeeded, some failed.
    PartialSuccess,
    /// All failed.
    Failure,
}

impl ResultStatus {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            ResultStatus::Incomplete => "Incomplete",
            ResultStatus::Success => "Success",
            ResultStatus::PartialSuccess => "PartialSuccess",
            ResultStatus::Failure => "Failure",
        }
    }

    /// After a success.
    pub fn succeeded(self) -> ResultStatus {
        match self {
            ResultStatus::Failure | ResultStatus::PartialSuccess => ResultStatus::PartialSuccess,
            ResultStatus::Incomplete | ResultStatus::Success => ResultStatus::Success,
        }
    }

    /// After a failure.
    pub fn failed(self) -> ResultStatus {
        match self {
            ResultStatus::Success | ResultStatus::PartialSuccess => ResultStatus::PartialSuccess,
            ResultStatus::Incomplete | ResultStatus::Failure => ResultStatus::Failure,
        }
    }

    /// Whether something succeeded.
    pub fn has_success(self) -> bool {
        matches!(self, ResultStatus::Success | ResultStatus::PartialSuccess)
    }

    /// Whether something failed.
    pub fn has_failure(self) -> bool {
        matches!(self, ResultStatus::Failure | ResultStatus::PartialSuccess)
    }
}

/// The result of a task: its status, and what succeeded and failed by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Its status.
    pub status: ResultStatus,
    /// What succeeded.
    pub successes: BTreeSet<String>,
    /// What failed.
    pub failures: BTreeSet<String>,
    /// How often what failed was tried again.
    pub retry: i64,
}

/// A part of a task that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it did; see [`Outcome::bubble`].
    pub action: String,
    /// Its result.
    pub outcome: Outcome,
}

/// What was tried too often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it was tried again {0} times, and still fails")]
pub struct MaxRetries(pub i64);

impl Outcome {
    /// Something succeeded.
    pub fn success(&mut self, focus: Option<&str>) {
        self.status = self.status.succeeded();
        self.successes.extend(focus.map(str::to_owned));
    }

    /// Something failed.
    pub fn failure(&mut self, focus: Option<&str>) {
        self.status = self.status.failed();
        self.failures.extend(focus.map(str::to_owned));
    }

    /// Takes over what parts of an action succeeded at, and what any part failed at. After a retry, only the failures of parts
    /// of that retry count.
    pub fn bubble(&mut self, parts: &[Part], action: Option<&str>) {
        self.successes.clear();
        self.failures.clear();
        for part in parts {
            if action.is_none_or(|action| action == part.action) {
                self.successes.extend(part.outcome.successes.iter().cloned());
            }
            if self.retry == 0 || part.outcome.retry == self.retry {
                self.failures.extend(part.outcome.failures.iter().cloned());
            }
        }
    }

    /// Sets the status from those of parts of an action. Without parts, nothing was to be done, and that succeeded.
    pub fn align(&mut self, parts: &[Part], action: Option<&str>) {
        self.status = if parts.is_empty() { ResultStatus::Success } else { ResultStatus::Incomplete };
        for part in parts.iter().filter(|part| action.is_none_or(|action| action == part.action)) {
            if part.outcome.status.has_success() {
                self.status = self.status.succeeded();
            }
            if part.outcome.status.has_failure() && (self.retry == 0 || part.outcome.retry == self.retry) {
                self.status = self.status.failed();
            }
        }
    }

    /// Whether what failed is to be tried again.
    pub fn retry(&mut self, most: i64) -> Result<bool, MaxRetries> {
        if self.status == ResultStatus::Success || self.failures.is_empty() {
            return Ok(false);
        }
        if self.retry >= most {
            return Err(MaxRetries(self.retry));
        }
        self.retry += 1;
        self.status =
            if self.successes.is_empty() { ResultStatus::Incomplete } else { ResultStatus::Success };
        Ok(true)
    }
}

/// The status of a task, from how many of its nodes succeeded and failed.
pub fn of_counts(total: i64, succeeded: i64, failed: i64) -> ResultStatus {
    match (succeeded, failed) {
        (0, 0) if total == 0 => ResultStatus::Success,
        (0, 0) => ResultStatus::Incomplete,
        (_, 0) => ResultStatus::Success,
        (0, _) => ResultStatus::Failure,
        _ => ResultStatus::PartialSuccess,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::dice::Dice;

    fn random_part(dice: &mut Dice) -> Part {
        let mut outcome = Outcome { retry: dice.below(3) as i64, ..Outcome::default() };
        for _ in 0..dice.below(4) {
            let node = format!("n{}", dice.below(6));
            match dice.below(2) {
                0 => outcome.success(Some(&node)),
                _ => outcome.failure(Some(&node)),
            }
        }
        Part { action: ["a", "b"][dice.below(2)].to_owned(), outcome }
    }

    #[test]
    fn the_order_of_successes_and_failures_does_not_matter() {
        for seed in 0..2_000 {
            let mut dice = Dice::new(seed);
            let mut all: Vec<bool> = (0..dice.below(8)).map(|_| dice.below(2) == 0).collect();
            let told = |all: &[bool]| {
                let mut outcome = Outcome::default();
                all.iter().for_each(|ok| if *ok { outcome.success(None) } else { outcome.failure(None) });
                outcome.status
            };
            let forward = told(&all);
            all.reverse();
            assert_eq!(told(&all), forward);
            let (good, bad) = (all.iter().filter(|ok| **ok).count(), all.iter().filter(|ok| !**ok).count());
            let expected = match all.is_empty() {
                true => ResultStatus::Incomplete,
                false => of_counts(all.len() as i64, good as i64, bad as i64),
            };
            assert_eq!(forward, expected);
        }
    }

    #[test]
    fn what_bubbles_is_what_parts_say_and_retries_forget_earlier_failures() {
        for seed in 0..2_000 {
            let mut dice = Dice::new(seed);
            let parts: Vec<Part> = (0..dice.below(5)).map(|_| random_part(&mut dice)).collect();
            let mut outcome = Outcome { retry: dice.below(3) as i64, ..Outcome::default() };
            outcome.bubble(&parts, Some("a"));
            outcome.align(&parts, None);
            for node in &outcome.successes {
                assert!(parts.iter().any(|part| part.action == "a" && part.outcome.successes.contains(node)));
            }
            for node in &outcome.failures {
                let counts = |part: &&Part| outcome.retry == 0 || part.outcome.retry == outcome.retry;
                assert!(parts.iter().filter(counts).any(|part| part.outcome.failures.contains(node)));
            }
            assert_eq!(parts.is_empty(), outcome.status == ResultStatus::Success && parts.is_empty());
            let before = outcome.clone();
            outcome.bubble(&parts, Some("a"));
            outcome.align(&parts, None);
            assert_eq!(outcome, before, "repeating it changes nothing");
        }
    }

    #[test]
    fn a_retry_happens_only_while_something_fails_and_tries_are_left() {
        let mut outcome = Outcome::default();
        outcome.success(Some("n1"));
        assert_eq!(outcome.retry(3), Ok(false));
        outcome.failure(Some("n2"));
        assert_eq!(outcome.status, ResultStatus::PartialSuccess);
        assert_eq!(outcome.retry(1), Ok(true));
        assert_eq!((outcome.retry, outcome.status), (1, ResultStatus::Success));
        outcome.failure(Some("n2"));
        assert_eq!(outcome.retry(1), Err(MaxRetries(1)));
    }
}
