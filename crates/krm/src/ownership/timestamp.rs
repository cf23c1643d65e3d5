//! Times to the second, as metadata has them.

use std::fmt;

/// A time to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    seconds: i64,
}

const SECONDS_OF_A_DAY: i64 = 86_400;

impl Timestamp {
    /// So many seconds after 1970 began, in UTC.
    pub const fn from_unix(seconds: i64) -> Timestamp {
        Timestamp { seconds }
    }

    /// Seconds since 1970 began, in UTC.
    pub const fn unix(self) -> i64 {
        self.seconds
    }

    /// Reads RFC 3339: `2020-01-31T10:00:00Z`, with any offset; fractions of a second are cut off.
    pub fn parse(text: &str) -> Option<Timestamp> {
        let (date, rest) = text.split_at_checked(10)?;
        let rest = rest.strip_prefix('T')?;
        let (time, rest) = rest.split_at_checked(8)?;
        let offset = match rest.strip_prefix(['.', ',']) {
            Some(fraction) => {
                let offset = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
                (offset.len() < fraction.len()).then_some(offset)?
            }
            None => rest,
        };
        let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
        let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
        let shift = match offset.split_at_checked(1)? {
            ("Z", "") => 0,
            (sign @ ("+" | "-"), offset) => {
                let [hours, minutes] = numbers(offset, ':', [2, 2])?;
                let shift = (hours <= 24 && minutes < 60).then_some(hours * 3600 + minutes * 60)?;
                if sign == "-" { -shift } else { shift }
            }
            _ => return None,
        };
        let valid = (1..=12).contains(&month)
            && (1..=days_of(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second < 60;
        let within_day = hour * 3600 + minute * 60 + second;
        valid.then(|| Timestamp {
            seconds: days_since_1970(year, month, day) * SECONDS_OF_A_DAY + within_day - shift,
        })
    }
}

fn numbers<const N: usize>(text: &str, separator: char, widths: [usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(separator);
    let mut found = [0; N];
    for (slot, width) in found.iter_mut().zip(widths) {
        let part = parts.next()?;
        let digits = part.len() == width && part.bytes().all(|byte| byte.is_ascii_digit());
        *slot = digits.then(|| part.parse().ok()).flatten()?;
    }
    parts.next().is_none().then_some(found)
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days of the Gregorian calendar, counted in eras of 400 years that begin in March, so that the leap day is last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// RFC 3339 in UTC.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date_of(self.seconds.div_euclid(SECONDS_OF_A_DAY));
        let second = self.seconds.rem_euclid(SECONDS_OF_A_DAY);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_are_read_with_their_offset_and_written_in_utc() {
        for (text, seconds, written) in [
            ("1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00Z"),
            ("2020-02-29T12:34:56Z", 1_582_979_696, "2020-02-29T12:34:56Z"),
            ("2020-03-01T01:00:00.999+02:00", 1_583_017_200, "2020-02-29T23:00:00Z"),
            ("1969-12-31T23:59:59Z", -1, "1969-12-31T23:59:59Z"),
            ("2000-12-31T23:00:00-01:30", 978_309_000, "2001-01-01T00:30:00Z"),
        ] {
            let time = Timestamp::parse(text).unwrap();
            assert_eq!(time.unix(), seconds, "{text}");
            assert_eq!(time.to_string(), written, "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "2020-01-01",
            "2020-01-01T00:00:00",
            "2020-13-01T00:00:00Z",
            "2021-02-29T00:00:00Z",
            "2020-01-01T24:00:00Z",
            "2020-01-01 00:00:00Z",
            "2020-01-01T00:00:00.Z",
            "2020-01-01T00:00:00+1:00",
            "2020-01-01T00:00:00Zx",
            "+020-01-01T00:00:00Z",
            "éééééééééé",
        ] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(seconds in -62_135_596_800..253_402_300_800_i64) {
            let time = Timestamp::from_unix(seconds);
            prop_assert_eq!(Timestamp::parse(&time.to_string()), Some(time));
        }
    }
}
