//! The fulfillment API through a foreign client: Python, with stubs made from our .proto files and by reflection alone.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use testbed::etcd::Cluster;
use testbed::server::{Pair, Server};
use testbed::{need, parts};

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
/// The stories write the status of clusters themselves, as a controller of somebody else would.
const CONTROLLERS: [&str; 2] = [
    "--controllers",
    "all,-host-power-controller,-cluster-controller,-placement-controller,-host-provisioning-controller,-hub-controller",
];
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/fulfillment/main.py");
const PROTOS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/api/proto");

const RESTARTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/fulfillment/restarts.py");

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
    let server = Server::fresh(GROUNDPLANE, &CONTROLLERS).unwrap();
    stories(server.kubeconfig(), &[server.client().address()]);
    assert!(!server.said().contains("marker-7f3a"), "a password is in the log");
}

#[test]
fn a_foreign_client_works_with_two_servers_on_etcd() {
    if !Cluster::available() {
        return need::passed_over("there is no etcd");
    }
    let pair = Pair::with(GROUNDPLANE, &CONTROLLERS).unwrap();
    let (first, second) = (pair.first.client(), pair.second.client());
    stories(pair.first.kubeconfig(), &[first.address(), second.address()]);
}

/// A client that writes and watches while something is restarted.
struct Restarts {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Restarts {
    /// `None` when the client was not fetched.
    fn begin(kubeconfig: &Path, address: &str) -> Option<Restarts> {
        let Some(python) = parts::find("python-grpc/bin/python3") else {
            need::passed_over("the gRPC client was not fetched; `cargo xtask test` does that");
            return None;
        };
        let mut child = Command::new(python)
            .args([RESTARTS, PROTOS, address])
            .env("KUBECONFIG", kubeconfig)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Some(Restarts { child, lines })
    }

    /// Waits until hosts were written and told of since the last restart.
    fn ready(&mut self) {
        assert_eq!(self.lines.next().unwrap().unwrap(), "ready");
    }

    /// Something was restarted.
    fn restarted(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    }

    /// Nothing is restarted any more: what came is checked.
    fn end(mut self) {
        drop(self.child.stdin.take());
        let said: Vec<String> = self.lines.by_ref().map_while(Result::ok).collect();
        eprintln!("{said:?}");
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Restarts {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_watcher_misses_nothing_while_the_server_is_killed_and_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut server = Server::start(GROUNDPLANE, &data, &[]).unwrap();
    let address = server.client().address().to_owned();
    let Some(mut client) = Restarts::begin(server.kubeconfig(), &address) else { return };
    for _ in 0..2 {
        client.ready();
        server.kill();
        server = Server::start_on(GROUNDPLANE, &data, &address, &[]).unwrap();
        client.restarted();
    }
    client.ready();
    client.end();
}

#[test]
fn a_watcher_misses_nothing_while_etcd_and_a_server_on_it_are_restarted() {
    if !Cluster::available() {
        return need::passed_over("there is no etcd");
    }
    let mut pair = Pair::start(GROUNDPLANE).unwrap();
    let address = pair.second.client().address().to_owned();
    let Some(mut client) = Restarts::begin(pair.second.kubeconfig(), &address) else { return };
    client.ready();
    pair.cluster.stop_all().unwrap();
    pair.cluster.start_all().unwrap();
    client.restarted();
    client.ready();
    let (data, endpoints) = (pair.second.data().to_owned(), pair.cluster.endpoints().join(","));
    pair.second.kill();
    let _second = Server::start_on(GROUNDPLANE, &data, &address, &["--etcd", &endpoints]).unwrap();
    client.restarted();
    client.ready();
    client.end();
}
