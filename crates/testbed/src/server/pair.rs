//! Two servers on one etcd, with the same authority and keys.

use std::process::Command;

use tempfile::TempDir;

use super::{Server, ServerError};
use crate::etcd::Cluster;

/// The two, and what must live as long as they do.
pub struct Pair {
    /// The one that was there first.
    pub first: Server,
    /// The one that came to it.
    pub second: Server,
    /// Where they keep everything.
    pub cluster: Cluster,
    /// Their folders.
    pub folder: TempDir,
}

impl Pair {
    /// Starts an etcd of one member, a server on it, and a copy of that server beside it.
    pub fn start(binary: &str) -> Result<Pair, ServerError> {
        Pair::with(binary, &[])
    }

    /// The same with these arguments for both servers.
    pub fn with(binary: &str, arguments: &[&str]) -> Result<Pair, ServerError> {
        let failed =
            |why: &dyn std::fmt::Display| ServerError(format!("no two servers can be started: {why}"));
        let cluster = Cluster::start(1).map_err(|error| failed(&error))?;
        let endpoints = cluster.endpoints().join(",");
        let arguments = [&["--etcd", endpoints.as_str()], arguments].concat();
        let folder = TempDir::with_prefix("groundplane-").map_err(|error| failed(&error))?;
        let (here, there) = (folder.path().join("first"), folder.path().join("second"));
        let first = Server::start(binary, &here, &arguments)?;
        let copied = Command::new("cp").arg("-r").arg(&here).arg(&there).status();
        if !copied.map_err(|error| failed(&error))?.success() {
            return Err(failed(&"the first one's folder can't be copied"));
        }
        let second = Server::start(binary, &there, &arguments)?;
        Ok(Pair { first, second, cluster, folder })
    }
}
