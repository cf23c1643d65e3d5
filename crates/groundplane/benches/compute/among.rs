//! What one more workload costs among many.

use std::time::{Duration, Instant};

use testbed::server::Client;
use tokio::task::JoinSet;

use crate::report::{Report, median};
use crate::{create, ready, simulated, workload};

/// Workloads that are measured, before and after.
const SAMPLES: usize = 20;
const AT_ONCE: usize = 32;

pub async fn measure(workloads: usize, report: &mut Report) {
    let (_server, client) = simulated("DFW").await;
    let first = sample(&client, "first").await;
    let mut running: JoinSet<()> = JoinSet::new();
    for number in 0..workloads {
        if running.len() >= AT_ONCE {
            running.join_next().await.unwrap().unwrap();
        }
        let client = client.clone();
        running.spawn(async move {
            create(&client, &workload(&format!("w{number}"), "acme/web:1", "DFW", 1)).await;
        });
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
    for number in [0, workloads / 2, workloads.saturating_sub(1)] {
        ready(&client, &format!("w{number}"), 1).await;
    }
    let last = sample(&client, "last").await;
    report.time("a workload of one instance available, alone", first, None);
    report.time(&format!("the same among {workloads}"), last, None);
    let ratio = last.as_secs_f64() / first.as_secs_f64();
    report.line("among many, compared with alone", ratio, "times", Some(1.5));
}

async fn sample(client: &Client, name: &str) -> Duration {
    let mut times = Vec::new();
    for number in 0..SAMPLES {
        let name = format!("{name}-{number}");
        let begun = Instant::now();
        create(client, &workload(&name, "acme/web:1", "DFW", 1)).await;
        ready(client, &name, 1).await;
        times.push(begun.elapsed());
    }
    median(times)
}
