//! Schemas combined: all of, any of, one of, not.

use serde_json::Value;

use super::finding::Finding;
use super::{Check, Passed};
use crate::field::{Path, quote};
use crate::schema::node::{Branches, Node};

/// An alternative that failed: how far it came, and why it ended.
type Failure = (Passed, Vec<Finding>);

impl Check {
    /// Everything the value is held against besides. Nothing in here is tolerated for not having changed.
    pub(super) fn branches(&mut self, node: &Node, value: &Value, path: &Path<'_>) -> Passed {
        let Some(branches) = &node.branches else { return 1 };
        let passed = self.any_of(branches, value, path)
            + self.one_of(branches, value, path)
            + self.all_of(branches, value, path);
        if let Some(not) = &branches.not
            && self.attempt(not, value, path).is_ok()
        {
            let said = format!("{} must not validate the schema (not)", name(path));
            self.findings.add(Finding::nowhere(said));
        }
        passed + 1
    }

    fn any_of(&mut self, branches: &Branches, value: &Value, path: &Path<'_>) -> Passed {
        let mut best: Option<Failure> = None;
        for branch in &branches.any_of {
            match self.attempt(branch, value, path) {
                Ok(passed) => return passed,
                Err(failure) => keep_best(&mut best, failure),
            }
        }
        if !branches.any_of.is_empty() {
            let said = format!("{} must validate at least one schema (anyOf)", name(path));
            self.findings.add(Finding::nowhere(said));
        }
        self.report(best)
    }

    fn one_of(&mut self, branches: &Branches, value: &Value, path: &Path<'_>) -> Passed {
        let mut best: Option<Failure> = None;
        let mut first = None;
        let mut valid = 0;
        for branch in &branches.one_of {
            match self.attempt(branch, value, path) {
                Ok(passed) => {
                    valid += 1;
                    first.get_or_insert(passed);
                }
                Err(failure) => keep_best(&mut best, failure),
            }
        }
        let found = match (branches.one_of.is_empty(), valid) {
            (true, _) => return 0,
            (false, 1) => return first.unwrap_or(0),
            (false, 0) => "Found none valid".to_owned(),
            (false, _) => format!("Found {valid} valid alternatives"),
        };
        let said = format!("{} must validate one and only one schema (oneOf). {found}", name(path));
        self.findings.add(Finding::nowhere(said));
        self.report(best.filter(|_| valid == 0))
    }

    fn all_of(&mut self, branches: &Branches, value: &Value, path: &Path<'_>) -> Passed {
        let mut passed = 0;
        let mut valid = 0;
        for branch in &branches.all_of {
            let before = self.findings.len();
            passed += self.value(branch, value, path, None);
            valid += usize::from(self.findings.len() == before);
        }
        if valid < branches.all_of.len() {
            let none = if valid == 0 { ". None validated" } else { "" };
            let said = format!("{} must validate all the schemas (allOf){none}", name(path));
            self.findings.add(Finding::nowhere(said));
        }
        passed
    }

    /// Holds the value against a schema without reporting anything.
    fn attempt(&mut self, branch: &Node, value: &Value, path: &Path<'_>) -> Result<Passed, Failure> {
        let before = self.findings.len();
        let passed = self.value(branch, value, path, None);
        match self.findings.take_after(before) {
            findings if findings.is_empty() => Ok(passed),
            findings => Err((passed, findings)),
        }
    }

    fn report(&mut self, failure: Option<Failure>) -> Passed {
        let Some((passed, findings)) = failure else { return 0 };
        self.findings.put_back(findings);
        passed
    }
}

/// Keeps the failure that came furthest, the first of equals.
fn keep_best(best: &mut Option<Failure>, failure: Failure) {
    if best.as_ref().is_none_or(|best| failure.0 > best.0) {
        *best = Some(failure);
    }
}

fn name(path: &Path<'_>) -> String {
    quote(&path.to_string())
}
