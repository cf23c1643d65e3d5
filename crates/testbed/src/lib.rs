//! Real parts for tests: clusters of other people's servers, our own, and checkers of recorded histories.

pub mod etcd;
pub mod linearizable;
pub mod need;
pub mod parts;
pub mod server;
