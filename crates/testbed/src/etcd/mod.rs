//! Real etcd members on loopback, to be killed, paused and restarted by tests.

mod certificates;
mod cluster;
mod error;
mod etcdctl;
mod member;
mod options;
mod ports;

pub use certificates::Certificates;
pub use cluster::Cluster;
pub use error::Error;
pub use options::Options;
