//! What this machine can do, and what is missing, with the next step.

use std::fs;
use std::path::Path;

use super::cgroup::is_unified;
use super::settings::{RootfsMode, Settings};
use super::{command, rootfs};
use crate::state::{Capability, Check};

pub(super) async fn check(settings: &Settings) -> Check {
    let capabilities = vec![
        root(),
        program(&settings.runc, "runc", "runc", &["--version"], true).await,
        program(&settings.ip, "ip", "iproute2", &["-V"], true).await,
        program(Path::new("unshare"), "unshare", "util-linux", &["--version"], true).await,
        cgroups(),
        overlayfs(settings),
        user_namespaces(settings),
        seccomp(),
        // Only instances with an ingress policy need it.
        program(&settings.nft, "nft", "nftables", &["--version"], false).await,
    ];
    Check { capabilities }
}

fn root() -> Capability {
    let is_root = rustix::process::geteuid().is_root();
    let problem = "Running containers needs root: start the program as root, or with sudo.";
    capability("root", true, is_root.then(|| "uid 0".to_owned()), problem)
}

async fn program(path: &Path, name: &str, package: &str, arguments: &[&str], required: bool) -> Capability {
    let version = command::run(path, arguments, "").await.ok();
    let version = version.map(|version| version.lines().next().unwrap_or_default().to_owned());
    let problem = format!("The program {name} is missing: install it with \"apt-get install {package}\".");
    capability(name, required, version, &problem)
}

fn cgroups() -> Capability {
    let has_controllers = |name: &str| Path::new("/sys/fs/cgroup").join(name).is_dir();
    let found = if is_unified() {
        Some("version 2 (not tested yet)".to_owned())
    } else if has_controllers("memory") && has_controllers("cpu") && has_controllers("pids") {
        Some("version 1".to_owned())
    } else {
        None
    };
    let problem =
        "Control groups are not mounted at /sys/fs/cgroup: mount them, or run on a machine with systemd.";
    capability("control groups", true, found, problem)
}

fn overlayfs(settings: &Settings) -> Capability {
    let is_known = fs::read_to_string("/proc/filesystems").is_ok_and(|types| types.contains("\toverlay\n"));
    let is_fit = !settings.data.is_dir() || rootfs::can_overlay(&settings.data);
    let found = (is_known && is_fit).then(|| "overlay".to_owned());
    let problem = "overlayfs can't be used: load the module with \"modprobe overlay\", put the data folder on ext4 or xfs, \
        or choose copied root file systems, which take more space and time.";
    capability("overlayfs", settings.rootfs == RootfsMode::Overlay, found, problem)
}

fn user_namespaces(settings: &Settings) -> Capability {
    let most = fs::read_to_string("/proc/sys/user/max_user_namespaces").ok();
    let most = most.and_then(|most| most.trim().parse::<u64>().ok()).filter(|most| *most > 0);
    let found = most.map(|most| format!("up to {most}"));
    let problem = "The kernel allows no user namespaces: raise user.max_user_namespaces with sysctl, or turn user \
        namespaces off, so that root in a container is root of the machine.";
    capability("user namespaces", settings.user_namespace.is_some(), found, problem)
}

fn seccomp() -> Capability {
    let actions = fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").ok();
    let found = actions.filter(|actions| actions.contains("errno")).map(|_| "filters".to_owned());
    let problem =
        "The kernel has no filters of system calls (seccomp): use one that has CONFIG_SECCOMP_FILTER.";
    capability("seccomp", true, found, problem)
}

fn capability(name: &str, required: bool, found: Option<String>, problem: &str) -> Capability {
    let is_missing = found.is_none();
    Capability {
        name: name.to_owned(),
        required,
        found: found.unwrap_or_default(),
        problem: is_missing.then(|| problem.to_owned()),
    }
}
