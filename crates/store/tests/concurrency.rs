//! Many writers at once: rules hold at every revision, and reads and writes are linearizable, on both engines.
//!
//! `GROUNDPLANE_SOAK_SECONDS` says for how long each engine is kept busy.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "many/grounds.rs"]
mod grounds;
#[path = "many/overlap.rs"]
mod overlap;
#[path = "many/register.rs"]
mod register;

use std::time::Duration;

use grounds::Ground;

fn soak() -> Duration {
    let seconds = std::env::var("GROUNDPLANE_SOAK_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(3))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_two_devices_ever_overlap_on_the_embedded_engine() {
    let ground = Ground::embedded(Some(overlap::model())).await;
    overlap::sixty_four_writers(&ground.servers, soak()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_two_devices_ever_overlap_with_two_servers_on_etcd() {
    let Some(ground) = Ground::etcd(1, Some(overlap::model())).await else { return };
    overlap::sixty_four_writers(&ground.servers, soak()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_and_writes_are_linearizable_on_the_embedded_engine() {
    let ground = Ground::embedded(None).await;
    let history = register::record(&ground.servers, soak() / 10).await;
    register::assert_linearizable(&history);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_and_writes_are_linearizable_with_two_servers_on_etcd() {
    let Some(ground) = Ground::etcd(1, None).await else { return };
    let history = register::record(&ground.servers, soak() / 10).await;
    register::assert_linearizable(&history);
}
