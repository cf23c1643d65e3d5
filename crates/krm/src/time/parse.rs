//! Reads a time piece by piece, and tells as Go does which piece could not be read.

use super::{Moment, SECONDS_IN_DAY, days_from_1970};
use crate::field::quote;

pub(super) struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    layout: &'static str,
}

impl<'a> Reader<'a> {
    pub(super) fn of_seconds(text: &'a str) -> Reader<'a> {
        Reader { text, rest: text, layout: "2006-01-02T15:04:05Z07:00" }
    }

    pub(super) fn of_micros(text: &'a str) -> Reader<'a> {
        Reader { text, rest: text, layout: "2006-01-02T15:04:05.000000Z07:00" }
    }

    pub(super) fn read(mut self) -> Result<Moment, String> {
        let year = self.year()?;
        self.literal("-")?;
        let month = self.two_digits("01")?;
        self.in_range(month, 1..=12, "month")?;
        self.literal("-")?;
        let day = self.two_digits("02")?;
        self.literal("T")?;
        let hour = self.hour()?;
        self.in_range(hour, 0..=23, "hour")?;
        self.literal(":")?;
        let minute = self.two_digits("04")?;
        self.in_range(minute, 0..=59, "minute")?;
        self.literal(":")?;
        let second = self.two_digits("05")?;
        self.in_range(second, 0..=59, "second")?;
        let nanoseconds = if self.layout.contains(".000000") { self.micros()? } else { self.any_fraction()? };
        let offset = self.offset()?;
        if !self.rest.is_empty() {
            return Err(self.refuse(&format!("extra text: {}", quote(self.rest))));
        }
        if day < 1 || day > days_in(year, month) {
            return Err(self.refuse("day out of range"));
        }
        let seconds =
            days_from_1970(year, month, day) * SECONDS_IN_DAY + hour * 3600 + minute * 60 + second - offset;
        Ok(Moment { seconds, nanoseconds })
    }

    fn refuse(&self, why: &str) -> String {
        format!("parsing time {}: {why}", quote(self.text))
    }

    fn mismatch(&self, element: &str) -> String {
        let (text, layout) = (quote(self.text), quote(self.layout));
        format!("parsing time {text} as {layout}: cannot parse {} as {}", quote(self.rest), quote(element))
    }

    fn in_range(&self, number: i64, range: std::ops::RangeInclusive<i64>, what: &str) -> Result<(), String> {
        match range.contains(&number) {
            true => Ok(()),
            false => Err(self.refuse(&format!("{what} out of range"))),
        }
    }

    fn literal(&mut self, expected: &str) -> Result<(), String> {
        self.rest = self.rest.strip_prefix(expected).ok_or_else(|| self.mismatch(expected))?;
        Ok(())
    }

    fn year(&mut self) -> Result<i64, String> {
        self.digits(4).ok_or_else(|| self.mismatch("2006"))
    }

    fn two_digits(&mut self, element: &str) -> Result<i64, String> {
        self.digits(2).ok_or_else(|| self.mismatch(element))
    }

    /// The hour alone may have one digit.
    fn hour(&mut self) -> Result<i64, String> {
        self.digits(2).or_else(|| self.digits(1)).ok_or_else(|| self.mismatch("15"))
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        let digits = self.rest.get(..count)?;
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        self.rest = &self.rest[count..];
        digits.parse().ok()
    }

    fn micros(&mut self) -> Result<u32, String> {
        let has_all = self.rest.starts_with(['.', ','])
            && self.rest.get(1..7).is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        if !has_all {
            return Err(self.mismatch(".000000"));
        }
        let nanoseconds = nanoseconds(&self.rest[1..7]);
        self.rest = &self.rest[7..];
        Ok(nanoseconds)
    }

    /// A fraction is read where there is one, though the layout has none.
    fn any_fraction(&mut self) -> Result<u32, String> {
        let Some(after_point) = self.rest.strip_prefix(['.', ',']) else { return Ok(0) };
        let end = after_point.find(|c: char| !c.is_ascii_digit()).unwrap_or(after_point.len());
        if end == 0 {
            return Ok(0);
        }
        let (digits, rest) = after_point.split_at(end);
        self.rest = rest;
        Ok(nanoseconds(digits))
    }

    /// Seconds east of Greenwich.
    fn offset(&mut self) -> Result<i64, String> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let two = |at: usize| {
            let digits = self.rest.get(at..at + 2)?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<i64>().ok())?
        };
        let sign = match self.rest.as_bytes().first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Err(self.mismatch("Z07:00")),
        };
        match (two(1), self.rest.as_bytes().get(3), two(4)) {
            (Some(hours), Some(b':'), Some(minutes)) => {
                self.in_range(hours, 0..=24, "time zone offset hour")?;
                self.in_range(minutes, 0..=60, "time zone offset minute")?;
                self.rest = &self.rest[6..];
                Ok(sign * (hours * 3600 + minutes * 60))
            }
            _ => Err(self.mismatch("Z07:00")),
        }
    }
}

/// The digits after the point; more than nine say nothing.
fn nanoseconds(digits: &str) -> u32 {
    let digits = digits.bytes().chain(std::iter::repeat(b'0')).take(9);
    digits.fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'))
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}
