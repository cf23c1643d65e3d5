//! Versions such as `1.2.3-rc.1+build`.

use std::cmp::Ordering;

use crate::field::quote;

/// A version by semantic versioning.
#[derive(Debug, Clone)]
pub(in crate::cel) struct Semver {
    pub major: u64,
    pub minor: u64,
    pub patch: u64,
    before_release: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// Numbers come before words.
    Number(u64),
    Word(Box<str>),
}

impl Semver {
    pub fn parse(text: &str) -> Result<Semver, String> {
        if text.is_empty() {
            return Err("Version string empty".to_owned());
        }
        let mut parts = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
            return Err("No Major.Minor.Patch elements found".to_owned());
        };
        let (rest, build) = rest.split_once('+').map_or((rest, None), |(rest, build)| (rest, Some(build)));
        let (patch, before) = rest.split_once('-').map_or((rest, None), |(patch, it)| (patch, Some(it)));
        let version = Semver {
            major: number("Major", "major", major)?,
            minor: number("Minor", "minor", minor)?,
            patch: number("Patch", "patch", patch)?,
            before_release: before.map_or(Ok(Vec::new()), |it| it.split('.').map(part).collect())?,
        };
        for part in build.into_iter().flat_map(|build| build.split('.')) {
            if part.is_empty() {
                return Err("Build meta data is empty".to_owned());
            }
            if !is_word(part) {
                return Err(format!("Invalid character(s) found in build meta data {}", quote(part)));
            }
        }
        Ok(version)
    }

    /// The same for texts such as `v1.2` and `01.2.3`.
    pub fn parse_loosely(text: &str) -> Result<Semver, String> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let mut parts: Vec<String> = text.splitn(3, '.').map(without_zeros).collect();
        if parts.len() < 3 {
            if parts.last().is_some_and(|last| last.contains(['+', '-'])) {
                return Err("short version cannot contain PreRelease/Build meta data".to_owned());
            }
            parts.resize(3, "0".to_owned());
        }
        Semver::parse(&parts.join("."))
    }

    pub fn compare(&self, other: &Semver) -> Ordering {
        let numbers = |it: &Semver| (it.major, it.minor, it.patch);
        // A version comes after those before its release.
        numbers(self).cmp(&numbers(other)).then_with(|| {
            match (self.before_release.is_empty(), other.before_release.is_empty()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => self.before_release.cmp(&other.before_release),
            }
        })
    }
}

fn without_zeros(part: &str) -> String {
    if part.len() <= 1 {
        return part.to_owned();
    }
    let rest = part.trim_start_matches('0');
    if rest.starts_with(|c: char| c.is_ascii_digit()) { rest.to_owned() } else { format!("0{rest}") }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn number(name: &str, lower: &str, text: &str) -> Result<u64, String> {
    if !is_number(text) {
        return Err(format!("Invalid character(s) found in {lower} number {}", quote(text)));
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(format!("{name} number must not contain leading zeroes {}", quote(text)));
    }
    unsigned(text)
}

fn part(text: &str) -> Result<Part, String> {
    if text.is_empty() {
        return Err("Prerelease is empty".to_owned());
    }
    if is_number(text) {
        if text.len() > 1 && text.starts_with('0') {
            let shown = quote(text);
            return Err(format!("Numeric PreRelease version must not contain leading zeroes {shown}"));
        }
        return unsigned(text).map(Part::Number);
    }
    if is_word(text) {
        return Ok(Part::Word(text.into()));
    }
    Err(format!("Invalid character(s) found in prerelease {}", quote(text)))
}

fn unsigned(text: &str) -> Result<u64, String> {
    let why = if text.is_empty() { "invalid syntax" } else { "value out of range" };
    text.parse().map_err(|_| format!("strconv.ParseUint: parsing {}: {why}", quote(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_their_meaning() {
        let ordered =
            ["0.9.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.b", "1.0.0-rc.2", "1.0.0-rc.10", "1.0.0"];
        for pair in ordered.windows(2) {
            let (a, b) = (Semver::parse(pair[0]).unwrap(), Semver::parse(pair[1]).unwrap());
            assert!(a.compare(&b).is_lt(), "{pair:?}");
        }
        assert!(Semver::parse("1.0.0+a").unwrap().compare(&Semver::parse("1.0.0+b").unwrap()).is_eq());
    }

    #[test]
    fn malformed_versions_are_told_apart() {
        let cases = [
            ("", "Version string empty"),
            ("1.2", "No Major.Minor.Patch elements found"),
            ("01.2.3", "Major number must not contain leading zeroes \"01\""),
            ("1.x.3", "Invalid character(s) found in minor number \"x\""),
            ("1.2.3-", "Prerelease is empty"),
            ("1.2.3+", "Build meta data is empty"),
        ];
        for (text, why) in cases {
            assert_eq!(Semver::parse(text).unwrap_err(), why);
        }
        assert_eq!(Semver::parse_loosely("v01.2").unwrap().minor, 2);
    }
}
