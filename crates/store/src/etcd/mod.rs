//! The etcd engine: the objects on a cluster of etcd, shared by several servers.

pub(crate) mod client;
