//! What the kernel knows of this process and its children.

use std::path::Path;
use std::time::Duration;

use super::Outcome;

/// Linux counts in hundredths of a second towards programs, whatever it uses inside.
const TICKS_PER_SECOND: u64 = 100;

/// CPU time of this process: user and system, all threads, those that ended too.
pub fn cpu() -> Outcome<Duration> {
    cpu_of("self")
}

/// The same of another process.
pub fn cpu_of(process: &str) -> Outcome<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name in parentheses may hold anything; what follows it is numbers.
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks = |at: usize| fields.get(at).and_then(|ticks| ticks.parse::<u64>().ok()).unwrap_or(0);
    Ok(Duration::from_millis((ticks(11) + ticks(12)) * 1_000 / TICKS_PER_SECOND))
}

/// Memory of this process that is really there, in bytes.
pub fn resident() -> Outcome<u64> {
    memory_of("self", "VmRSS:")
}

/// The same of another process: `VmRSS:` as it is now, `VmHWM:` the most there ever was.
pub fn memory_of(process: &str, field: &str) -> Outcome<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kibibytes * 1024)
}

/// The children of this process that run `program`.
pub fn children(program: &str) -> Outcome<Vec<String>> {
    let me = std::process::id().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{name}/stat")) else { continue };
        let is_child = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)) == Some(&me);
        if is_child && stat.contains(&format!("({program})")) {
            found.push(name);
        }
    }
    Ok(found)
}

/// One line on the machine and how busy it is.
pub fn describe() -> Outcome<String> {
    let cores = std::thread::available_parallelism()?;
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown CPU");
    let model = model.trim_matches([':', '\t', ' ']);
    Ok(format!("{cores} cores, {model}; load average at the start {}", load()))
}

/// How many want the cores, on average over the last minute.
pub fn load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().unwrap_or_default().to_owned()
}

/// The size of a file, in bytes.
pub fn file_size(path: &Path) -> Outcome<u64> {
    Ok(std::fs::metadata(path)?.len())
}
