//! What happened in a simulation, line by line.

use std::fmt;

/// The lines of a simulation: steps, faults and notes, with the simulated time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace {
    lines: Vec<String>,
}

impl Trace {
    pub(crate) fn push(&mut self, line: String) {
        self.lines.push(line);
    }

    /// The lines, in order.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The first line in which the other, up to its own end, differs, counted from 1.
    pub fn first_difference(&self, start: &Trace) -> Option<usize> {
        let differs = |(at, line): (usize, &String)| (self.lines.get(at) != Some(line)).then_some(at + 1);
        start.lines.iter().enumerate().find_map(differs)
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}
