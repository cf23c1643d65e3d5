//! What a fresh machine needs beyond a Rust toolchain, and how it gets there.

use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

use crate::step::{self, Failure, Outcome};

/// A program of the system that tests start, and the Debian package it comes in.
struct Part {
    program: &'static str,
    package: &'static str,
}

const PARTS: [Part; 2] =
    [Part { program: "etcd", package: "etcd-server" }, Part { program: "etcdctl", package: "etcd-client" }];

/// The version is pinned so that the same tree gives the same answer next year.
const CARGO_DENY: &str = "cargo-deny@0.20.2";

/// Has every program that the tests start, or says which package to install.
pub fn programs() -> Result<Outcome, Failure> {
    let missing: Vec<_> = PARTS.iter().filter(|part| !on_path(part.program)).collect();
    if missing.is_empty() {
        println!("nothing is missing");
        return Ok(Outcome::Passed);
    }
    let packages: Vec<_> = missing.iter().map(|part| part.package).collect();
    if !is_root() {
        return Err(Failure(format!(
            "missing programs; install them as root with `apt-get install --yes {}`",
            packages.join(" ")
        )));
    }
    step::run(apt_get().arg("update"))?;
    step::run(apt_get().args(["install", "--yes", "--no-install-recommends"]).args(packages))?;
    Ok(Outcome::Passed)
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

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
    command
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0)
}
