//! What kube-apiserver 1.36.4 with one etcd 3.6.8 needed for the same work on a quiet machine of two cores, the load
//! generator on the same cores; and how far ahead of that we are to be at least.

/// What is compared.
#[derive(Clone, Copy)]
pub enum Measure {
    /// Operations in a second: the more the better.
    Rate,
    /// The median latency: the less the better.
    Latency,
}

/// The peer's figures of one operation.
#[derive(Clone, Copy)]
pub struct Peer {
    pub per_second: Option<f64>,
    pub p50: f64,
    pub cpu: Option<f64>,
    pub measure: Measure,
    /// How many times better we are to be.
    pub floor: Option<f64>,
}

const fn rate(per_second: f64, p50: f64, cpu: f64, floor: Option<f64>) -> Peer {
    Peer { per_second: Some(per_second), p50, cpu: Some(cpu), measure: Measure::Rate, floor }
}

const fn latency(p50: f64, cpu: Option<f64>, floor: Option<f64>) -> Peer {
    Peer { per_second: None, p50, cpu, measure: Measure::Latency, floor }
}

pub const CREATE_1: Peer = rate(227.0, 3.9, 5.7, None);
pub const CREATE_16: Peer = rate(549.0, 24.0, 3.5, Some(5.0));
pub const CREATE_16_MORE: Peer = rate(460.0, 29.0, 4.1, Some(5.0));
pub const GET_1: Peer = rate(643.0, 1.3, 2.2, Some(8.0));
pub const GET_16: Peer = rate(1_503.0, 8.7, 1.2, Some(8.0));
pub const PATCH_1: Peer = rate(185.0, 4.8, 7.5, None);
pub const PATCH_16: Peer = rate(342.0, 36.0, 5.6, Some(5.0));
pub const STATUS_16: Peer = rate(316.0, 42.0, 6.1, None);
pub const APPLY_16: Peer = rate(363.0, 35.0, 5.3, Some(5.0));
pub const LIST_10K: Peer = latency(954.0, Some(1_160.0), Some(30.0));
pub const LIST_50K: Peer = latency(4_873.0, Some(5_932.0), None);
pub const PAGE_500: Peer = latency(47.0, Some(49.0), None);
pub const TABLE_500: Peer = latency(40.0, Some(67.0), None);
pub const WALK_50K: Peer = latency(5_172.0, Some(6_310.0), None);
pub const LABEL_100: Peer = latency(59.0, Some(60.0), Some(100.0));
pub const LABEL_5000: Peer = latency(472.0, Some(640.0), None);
pub const FIELD_100: Peer = latency(58.0, Some(83.0), Some(100.0));
pub const WATCH_1: Peer = latency(4.6, None, None);
pub const WATCH_100: Peer = latency(7.3, Some(0.20), Some(3.0));
pub const WATCH_1000: Peer = latency(23.0, Some(0.09), None);

/// Seconds from start to ready.
pub const START: (f64, f64) = (2.0, 2.9);
/// Seconds within which we are to be ready, empty and with 50,000 objects.
pub const READY_EMPTY: f64 = 0.5;
pub const READY_FULL: f64 = 2.0;

/// MiB of apiserver and etcd: idle, after 50,000 creates, and at most, after full lists.
pub const MEMORY_IDLE: f64 = 259.0 + 37.0;
pub const MEMORY_50K: f64 = 2_006.0 + 139.0;
pub const MEMORY_PEAK: f64 = 2_742.0 + 188.0;
/// How many times less we are to need.
pub const MEMORY_FLOOR: f64 = 8.0;
