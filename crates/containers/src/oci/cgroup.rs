//! Control groups: one for each instance, with one below it for each run of a container. Both versions; machines with
//! version 1, or both (hybrid), use version 1.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::id::InstanceId;
use crate::spec::Limits;
use crate::state::Usage;

const ROOT: &str = "/sys/fs/cgroup";
/// The period that CPU limits are measured in, in microseconds.
pub(super) const CPU_PERIOD: u64 = 100_000;

pub(super) struct Cgroups {
    prefix: String,
    is_unified: bool,
}

impl Cgroups {
    pub(super) fn detect(prefix: String) -> Self {
        Self { prefix, is_unified: is_unified() }
    }

    /// The path of a run's group, as runc takes it.
    pub(super) fn path(&self, id: &InstanceId, run: &str) -> String {
        format!("/{}/{id}/{run}", self.prefix)
    }

    /// The file of a group that counts kills for want of memory.
    pub(super) fn memory_events(&self, path: &str) -> PathBuf {
        match self.is_unified {
            true => PathBuf::from(format!("{ROOT}{path}/memory.events")),
            false => PathBuf::from(format!("{ROOT}/memory{path}/memory.oom_control")),
        }
    }

    /// Makes the group of an instance with the limits of all its containers together.
    pub(super) fn make(&self, id: &InstanceId, limits: &Limits) -> Result<()> {
        self.try_make(id, limits)
            .map_err(|error| Error::machine(format!("making the control group of {id}"), error))
    }

    fn try_make(&self, id: &InstanceId, limits: &Limits) -> io::Result<()> {
        let quota = limits.cpu_millis.map(|millis| (millis * CPU_PERIOD / 1000).max(1000));
        if self.is_unified {
            let group = Path::new(ROOT).join(&self.prefix);
            fs::create_dir_all(&group)?;
            for parent in [Path::new(ROOT), &group] {
                fs::write(parent.join("cgroup.subtree_control"), "+cpu +memory +pids")?;
            }
            let group = group.join(id.as_str());
            fs::create_dir_all(&group)?;
            fs::write(group.join("cgroup.subtree_control"), "+cpu +memory +pids")?;
            write_limit(&group, "cpu.max", quota.map(|quota| format!("{quota} {CPU_PERIOD}")))?;
            write_limit(&group, "memory.max", limits.memory_bytes)?;
            return write_limit(&group, "pids.max", limits.pids);
        }
        let group = |controller: &str| self.group(controller, id);
        for controller in ["cpu", "cpuacct", "memory", "pids"] {
            fs::create_dir_all(group(controller))?;
        }
        write_limit(&group("cpu"), "cpu.cfs_quota_us", quota)?;
        write_limit(&group("memory"), "memory.limit_in_bytes", limits.memory_bytes)?;
        write_limit(&group("pids"), "pids.max", limits.pids)
    }

    /// What the containers of an instance use together.
    pub(super) fn usage(&self, id: &InstanceId) -> Usage {
        let number =
            |path: PathBuf| fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<u64>().ok());
        if self.is_unified {
            let group = self.group("", id);
            let stat = fs::read_to_string(group.join("cpu.stat")).unwrap_or_default();
            let micros = stat.lines().find_map(|line| line.strip_prefix("usage_usec ")?.parse().ok());
            return Usage {
                cpu_time: Duration::from_micros(micros.unwrap_or(0)),
                memory_bytes: number(group.join("memory.current")).unwrap_or(0),
            };
        }
        Usage {
            cpu_time: Duration::from_nanos(
                number(self.group("cpuacct", id).join("cpuacct.usage")).unwrap_or(0),
            ),
            memory_bytes: number(self.group("memory", id).join("memory.usage_in_bytes")).unwrap_or(0),
        }
    }

    /// Removes the group of an instance; its processes are gone.
    pub(super) fn remove(&self, id: &InstanceId) -> Result<()> {
        for root in hierarchies() {
            let group = root.join(&self.prefix).join(id.as_str());
            remove_tree(&group)
                .map_err(|error| Error::machine(format!("removing {}", group.display()), error))?;
        }
        Ok(())
    }

    /// Removes the group above all instances, if nothing is in it.
    pub(super) fn remove_root(&self) {
        for root in hierarchies() {
            let _ = fs::remove_dir(root.join(&self.prefix));
        }
    }

    fn group(&self, controller: &str, id: &InstanceId) -> PathBuf {
        Path::new(ROOT).join(controller).join(&self.prefix).join(id.as_str())
    }
}

/// Whether the machine has version 2 alone.
pub(super) fn is_unified() -> bool {
    Path::new(ROOT).join("cgroup.controllers").exists()
}

/// Groups below `prefix` in every hierarchy, for the search for leaks.
pub(super) fn groups_of(prefix: &str) -> Vec<PathBuf> {
    let groups =
        hierarchies().into_iter().flat_map(|root| fs::read_dir(root.join(prefix)).into_iter().flatten());
    groups.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

fn hierarchies() -> Vec<PathBuf> {
    if is_unified() {
        return vec![PathBuf::from(ROOT)];
    }
    let mounted = fs::read_dir(ROOT).into_iter().flatten().flatten().map(|entry| entry.path());
    mounted.filter(|path| path.is_dir()).collect()
}

fn write_limit(group: &Path, file: &str, limit: Option<impl ToString>) -> io::Result<()> {
    match limit {
        Some(limit) => fs::write(group.join(file), limit.to_string()),
        None => Ok(()),
    }
}

fn remove_tree(group: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(group) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries.flatten() {
        if entry.file_type()?.is_dir() {
            remove_tree(&entry.path())?;
        }
    }
    // A process that was killed leaves its group a moment later.
    for _ in 0..50 {
        match fs::remove_dir(group) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            removed => return removed,
        }
    }
    fs::remove_dir(group)
}
