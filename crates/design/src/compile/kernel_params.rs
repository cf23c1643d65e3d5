//! Kernel parameters: references into the hardware profile, and the command line.

use std::fmt::Write as _;

use thiserror::Error;

use crate::model::{HardwareProfile, Texts, text};

/// Replaces references such as `hardwareprofile:cpuset.sriov`; one that leads nowhere stays as it is written.
pub(super) fn resolve(params: &Texts, profile: &HardwareProfile) -> Texts {
    let resolved = params.iter().map(|(key, set)| {
        let value = referred(&set.value, profile).unwrap_or_else(|| set.value.clone());
        (key.clone(), set.clone().map(|_| value))
    });
    resolved.collect()
}

fn referred(value: &str, profile: &HardwareProfile) -> Option<String> {
    let (what, rest) = value.strip_prefix("hardwareprofile:")?.split_once('.')?;
    match what {
        "cpuset" => profile.cpu_sets.as_ref()?.get(rest).map(|set| set.value.clone()),
        "hugepages" => {
            let (pool, field) = rest.split_once('.')?;
            let pool = profile.hugepages.iter().flatten().find(|one| one.name.value == pool)?;
            match field {
                "size" => text(&pool.size).map(str::to_owned),
                "count" => pool.count.as_ref().map(|count| count.value.to_string()),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A size of huge pages without a count: no command line can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("must specify both size and count for hugepages")]
pub struct NoCommandLine;

/// The kernel command line: huge pages first, then the others in order; `True` is a bare flag.
pub fn command_line(params: &Texts) -> Result<String, NoCommandLine> {
    let mut line = String::new();
    let size = params.get("hugepagesz");
    if let Some(size) = size {
        let count = params.get("hugepages").ok_or(NoCommandLine)?;
        // Writing to a string cannot fail.
        let _ = write!(line, "hugepagesz={} hugepages={}", size.value, count.value);
    }
    for (key, set) in params {
        if size.is_some() && (key == "hugepagesz" || key == "hugepages") {
            continue;
        }
        line.push(' ');
        line.push_str(key);
        if set.value != "True" {
            line.push('=');
            line.push_str(&set.value);
        }
    }
    Ok(line)
}
