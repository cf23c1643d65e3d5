//! What a fresh machine needs beyond a Rust toolchain, and how it gets there.

use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

use crate::parts;
use crate::step::{self, Failure, Outcome};

/// A program of the system that tests start: how to see that it is there, and the Debian package it comes in.
struct Part {
    check: &'static [&'static str],
    package: &'static str,
}

const PARTS: [Part; 18] = [
    Part { check: &["c++", "--version"], package: "g++" },
    Part { check: &["chromium", "--version"], package: "chromium" },
    Part { check: &["dig", "-v"], package: "bind9-dnsutils" },
    Part { check: &["docker-registry", "--version"], package: "docker-registry" },
    Part { check: &["etcd", "--version"], package: "etcd-server" },
    Part { check: &["etcdctl", "version"], package: "etcd-client" },
    Part { check: &["fish", "--version"], package: "fish" },
    Part { check: &["ip", "-V"], package: "iproute2" },
    Part { check: &["ipmi_sim", "--help"], package: "openipmi" },
    Part { check: &["ipmitool", "-V"], package: "ipmitool" },
    Part { check: &["named", "-v"], package: "bind9" },
    Part { check: &["nft", "--version"], package: "nftables" },
    Part { check: &["node", "--version"], package: "nodejs" },
    Part { check: &["npm", "--version"], package: "npm" },
    Part { check: &["prlimit", "--version"], package: "util-linux" },
    Part { check: &["python3", "-c", "import ensurepip, ssl, venv"], package: "python3-venv" },
    Part { check: &["runc", "--version"], package: "runc" },
    Part { check: &["zsh", "--version"], package: "zsh" },
];

/// The version is pinned so that the same tree gives the same answer next year.
const CARGO_DENY: &str = "cargo-deny@0.20.2";

/// Has everything that the tests start.
pub fn everything() -> Result<Outcome, Failure> {
    programs()?;
    parts::fetch()?;
    Ok(Outcome::Passed)
}

/// Has every program of the system, or says which package to install.
fn programs() -> Result<(), Failure> {
    let missing: Vec<_> = PARTS.iter().filter(|part| !is_there(part)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<_> = missing.iter().map(|part| part.package).collect();
    if !is_root() {
        return Err(Failure(format!(
            "missing programs; install them as root with `apt-get install --yes {}`",
            packages.join(" ")
        )));
    }
    step::run(apt_get().arg("update"))?;
    step::run(apt_get().args(["install", "--yes", "--no-install-recommends"]).args(packages))
}

/// Has cargo-deny, which cargo builds from source when it is not there.
pub fn cargo_deny() -> Result<(), Failure> {
    let version = step::cargo(["deny", "--version"]).stdin(Stdio::null()).output();
    if version.is_ok_and(|version| version.status.success()) {
        return Ok(());
    }
    // Unoptimised: it builds in a fraction of the time, and checks our packages in seconds either way.
    step::run(&mut step::cargo(["install", "--locked", "--debug", CARGO_DENY]))
}

fn is_there(part: &Part) -> bool {
    let mut check = Command::new(part.check[0]);
    check.args(&part.check[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    check.status().is_ok_and(|status| status.success())
}

fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
    command
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0)
}
