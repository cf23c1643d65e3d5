//! Real parts for tests and benches: clusters of other people's servers, our own, checkers of recorded histories, and
//! how figures are told.

pub mod bench;
pub mod etcd;
pub mod linearizable;
pub mod need;
pub mod parts;
pub mod server;
