//! What is left on the machine that belongs to no instance. For tests, and for people who doubt.

use std::fs;
use std::path::Path;

use super::settings::Settings;
use super::{cgroup, network};

/// Everything on the machine that belongs to a runtime with these settings, whether an instance owns it or not: processes,
/// mounts, network namespaces, control groups, folders of instances. After the last instance is removed there is nothing. The
/// folders themselves, the tmpfs at `run` and the image store are not leaks.
pub fn leaks(settings: &Settings) -> Vec<String> {
    let mut found = Vec::new();
    let prefix = settings.prefix();
    found.extend(processes(settings, &prefix));
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mount_points = mounts.lines().filter_map(|line| line.split(' ').nth(4)).map(Path::new);
    for point in mount_points {
        let is_ours =
            point.starts_with(&settings.run) && point != settings.run || point.starts_with(&settings.data);
        if is_ours {
            found.push(format!("mount {}", point.display()));
        }
    }
    found.extend(network::namespaces_of(&prefix).into_iter().map(|name| format!("network namespace {name}")));
    found.extend(
        cgroup::groups_of(&prefix).into_iter().map(|group| format!("control group {}", group.display())),
    );
    for folder in [settings.run.join("instances"), settings.data.join("instances"), settings.runc_folder()] {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        found.extend(entries.map(|entry| format!("folder {}", entry.path().display())));
    }
    found
}

fn processes(settings: &Settings, prefix: &str) -> Vec<String> {
    let mut found = Vec::new();
    let run = settings.run.to_string_lossy().into_owned();
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = process.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        if pid == std::process::id() {
            continue;
        }
        // One that has ended holds nothing but its number, until its parent asks.
        let stat = fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        if stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z')) {
            continue;
        }
        let groups = fs::read_to_string(process.path().join("cgroup")).unwrap_or_default();
        let command = fs::read(process.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        let is_ours =
            groups.contains(&format!("/{prefix}/")) || command.contains(&format!("{run}/instances/"));
        if is_ours {
            found.push(format!("process {pid}: {}", command.trim()));
        }
    }
    found
}
