//! The peer: PostgreSQL 15 behind a minimal gRPC server, which keeps hosts as the original's store does. Rows have the
//! object as JSON beside columns for its metadata; a change locks its row, counts its version and notifies in its
//! transaction.

mod database;
mod service;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use database::Postgres;

pub use service::serve;

/// The peer, until it is dropped.
pub struct Peer {
    child: Child,
    address: String,
    _postgres: Postgres,
}

impl Peer {
    /// Starts PostgreSQL on an empty folder, and the server in a process of its own.
    pub async fn start() -> Peer {
        let postgres = Postgres::start().await;
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([super::PEER, postgres.url()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Peer { child, address: address.trim().to_owned(), _postgres: postgres }
    }

    pub fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
