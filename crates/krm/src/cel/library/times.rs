//! Parts of moments and durations.

use super::Run;
use super::time::Stamp;
use crate::cel::value::{Fault, Outcome, Value};
use crate::time::{Calendar, Moment};

pub(super) fn find(name: &str) -> Option<Run> {
    Some(match name {
        "getFullYear" => |args| part(args, |day, _| day.year, None),
        "getMonth" => |args| part(args, |day, _| day.month - 1, None),
        "getDate" => |args| part(args, |day, _| day.day, None),
        "getDayOfMonth" => |args| part(args, |day, _| day.day - 1, None),
        "getDayOfYear" => |args| part(args, |day, _| day.day_of_year(), None),
        "getDayOfWeek" => {
            |args| part(args, |_, moment| (moment.seconds.div_euclid(86_400) + 4).rem_euclid(7), None)
        }
        "getHours" => |args| part(args, |day, _| day.second_of_day / 3600, Some(3_600_000_000_000)),
        "getMinutes" => |args| part(args, |day, _| day.second_of_day / 60 % 60, Some(60_000_000_000)),
        "getSeconds" => |args| part(args, |day, _| day.second_of_day % 60, Some(1_000_000_000)),
        "getMilliseconds" => {
            |args| part(args, |_, moment| i64::from(moment.nanoseconds / 1_000_000), Some(1_000_000))
        }
        _ => return None,
    })
}

/// A part of a moment, at a place on earth if one is given; or how often `unit` fits into a duration.
fn part<'a>(args: &[Value<'a>], of: fn(&Calendar, Moment) -> i64, unit: Option<i64>) -> Outcome<'a> {
    match (&args[0], args.get(1), unit) {
        (Value::Duration(nanos), None, Some(unit)) => Ok(Value::Int(nanos / unit)),
        (Value::Timestamp(Stamp { moment, .. }), None, _) => {
            Ok(Value::Int(of(&Calendar::of(moment.seconds), *moment)))
        }
        (Value::Timestamp(Stamp { moment, .. }), Some(Value::String(zone)), _) => {
            let seconds = moment.seconds + offset(zone)?;
            let there = Moment { seconds, ..*moment };
            Ok(Value::Int(of(&Calendar::of(seconds), there)))
        }
        _ => Err(Fault::NoOverload),
    }
}

/// How many seconds a place is ahead: `+02:00`, `-8:30`, `UTC`. Places by name are not known.
fn offset(zone: &str) -> Result<i64, Fault> {
    if let "" | "UTC" = zone {
        return Ok(0);
    }
    let unknown = || Fault::Error(format!("unknown time zone {zone}"));
    let (hours, minutes) = zone.split_once(':').ok_or_else(unknown)?;
    let hours: i64 = hours.parse().map_err(|_| unknown())?;
    let minutes: i64 = minutes.parse().map_err(|_| unknown())?;
    let total = if zone.starts_with('-') { hours * 60 - minutes } else { hours * 60 + minutes };
    if total.abs() > 24 * 60 * 7 { Err(unknown()) } else { Ok(total * 60) }
}
