//! The JavaScript client: typed and untyped objects, watches that are resumed, informers.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::process::Command;

use testbed::server::Server;
use testbed::{need, parts};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/javascript.mjs");
const WIDGETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/kube/fixtures/widgets.json");
const GAUGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/gauges.json");

#[test]
fn the_javascript_client_works() {
    let library = "javascript/node_modules/@kubernetes/client-node/dist/index.js";
    let Some(library) = parts::find(library) else {
        return need::passed_over("the JavaScript client was not fetched; `cargo xtask test` does that");
    };
    let server = Server::fresh(env!("CARGO_BIN_EXE_groundplane"), &[]).unwrap();
    let ended = Command::new("node")
        .arg(SCRIPT)
        .arg(library)
        .args([WIDGETS, GAUGES])
        .env("KUBECONFIG", server.kubeconfig())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
    eprintln!("{said}");
    assert!(ended.status.success(), "{said}");
}
