//! The fulfillment API through a foreign client: Python, with stubs made from our .proto files and by reflection alone.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::path::Path;
use std::process::Command;

use testbed::etcd::Cluster;
use testbed::server::{Pair, Server};
use testbed::{need, parts};

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/fulfillment/main.py");
const PROTOS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/api/proto");

/// Runs the client's stories against one server or two.
fn stories(kubeconfig: &Path, addresses: &[&str]) {
    let Some(python) = parts::find("python-grpc/bin/python3") else {
        return need::passed_over("the gRPC client was not fetched; `cargo xtask test` does that");
    };
    let ended = Command::new(python)
        .args([SCRIPT, PROTOS])
        .args(addresses)
        .env("KUBECONFIG", kubeconfig)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
    eprintln!("{said}");
    assert!(ended.status.success(), "{said}");
}

#[test]
fn a_foreign_client_works_with_one_server() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    stories(server.kubeconfig(), &[server.client().address()]);
    assert!(!server.said().contains("marker-7f3a"), "a password is in the log");
}

#[test]
fn a_foreign_client_works_with_two_servers_on_etcd() {
    if !Cluster::available() {
        return need::passed_over("there is no etcd");
    }
    let pair = Pair::start(GROUNDPLANE).unwrap();
    let (first, second) = (pair.first.client(), pair.second.client());
    stories(pair.first.kubeconfig(), &[first.address(), second.address()]);
}
