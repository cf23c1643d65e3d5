//! What benches share: figures of the machine, and how a report is told.

pub mod machine;
pub mod report;

/// What went wrong, for the person at the terminal.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;
/// What a step of a bench ends with.
pub type Outcome<T = ()> = Result<T, Failure>;

/// The value that this share of `values` does not exceed.
pub fn percentile(values: &mut [u32], share: f64) -> f64 {
    values.sort_unstable();
    let at = (values.len() as f64 * share) as usize;
    values.get(at.min(values.len().saturating_sub(1))).map_or(0.0, |value| f64::from(*value))
}
