//! The gate in front of the commands: each state of a project's request has its sentence, its exit code and one next command.

use serde_json::json;

use crate::commands::{compute, server};
use crate::{PLANE, until};

const SERVICES: &str = "/apis/services.miloapis.com/v1alpha1";
const PROJECTS: &str = "/apis/resourcemanager.miloapis.com/v1alpha1/projects";

#[tokio::test]
async fn each_state_of_a_request_has_its_sentence_and_its_exit_code() {
    let server = server();
    let client = server.client();
    for name in ["acme", "beta"] {
        let project = json!({"apiVersion": "resourcemanager.miloapis.com/v1alpha1", "kind": "Project", "metadata": {"name": name}});
        assert_eq!(client.post(PROJECTS, &project).await.unwrap().code, 201);
    }
    let gated = json!({"spec": {"enablementPolicy": {"mode": "GatedByProvider"}}});
    assert_eq!(client.merge(&format!("{SERVICES}/services/compute"), &gated).await.unwrap().code, 200);
    let asked = |project: &str, words: &[&str]| {
        let words: Vec<&str> = words.iter().copied().chain(["--project", project]).collect();
        let output = compute(&server, &words);
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let list = |project: &str| asked(project, &["workloads"]);
    // Not requested: nothing is changed without a terminal.
    let (code, told) = list("acme");
    assert_eq!(code, 10, "{told}");
    assert!(told.contains("compute is not enabled for project \"acme\"."), "{told}");
    assert!(
        told.contains("Request access with: groundplane compute access request compute --project acme"),
        "{told}"
    );
    let entitlements =
        |project: &str| format!("{PROJECTS}/{project}/control-plane{SERVICES}/serviceentitlements");
    let none = client.get(&entitlements("acme")).await.unwrap().json();
    assert_eq!(none["items"], json!([]), "a command that was not confirmed has requested nothing");

    // Requested, and requested again: the second is no error.
    for _ in 0..2 {
        let (code, told) = asked("acme", &["access", "request", "compute"]);
        assert!(matches!(code, 0 | 12), "{code}: {told}");
        assert!(!told.contains("serviceentitlements.services.miloapis.com"), "{told}");
    }
    until("it is pending", || async {
        list("acme").0 == 12 && list("acme").1.contains("awaiting provider approval")
    })
    .await;

    let decide = async |project: &str, decision: &str, message: &str| {
        let patch = json!({"spec": {"approval": {"decision": decision, "message": message}}});
        let path = format!("{PLANE}{SERVICES}/serviceconsumers/compute-{project}");
        until("the provider is told", || async { client.merge(&path, &patch).await.unwrap().code == 200 })
            .await;
    };
    decide("acme", "Approved", "").await;
    until("it is active", || async { list("acme").0 == 0 }).await;
    decide("acme", "Denied", "Bill not paid").await;
    until("it is revoked", || async { list("acme").0 == 11 }).await;
    let (_, told) = list("acme");
    assert!(
        told.contains("compute access for project \"acme\" was revoked.") && told.contains("Bill not paid"),
        "{told}"
    );
    assert!(
        told.contains("Request access again with: groundplane compute access request compute --renew"),
        "{told}"
    );

    // Denied before it was ever active.
    asked("beta", &["access", "request", "compute"]);
    decide("beta", "Denied", "Not yet").await;
    until("it is denied", || async { list("beta").0 == 11 }).await;
    assert!(list("beta").1.contains("was denied."), "{}", list("beta").1);
}

#[test]
fn a_platform_without_compute_says_so() {
    let server = testbed::server::Server::fresh(crate::GROUNDPLANE, &[]).unwrap();
    let output = compute(&server, &["workloads"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(matches!(output.status.code(), Some(1 | 13)), "{told}");
    assert!(told.contains("project \"default\" does not exist") || told.contains("not available"), "{told}");
}
