//! How long ago something was, in two or three digits.

use serde_json::Value;

use crate::time::Moment;

const NANOSECONDS: i128 = 1_000_000_000;

/// The longest time that Go can count in nanoseconds; what is older is that old.
const LONGEST: i128 = i64::MAX as i128;

/// How long ago a moment was: `45s`, `5m30s`, `3h`, `5d`. A moment in the future is `<invalid>`, unless clocks may differ by that.
pub fn age(since: Moment, now: Moment) -> String {
    let nanoseconds =
        |moment: Moment| i128::from(moment.seconds) * NANOSECONDS + i128::from(moment.nanoseconds);
    let elapsed = (nanoseconds(now) - nanoseconds(since)).clamp(-LONGEST, LONGEST) / NANOSECONDS;
    let (minutes, hours) = (elapsed / 60, elapsed / 3600);
    let (days, years) = (hours / 24, hours / 24 / 365);
    match elapsed {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{elapsed}s"),
        _ if minutes < 10 => two(minutes, 'm', elapsed % 60, 's'),
        _ if minutes < 180 => format!("{minutes}m"),
        _ if hours < 8 => two(hours, 'h', minutes % 60, 'm'),
        _ if hours < 48 => format!("{hours}h"),
        _ if days < 8 => two(days, 'd', hours % 24, 'h'),
        _ if days < 730 => format!("{days}d"),
        _ if years < 8 => two(years, 'y', days % 365, 'd'),
        _ => format!("{years}y"),
    }
}

/// The age by a time in an object: `<unknown>` when there is none, `<invalid>` when it is none.
pub fn age_of(time: Option<&Value>, now: Moment) -> String {
    match time.and_then(Value::as_str) {
        None | Some("" | "null") => "<unknown>".to_owned(),
        Some(text) => match Moment::parse(text) {
            Ok(moment) if moment.is_zero() => "<unknown>".to_owned(),
            Ok(moment) => age(moment, now),
            Err(_) => "<invalid>".to_owned(),
        },
    }
}

fn two(first: i128, of_first: char, second: i128, of_second: char) -> String {
    match second {
        0 => format!("{first}{of_first}"),
        _ => format!("{first}{of_first}{second}{of_second}"),
    }
}
