//! How long tests go on that look for rare failures.

use std::time::Duration;

/// The time that `GROUNDPLANE_SOAK_SECONDS` asks for, 3 seconds if it is not set.
///
/// # Panics
///
/// When the variable is no number: a soak that runs for another time than asked proves nothing.
pub fn time() -> Duration {
    let seconds = std::env::var("GROUNDPLANE_SOAK_SECONDS").map_or(3, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("GROUNDPLANE_SOAK_SECONDS={text:?} is not a number of seconds"))
    });
    Duration::from_secs(seconds)
}
