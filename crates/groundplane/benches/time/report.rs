//! The figures, beside their floors.

use std::fmt::Write as _;
use std::time::Duration;

/// What was measured.
#[derive(Default)]
pub struct Report(Vec<Line>);

struct Line {
    what: String,
    found: f64,
    unit: &'static str,
    floor: Option<f64>,
}

impl Report {
    /// A time in milliseconds.
    pub fn time(&mut self, what: &str, took: Duration, floor: Option<Duration>) {
        let millis = |time: Duration| time.as_secs_f64() * 1000.0;
        self.line(what, millis(took), "ms", floor.map(millis));
    }

    /// Some other figure.
    pub fn line(&mut self, what: &str, found: f64, unit: &'static str, floor: Option<f64>) {
        eprintln!("{what}: {found:.1} {unit}");
        self.0.push(Line { what: what.to_owned(), found, unit, floor });
    }

    /// Whether none was missed.
    pub fn keeps_floors(&self) -> bool {
        self.0.iter().all(|line| line.floor.is_none_or(|floor| line.found <= floor))
    }

    /// As Markdown.
    pub fn table(&self) -> String {
        let mut table = "| what | found | floor |\n| --- | ---: | --- |\n".to_owned();
        for line in &self.0 {
            let floor = line.floor.map_or_else(String::new, |floor| {
                let kept = if line.found <= floor { "ok" } else { "missed" };
                format!("{floor} {} {kept}", line.unit)
            });
            // Writing to a string can't fail.
            let _ = writeln!(table, "| {} | {:.1} {} | {floor} |", line.what, line.found, line.unit);
        }
        table
    }
}

/// The middle one of some times.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
