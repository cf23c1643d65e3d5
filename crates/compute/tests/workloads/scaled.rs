//! Autoscaling by the CPU that instances use.

use std::time::Duration;

use containers::{Runtime, Usage};
use serde_json::{Value, json};

use super::place::{COMPUTE, Place, of, workload};
use super::server::until;

/// Lets all instances use so many thousandths of a core from now on.
async fn burn(place: &Place, millicores: u64) {
    let begun = std::time::Instant::now();
    let runtime = place.runtime.clone();
    for _ in 0..30 {
        for state in runtime.list().await.unwrap() {
            let cpu_time = Duration::from_micros(begun.elapsed().as_micros() as u64 * millicores / 1000);
            let _ = runtime.set_usage(&state.id, Usage { cpu_time, memory_bytes: 0 });
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn instances_follow_the_cpu_that_they_use_within_their_bounds() {
    let place = Place::new(&["DFW"]).await;
    let mut api = workload("api", "ghcr.io/acme/api:1", &["DFW"], 1);
    api["spec"]["placements"][0]["scaleSettings"] = json!({
        "minReplicas": 1, "maxReplicas": 3,
        "metrics": [{"resource": {"name": "cpu", "target": {"averageUtilization": 50}}}],
    });
    place.deploy(&api).await;
    place.until_phase("api", "Done").await;
    let deployment = format!("{}/api-default-dfw", of(COMPUTE, "workloaddeployments"));
    let replicas = async || -> Value { place.get(&deployment).await["status"]["desiredReplicas"].clone() };
    assert_eq!(replicas().await, 1);
    // Twice the target, and more: up to the bound.
    let burning = async { burn(&place, 2000).await };
    let rising = until("three are wanted", || async { replicas().await == 3 });
    tokio::join!(burning, rising);
    until("three run", || async { place.instances().await.len() == 3 }).await;
    // Nothing to do: down again, after the last samples have passed.
    until("one is enough", || async { replicas().await == 1 }).await;
    until("one is left", || async { place.instances().await.len() == 1 }).await;
    // The number is the autoscaler's: the scale subresource shows it.
    until("the scale shows it", || async {
        let scale = place.get(&format!("{deployment}/scale")).await;
        (&scale["spec"]["replicas"], &scale["status"]["replicas"]) == (&json!(1), &json!(1))
    })
    .await;
}
