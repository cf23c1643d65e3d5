//! What is packaged asks for what the binary has: flags, paths, keys, and what a supervisor is told.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

#[path = "packaging/command_lines.rs"]
mod command_lines;
#[path = "packaging/manifests.rs"]
mod manifests;

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");

fn packaging(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging").join(file)
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

/// What a pod does: the files of a mounted Secret lie side by side, and others may read them.
#[test]
fn keys_are_taken_over_from_a_mounted_secret() {
    let folder = tempfile::tempdir().unwrap();
    let keys = |words: &[&str], data: &Path| {
        Command::new(GROUNDPLANE).arg("keys").args(words).arg("--data").arg(data).output().unwrap()
    };
    let (made, secret) = (folder.path().join("made"), folder.path().join("secret"));
    assert!(keys(&[], &made).status.success());
    std::fs::create_dir(&secret).unwrap();
    let shared = ["sealing.keys", "signing.key", "pki/ca.pem", "pki/service-accounts.pem"];
    for file in shared {
        let mounted = secret.join(Path::new(file).file_name().unwrap());
        std::fs::copy(made.join(file), &mounted).unwrap();
        std::fs::set_permissions(&mounted, std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    let from = format!("--from={}", secret.display());
    let data = folder.path().join("data");
    // A container that is started again does it again.
    for _ in 0..2 {
        let taken = keys(&[&from], &data);
        assert!(taken.status.success(), "{}", String::from_utf8_lossy(&taken.stderr));
        for file in shared {
            assert_eq!(
                std::fs::read(data.join(file)).unwrap(),
                std::fs::read(made.join(file)).unwrap(),
                "{file}"
            );
            assert_eq!(data.join(file).metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file}");
        }
    }

    // Keys in use are not overwritten, and a key that is missing is not made.
    let other = folder.path().join("other");
    assert!(keys(&[], &other).status.success());
    let before = std::fs::read(other.join("sealing.keys")).unwrap();
    let refused = keys(&[&from], &other);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("a different key is there already"), "{said}");
    assert_eq!(std::fs::read(other.join("sealing.keys")).unwrap(), before);
    std::fs::remove_file(secret.join("signing.key")).unwrap();
    let refused = keys(&[&from], &folder.path().join("empty"));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("signing.key"), "{said}");
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
