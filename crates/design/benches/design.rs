//! How long a large site takes: `cargo xtask bench design`. With `--check` a missed floor fails the run.
#![allow(clippy::print_stdout, reason = "a bench is for what it prints")]

use std::{
    fmt::Write as _,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use design::{
    compile::{Compiled, Compiler, LshwInputs, compile},
    document::{Document, parse},
    object::Composer,
    provenance,
    reach::reach,
};

fn main() -> ExitCode {
    let check = std::env::args().any(|argument| argument == "--check");
    let mut bench = Bench::default();

    let text = site(10_000, "jammy");
    let megabytes = text.len() as f64 / 1e6;
    let documents =
        bench.time(&format!("read 10,000 nodes ({megabytes:.1} MB of YAML)"), None, || read(&text));
    let effective = bench.time("effective design of 10,000 nodes", Some(2.0), || made(&documents));
    let nodes = effective.site().map_or(0, |site| site.nodes.len());
    assert_eq!(nodes, 10_000, "the site compiles whole");

    let small = made(&read(&site(2_000, "jammy")));
    let validated = bench.time("validation of 2,000 nodes", Some(1.0), || small.clone().validated());
    let found = validated.report.as_ref().map_or(0, |report| report.findings().len());
    assert!(found > 0, "the validators ran");

    let changed = read(&site(10_000, "noble"));
    let reached = bench.time("what a profile change reaches over 10,000 nodes", Some(2.0), || {
        let after = made(&changed);
        match (effective.site(), after.site()) {
            (Some(before), Some(after)) => reach(before, after).len(),
            _ => 0,
        }
    });
    assert_eq!(reached, 10_000, "every node inherits from the profile");

    bench.changes(&documents);
    bench.end(check)
}

impl Bench {
    /// A design that is kept compiled: one node changes, and one is asked for.
    fn changes(&mut self, documents: &[Document]) {
        let mut shared: Vec<Arc<Document>> = documents.iter().cloned().map(Arc::new).collect();
        let (mut composer, mut compiler) = (Composer::default(), Compiler::default());
        let mut compiled = |shared: &[Arc<Document>]| {
            let composed = composer.compose(shared, &[]).map(|composed| composed.documents);
            compiler.compile(&composed.unwrap_or_default())
        };
        let first = compiled(&shared);
        let last = shared.len() - 1;
        let start = Instant::now();
        shared[last] = Arc::new(Document::clone(&shared[last]));
        let after = compiled(&shared);
        self.judge("compiling again after one of 10,000 nodes changed", Some(0.1), start.elapsed());
        drop(first);
        let node = after.site().and_then(|site| site.node("node5000")).map(Arc::clone);
        self.time("one node of a compiled design, as JSON with provenance", Some(0.005), || {
            node.as_ref().map(|node| provenance::node_json(node).to_string().len())
        });
        let nodes = after.site().map(|site| site.nodes.clone()).unwrap_or_default();
        self.time("all 10,000 nodes as JSON, one by one", None, || {
            nodes.iter().map(|node| provenance::node_json(node).to_string().len()).sum::<usize>()
        });
        self.time("validation of 10,000 nodes", None, || after.clone().validated().report.is_some());
        println!("peak memory: {}", peak_memory());
    }
}

/// The most memory that the process has had, as the kernel says.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.and_then(|line| line.split_once(':'))
        .map_or("unknown".to_owned(), |(_, value)| value.trim().to_owned())
}

#[derive(Default)]
struct Bench {
    missed: Vec<String>,
}

impl Bench {
    /// The best of three runs: what the work costs, not what the neighbours do.
    fn time<T>(&mut self, what: &str, floor: Option<f64>, work: impl Fn() -> T) -> T {
        let mut best = Duration::MAX;
        let mut made = None;
        for _ in 0..3 {
            let start = Instant::now();
            made = Some(work());
            best = best.min(start.elapsed());
        }
        self.judge(what, floor, best);
        made.unwrap_or_else(|| unreachable!("three runs were made"))
    }

    fn judge(&mut self, what: &str, floor: Option<f64>, took: Duration) {
        let seconds = took.as_secs_f64();
        let judged = match floor {
            Some(floor) if seconds > floor => {
                self.missed.push(what.to_owned());
                format!("(< {floor} s) MISSED")
            }
            Some(floor) => format!("(< {floor} s) ok"),
            None => String::new(),
        };
        println!("| {what:56} | {seconds:8.4} s {judged} |");
    }

    fn end(self, check: bool) -> ExitCode {
        if self.missed.is_empty() || !check {
            return ExitCode::SUCCESS;
        }
        eprintln!("floors missed: {}", self.missed.join(", "));
        ExitCode::FAILURE
    }
}

