//! Manifests of the originals apply unchanged, and their states read as they are meant. They are other people's and read
//! where they lie.

use services::catalog::State;

use super::*;

/// The documents of a case.
fn documents(name: &str) -> Option<Vec<Value>> {
    let folder = require::cases("compute")?;
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let documents = text.split("\n---").filter(|document| document.contains("apiVersion:"));
    Some(documents.map(|document| krm::decode::read_yaml(document.as_bytes()).unwrap().value).collect())
}

/// Where a kind of these groups is.
fn place(object: &Value) -> String {
    let api = object["apiVersion"].as_str().unwrap();
    let kind = object["kind"].as_str().unwrap();
    let plural = match kind.strip_suffix('y') {
        Some(stem) => format!("{}ies", stem.to_lowercase()),
        None if kind.ends_with("ss") => format!("{}es", kind.to_lowercase()),
        None => format!("{}s", kind.to_lowercase()),
    };
    let collection = match object["metadata"]["namespace"].as_str() {
        Some(namespace) => namespaced(api, namespace, &plural),
        None => cluster(api, &plural),
    };
    let of_root = [
        "ResourceRegistration",
        "ResourceGrant",
        "AllowanceBucket",
        "Service",
        "Location",
        "InstanceType",
        "RuntimeClass",
    ];
    if of_root.contains(&kind) { collection } else { inside("acme-prod", &collection) }
}

#[tokio::test]
async fn their_manifests_apply_unchanged() {
    let (_server, client) = server();
    for project in ["acme-prod", "datum-cloud"] {
        make_project(&client, project).await;
    }
    for file in [
        "quota.yaml",
        "catalog-later.yaml",
        "gcp-locations.yaml",
        "networking.yaml",
        "entitlement-states.yaml",
    ] {
        let Some(mut documents) = documents(file) else { return };
        // A request names a service that exists; the file has it last.
        documents.sort_by_key(|object| object["kind"] != "Service");
        for object in documents {
            let kind = object["kind"].as_str().unwrap().to_owned();
            let answer =
                client.post(&format!("{}?fieldValidation=Strict", place(&object)), &object).await.unwrap();
            match kind.as_str() {
                "AllowanceBucket" => {
                    assert_eq!(answer.code, 405, "buckets are the server's: {}", answer.text())
                }
                "ServiceEntitlement" => {
                    assert!(matches!(answer.code, 201 | 409), "{file}: {}", answer.text())
                }
                _ => assert_eq!(answer.code, 201, "{file}: {kind}: {}", answer.text()),
            }
        }
    }
    let columns = async |path: &str| -> Vec<String> {
        let table = client
            .apart()
            .with("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
            .get(path)
            .await
            .unwrap();
        let columns = table.json()["columnDefinitions"].as_array().unwrap().clone();
        let shown = columns.iter().filter(|column| column["priority"] == 0);
        shown.map(|column| column["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        columns(&cluster(NETWORKING, "locations")).await,
        ["Name", "Class", "CityCode", "Age", "Ready", "Reason"]
    );
    let buckets = namespaced(QUOTA, "milo-system", "allowancebuckets");
    assert_eq!(
        columns(&buckets).await,
        ["Name", "Resource Type", "Limit", "Allocated", "Available", "Claims", "Age"]
    );
    let bindings = inside("acme-prod", &cluster(NETWORKING, "locationbindings"));
    assert_eq!(columns(&bindings).await, ["Name", "Location", "Class", "Available", "Age"]);
    let entitlements = inside("acme-prod", &cluster(SERVICES, "serviceentitlements"));
    assert_eq!(columns(&entitlements).await, ["Name", "Service", "Phase", "Origin", "Suspended", "Age"]);
}

#[test]
fn their_states_of_a_request_are_ours() {
    let Some(documents) = documents("entitlement-states.yaml") else { return };
    let requests: Vec<Value> =
        documents.into_iter().filter(|object| object["kind"] == "ServiceEntitlement").collect();
    let state = |object: &Value| State::of(Some(&serde_json::from_value(object.clone()).unwrap()));
    // Each with the reason and the text that the server gives, as `every_state_of_a_request_has_its_text` sees them.
    let told = |object: &Value| (state(object), condition(object, "Ready"), message(object, "Ready"));
    let wanted = [
        (State::Processing, "", ""),
        (State::PendingApproval, "False:EntitlementPendingApproval", "Awaiting provider approval"),
        (State::Active, "True:EntitlementActive", "Entitlement is active"),
        (State::Denied, "False:EntitlementRejected", "Not eligible"),
    ];
    let wanted = wanted.map(|(state, reason, text)| (state, reason.to_owned(), text.to_owned()));
    assert_eq!(requests.iter().map(told).collect::<Vec<_>>(), wanted);
    assert_eq!(State::of(None), State::NotRequested);
    // What the file says of the others in words.
    let mut revoked = requests[3].clone();
    revoked["status"]["entitledAt"] = "2026-06-04T10:00:00Z".into();
    assert_eq!(state(&revoked), State::Revoked);
    let mut unavailable = requests[3].clone();
    unavailable["status"]["conditions"][0]["reason"] = "ServiceNotPublished".into();
    assert_eq!(state(&unavailable), State::Unavailable);
}
