//! Firmware levels: read from a BMC, and compared with what is wanted.

use std::cmp::Ordering;

/// The version of one piece of firmware.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirmwareLevel {
    /// Identifier on the BMC, such as `BIOS` or `BMC`.
    pub component: String,
    /// Name for people.
    pub name: Option<String>,
    /// Version, in the words of its maker.
    pub version: String,
    /// Whether the BMC can update it; `None` when it does not say.
    pub is_updateable: Option<bool>,
}

/// A wanted level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedLevel {
    /// Identifier or name on the BMC, compared without regard to case.
    pub component: String,
    /// The version.
    pub version: String,
    /// Whether a newer version is as good.
    pub or_newer: bool,
}

/// A difference between what is wanted and what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// The BMC lists no such component.
    Absent {
        /// The component.
        component: String,
    },
    /// Another version is installed.
    Version {
        /// The component.
        component: String,
        /// The installed version.
        found: String,
        /// The wanted version.
        wanted: String,
    },
}

/// Every wanted level that is not satisfied, in the order in which they are wanted.
pub fn compare(wanted: &[WantedLevel], found: &[FirmwareLevel]) -> Vec<Difference> {
    wanted.iter().filter_map(|wanted| difference(wanted, found)).collect()
}

fn difference(wanted: &WantedLevel, found: &[FirmwareLevel]) -> Option<Difference> {
    let is_it = |level: &&FirmwareLevel| {
        let name = level.name.as_deref().unwrap_or_default();
        level.component.eq_ignore_ascii_case(&wanted.component)
            || name.eq_ignore_ascii_case(&wanted.component)
    };
    let component = wanted.component.clone();
    let Some(level) = found.iter().find(is_it) else { return Some(Difference::Absent { component }) };
    let is_satisfied = match version_order(&level.version, &wanted.version) {
        Ordering::Equal => true,
        Ordering::Greater => wanted.or_newer,
        Ordering::Less => false,
    };
    match is_satisfied {
        true => None,
        false => Some(Difference::Version {
            component,
            found: level.version.clone(),
            wanted: wanted.version.clone(),
        }),
    }
}

/// Compares versions: runs of digits as numbers, everything else as text. `U30 v2.36` is before `U30 v2.100`.
pub fn version_order(one: &str, other: &str) -> Ordering {
    let (one, other) = (parts(one), parts(other));
    for (left, right) in one.iter().zip(&other) {
        let order = match (left, right) {
            (Part::Number(left), Part::Number(right)) => left.len().cmp(&right.len()).then(left.cmp(right)),
            (left, right) => left.text().cmp(right.text()),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    one.len().cmp(&other.len())
}

enum Part {
    /// Digits without leading zeros: longer is larger.
    Number(String),
    Text(String),
}

impl Part {
    fn text(&self) -> &str {
        match self {
            Part::Number(text) | Part::Text(text) => text,
        }
    }
}

fn parts(version: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = version.trim();
    while let Some(first) = rest.chars().next() {
        let is_number = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != is_number).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        parts.push(match is_number {
            true => Part::Number(part.trim_start_matches('0').to_owned()),
            false => Part::Text(part.to_ascii_lowercase()),
        });
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        let ordered = ["1.9", "1.10", "1.10.1", "U30 v2.36", "U30 v2.100"];
        for pair in ordered.windows(2) {
            assert_eq!(version_order(pair[0], pair[1]), Ordering::Less, "{pair:?}");
        }
        assert_eq!(version_order("2.03", "2.3"), Ordering::Equal);
    }

    #[test]
    fn levels_differ_by_version_or_by_absence() {
        let level = |component: &str, version: &str| FirmwareLevel {
            component: component.to_owned(),
            name: Some(format!("System {component}")),
            version: version.to_owned(),
            is_updateable: None,
        };
        let wanted = |component: &str, version: &str, or_newer| WantedLevel {
            component: component.to_owned(),
            version: version.to_owned(),
            or_newer,
        };
        let found = [level("BIOS", "2.10"), level("BMC", "1.4")];
        let wanted = [
            wanted("bios", "2.9", true),
            wanted("System BMC", "1.4", false),
            wanted("BIOS", "2.9", false),
            wanted("CPLD", "1", true),
        ];
        let version = |component: &str, found: &str, wanted: &str| Difference::Version {
            component: component.to_owned(),
            found: found.to_owned(),
            wanted: wanted.to_owned(),
        };
        assert_eq!(
            compare(&wanted, &found),
            [version("BIOS", "2.10", "2.9"), Difference::Absent { component: "CPLD".to_owned() }]
        );
    }
}