fn read(text: &str) -> Vec<Document> {
    parse("site.yaml", text.as_bytes()).map(|loaded| loaded.documents).unwrap_or_default()
}

fn made(documents: &[Document]) -> Compiled {
    compile(documents, &LshwInputs::new())
}

/// A site as Airship's are: a chain of three profiles, bonds, partitions, a volume group, eight networks.
fn site(nodes: usize, image: &str) -> String {
    let mut text = String::from(
        "---\n{schema: drydock/Region/v1, metadata: {name: site}, data: {authorized_keys: [ssh-rsa AAAA]}}\n",
    );
    for network in 0..8 {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "---\n{{schema: drydock/Network/v1, metadata: {{name: net{network}}}, data: {{cidr: 10.{network}.0.0/16, mtu: 1500, \
             vlan: '{}', dns: {{domain: example.com, servers: '10.0.0.2'}}, ranges: [{{type: static, start: 10.{network}.0.1, \
             end: 10.{network}.250.254}}]}}}}\n",
            100 + network
        );
    }
    text.push_str(&SHARED.replace("IMAGE", image));
    for node in 0..nodes {
        let (high, low) = (node / 250, node % 250 + 1);
        let _ = write!(
            text,
            "---\n{{schema: drydock/BaremetalNode/v1, metadata: {{name: node{node}}}, data: {{host_profile: compute, \
             metadata: {{rack: rack{}, tags: [t{}, '!general']}}, interfaces: {{bond0: {{networks: [net7, '!net6']}}}}, addressing: [",
            node / 40,
            node % 7
        );
        for network in 0..4 {
            let _ = write!(text, "{{network: net{network}, address: 10.{network}.{high}.{low}}},");
        }
        text.push_str("]}}\n");
    }
    text
}

const SHARED: &str = "
---
{schema: drydock/NetworkLink/v1, metadata: {name: gp}, data: {bonding: {mode: 802.3ad}, mtu: 9100, trunking: {mode: 802.1q},
  allowed_networks: [net0, net1, net2, net3, net4, net5, net6, net7]}}
---
{schema: drydock/HardwareProfile/v1, metadata: {name: hw}, data: {vendor: Dell, boot_mode: uefi, device_aliases: {
  nic1: {address: '0000:01:00.0', bus_type: pci, dev_type: X710}, nic2: {address: '0000:01:00.1', bus_type: pci, dev_type: X710},
  boot: {address: '2:0.0.0', bus_type: scsi, dev_type: PERC}}, cpu_sets: {kvm: '4-43'}, hugepages: {dpdk: {size: 1G, count: 300}}}}
---
{schema: drydock/HostProfile/v1, metadata: {name: base}, data: {hardware_profile: hw, primary_network: net0,
  oob: {type: ipmi, network: net3, account: root, credential: secret},
  storage: {physical_devices: {boot: {labels: {bootdrive: 'true'}, partitions: [
    {name: root, size: 30g, bootable: true, filesystem: {mountpoint: /, fstype: ext4, mount_options: defaults}},
    {name: boot, size: 1g, filesystem: {mountpoint: /boot}}, {name: var_log, size: 100g, filesystem: {mountpoint: /var/log}},
    {name: var, size: '>100g', filesystem: {mountpoint: /var}}]}, sdb: {volume_group: ceph}},
    volume_groups: {ceph: {logical_volumes: [{name: journal, size: 50%, filesystem: {mountpoint: /var/lib/ceph}}]}}},
  platform: {image: IMAGE, kernel: ga, kernel_params: {quiet: true, console: ttyS2, intel_iommu: 'on', cgroup_disable: hugetlb}},
  metadata: {tags: [general, linux], owner_data: {site: s1, role: base}}}}
---
{schema: drydock/HostProfile/v1, metadata: {name: bonded}, data: {host_profile: base, interfaces: {
  bond0: {device_link: gp, slaves: [nic1, nic2], networks: [net0, net1, net2, net6], sriov: {vf_count: 32}}},
  metadata: {owner_data: {role: bonded, net: bond}}}}
---
{schema: drydock/HostProfile/v1, metadata: {name: compute}, data: {host_profile: bonded, platform: {kernel_params: {
  isolcpus: 'hardwareprofile:cpuset.kvm', hugepagesz: 'hardwareprofile:hugepages.dpdk.size',
  hugepages: 'hardwareprofile:hugepages.dpdk.count', '!quiet': ''}}, metadata: {tags: [compute], owner_data: {role: compute}}}}
---
{schema: drydock/BootAction/v1, metadata: {name: join}, data: {assets: [{type: file, path: /opt/join.sh, data: hi, data_pipeline: [template]}],
  node_filter: {filter_set_type: union, filter_set: [{filter_type: union, node_labels: {role: compute}}]}}}
";
