//! The Python client, through its typed, dynamic and custom object interfaces and its watch.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::process::Command;

use testbed::server::Server;
use testbed::{need, parts};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/python.py");
const WIDGETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/kube/fixtures/widgets.json");
const GAUGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/gauges.json");

#[test]
fn the_python_client_works() {
    let Some(python) = parts::find("python/bin/python3") else {
        return need::passed_over("the Python client was not fetched; `cargo xtask test` does that");
    };
    let server = Server::fresh(env!("CARGO_BIN_EXE_groundplane"), &[]).unwrap();
    let ended = Command::new(python)
        .args([SCRIPT, WIDGETS, GAUGES])
        .env("KUBECONFIG", server.kubeconfig())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
    eprintln!("{said}");
    assert!(ended.status.success(), "{said}");
}
