//! ConfigMaps and Secrets of workloads: delivered by reference, and rotated without a roll.

use containers::Runtime;
use serde_json::{Value, json};

use super::place::{Place, condition, inside, message, workload};
use super::server::until;

fn with_data() -> Value {
    let mut api = workload("api", "ghcr.io/acme/api:1", &["DFW"], 1);
    let container = &mut api["spec"]["template"]["spec"]["runtime"]["sandbox"]["containers"][0];
    container["env"] = json!([{"name": "URL", "valueFrom": {"secretKeyRef": {"name": "db", "key": "url"}}}]);
    container["volumeAttachments"] = json!([{"name": "config", "mountPath": "/etc/api"}]);
    api["spec"]["template"]["spec"]["volumes"] =
        json!([{"name": "config", "configMap": {"name": "app-config"}}]);
    api
}

#[tokio::test]
async fn an_instance_waits_for_its_data_and_a_rotation_does_not_roll() {
    let place = Place::new(&["DFW"]).await;
    place.deploy(&with_data()).await;
    place.until_shown("api-default-dfw-0", "Pending (SourceNotFound)").await;
    let waiting = place.instance("api-default-dfw-0").await.unwrap();
    assert_eq!(message(&waiting, "Ready"), "ConfigMap \"app-config\" not found in namespace \"default\"");
    until("the workload says so", || async {
        condition(&place.workload("api").await, "Available") == "False:SourceNotFound"
    })
    .await;
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "app-config"}, "data": {"a.yml": "x: 1"}});
    place.make(&inside("/api/v1/namespaces/default/configmaps"), &config).await;
    until("the Secret is missing", || async {
        let found = place.instance("api-default-dfw-0").await.unwrap();
        message(&found, "Ready") == "Secret \"db\" not found in namespace \"default\""
    })
    .await;
    let secrets = inside("/api/v1/namespaces/default/secrets");
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"}, "stringData": {"other": "1"}});
    place.make(&secrets, &secret).await;
    // It exists, and lacks the key.
    place.until_shown("api-default-dfw-0", "Failed (configuration error)").await;
    until("the key is missing", || async {
        let failed = place.instance("api-default-dfw-0").await.unwrap();
        message(&failed, "Ready").contains("Secret \"db\" has no key \"url\"")
    })
    .await;
    let set = |value: &str| json!({"stringData": {"url": value}});
    assert_eq!(
        place.client.merge(&format!("{secrets}/db"), &set("postgres://s3cret")).await.unwrap().code,
        200
    );
    place.until_phase("api", "Done").await;
    let starts = place.runtime.starts().len();
    // A rotation changes nothing that runs; a restart takes it up.
    assert_eq!(
        place.client.merge(&format!("{secrets}/db"), &set("postgres://other")).await.unwrap().code,
        200
    );
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(place.runtime.starts().len(), starts);
    // No object but the Secret has the value.
    for plural in ["instances", "workloads", "workloaddeployments"] {
        let all = place.get(&super::place::of(super::place::COMPUTE, plural)).await.to_string();
        assert!(!all.contains("s3cret") && !all.contains("postgres://"), "{plural}");
    }
    assert_eq!(place.runtime.list().await.unwrap().len(), 1);
}
