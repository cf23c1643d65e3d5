//! Times as text: RFC 3339 in UTC, with nanoseconds.

use std::time::{Duration, SystemTime};

const DAY: u64 = 86_400;

/// Writes a time. Times before 1970 are written as its start.
pub(crate) fn format(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let (days, seconds) = (since.as_secs() / DAY, since.as_secs() % DAY);
    let (year, month, day) = date_of(days);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:09}Z", since.subsec_nanos())
}

/// Reads what [`format`] has written.
pub(crate) fn parse(text: &str) -> Option<SystemTime> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<u64>().ok();
    if text.len() != 30 || !text.ends_with('Z') {
        return None;
    }
    let days = days_of(number(0..4)?, number(5..7)?, number(8..10)?)?;
    let seconds = days * DAY + number(11..13)? * 3600 + number(14..16)? * 60 + number(17..19)?;
    let nanos = u32::try_from(number(20..29)?).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanos))
}

/// The date of a day since 1970, by counting in eras of 400 years that start in March.
fn date_of(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

fn days_of(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let shifted_month = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let year_of_era = year % 400;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some((year / 400 * 146_097 + day_of_era) - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_as_it_was_written() {
        let leap = SystemTime::UNIX_EPOCH + Duration::new(1_709_210_096, 7);
        assert_eq!(format(leap), "2024-02-29T12:34:56.000000007Z");
        for day in (0..60_000).step_by(13) {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(day * DAY + day);
            assert_eq!(parse(&format(time)), Some(time));
        }
    }
}
