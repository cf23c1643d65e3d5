//! What is packaged asks for what the binary has: every flag in the units and manifests is one of `serve`.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use testbed::need;

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");

fn packaging(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging").join(file)
}

/// The long flags in a text.
fn flags(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-'));
    let long = words.filter(|word| word.starts_with("--") && word.len() > 3);
    long.map(str::to_owned).collect()
}

#[test]
fn every_flag_that_is_packaged_is_one_of_the_server() {
    let help = Command::new(GROUNDPLANE).args(["serve", "--help"]).output().unwrap();
    let known = flags(&String::from_utf8(help.stdout).unwrap());
    for (file, begins) in [
        ("systemd/groundplane.service", "ExecStart="),
        ("Containerfile", "CMD"),
        ("kubernetes/servers.yaml", "        - --"),
    ] {
        let text = std::fs::read_to_string(packaging(file)).unwrap();
        let lines: Vec<_> = text.lines().filter(|line| line.starts_with(begins)).collect();
        let used = flags(&lines.join("\n"));
        assert!(!used.is_empty(), "{file} starts the server with flags");
        let unknown: Vec<_> = used.difference(&known).collect();
        assert!(unknown.is_empty(), "{file} has {unknown:?}");
    }
}

#[test]
fn the_manifests_for_kubernetes_are_whole() {
    let Some(kubectl) = testbed::parts::find("kubectl-1.35/kubectl") else {
        return need::passed_over("there is no kubectl 1.35");
    };
    let built = Command::new(kubectl).arg("kustomize").arg(packaging("kubernetes")).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let built = String::from_utf8(built.stdout).unwrap();
    for kind in ["Namespace", "ConfigMap", "Service", "Deployment", "PodDisruptionBudget"] {
        assert!(built.contains(&format!("\nkind: {kind}\n")), "{kind} in {built}");
    }
    // What the pods refer to is there: the name of the generated map has its hash in both places.
    let map = built.lines().find_map(|line| line.strip_prefix("  name: groundplane-")).unwrap();
    assert_eq!(built.matches(&format!("groundplane-{map}")).count(), 3, "{built}");
}

#[test]
fn keys_are_made_once_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("keys");
    let make = || Command::new(GROUNDPLANE).arg("keys").arg("--data").arg(&data).output().unwrap();
    let made = make();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let told = String::from_utf8(made.stdout).unwrap();
    let files: Vec<_> = told.lines().map(PathBuf::from).collect();
    assert_eq!(files.len(), 4, "{told}");
    let read = || files.iter().map(|file| std::fs::read(file).unwrap()).collect::<Vec<_>>();
    for file in &files {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{}", file.display());
    }
    let before = read();
    assert!(make().status.success());
    assert!(read() == before, "a second time changes nothing");
}

#[test]
fn a_supervisor_is_told_when_it_is_ready_and_when_it_stops() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let supervisor = UnixDatagram::bind(&path).unwrap();
    supervisor.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut server = Command::new(GROUNDPLANE)
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(folder.path().join("data"))
        .env("NOTIFY_SOCKET", &path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let heard = || {
        let mut said = [0; 64];
        let length = supervisor.recv(&mut said).unwrap();
        String::from_utf8_lossy(&said[..length]).into_owned()
    };
    assert_eq!(heard(), "READY=1");
    let stopped = Command::new("kill").arg(server.id().to_string()).status().unwrap();
    assert!(stopped.success());
    assert_eq!(heard(), "STOPPING=1");
    assert!(server.wait().unwrap().success());
}
