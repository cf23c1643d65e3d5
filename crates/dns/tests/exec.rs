//! A program as a provider: what it is given, and what becomes of its answers.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use dns::{Addresses, DnsName, Ensured, Exec, Provider};
use tempfile::TempDir;

fn name(text: &str) -> DnsName {
    text.parse().unwrap()
}

/// A shell script as the program; it finds its input in `$input`.
fn program(body: &str) -> (TempDir, Exec) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records");
    fs::write(&path, format!("#!/bin/sh\ncd {}\ninput=$(cat)\n{body}\n", folder.path().display())).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let exec = Exec::new(path, name("example.test"), Duration::from_secs(20));
    (folder, exec)
}

#[tokio::test]
async fn a_program_is_told_what_to_do_and_says_whether_it_did_something() {
    let (folder, exec) = program("printf %s \"$input\" >input; echo '{\"changed\": true}'");
    let wanted = [Addresses::new(name("api.example.test"), ["192.0.2.1".parse().unwrap()])];
    assert_eq!(exec.ensure(&wanted).await.unwrap(), Ensured::Changed);
    let input: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path().join("input")).unwrap()).unwrap();
    assert_eq!(
        input,
        serde_json::json!({
            "operation": "ensure", "zone": "example.test", "ttl": 60,
            "records": [{"name": "api.example.test", "addresses": ["192.0.2.1"]}],
        })
    );
    let (_folder, exec) = program("echo '{\"changed\": false}'");
    assert_eq!(exec.remove(&[name("api.example.test")]).await.unwrap(), Ensured::Unchanged);
    let (_folder, exec) = program("echo '{\"addresses\": [\"2001:db8::1\"]}'");
    let found = exec.lookup(&name("api.example.test")).await.unwrap();
    assert_eq!(found.addresses.len(), 1);
    let (_folder, exec) = program("echo '{}'");
    exec.check().await.unwrap();
}

#[tokio::test]
async fn a_program_that_fails_hangs_or_babbles_is_an_error_with_its_words() {
    for (body, expected) in [
        ("echo >&2; echo 'no such zone here' >&2; exit 3", "no such zone here"),
        ("exit 1", "it failed without a word"),
        ("echo yes", "its output is not what is expected"),
        ("head -c 100000 /dev/zero | tr '\\0' ' '", "its output is larger than 65536 bytes"),
    ] {
        let (_folder, exec) = program(body);
        let error = exec.check().await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let (folder, _) = program("sleep 60");
    let exec = Exec::new(folder.path().join("records"), name("example.test"), Duration::from_millis(200));
    let error = exec.check().await.unwrap_err().to_string();
    assert!(error.contains("did not end within"), "{error}");
    let exec = Exec::new(folder.path().join("missing"), name("example.test"), Duration::from_secs(1));
    assert!(exec.check().await.unwrap_err().to_string().contains("No such file"));
    let error = exec.remove(&[name("api.example.org")]).await.unwrap_err();
    assert_eq!(error.to_string(), "api.example.org is not in zone example.test");
}

#[tokio::test]
async fn a_program_sees_nothing_of_our_environment() {
    let (folder, exec) = program("env >environment; echo '{}'");
    exec.check().await.unwrap();
    let seen = fs::read_to_string(folder.path().join("environment")).unwrap();
    // What a shell sets by itself.
    let own = ["PATH", "PWD", "OLDPWD", "SHLVL", "_"];
    let ours: Vec<String> =
        std::env::vars().map(|(name, _)| name).filter(|name| !own.contains(&name.as_str())).collect();
    assert!(!ours.is_empty());
    let passed_on: Vec<&String> =
        ours.iter().filter(|name| seen.lines().any(|line| line.starts_with(&format!("{name}=")))).collect();
    assert!(passed_on.is_empty(), "{passed_on:?}");
}
