//! Time ranges of queries: `now`, `now-7d`, or absolute times.

use krm::field::{FieldError, Path};
use krm::time::Moment;
use serde_json::Value;

/// How far a query looks, in seconds: thirty days.
const LONGEST: i64 = 30 * DAY;
/// How long activities and events are told, in seconds: sixty days.
pub const KEPT: i64 = 60 * DAY;
const DAY: i64 = 86_400;

/// From one moment to another, in microseconds since 1970; the first is in it, the last is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// When it begins.
    pub start: u64,
    /// When it ends.
    pub end: u64,
}

impl Window {
    /// Reads a window from two fields of an object.
    pub fn read(
        spec: &Value,
        at: &Path<'_>,
        now: Moment,
        kept: Option<i64>,
    ) -> Result<Window, Vec<FieldError>> {
        let mut errors = Vec::new();
        let mut field = |name: &str| {
            let text = spec.get(name).and_then(Value::as_str).unwrap_or_default();
            let path = at.field(name);
            if text.is_empty() {
                errors.push(FieldError::required(
                    &path,
                    "must be a time such as now-7d or 2026-11-01T08:00:00Z",
                ));
                return None;
            }
            match moment(text, now) {
                Ok(time) if time > now => {
                    errors.push(FieldError::invalid_text(&path, text, "must not be in the future"));
                    None
                }
                Ok(time) => Some(time),
                Err(why) => {
                    errors.push(FieldError::invalid_text(&path, text, why));
                    None
                }
            }
        };
        let (start, end) = (field("startTime"), field("endTime"));
        let (Some(start), Some(end)) = (start, end) else { return Err(errors) };
        let text = |name: &str| spec.get(name).and_then(Value::as_str).unwrap_or_default();
        if end <= start {
            let why = "must be after startTime";
            return Err(vec![FieldError::invalid_text(&at.field("endTime"), text("endTime"), why)]);
        }
        if end.seconds - start.seconds > kept.unwrap_or(LONGEST) {
            let days = kept.unwrap_or(LONGEST) / DAY;
            let why = format!("the window must not be longer than {days} days");
            return Err(vec![FieldError::invalid_text(&at.field("startTime"), text("startTime"), why)]);
        }
        Ok(Window { start: micros(start), end: micros(end) })
    }

    /// The time range of a facet query. Defaults to the last seven days.
    pub fn of_range(range: Option<&Value>, at: &Path<'_>, now: Moment) -> Result<Window, Vec<FieldError>> {
        let text = |name: &str, otherwise: &str| {
            let said = range.and_then(|range| range.get(name)).and_then(Value::as_str).unwrap_or_default();
            if said.is_empty() { otherwise.to_owned() } else { said.to_owned() }
        };
        let (start, end) = (text("start", "now-7d"), text("end", "now"));
        let parse = |name: &str, text: &str| match moment(text, now) {
            Ok(time) if time > now => {
                Err(vec![FieldError::invalid_text(&at.field(name), text, "must not be in the future")])
            }
            Ok(time) => Ok(time),
            Err(why) => Err(vec![FieldError::invalid_text(&at.field(name), text, why)]),
        };
        let (from, to) = (parse("start", &start)?, parse("end", &end)?);
        if to <= from {
            return Err(vec![FieldError::invalid_text(&at.field("end"), &end, "must be after start")]);
        }
        Ok(Window { start: micros(from), end: micros(to) })
    }

    /// Whether a moment is in it.
    pub fn has(&self, time: u64) -> bool {
        (self.start..self.end).contains(&time)
    }
}

/// A moment: `now`, `now-<number><s|m|h|d|w>`, or as RFC 3339 has it.
pub fn moment(text: &str, now: Moment) -> Result<Moment, String> {
    let Some(back) = text.strip_prefix("now") else {
        return Moment::parse(text).map_err(|_| wrong());
    };
    if back.is_empty() {
        return Ok(now);
    }
    let back = back.strip_prefix('-').ok_or_else(wrong)?;
    let unit = back.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => DAY,
        'w' => 7 * DAY,
        _ => return Err(wrong()),
    };
    let number = back.get(..back.len() - unit.len_utf8()).unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let number: i64 = number.parse().ok().filter(|_| is_number).ok_or_else(wrong)?;
    let back = number.checked_mul(seconds).filter(|back| *back <= now.seconds).ok_or_else(wrong)?;
    Ok(Moment { seconds: now.seconds - back, ..now })
}

fn wrong() -> String {
    "must be now, now-<number><s|m|h|d|w> such as now-7d, or a time such as 2026-11-01T08:00:00Z".to_owned()
}

/// Microseconds since 1970.
pub fn micros(time: Moment) -> u64 {
    u64::try_from(time.seconds).unwrap_or(0) * 1_000_000 + u64::from(time.nanoseconds / 1000)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn now() -> Moment {
        Moment::parse("2026-11-16T10:00:00Z").unwrap()
    }

    #[test]
    fn times_are_told_from_now_or_by_the_calendar() {
        let told = |text: &str| moment(text, now()).map(|time| time.to_string());
        assert_eq!(told("now").unwrap(), "2026-11-16T10:00:00Z");
        assert_eq!(told("now-90s").unwrap(), "2026-11-16T09:58:30Z");
        assert_eq!(told("now-2h").unwrap(), "2026-11-16T08:00:00Z");
        assert_eq!(told("now-1w").unwrap(), "2026-11-09T10:00:00Z");
        assert_eq!(told("2026-11-01T08:00:00+02:00").unwrap(), "2026-11-01T06:00:00Z");
        for wrong in
            ["", "now+1h", "now-", "now-h", "now-1y", "now--1d", "yesterday", "now-99999999999999d", "now-1µ"]
        {
            assert!(told(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_window_has_a_start_an_end_and_a_longest_length() {
        let read = |start: &str, end: &str| {
            let spec = json!({ "startTime": start, "endTime": end });
            Window::read(&spec, &Path::of("spec"), now(), None).map_err(|errors| {
                errors
                    .iter()
                    .map(|error| format!("{}: {}", error.field, error.message()))
                    .collect::<Vec<_>>()
                    .join("; ")
            })
        };
        let window = read("now-1h", "now").unwrap();
        assert_eq!(window.end - window.start, 3_600_000_000);
        assert!(window.has(window.start) && !window.has(window.end));
        assert!(read("", "").unwrap_err().contains("spec.endTime"));
        assert!(read("now", "now-1h").unwrap_err().contains("after startTime"));
        assert!(read("now-31d", "now").unwrap_err().contains("30 days"));
        assert!(read("now-1h", "2031-01-01T00:00:00Z").unwrap_err().contains("future"));
    }
}
