//! Manifests of the original apply unchanged, those that it refuses are refused, and its states read as they are meant. They are
//! other people's and read where they lie.

use serde_json::Value;

use super::place::{COMPUTE, Place, inside, of};

/// The documents of a case, each with the comment before it.
fn documents(name: &str) -> Option<Vec<(String, Value)>> {
    let folder = require::cases("compute")?;
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let documents = text.split("\n---").filter(|document| document.contains("apiVersion:"));
    let read = |document: &str| {
        let comment = document
            .lines()
            .rev()
            .skip_while(|line| !line.starts_with('#'))
            .find(|line| line.starts_with('#'));
        let value = krm::decode::read_yaml(document.as_bytes()).unwrap().value;
        (comment.unwrap_or_default().trim_start_matches('#').trim().to_owned(), value)
    };
    Some(documents.map(read).collect())
}

fn collection(object: &Value) -> String {
    match object["kind"].as_str().unwrap() {
        "Secret" => inside("/api/v1/namespaces/default/secrets"),
        "ConfigMap" => inside("/api/v1/namespaces/default/configmaps"),
        kind => of(COMPUTE, &format!("{}s", kind.to_lowercase())),
    }
}

#[tokio::test]
async fn their_manifests_apply_unchanged() {
    let place = Place::bare(&["DFW", "DLS", "LHR", "IAD"]).await;
    for file in [
        "workload-minimal.yaml",
        "workload-autoscaled.yaml",
        "workload-location-selector.yaml",
        "compute_v1alpha_workload-sandbox.yaml",
        "compute_v1alpha_workload-vm.yaml",
        "multi-placement-sandbox.yaml",
        "kong-gateway.yaml",
        "workloaddeployment.yaml",
    ] {
        let Some(documents) = documents(file) else { return };
        for (_, object) in documents {
            let path = format!("{}?fieldValidation=Strict", collection(&object));
            let answer = place.client.post(&path, &object).await.unwrap();
            // The workload of an earlier file has made the same deployment.
            let is_there = answer.code == 409 && object["kind"] == "WorkloadDeployment";
            assert!(answer.code == 201 || is_there, "{file}: {}", answer.text());
        }
    }
    let Some(documents) = documents("instance-states.yaml") else { return };
    // Anchors of one document hold for that document alone: the others are complete.
    for (_, object) in documents {
        let answer = place
            .client
            .post(&format!("{}?fieldValidation=Strict", collection(&object)), &object)
            .await
            .unwrap();
        assert!(matches!(answer.code, 201 | 409), "{}", answer.text());
    }
}

#[tokio::test]
async fn what_they_refuse_is_refused_for_the_same_reason() {
    let place = Place::bare(&["DFW"]).await;
    let Some(documents) = documents("workload-invalid.yaml") else { return };
    assert_eq!(documents.len(), 5);
    for (comment, object) in documents {
        let answer = place.client.post(&collection(&object), &object).await.unwrap();
        assert_eq!(answer.code, 422, "{}", answer.text());
        let first = answer.json()["details"]["causes"][0].clone();
        let field = comment.split(':').next().unwrap();
        assert_eq!(first["field"], field, "{comment}: {}", answer.text());
        if let Some((_, why)) = comment.split_once('(') {
            assert!(
                first["message"].as_str().unwrap().contains(why.trim_end_matches(')')),
                "{comment}: {first}"
            );
        }
    }
}

#[test]
fn their_states_read_as_they_are_meant() {
    let Some(documents) = documents("instance-states.yaml") else { return };
    let wanted = [
        "Available",
        "Pending (quota exceeded)",
        "Failed (image unavailable)",
        "Failed (image unavailable)",
        "Pending (SourceNotFound)",
    ];
    let states: Vec<String> = documents.iter().map(|(_, object)| super::place::shown(object)).collect();
    assert_eq!(states, wanted);
    for ((comment, _), state) in documents.iter().zip(&states) {
        assert!(comment.starts_with(state.as_str()), "{comment}: {state}");
    }
}
