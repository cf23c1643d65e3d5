//! What is wrong with an expression, and where, in the form cel-go prints it.

use std::fmt::Write as _;

/// No more than these are told.
const MOST: usize = 100;
/// A line longer than this is not shown.
const LONGEST_LINE: usize = 16384;

/// Everything that is wrong with one expression.
#[derive(Debug, Default)]
pub(super) struct Issues {
    found: Vec<Issue>,
    more: usize,
}

#[derive(Debug)]
struct Issue {
    /// How many characters come before it; `None` for the expression as a whole.
    offset: Option<usize>,
    message: String,
}

impl Issues {
    pub fn report(&mut self, offset: usize, message: impl Into<String>) {
        self.push(Some(offset), message.into());
    }

    pub fn report_whole(&mut self, message: impl Into<String>) {
        self.push(None, message.into());
    }

    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    fn push(&mut self, offset: Option<usize>, message: String) {
        if self.found.len() < MOST {
            self.found.push(Issue { offset, message });
        } else {
            self.more += 1;
        }
    }

    /// All of it, as a text of several lines.
    pub fn render(mut self, source: &str) -> String {
        self.found.sort_by_key(|issue| issue.offset);
        let lines: Vec<&str> = source.split('\n').collect();
        let mut out = String::new();
        for issue in &self.found {
            if !out.is_empty() {
                out.push('\n');
            }
            issue.render(&lines, &mut out);
        }
        if self.more > 0 {
            let _ = write!(out, "\n{} more errors were truncated", self.more);
        }
        out
    }
}

impl Issue {
    fn render(&self, lines: &[&str], out: &mut String) {
        let Some(offset) = self.offset else {
            let _ = write!(out, "ERROR: <input>:-1:0: {}", self.message);
            return;
        };
        let (row, column) = place(lines, offset);
        let _ = write!(out, "ERROR: <input>:{}:{}: {}", row + 1, column + 1, self.message);
        let line = lines.get(row).copied().unwrap_or("");
        if line.len() > LONGEST_LINE {
            return;
        }
        let line = line.replace('\t', " ");
        let _ = write!(out, "\n | {line}\n | ");
        let mut chars = line.chars();
        for c in chars.by_ref().take(column) {
            out.push(if c.len_utf8() > 1 { '\u{ff0e}' } else { '.' });
        }
        out.push(if chars.next().is_some_and(|c| c.len_utf8() > 1) { '\u{ff3e}' } else { '^' });
    }
}

/// The line and the column, both from zero, of a character.
fn place(lines: &[&str], offset: usize) -> (usize, usize) {
    let mut left = offset;
    for (row, line) in lines.iter().enumerate() {
        let length = line.chars().count();
        if left <= length || row + 1 == lines.len() {
            return (row, left);
        }
        left -= length + 1;
    }
    (0, offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issue_points_at_its_place() {
        let mut issues = Issues::default();
        issues.report(9, "second");
        issues.report(3, "first");
        issues.report_whole("all of it");
        assert_eq!(
            issues.render("ab\ncdéf\n\tx"),
            "ERROR: <input>:-1:0: all of it\nERROR: <input>:2:1: first\n | cdéf\n | ^\nERROR: <input>:3:2: \
             second\n |  x\n | .^"
        );
    }

    #[test]
    fn wide_characters_are_pointed_at_with_wide_signs() {
        let mut issues = Issues::default();
        issues.report(1, "here");
        assert_eq!(issues.render("éé"), "ERROR: <input>:1:2: here\n | éé\n | ．＾");
    }
}
