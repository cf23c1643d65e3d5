//! Access to the service: without it nothing is deployed, and what runs is stopped when it is revoked.

use serde_json::json;

use super::place::{COMPUTE, Place, SERVICES, condition, inside, message, object, of, workload};
use super::server::until;

#[tokio::test]
async fn a_revocation_stops_everything_and_says_so() {
    let place = Place::new(&["DFW"]).await;
    let spec = json!({"serviceName": "compute.datumapis.com", "phase": "Published", "displayName": "Compute",
        "owner": {"producerProjectRef": {"name": "provider"}}});
    let services = format!("/apis/{SERVICES}/services");
    place.make(&services, &object(SERVICES, "Service", "compute", spec)).await;
    let refused = place
        .client
        .post(&of(COMPUTE, "workloads"), &workload("api", "ghcr.io/acme/api:1", &["DFW"], 2))
        .await
        .unwrap();
    assert_eq!(refused.code, 403);
    assert!(refused.text().contains("Compute is not enabled for project"), "{}", refused.text());
    let entitlements = inside(&format!("/apis/{SERVICES}/serviceentitlements"));
    let asked = object(SERVICES, "ServiceEntitlement", "compute", json!({"serviceRef": {"name": "compute"}}));
    place.make(&entitlements, &asked).await;
    let path = format!("{entitlements}/compute");
    until("it is active", || async { place.get(&path).await["status"]["phase"] == "Active" }).await;
    place.deploy(&workload("api", "ghcr.io/acme/api:1", &["DFW"], 2)).await;
    place.until_phase("api", "Done").await;
    // Without the entitlement, everything is stopped at once; the workload stays, and says why.
    assert_eq!(place.client.delete(&path).await.unwrap().code, 200);
    until("nothing runs any more", || async {
        place.runtime.running().is_empty() && place.instances().await.is_empty()
    })
    .await;
    until("the workload says so", || async {
        condition(&place.workload("api").await, "Available") == "False:ServiceRevoked"
    })
    .await;
    let said = message(&place.workload("api").await, "Available");
    assert!(said.contains("groundplane access request compute --project acme"), "{said}");
    // With it, the workload comes back by itself.
    place.make(&entitlements, &asked).await;
    place.until_phase("api", "Done").await;
    assert_eq!(place.runtime.running().len(), 2);
}
