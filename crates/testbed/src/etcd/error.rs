use std::{io, path::PathBuf};

/// What can go wrong with a cluster under test. None of these is worth a retry: the machine lacks something,
/// or etcd's log says why.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program could not be run, mostly because it is not installed.
    #[error(
        "cannot run {program}: {source}; install Debian's etcd-server and etcd-client, or set ETCD and ETCDCTL"
    )]
    Program {
        /// The program as it was called.
        program: String,
        /// Why the system refused.
        source: io::Error,
    },
    /// A file or a port of the cluster could not be made or read.
    #[error("cannot prepare {what}: {source}")]
    Prepare {
        /// The file or port.
        what: String,
        /// Why the system refused.
        source: io::Error,
    },
    /// A member ended while it was awaited.
    #[error("etcd member {member} ended on its own; the end of its log:\n{log}")]
    Ended {
        /// Place of the member in the cluster, from 0.
        member: usize,
        /// The last lines it wrote.
        log: String,
    },
    /// A member runs but did not become healthy in time.
    #[error("etcd member {member} is not healthy: {cause}; its log is {log}")]
    Unhealthy {
        /// Place of the member in the cluster, from 0.
        member: usize,
        /// What etcdctl said last.
        cause: String,
        /// Where it logs; gone when the cluster is dropped.
        log: PathBuf,
    },
    /// No running member calls itself leader.
    #[error("no member leads the cluster; are enough of them running?")]
    NoLeader,
    /// etcdctl refused.
    #[error("etcdctl {arguments} failed: {cause}")]
    Etcdctl {
        /// What it was asked.
        arguments: String,
        /// What it wrote to stderr.
        cause: String,
    },
    /// The certificates of a TLS cluster could not be made.
    #[error("cannot make certificates: {0}")]
    Certificates(#[from] rcgen::Error),
}
