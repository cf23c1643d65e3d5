//! Flags as kubectl's users write them.

use std::ffi::OsString;
use std::time::Duration;

use krm::time::Moment;

use crate::failure::Failure;

/// `--all=true` as `--all`, and `--all=false` as nothing, for every switch of the command line: scripts written for
/// kubectl say both.
pub fn plain_booleans(command: &clap::Command, arguments: Vec<OsString>) -> Vec<OsString> {
    let mut switches = Vec::new();
    collect(command, &mut switches);
    let mut is_after_dashes = false;
    let plain = |argument: OsString| {
        is_after_dashes |= argument == "--";
        let Some((name, value)) = argument.to_str().and_then(|text| text.split_once('=')) else {
            return Some(argument);
        };
        if is_after_dashes || !switches.iter().any(|switch| switch == name) {
            return Some(argument);
        }
        match value {
            "true" | "1" | "t" | "T" | "TRUE" | "True" => Some(OsString::from(name)),
            "false" | "0" | "f" | "F" | "FALSE" | "False" => None,
            _ => Some(argument),
        }
    };
    arguments.into_iter().filter_map(plain).collect()
}

fn collect(command: &clap::Command, switches: &mut Vec<String>) {
    for argument in command.get_arguments() {
        if matches!(argument.get_action(), clap::ArgAction::SetTrue) {
            switches.extend(argument.get_long().map(|name| format!("--{name}")));
            switches.extend(argument.get_short().map(|letter| format!("-{letter}")));
        }
    }
    for command in command.get_subcommands() {
        collect(command, switches);
    }
}

/// Whether it is done, or only tried.
#[derive(clap::Args, Debug, Clone)]
pub struct DryRun {
    /// Change nothing: server validates the request without storing it, client only prints it.
    #[arg(long = "dry-run", value_name = "HOW", num_args = 0..=1, require_equals = true, default_value = "none",
        default_missing_value = "client", value_parser = ["none", "server", "client"])]
    how: String,
}

impl DryRun {
    /// Tried by the server.
    pub fn server() -> DryRun {
        DryRun { how: "server".to_owned() }
    }

    /// Whether it is done.
    pub fn is_real(&self) -> bool {
        self.how == "none"
    }

    /// Whether nothing is even sent.
    pub fn is_client(&self) -> bool {
        self.how == "client"
    }

    /// The value of the parameter `dryRun`.
    pub fn parameter(&self) -> Option<&'static str> {
        (self.how == "server").then_some("All")
    }

    /// What follows the line of an object.
    pub fn suffix(&self) -> &'static str {
        match self.how.as_str() {
            "server" => " (server dry run)",
            "client" => " (dry run)",
            _ => "",
        }
    }
}

/// A time as Go reads it: `1h30m`, `45s`, `250ms`.
pub fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let unit = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        total += number
            * match &rest[..unit] {
                "ns" => 1e-9,
                "us" | "µs" => 1e-6,
                "ms" => 1e-3,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                "d" => 86_400.0,
                "w" => 604_800.0,
                _ => return None,
            };
        rest = &rest[unit..];
    }
    (!text.is_empty()).then(|| Duration::try_from_secs_f64(total).ok())?
}

/// A point in time as the API takes it: a revision or RFC 3339 as it is; a date, or a date and time of day, in UTC; or a
/// duration before now.
pub fn moment(text: &str) -> Result<String, Failure> {
    let text = text.trim();
    let is_revision = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    if is_revision || Moment::parse(text).is_ok() {
        return Ok(text.to_owned());
    }
    let ago = text.strip_suffix("ago").map_or(text, str::trim_end);
    if let Some(time) = duration(ago) {
        let then = std::time::SystemTime::now().checked_sub(time);
        let since = then.and_then(|then| then.duration_since(std::time::UNIX_EPOCH).ok()).unwrap_or_default();
        let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
        return Ok(Moment { seconds, nanoseconds: since.subsec_nanos() }.to_micros());
    }
    let (day, clock) = text.split_once([' ', 'T']).unwrap_or((text, "00:00:00"));
    let clock = if clock.len() == 5 { format!("{clock}:00") } else { clock.to_owned() };
    let whole = format!("{day}T{clock}Z");
    match Moment::parse(&whole) {
        Ok(_) => Ok(whole),
        Err(_) => Err(Failure::usage(format!("\"{text}\" is neither a time nor a revision")).hint(
            "write a time (2026-11-10T09:00:00Z), a date (2026-11-10, midnight UTC), a duration ago (30m, 2h, 3d, 1w), or a revision",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_go_reads_them() {
        assert_eq!(duration("1h30m"), Some(Duration::from_secs(5400)));
        assert_eq!(duration("250ms"), Some(Duration::from_millis(250)));
        assert_eq!(duration("1.5s"), Some(Duration::from_millis(1500)));
        assert_eq!(duration("0"), Some(Duration::ZERO));
        for wrong in ["", "5", "s", "5x", "-3s"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn moments_are_days_times_or_revisions() {
        assert_eq!(moment("458752").unwrap(), "458752");
        assert_eq!(moment("2026-11-10").unwrap(), "2026-11-10T00:00:00Z");
        assert_eq!(moment("2026-11-10 09:30").unwrap(), "2026-11-10T09:30:00Z");
        assert_eq!(moment("2026-11-10T09:30:00+01:00").unwrap(), "2026-11-10T09:30:00+01:00");
        assert!(moment("2h ago").unwrap().ends_with('Z') && moment("3d").is_ok() && moment("2w").is_ok());
        assert!(moment("tuesday").is_err());
    }

    #[test]
    fn switches_may_say_true_and_false() {
        let switch = clap::Arg::new("all").long("all").short('A').action(clap::ArgAction::SetTrue);
        let text = clap::Arg::new("text").long("text");
        let command = clap::Command::new("x").subcommand(clap::Command::new("get").args([switch, text]));
        let plain = |line: &str| {
            let words = line.split(' ').map(OsString::from).collect();
            let words = plain_booleans(&command, words).into_iter();
            words.map(|word| word.into_string().unwrap()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(plain("x get --all=true b"), "x get --all b");
        assert_eq!(plain("x get -A=false --text=true b"), "x get --text=true b");
        assert_eq!(plain("x get -- --all=true"), "x get -- --all=true");
    }
}
