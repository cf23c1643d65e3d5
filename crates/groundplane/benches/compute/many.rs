//! Many simulated instances in ten cities, from one apply.

use std::time::{Duration, Instant};

use crate::report::Report;
use crate::{PLANE, WORKLOADS, create, simulated, until, workload};

const CITIES: &str = "AMS,ARN,BOM,CDG,DFW,FRA,GRU,IAD,LHR,NRT";

pub async fn measure(instances: u64, report: &mut Report) {
    let (server, client) = simulated(CITIES).await;
    let each = (instances / 10).clamp(1, 1000);
    let all = each * 10;
    let begun = Instant::now();
    create(&client, &workload("many", "acme/web:1", CITIES, each)).await;
    let path = format!("{PLANE}{WORKLOADS}/many");
    let count =
        async |field: &str| client.get(&path).await.unwrap().json()["status"][field].as_u64().unwrap_or(0);
    until("all are placed", async || count("replicas").await >= all).await;
    let placed = begun.elapsed();
    until("all are ready", async || count("readyReplicas").await >= all).await;
    let ready = begun.elapsed();
    report.time(&format!("{all} instances in ten cities available"), ready, Some(Duration::from_secs(60)));
    // 1,500 in a second.
    let each = placed.as_secs_f64() * 1e6 / all as f64;
    report.line("placing an instance", each, "µs", Some(667.0));
    report.line("memory of the server", server.memory() as f64, "MiB", None);
}
