//! A user beside the controllers: reads and changes one ConfigMap, over and over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use testbed::server::Client;
use tokio::task::JoinHandle;

const OBJECT: &str = "/api/v1/namespaces/default/configmaps/foreground";
/// Between two requests: a user, not a load test.
const PAUSE: Duration = Duration::from_millis(5);

/// Latencies of a user's requests.
pub struct Latencies {
    reads: Vec<Duration>,
    writes: Vec<Duration>,
}

impl Latencies {
    /// The 99th percentile of reads and of writes.
    pub fn p99(&self) -> (Duration, Duration) {
        (percentile(&self.reads, 99), percentile(&self.writes, 99))
    }
}

/// Makes the ConfigMap.
pub async fn prepare(client: &Client) {
    let object =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "foreground"}, "data": {}});
    let made = client.post("/api/v1/namespaces/default/configmaps", &object).await.unwrap();
    assert_eq!(made.code, 201, "{}", made.text());
}

/// A user at work.
pub struct User {
    stop: Arc<AtomicBool>,
    working: JoinHandle<Latencies>,
}

impl User {
    /// Begins to read and write.
    pub fn begin(client: &Client) -> User {
        let stop = Arc::new(AtomicBool::new(false));
        let (client, stopped) = (client.apart(), stop.clone());
        let working = tokio::spawn(async move {
            let mut latencies = Latencies { reads: Vec::new(), writes: Vec::new() };
            let mut round = 0_u64;
            while !stopped.load(Ordering::Relaxed) {
                round += 1;
                let begun = Instant::now();
                assert_eq!(client.get(OBJECT).await.unwrap().code, 200);
                latencies.reads.push(begun.elapsed());
                let change = json!({"data": {"round": round.to_string()}});
                let begun = Instant::now();
                assert_eq!(client.merge(OBJECT, &change).await.unwrap().code, 200);
                latencies.writes.push(begun.elapsed());
                tokio::time::sleep(PAUSE).await;
            }
            latencies
        });
        User { stop, working }
    }

    /// Stops and tells how long the requests took.
    pub async fn end(self) -> Latencies {
        self.stop.store(true, Ordering::Relaxed);
        self.working.await.unwrap()
    }
}

fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get((times.len() * percent / 100).min(times.len().saturating_sub(1))).copied().unwrap_or_default()
}
