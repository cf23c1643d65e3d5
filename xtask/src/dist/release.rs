//! Which version is packaged, from which commit, for which machine.

use std::process::{Command, Stdio};

use super::elf::Machine;
use crate::step::Failure;

/// A version of the packages.
pub struct Release {
    /// That of Cargo.toml: the next release, or this one if the commit has its tag.
    number: String,
    /// `None` where there is no git repository.
    commit: Option<Commit>,
    is_tagged: bool,
    /// Seconds since 1970 that every file in the packages has.
    pub time: u64,
    pub machine: Machine,
}

struct Commit {
    /// All forty digits.
    name: String,
    /// Tracked files differ from it.
    is_dirty: bool,
}

impl Release {
    /// Asks cargo's metadata and git.
    pub fn read(machine: Machine) -> Result<Self, Failure> {
        let number = env!("CARGO_PKG_VERSION").to_owned();
        let commit = git(&["rev-parse", "HEAD"]).map(|name| Commit {
            name,
            is_dirty: git(&["status", "--porcelain", "--untracked-files=no"])
                .is_none_or(|list| !list.is_empty()),
        });
        let tags = git(&["tag", "--points-at", "HEAD"]).unwrap_or_default();
        let is_tagged = tags.lines().any(|tag| tag == format!("v{number}"))
            && commit.as_ref().is_some_and(|commit| !commit.is_dirty);
        let time = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(time) => time,
            Err(_) => git(&["log", "-1", "--format=%ct"]).unwrap_or_else(|| "0".to_owned()),
        };
        let time = time.parse().map_err(|error| {
            Failure(format!("SOURCE_DATE_EPOCH {time:?} is no number of seconds: {error}"))
        })?;
        Ok(Self { number, commit, is_tagged, time, machine })
    }

    /// `0.1.0` for a commit with the tag `v0.1.0`, `0.1.0-202611180025.gea50105` on the way there.
    pub fn version(&self) -> String {
        self.joined("-")
    }

    /// As [`version`](Self::version), in the form that dpkg sorts before the release.
    pub fn debian_version(&self) -> String {
        self.joined("~")
    }

    /// The version in Cargo.toml.
    pub fn number(&self) -> &str {
        &self.number
    }

    /// The commit, with `-dirty` where tracked files differ from it.
    pub fn commit(&self) -> String {
        match &self.commit {
            None => "unknown".to_owned(),
            Some(Commit { name, is_dirty: false }) => name.clone(),
            Some(Commit { name, is_dirty: true }) => format!("{name}-dirty"),
        }
    }

    /// The time as RFC 3339.
    pub fn timestamp(&self) -> String {
        let [year, month, day, hour, minute, second] = calendar(self.time);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }

    fn joined(&self, separator: &str) -> String {
        if self.is_tagged {
            return self.number.clone();
        }
        let [year, month, day, hour, minute, _] = calendar(self.time);
        let build = match &self.commit {
            None => "unknown".to_owned(),
            Some(commit) => {
                let name = commit.name.get(..7).unwrap_or(&commit.name);
                format!("g{name}{}", if commit.is_dirty { ".dirty" } else { "" })
            }
        };
        format!("{}{separator}{year:04}{month:02}{day:02}{hour:02}{minute:02}.{build}", self.number)
    }
}

fn git(words: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    let output = command.args(words).current_dir(super::root()).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Year, month, day, hour, minute and second in UTC (Howard Hinnant's `civil_from_days`).
fn calendar(time: u64) -> [u64; 6] {
    let (days, seconds) = (time / 86_400 + 719_468, time % 86_400);
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    [year, month, day, seconds / 3_600, seconds / 60 % 60, seconds % 60]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(is_tagged: bool, is_dirty: bool) -> Release {
        let commit = Commit { name: "ea501055b2c8a0fd3f3c0f9d0b1c5f0a6a2d1e4b".to_owned(), is_dirty };
        let time = 1_794_961_500;
        Release {
            number: "0.1.0".to_owned(),
            commit: Some(commit),
            is_tagged,
            time,
            machine: Machine::X86_64,
        }
    }

    #[test]
    fn a_commit_without_a_tag_sorts_before_the_release() {
        assert_eq!(release(true, false).debian_version(), "0.1.0");
        assert_eq!(release(false, false).debian_version(), "0.1.0~202611180025.gea50105");
        assert_eq!(release(false, true).version(), "0.1.0-202611180025.gea50105.dirty");
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        assert_eq!(calendar(0), [1970, 1, 1, 0, 0, 0]);
        assert_eq!(calendar(951_782_400), [2000, 2, 29, 0, 0, 0]);
        assert_eq!(calendar(4_107_542_399), [2100, 2, 28, 23, 59, 59]);
        assert_eq!(calendar(4_107_542_400), [2100, 3, 1, 0, 0, 0]);
        assert_eq!(release(false, false).timestamp(), "2026-11-18T00:25:00Z");
    }
}
