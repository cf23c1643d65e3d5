//! What holding the objects costs: memory, and the time until a server that has them is ready.

use std::time::Duration;

use testbed::bench::Outcome;
use testbed::bench::report::{Cell, Table};

use crate::options::Options;
use crate::peer;
use crate::subject::{How, Subject};

/// How often a first start is measured.
const STARTS: usize = 5;

/// From the start of the process until it answers that it is ready, on an empty folder: the median.
pub fn first_starts(options: &Options) -> Outcome<Duration> {
    let how = How::of(options);
    let mut took: Vec<Duration> = (0..STARTS).map(|_| how.first_start()).collect::<Outcome<_>>()?;
    took.sort_unstable();
    Ok(took[STARTS / 2])
}

/// A table of times until ready.
pub fn starts() -> Table {
    Table::new(
        "start",
        "From the start of the process until /readyz answers",
        &["start", "objects", "peer s", "s"],
    )
}

/// A line of it. The floors are for an empty server and for one of 50,000 objects.
pub fn start_row(start: &str, objects: usize, took: Duration) -> Vec<Cell> {
    let floor = if objects == 0 { peer::READY_EMPTY } else { peer::READY_FULL };
    let peer = if objects == 0 { format!("{}–{}", peer::START.0, peer::START.1) } else { String::new() };
    vec![
        Cell::text(start),
        Cell::text(objects.to_string()),
        Cell::text(peer),
        Cell::within(took.as_secs_f64(), floor),
    ]
}

/// The memory of the server at the points of the run at which it was looked at.
#[derive(Default)]
pub struct Memory {
    rows: Vec<(&'static str, f64, f64, Option<f64>)>,
}

impl Memory {
    /// Looks at it as it is now, or at the most that it ever was.
    pub fn look(
        &mut self,
        when: &'static str,
        subject: &Subject,
        peer: f64,
        floor: bool,
        most: bool,
    ) -> Outcome {
        if let Some((now, peak)) = subject.memory()? {
            self.rows.push((when, if most { peak } else { now }, peer, floor.then_some(peer::MEMORY_FLOOR)));
        }
        Ok(())
    }

    pub fn table(self) -> Table {
        let mut table = Table::new("memory", "Memory", &["when", "", "MiB", "peer MiB", "peer/ours"]);
        for (when, ours, peer, floor) in self.rows {
            let ratio = match floor {
                Some(floor) => Cell::at_least(peer / ours, floor),
                None => Cell::text(format!("{:.1}×", peer / ours)),
            };
            table.row(vec![
                Cell::text(when),
                Cell::Empty,
                Cell::number(ours, 0),
                Cell::number(peer, 0),
                ratio,
            ]);
        }
        table
    }
}
