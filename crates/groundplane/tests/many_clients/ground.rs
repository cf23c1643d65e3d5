//! What the clients talk to: one server with its own store, or two on one etcd.

use testbed::etcd::Cluster;
use testbed::need;
use testbed::server::{Client, Pair, Server};

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");

/// The servers.
pub enum Ground {
    /// One with its own store.
    One(Box<Server>),
    /// Two on one etcd.
    Two(Box<Pair>),
}

impl Ground {
    /// One server with its own store.
    pub fn embedded() -> Ground {
        Ground::One(Box::new(Server::fresh(GROUNDPLANE, &[]).unwrap()))
    }

    /// Two servers on one etcd; `None`, said plainly, when there is no etcd to be had.
    pub fn etcd() -> Option<Ground> {
        if !Cluster::available() {
            need::passed_over("there is no etcd");
            return None;
        }
        Some(Ground::Two(Box::new(Pair::start(GROUNDPLANE).unwrap())))
    }

    /// A client with connections of its own; one client's server is the next one's other.
    pub fn client(&self, number: usize) -> Client {
        match self {
            Ground::One(server) => server.client(),
            Ground::Two(pair) if number.is_multiple_of(2) => pair.first.client(),
            Ground::Two(pair) => pair.second.client(),
        }
    }
}
