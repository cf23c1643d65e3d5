//! Real parts for tests and benches: etcd clusters, groundplane servers, checkers of recorded histories, and reports of
//! measurements.

pub mod bench;
pub mod etcd;
pub mod linearizable;
pub mod need;
pub mod parts;
pub mod server;
pub mod soak;
pub mod sushy;
