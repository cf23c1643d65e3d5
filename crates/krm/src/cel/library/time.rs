//! Durations and moments as texts.

use std::fmt;
use std::ops::RangeInclusive;

use crate::time::Moment;

/// The seconds of the years 1 to 9999, which are all that moments can be in.
pub(in crate::cel) const YEARS: RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// Nanoseconds of a duration such as `1h30m` or `-1.5s`, as Go reads it.
pub(in crate::cel) fn parse_duration(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", crate::field::quote(text));
    let (negative, body) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if body == "0" {
        return Ok(0);
    }
    if body.is_empty() {
        return Err(invalid());
    }
    let mut total: i128 = 0;
    let mut rest = body;
    while !rest.is_empty() {
        let is_number = |c: char| c == '.' || c.is_ascii_digit();
        let (number, after) = rest.split_at(rest.find(|c| !is_number(c)).unwrap_or(rest.len()));
        let (unit, after) = after.split_at(after.find(is_number).unwrap_or(after.len()));
        if unit.is_empty() {
            return Err(format!("time: missing unit in duration {}", crate::field::quote(text)));
        }
        let unit = unit_nanoseconds(unit).ok_or_else(invalid)?;
        total += scaled(number, unit).ok_or_else(invalid)?;
        if total > i128::from(i64::MAX) + i128::from(negative) {
            return Err(invalid());
        }
        rest = after;
    }
    i64::try_from(if negative { -total } else { total }).map_err(|_| invalid())
}

/// The same, and also words: `5 days`, as fields of the format `duration` may have them.
pub(in crate::cel) fn parse_loose_duration(text: &str) -> Result<i64, String> {
    if let Ok(nanos) = parse_duration(text) {
        return Ok(nanos);
    }
    let mut total: i64 = 0;
    let mut found = false;
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let from = &rest[start..];
        let (number, after) = from.split_at(from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len()));
        let after = after.trim_start();
        let is_letter = |c: char| c.is_ascii_alphabetic() || c == 'µ';
        let (unit, after) = after.split_at(after.find(|c| !is_letter(c)).unwrap_or(after.len()));
        rest = after;
        let Some(unit) = worded_unit(&unit.to_lowercase()) else { continue };
        let number: i64 = number.parse().map_err(|_| format!("unable to parse {text} as duration"))?;
        total = total.wrapping_add(number.wrapping_mul(unit));
        found = true;
    }
    if found { Ok(total) } else { Err(format!("unable to parse {text} as duration")) }
}

fn unit_nanoseconds(unit: &str) -> Option<i128> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

fn worded_unit(unit: &str) -> Option<i64> {
    let second = 1_000_000_000;
    let units: [(&[&str], &str, i64); 8] = [
        (&["ns"], "nano", 1),
        (&["us", "µs"], "micro", 1_000),
        (&["ms"], "milli", 1_000_000),
        (&["s"], "sec", second),
        (&["m"], "min", 60 * second),
        (&["h", "hr"], "hour", 3_600 * second),
        (&["d"], "day", 86_400 * second),
        (&["w", "wk"], "week", 604_800 * second),
    ];
    let fits = |(exact, start, _): &&(&[&str], &str, i64)| exact.contains(&unit) || unit.starts_with(start);
    units.iter().find(fits).map(|(_, _, nanos)| *nanos)
}

/// Digits, with a point among them or not, times so many nanoseconds.
fn scaled(number: &str, unit: i128) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok().filter(|it| *it < 1 << 63)? };
    // Beyond that, digits make less than a nanosecond.
    let fraction = fraction.get(..18).unwrap_or(fraction);
    let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
    let fraction: i128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    Some(whole * unit + fraction * unit / scale)
}

/// A duration in seconds: `5400s`, `0.5s`.
pub(in crate::cel) fn duration_text(nanos: i64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "durations are printed by way of a float there too")]
    let seconds = (nanos / 1_000_000_000) as f64 + (nanos % 1_000_000_000) as f64 / 1e9;
    format!("{seconds}s")
}

/// A moment, and how it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::cel) struct Stamp {
    pub moment: Moment,
    /// How many seconds the clock was ahead that it was read from.
    pub ahead: i64,
}

impl Stamp {
    pub fn utc(moment: Moment) -> Stamp {
        Stamp { moment, ahead: 0 }
    }

    /// The moment that a text such as `2006-01-02T15:04:05+01:00` names.
    pub fn parse(text: &str) -> Result<Stamp, String> {
        let moment = Moment::parse(text)?;
        let offset = text.len().checked_sub("+01:00".len()).and_then(|at| text.get(at..));
        let ahead = offset.and_then(|offset| {
            let (hours, minutes) = offset.split_once(':')?;
            let (hours, minutes): (i64, i64) = (hours.get(1..)?.parse().ok()?, minutes.parse().ok()?);
            let seconds = hours * 3600 + minutes * 60;
            match offset.as_bytes().first()? {
                b'+' => Some(seconds),
                b'-' => Some(-seconds),
                _ => None,
            }
        });
        Ok(Stamp { moment, ahead: ahead.unwrap_or(0) })
    }
}

impl fmt::Display for Stamp {
    /// With as many digits after the second as it needs: `2006-01-02T15:04:05.5Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let there = Moment::of_seconds(self.moment.seconds + self.ahead).to_string();
        f.write_str(there.trim_end_matches('Z'))?;
        if self.moment.nanoseconds > 0 {
            let fraction = format!("{:09}", self.moment.nanoseconds);
            write!(f, ".{}", fraction.trim_end_matches('0'))?;
        }
        if self.ahead == 0 {
            return f.write_str("Z");
        }
        let sign = if self.ahead < 0 { '-' } else { '+' };
        let minutes = self.ahead.abs() / 60;
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        let cases = [
            ("0", Some(0)),
            ("1h", Some(3_600_000_000_000)),
            ("1h30m", Some(5_400_000_000_000)),
            ("-1.5s", Some(-1_500_000_000)),
            ("1us", Some(1_000)),
            (".5ms", Some(500_000)),
            ("", None),
            ("1", None),
            ("h", None),
            ("1d", None),
            ("1.1.1s", None),
            ("9223372036s", Some(9_223_372_036_000_000_000)),
            ("9223372037s", None),
        ];
        for (text, nanos) in cases {
            assert_eq!(parse_duration(text).ok(), nanos, "{text}");
        }
        assert_eq!(parse_loose_duration("2 days").ok(), Some(172_800_000_000_000));
    }

    #[test]
    fn durations_and_moments_are_written_short() {
        assert_eq!(duration_text(5_400_000_000_000), "5400s");
        assert_eq!(duration_text(500_000_000), "0.5s");
        let moment = Moment { seconds: 0, nanoseconds: 120_000_000 };
        assert_eq!(Stamp::utc(moment).to_string(), "1970-01-01T00:00:00.12Z");
    }

    #[test]
    fn a_moment_remembers_the_clock_it_was_read_from() {
        for text in ["2011-08-18T19:03:37.01+01:00", "2011-08-18T01:03:37-08:30", "2011-08-18T19:03:37Z"] {
            assert_eq!(Stamp::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Stamp::parse("2011-08-18T19:03:37+00:00").unwrap().to_string(), "2011-08-18T19:03:37Z");
    }
}
