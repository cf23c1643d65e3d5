//! The bundle of a run: what runc is told about a container.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::cgroup::CPU_PERIOD;
use super::network::Networks;
use super::settings::Settings;
use super::{seccomp, user, volumes};
use crate::image::ProcessConfig;
use crate::spec::{ContainerSpec, InstanceSpec, Limits, VolumeSource};

const PATH: &str = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What programs that start as root need to serve as somebody else. Everything else is dropped.
const CAPABILITIES: [&str; 8] = [
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_NET_BIND_SERVICE",
    "CAP_SETGID",
    "CAP_SETUID",
];

/// Parts of /proc and /sys that tell about the machine.
const MASKED: [&str; 10] = [
    "/proc/acpi",
    "/proc/asound",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/sys/firmware",
];
/// Parts of /proc that change the machine.
const READ_ONLY: [&str; 5] = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"];

/// What a bundle is made from.
pub(super) struct Bundle<'a> {
    pub(super) settings: &'a Settings,
    pub(super) spec: &'a InstanceSpec,
    pub(super) container: &'a ContainerSpec,
    pub(super) image: &'a ProcessConfig,
    pub(super) layers: &'a [PathBuf],
    pub(super) rootfs: &'a Path,
    pub(super) network_namespace: &'a str,
    pub(super) cgroup: &'a str,
}

impl Bundle<'_> {
    /// The config of the container. An error says what about the image or the spec can't be run.
    pub(super) fn config(&self) -> Result<Value, String> {
        let (uid, gid) = user::resolve(self.user(), self.layers)?;
        let mut namespaces = vec![
            json!({ "type": "pid" }),
            json!({ "type": "ipc" }),
            json!({ "type": "uts" }),
            json!({ "type": "mount" }),
            json!({ "type": "network", "path": Networks::path(self.network_namespace) }),
        ];
        let mut linux = json!({
            "cgroupsPath": self.cgroup,
            "resources": self.resources(),
            "maskedPaths": MASKED,
            "readonlyPaths": READ_ONLY,
            "seccomp": seccomp::profile(),
        });
        if let Some(ids) = self.settings.user_namespace {
            let path = self.settings.user_namespace_path(&self.spec.id);
            namespaces.push(json!({ "type": "user", "path": path }));
            let mapping = json!([{ "containerID": 0, "hostID": ids.base, "size": ids.size }]);
            linux["uidMappings"] = mapping.clone();
            linux["gidMappings"] = mapping;
        }
        linux["namespaces"] = Value::from(namespaces);
        Ok(json!({
            "ociVersion": "1.0.2",
            "hostname": self.hostname(),
            "root": { "path": self.rootfs, "readonly": self.container.read_only_root },
            "process": {
                "terminal": false,
                "user": { "uid": uid, "gid": gid },
                "args": self.arguments()?,
                "env": self.environment(),
                "cwd": self.working_dir(),
                "capabilities": {
                    "bounding": CAPABILITIES,
                    "effective": CAPABILITIES,
                    "permitted": CAPABILITIES,
                },
                "noNewPrivileges": true,
            },
            "mounts": self.mounts(),
            "linux": linux,
        }))
    }

    fn user(&self) -> &str {
        let user = self.container.user.as_deref().or(self.image.user.as_deref());
        user.unwrap_or_default()
    }

    fn hostname(&self) -> String {
        let name = self.spec.hostname.clone().unwrap_or_else(|| self.spec.id.to_string());
        name.chars().take(63).collect()
    }

    /// As Kubernetes has it: a command drops the image's arguments, arguments alone keep its entrypoint.
    fn arguments(&self) -> Result<Vec<String>, String> {
        let ContainerSpec { command, args, .. } = self.container;
        let or_empty = |list: &Option<Vec<String>>| list.clone().unwrap_or_default();
        let arguments = match (command.is_empty(), args.is_empty()) {
            (false, _) => [command.clone(), args.clone()].concat(),
            (true, false) => [or_empty(&self.image.entrypoint), args.clone()].concat(),
            (true, true) => [or_empty(&self.image.entrypoint), or_empty(&self.image.cmd)].concat(),
        };
        match arguments.is_empty() {
            true => Err("neither the image nor the spec has a command".to_owned()),
            false => Ok(arguments),
        }
    }

    fn environment(&self) -> Vec<String> {
        let image = self.image.env.clone().unwrap_or_default();
        let hostname = format!("HOSTNAME={}", self.hostname());
        let own = self.container.env.iter().map(|variable| {
            format!("{}={}", variable.name, String::from_utf8_lossy(variable.value.reveal()))
        });
        let mut by_name: BTreeMap<String, String> = BTreeMap::new();
        for variable in [PATH.to_owned(), hostname].into_iter().chain(image).chain(own) {
            let name = variable.split('=').next().unwrap_or_default().to_owned();
            by_name.insert(name, variable);
        }
        by_name.into_values().collect()
    }

    fn working_dir(&self) -> String {
        let image = self.image.working_dir.clone().filter(|folder| folder.starts_with('/'));
        self.container.working_dir.clone().or(image).unwrap_or_else(|| "/".to_owned())
    }

    fn mounts(&self) -> Vec<Value> {
        let mount = |destination: &str, kind: &str, options: &[&str]| json!({ "destination": destination, "type": kind, "source": kind, "options": options });
        let mut mounts = vec![
            mount("/proc", "proc", &["nosuid", "noexec", "nodev"]),
            mount("/dev", "tmpfs", &["nosuid", "strictatime", "mode=755", "size=64k"]),
            mount(
                "/dev/pts",
                "devpts",
                &["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"],
            ),
            mount("/dev/shm", "tmpfs", &["nosuid", "noexec", "nodev", "mode=1777", "size=64m"]),
            mount("/dev/mqueue", "mqueue", &["nosuid", "noexec", "nodev"]),
        ];
        // With a user namespace there is no view of the machine's devices at all.
        if self.settings.user_namespace.is_none() {
            mounts.push(mount("/sys", "sysfs", &["nosuid", "noexec", "nodev", "ro"]));
        }
        let folder = self.settings.run_folder(&self.spec.id);
        for file in ["hosts", "resolv.conf"] {
            let options = ["bind", "ro", "nosuid", "nodev", "noexec"];
            let source = folder.join(file);
            mounts.push(json!({ "destination": format!("/etc/{file}"), "type": "bind", "source": source, "options": options }));
        }
        for wanted in &self.container.mounts {
            let Some(volume) = self.spec.volumes.iter().find(|volume| volume.name == wanted.volume) else {
                continue;
            };
            let is_files = matches!(volume.source, VolumeSource::Files(_));
            let access = if is_files || wanted.read_only { "ro" } else { "rw" };
            mounts.push(json!({
                "destination": wanted.path,
                "type": "bind",
                "source": volumes::path(self.settings, self.spec, volume),
                "options": ["bind", access, "nosuid", "nodev"],
            }));
        }
        mounts
    }

    fn resources(&self) -> Value {
        let Limits { cpu_millis, memory_bytes, pids } = self.container.limits;
        let mut resources = json!({
            "devices": [{ "allow": false, "access": "rwm" }],
            "pids": { "limit": pids.unwrap_or(self.settings.default_pids) },
        });
        if let Some(millis) = cpu_millis {
            resources["cpu"] =
                json!({ "quota": (millis * CPU_PERIOD / 1000).max(1000), "period": CPU_PERIOD });
        }
        if let Some(bytes) = memory_bytes {
            resources["memory"] = json!({ "limit": bytes });
        }
        resources
    }
}
