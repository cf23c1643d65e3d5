//! A server with the design of a small site.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use testbed::server::Server;

pub const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");

/// A server, and a folder for files.
pub struct Site {
    pub server: Server,
    pub files: tempfile::TempDir,
}

/// What a command printed and said, and how it ended.
#[derive(Debug)]
pub struct Told {
    pub out: String,
    pub err: String,
    pub code: i32,
}

impl Site {
    /// A server with a design of some nodes, promoted, and without a provisioner.
    pub fn with_nodes(server: Server, names: &[&str], more: &str) -> Site {
        let site = Site { server, files: tempfile::tempdir().unwrap() };
        let mut text = SHARED.to_owned() + more;
        for (number, name) in names.iter().enumerate() {
            let at = number + 10;
            text.push_str(&format!(
                "---\n{{schema: drydock/BaremetalNode/v1, metadata: {{name: {name}}}, data: {{host_profile: base, \
                 metadata: {{rack: r{}, boot_mac: '52:54:00:00:00:{at:02x}'}}, \
                 addressing: [{{network: oam, address: 10.0.0.{at}}}, {{network: oob, address: 10.0.1.{at}}}]}}}}\n",
                number % 2 + 1
            ));
        }
        let file = site.file("site.yaml", &text);
        site.run(&format!("design import -n site --create-namespace -m first {}", file.display()));
        site.run("design promote -n site site");
        site
    }

    /// Writes a file that commands can name.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.files.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Creates or changes the provisioner.
    pub fn provisioner(&self, spec: &str) {
        let text = format!(
            "apiVersion: orchestration.groundplane.dev/v1alpha1\nkind: Provisioner\nmetadata: {{name: default}}\nspec: {spec}\n"
        );
        let file = self.file("provisioner.yaml", &text);
        self.run(&format!("apply -f {}", file.display()));
    }

    /// A command.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(Path::new(GROUNDPLANE));
        command
            .args(line.split_whitespace())
            .current_dir(self.files.path())
            .env("KUBECONFIG", self.server.kubeconfig())
            .env_remove("GROUNDPLANE_KUBECONFIG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Types a command, whatever becomes of it.
    pub fn told(&self, line: &str) -> Told {
        let Output { status, stdout, stderr } = self.command(line).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Told { out: text(stdout), err: text(stderr), code: status.code().unwrap_or(-1) }
    }

    /// Types a command that succeeds.
    pub fn run(&self, line: &str) -> String {
        let told = self.told(line);
        assert_eq!(told.code, 0, "{line}\n{}{}", told.out, told.err);
        told.out
    }

    /// What a command prints as JSON.
    pub fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.run(line)).unwrap()
    }

    /// A task.
    pub fn task(&self, name: &str) -> Value {
        self.json(&format!("task show {name} -n site -o json"))
    }

    /// Waits until a task is as wanted, and returns it.
    pub fn until(&self, name: &str, what: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let task = self.task(name);
            if what(&task) {
                return task;
            }
            assert!(begun.elapsed() < Duration::from_secs(180), "{name}: {task:#}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Waits until a task has ended, and returns it.
    pub fn ended(&self, name: &str) -> Value {
        self.until(name, |task| {
            matches!(task["task"]["status"]["phase"].as_str(), Some("Complete" | "Terminated"))
        })
    }
}

const SHARED: &str = "
---
{schema: drydock/Region/v1, metadata: {name: site}, data: {authorized_keys: [ssh-rsa AAAA me]}}
---
{schema: drydock/Network/v1, metadata: {name: oam}, data: {cidr: 10.0.0.0/24, mtu: 1500, dns: {domain: example.com, servers: '10.0.0.2'},
  ranges: [{type: static, start: 10.0.0.10, end: 10.0.0.99}, {type: dhcp, start: 10.0.0.100, end: 10.0.0.200}],
  routes: [{subnet: 0.0.0.0/0, gateway: 10.0.0.1, metric: 10}]}}
---
{schema: drydock/Network/v1, metadata: {name: oob}, data: {cidr: 10.0.1.0/24, labels: {noconfig: enabled}}}
---
{schema: drydock/NetworkLink/v1, metadata: {name: gp}, data: {mtu: 1500, trunking: {mode: disabled, default_network: oam},
  allowed_networks: [oam]}}
---
{schema: drydock/NetworkLink/v1, metadata: {name: bmc}, data: {labels: {noconfig: enabled}, trunking: {mode: disabled, default_network: oob},
  allowed_networks: [oob]}}
---
{schema: drydock/HardwareProfile/v1, metadata: {name: hw}, data: {vendor: Contoso, device_aliases: {
  boot: {address: '2:0.0.0', bus_type: scsi, dev_type: Disk}}}}
---
{schema: drydock/HostProfile/v1, metadata: {name: base}, data: {hardware_profile: hw, primary_network: oam,
  oob: {type: redfish, network: oob, account: admin, credential: password},
  interfaces: {eno1: {device_link: gp, slaves: [eno1], networks: [oam]}},
  storage: {physical_devices: {boot: {partitions: [
    {name: root, size: 30g, filesystem: {mountpoint: /, fstype: ext4}}, {name: boot, size: 1g, filesystem: {mountpoint: /boot}},
    {name: var, size: '>20g', filesystem: {mountpoint: /var}}]}}},
  platform: {image: jammy, kernel: ga-22.04, kernel_params: {quiet: true}},
  metadata: {tags: [general], owner_data: {role: compute}}}}
";
