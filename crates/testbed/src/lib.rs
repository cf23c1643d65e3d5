//! Real parts for tests: clusters of other people's servers, small disks, and checkers of recorded histories.

pub mod etcd;
pub mod linearizable;
pub mod server;
