//! What the clients talk to: one server with its own store, or two on one etcd.

use testbed::etcd::Cluster;
use testbed::need;
use testbed::server::{Client, Server};

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");

/// The servers, and what must live as long as they do.
pub struct Ground {
    servers: Vec<Server>,
    _cluster: Option<Cluster>,
}

impl Ground {
    /// One server with its own store.
    pub fn embedded() -> Ground {
        Ground { servers: vec![Server::fresh(GROUNDPLANE, &[]).unwrap()], _cluster: None }
    }

    /// Two servers on one etcd; `None`, said plainly, when there is no etcd to be had.
    pub fn etcd() -> Option<Ground> {
        if !Cluster::available() {
            need::passed_over("there is no etcd");
            return None;
        }
        let cluster = Cluster::start(1).unwrap();
        let endpoints = cluster.endpoints().join(",");
        let first = Server::fresh(GROUNDPLANE, &["--etcd", &endpoints]).unwrap();
        // The second is a copy of the first: the same authority, the same keys.
        let data = first.data().with_file_name("second");
        let copied = std::process::Command::new("cp").arg("-r").arg(first.data()).arg(&data).status();
        assert!(copied.unwrap().success());
        let second = Server::start(GROUNDPLANE, &data, &["--etcd", &endpoints]).unwrap();
        // The folder of the first holds that of the second, and goes last.
        Some(Ground { servers: vec![second, first], _cluster: Some(cluster) })
    }

    /// A client with connections of its own; one client's server is the next one's other.
    pub fn client(&self, number: usize) -> Client {
        self.servers[number % self.servers.len()].client()
    }
}
