//! From a workload to instances that run, and back to nothing.

use containers::ExitCause;
use containers::simulated::{Ending, Script};
use serde_json::json;
use std::time::Duration;

use super::place::{COMPUTE, NETWORKING, Place, condition, message, of, shown, workload};
use super::server::until;

#[tokio::test]
async fn a_workload_in_two_cities_has_instances_with_names_and_labels() {
    let place = Place::new(&["DFW", "IAD"]).await;
    place.deploy(&workload("api", "ghcr.io/acme/api:1", &["DFW", "IAD"], 2)).await;
    let done = place.until_phase("api", "Done").await;
    let names: Vec<String> = place
        .instances()
        .await
        .iter()
        .map(|instance| instance["metadata"]["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["api-default-dfw-0", "api-default-dfw-1", "api-default-iad-0", "api-default-iad-1"]);
    assert_eq!(condition(&done, "Available"), "True:AvailablePlacementFound");
    let status = &done["status"];
    for field in ["replicas", "currentReplicas", "updatedReplicas", "desiredReplicas", "readyReplicas"] {
        assert_eq!(status[field], 4, "{field}: {status}");
    }
    assert_eq!(
        (&status["deployments"], &status["placements"][0]["locations"]),
        (&json!(2), &json!(["dfw", "iad"]))
    );
    assert_eq!(
        condition(
            &status["placements"][0].clone().as_object().map(|it| json!({"status": it})).unwrap(),
            "Available"
        ),
        "True:AvailableDeploymentFound"
    );
    let instance = place.instance("api-default-iad-1").await.unwrap();
    let labels = &instance["metadata"]["labels"];
    for (key, value) in [
        ("workload-name", "api"),
        ("workload-deployment-name", "api-default-iad"),
        ("placement-name", "default"),
        ("city-code", "IAD"),
        ("instance-index", "1"),
    ] {
        assert_eq!(labels[format!("compute.datumapis.com/{key}")], value, "{key}");
    }
    assert_eq!(instance["spec"]["runtime"]["resources"]["instanceType"], "datumcloud-d1-standard-2");
    assert_eq!(instance["spec"]["controller"].get("schedulingGates"), None, "all gates are gone");
    assert_eq!(
        instance["status"]["controller"]["observedTemplateHash"],
        instance["spec"]["controller"]["templateHash"]
    );
    assert_eq!(
        (condition(&instance, "QuotaGranted"), shown(&instance)),
        ("True:QuotaDisabled".to_owned(), "Available".to_owned())
    );
    let deployment = place.get(&format!("{}/api-default-dfw", of(COMPUTE, "workloaddeployments"))).await;
    assert_eq!(message(&deployment, "Available"), "2/2 instances are ready");
    assert_eq!(deployment["status"]["observedGeneration"], deployment["metadata"]["generation"]);
    assert_eq!(place.runtime.running().len(), 4);

    // A restart of the agent neither stops nor doubles anything.
    let starts = place.runtime.starts().len();
    place.run_agent();
    place.change("api", json!({"metadata": {"labels": {"a": "b"}}})).await;
    place.until_phase("api", "Done").await;
    assert_eq!(place.runtime.starts().len(), starts);

    // Deleting it leaves nothing.
    let path = format!("{}/api", of(COMPUTE, "workloads"));
    assert_eq!(place.client.delete(&path).await.unwrap().code, 200);
    until("the workload is gone", || async { place.client.get(&path).await.unwrap().code == 404 }).await;
    assert!(place.instances().await.is_empty());
    assert!(place.runtime.running().is_empty());
    for (api, plural) in [
        (COMPUTE, "workloaddeployments"),
        (NETWORKING, "networkbindings"),
        (NETWORKING, "subnetclaims"),
        (NETWORKING, "subnets"),
    ] {
        until(plural, || async { place.list(api, plural).await.is_empty() }).await;
    }
    let network = format!("{}/default", of(NETWORKING, "networks"));
    assert_eq!(place.client.delete(&network).await.unwrap().code, 200, "nothing is attached to it any more");
}

#[tokio::test]
async fn two_placements_in_one_city_and_selected_locations_behave() {
    let place = Place::new(&["DFW"]).await;
    place.open("dfw-2", "DFW").await;
    let mut two = workload("w", "ghcr.io/acme/api:1", &["DFW"], 1);
    let settings = json!({"minReplicas": 1});
    two["spec"]["placements"] = json!([
        {"name": "one", "cityCodes": ["DFW"], "scaleSettings": settings},
        {"name": "two", "cityCodes": ["DFW"], "scaleSettings": settings},
        {"name": "by-name", "locations": [{"name": "dfw-2"}], "scaleSettings": settings},
        {"name": "all", "locationSelector": {"matchLabels": {"topology.datum.net/region": "us"}}, "scaleSettings": settings},
    ]);
    place.deploy(&two).await;
    let done = place.until_phase("w", "Done").await;
    let names: Vec<String> = place
        .instances()
        .await
        .iter()
        .map(|instance| instance["metadata"]["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["w-all-dfw-0", "w-all-dfw-2-0", "w-by-name-dfw-2-0", "w-one-dfw-0", "w-two-dfw-0"]);
    assert_eq!(done["status"]["placements"].as_array().unwrap().len(), 4);
    // A location that opens later is selected too, and a placement that goes takes its instances along.
    place.open("ord", "ORD").await;
    until("the new location has an instance", || async { place.instance("w-all-ord-0").await.is_some() })
        .await;
    place.change("w", json!({"spec": {"placements": [{"name": "one", "cityCodes": ["DFW"], "scaleSettings": settings}]}})).await;
    until("only one is left", || async { place.instances().await.len() == 1 }).await;
}

#[tokio::test]
async fn every_failure_is_told_with_its_cause() {
    let place = Place::new(&["DFW"]).await;
    place.script_unavailable("ghcr.io/acme/none:1");
    let ending = Ending {
        after: Duration::ZERO,
        cause: ExitCause::Code(3),
        last_lines: vec!["no database".to_owned()],
    };
    place.runtime.script(
        "ghcr.io/acme/crash:1",
        Script { ends: Some(ending), ready_after: None, ..Script::default() },
    );
    let reason = "exec format".to_owned();
    let error = containers::Error::NotStartable { container: "app".to_owned(), reason };
    place.runtime.script("ghcr.io/acme/broken:1", Script { start_fails: Some(error), ..Script::default() });
    place
        .runtime
        .script("ghcr.io/acme/slow:1", Script { pull_takes: Duration::from_secs(3600), ..Script::default() });
    place.runtime.script("ghcr.io/acme/unready:1", Script { ready_after: None, ..Script::default() });
    for (name, image, wanted, cause) in [
        ("none", "ghcr.io/acme/none:1", "Failed (image unavailable)", "manifest unknown"),
        ("crash", "ghcr.io/acme/crash:1", "Failed (crashing)", "exit code 3"),
        ("broken", "ghcr.io/acme/broken:1", "Failed (configuration error)", "exec format"),
        ("slow", "ghcr.io/acme/slow:1", "Starting", ""),
        ("unready", "ghcr.io/acme/unready:1", "Pending (Starting)", "Instance is starting"),
    ] {
        place.deploy(&workload(name, image, &["DFW"], 1)).await;
        let instance = format!("{name}-default-dfw-0");
        place.until_shown(&instance, wanted).await;
        // The agent tells first, and the sum of all conditions follows.
        let mut tries = 0;
        loop {
            let found = place.instance(&instance).await.unwrap();
            if message(&found, "Ready").contains(cause) {
                break;
            }
            tries += 1;
            assert!(tries < 1500, "{name}: {}", message(&found, "Ready"));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    let crashed = place.instance("crash-default-dfw-0").await.unwrap();
    assert_eq!(crashed["status"]["lastLines"], json!(["no database"]));
    // The cause is told at the top.
    let failed = place.until_phase("none", "Blocked").await;
    assert_eq!(condition(&failed, "Available"), "False:ImageUnavailable");
    assert!(message(&failed, "Available").contains("manifest unknown"), "{}", message(&failed, "Available"));
    assert_eq!(failed["status"]["rollout"]["reason"], "ImageUnavailable");
    // A machine that lacks something says what.
    let missing = containers::Capability {
        name: "runc".to_owned(),
        required: true,
        found: String::new(),
        problem: Some("runc is not installed.".to_owned()),
    };
    place.runtime.set_missing(vec![missing]);
    place.deploy(&workload("lacking", "ghcr.io/acme/api:1", &["DFW"], 1)).await;
    until("the machine is not ready", || async {
        let found = place.instance("lacking-default-dfw-0").await;
        found.is_some_and(|found| message(&found, "Ready").contains("runc is not installed"))
    })
    .await;
}

#[tokio::test]
async fn a_workload_waits_for_its_network_and_says_so() {
    let place = Place::new(&["DFW"]).await;
    let mut lonely = workload("api", "ghcr.io/acme/api:1", &["DFW"], 1);
    lonely["spec"]["template"]["spec"]["networkInterfaces"] = json!([{"network": {"name": "private"}}]);
    place.deploy(&lonely).await;
    until("the network is missing", || async {
        condition(&place.workload("api").await, "Available") == "False:NetworkNotFound"
    })
    .await;
    assert_eq!(message(&place.workload("api").await, "Available"), "Unable to find networks: private");
    let network = super::place::object(NETWORKING, "Network", "private", json!({"ipam": {"mode": "Auto"}}));
    place.make(&of(NETWORKING, "networks"), &network).await;
    place.until_phase("api", "Done").await;
    let refused = place.client.delete(&format!("{}/private", of(NETWORKING, "networks"))).await.unwrap();
    assert_eq!(refused.code, 409, "{}", refused.text());
}

#[tokio::test]
async fn controllers_leave_what_others_write_and_come_to_rest() {
    let place = Place::new(&["DFW"]).await;
    let mut api = workload("api", "ghcr.io/acme/api:1", &["DFW"], 2);
    api["spec"]["placements"][0]["scaleSettings"]["instanceManagementPolicy"] = json!("Parallel");
    api["spec"]["template"]["metadata"] = json!({"labels": {"tier": "app"}, "annotations": {"note": "mine"}});
    place.deploy(&api).await;
    place.until_phase("api", "Done").await;
    let deployment = format!("{}/api-default-dfw", of(COMPUTE, "workloaddeployments"));
    let others = json!({"metadata": {"labels": {"other": "x"}, "annotations": {"other": "y"}}});
    assert_eq!(place.client.merge(&deployment, &others).await.unwrap().code, 200);
    place.set_image("api", "ghcr.io/acme/api:2").await;
    place.until_phase("api", "Done").await;
    let found = place.get(&deployment).await;
    assert_eq!(found["metadata"]["labels"]["other"], "x");
    assert_eq!(found["metadata"]["annotations"]["other"], "y");
    let instance = place.instance("api-default-dfw-0").await.unwrap();
    assert_eq!(
        (&instance["metadata"]["labels"]["tier"], &instance["metadata"]["annotations"]["note"]),
        (&json!("app"), &json!("mine"))
    );
    // Nobody writes anything any more.
    let versions = async || -> Vec<serde_json::Value> {
        let mut all = vec![place.workload("api").await, place.get(&deployment).await];
        all.extend(place.instances().await);
        all.iter().map(|object| object["metadata"]["resourceVersion"].clone()).collect()
    };
    tokio::time::sleep(Duration::from_millis(300)).await;
    let before = versions().await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(versions().await, before);
}

#[tokio::test]
async fn an_instance_of_an_earlier_object_does_not_go_on() {
    // The machine outlives the store: what it runs for an object that was made again is stopped.
    let place = Place::bare(&["DFW"]).await;
    let mut old = containers::InstanceSpec::new(containers::InstanceId::new("old").unwrap(), 1)
        .with_container(containers::ContainerSpec::new("app", "ghcr.io/acme/api:1"));
    for (key, value) in [("project", "acme"), ("namespace", "default"), ("name", "api-default-dfw-0")] {
        old.labels.insert(format!("compute.datumapis.com/{key}"), value.to_owned());
    }
    containers::Runtime::ensure(&place.runtime, old).await.unwrap();
    place.run_agent();
    place.deploy(&workload("api", "ghcr.io/acme/api:1", &["DFW"], 1)).await;
    place.until_phase("api", "Done").await;
    until("only the new one runs", || async {
        let running = place.runtime.running();
        running.len() == 1 && running[0].0.as_str() != "old"
    })
    .await;
}
