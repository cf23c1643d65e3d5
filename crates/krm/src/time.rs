//! Moments in time as the API writes them: RFC 3339 in UTC, to the second or to the microsecond.

mod parse;

use std::fmt;

use self::parse::Reader;

/// Seconds from the year 1 to 1970: a moment of the year 1 stands for no time at all.
const SECONDS_BEFORE_1970: i64 = 62_135_596_800;

const SECONDS_IN_DAY: i64 = 86_400;

/// A moment in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Moment {
    /// Whole seconds since 1970 began.
    pub seconds: i64,
    /// What is left of a second, below 1,000,000,000.
    pub nanoseconds: u32,
}

impl Moment {
    /// A whole second.
    pub const fn of_seconds(seconds: i64) -> Moment {
        Moment { seconds, nanoseconds: 0 }
    }

    /// The moment that a text such as `2006-01-02T15:04:05Z` names, with any offset and any fraction.
    ///
    /// The error is what Go says of such a text, since it becomes part of answers.
    pub fn parse(text: &str) -> Result<Moment, String> {
        Reader::of_seconds(text).read()
    }

    /// The same for fields that hold microseconds, such as `renewTime`: all six digits have to be there.
    pub fn parse_micros(text: &str) -> Result<Moment, String> {
        Reader::of_micros(text).read()
    }

    /// Whether it is the moment that stands for none, the beginning of the year 1.
    pub fn is_zero(&self) -> bool {
        self.seconds == -SECONDS_BEFORE_1970 && self.nanoseconds == 0
    }

    /// With microseconds: `2006-01-02T15:04:05.000000Z`.
    pub fn to_micros(self) -> String {
        format!("{}.{:06}Z", Calendar::of(self.seconds), self.nanoseconds / 1000)
    }
}

impl fmt::Display for Moment {
    /// To the second: `2006-01-02T15:04:05Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}Z", Calendar::of(self.seconds))
    }
}

/// A second by the calendar.
pub(crate) struct Calendar {
    pub(crate) year: i64,
    pub(crate) month: i64,
    pub(crate) day: i64,
    pub(crate) second_of_day: i64,
}

impl Calendar {
    pub(crate) fn of(seconds: i64) -> Calendar {
        let days = seconds.div_euclid(SECONDS_IN_DAY);
        // Years are counted from March, so that the leap day comes last in each; 719,468 days lie between
        // the first of March of the year 0 and 1970.
        let days = days + 719_468;
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        Calendar {
            year: year_of_era + era * 400 + i64::from(month <= 2),
            month,
            day: day_of_year - (153 * month_from_march + 2) / 5 + 1,
            second_of_day: seconds.rem_euclid(SECONDS_IN_DAY),
        }
    }
}

impl Calendar {
    /// How many days of its year came before.
    pub(crate) fn day_of_year(&self) -> i64 {
        days_from_1970(self.year, self.month, self.day) - days_from_1970(self.year, 1, 1)
    }
}

impl fmt::Display for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hour, minute, second) =
            (self.second_of_day / 3600, self.second_of_day / 60 % 60, self.second_of_day % 60);
        write!(f, "{:04}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}", self.year, self.month, self.day)
    }
}

/// Days from 1970 to a day of the calendar.
fn days_from_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests;
