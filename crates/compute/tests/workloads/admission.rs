//! What can't run is refused by field, when it is created and when it is changed.

use serde_json::{Value, json};

use super::place::{COMPUTE, Place, of, workload};

/// What a change of a sound workload is refused for.
async fn refused(place: &Place, name: &str, change: impl Fn(&mut Value)) -> String {
    let mut wrong = workload(name, "ghcr.io/acme/api:1", &["DFW"], 1);
    change(&mut wrong);
    let created = place.client.post(&of(COMPUTE, "workloads"), &wrong).await.unwrap();
    assert_eq!(created.code, 422, "{}", created.text());
    // The same when it is an update.
    let path = format!("{}/sound", of(COMPUTE, "workloads"));
    let updated = loop {
        let mut there = place.workload("sound").await;
        change(&mut there);
        let updated = place.client.put(&path, &there).await.unwrap();
        // A controller may have written its status in between.
        if updated.code != 409 {
            break updated;
        }
    };
    assert_eq!(updated.code, 422, "{}", updated.text());
    let causes = |answer: &Value| -> String {
        let causes = answer["details"]["causes"].as_array().unwrap();
        let shown = |cause: &Value| {
            format!("{}: {}", cause["field"].as_str().unwrap(), cause["message"].as_str().unwrap())
        };
        causes.iter().map(shown).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(causes(&created.json()), causes(&updated.json()));
    causes(&created.json())
}

#[tokio::test]
async fn everything_that_is_wrong_is_told_by_its_field() {
    let place = Place::bare(&["DFW", "IAD"]).await;
    place.deploy(&workload("sound", "ghcr.io/acme/api:1", &["DFW"], 1)).await;
    type Change = fn(&mut Value);
    let template = "spec.template.spec";
    let cases: Vec<(Change, String)> = vec![
        (|w| w["spec"]["placements"] = json!([]), "spec.placements: Required value".into()),
        (|w| w["spec"]["placements"][0]["cityCodes"] = json!(["XXX"]), "spec.placements[0].cityCodes[0]: Unsupported value: \"XXX\": supported values: \"DFW\", \"IAD\"".into()),
        (|w| w["spec"]["placements"][0]["cityCodes"] = json!(["DFW", "DFW"]), "spec.placements[0].cityCodes[1]: Duplicate value".into()),
        (|w| w["spec"]["placements"][0]["cityCodes"] = json!([]), "spec.placements[0].cityCodes: Required value".into()),
        (|w| w["spec"]["placements"][0]["locations"] = json!([{"name": "dfw"}]), "spec.placements[0]: Forbidden: only one of".into()),
        (|w| w["spec"]["placements"][0] = json!({"name": "x", "locations": [{"name": "none"}], "scaleSettings": {"minReplicas": 1}}), "spec.placements[0].locations[0].name: Unsupported value: \"none\"".into()),
        (|w| w["spec"]["placements"][0] = json!({"name": "x", "locationSelector": {}, "scaleSettings": {"minReplicas": 1}}), "spec.placements[0].locationSelector: Required value".into()),
        (|w| w["spec"]["placements"][0] = json!({"name": "x", "locationSelector": {"matchLabels": {"a": "b"}}, "scaleSettings": {"minReplicas": 1}}), "spec.placements[0].locationSelector: Invalid value".into()),
        (|w| w["spec"]["placements"][0]["name"] = json!("Not A Label"), "spec.placements[0].name: Invalid value".into()),
        (|w| w["spec"]["placements"][0]["scaleSettings"]["minReplicas"] = json!(0), "scaleSettings.minReplicas: Invalid value: 0: must be greater than 0".into()),
        (|w| w["spec"]["placements"][0]["scaleSettings"]["minReplicas"] = json!(1001), "must be less than or equal to 1000".into()),
        (|w| w["spec"]["placements"][0]["scaleSettings"]["maxReplicas"] = json!(3), "scaleSettings.metrics: Required value: must provide scaling metrics when maxReplicas is provided".into()),
        (|w| w["spec"]["placements"][0]["scaleSettings"] = json!({"minReplicas": 3, "maxReplicas": 2, "metrics": [{"resource": {"name": "cpu", "target": {"averageUtilization": 50}}}]}), "scaleSettings.maxReplicas: Invalid value: 2: must be greater than or equal to minReplicas (3)".into()),
        (|w| w["spec"]["placements"][0]["scaleSettings"]["metrics"] = json!([{"resource": {"name": "cpu", "target": {"averageUtilization": 50}}}]), "must not provide scaling metrics without maxReplicas".into()),
        (|w| w["spec"]["placements"][0]["scaleSettings"] = json!({"minReplicas": 1, "maxReplicas": 2, "metrics": [{"resource": {"name": "disk", "target": {}}}]}), "metrics[0].resource.target: Required value: must specify a target value".into()),
        (|w| w["spec"]["placements"][0]["scaleSettings"] = json!({"minReplicas": 1, "maxReplicas": 2, "metrics": [{"resource": {"name": "cpu", "target": {"value": "0", "averageValue": 1}}}]}), "may not specify more than 1 target value".into()),
        (|w| { w["spec"]["template"]["spec"]["runtime"].as_object_mut().unwrap().remove("sandbox"); }, format!("{template}.runtime: Required value: must specify a runtime type")),
        (|w| w["spec"]["template"]["spec"]["runtime"]["resources"]["instanceType"] = json!("huge"), format!("{template}.runtime.resources.instanceType: Unsupported value: \"huge\"")),
        (|w| w["spec"]["template"]["spec"]["runtime"]["resources"]["requests"] = json!({"cpu": "1"}), format!("{template}.runtime.resources.requests: Forbidden: not implemented")),
        (|w| w["spec"]["template"]["spec"]["runtime"]["sandbox"]["containers"] = json!([]), "must define at least 1 container".into()),
        (|w| w["spec"]["template"]["spec"]["runtime"]["sandbox"]["containers"][0]["image"] = json!(""), "containers[0].image: Required value".into()),
        (|w| w["spec"]["template"]["spec"]["runtime"]["sandbox"]["containers"][0]["resources"] = json!({"limits": {"cpu": "1"}}), "containers[0].resources: Forbidden: not implemented".into()),
        (|w| w["spec"]["template"]["spec"]["runtime"]["sandbox"]["containers"][0]["ports"] = json!([{"name": "8080", "port": 70000}]), "ports[0].port: Invalid value: 70000".into()),
        (|w| w["spec"]["template"]["spec"]["runtime"]["sandbox"]["containers"][0]["volumeAttachments"] = json!([{"name": "none"}]), "volumeAttachments[0].name: Not found: \"none\"".into()),
        (|w| w["spec"]["template"]["spec"]["runtime"]["sandbox"]["containers"][0]["envFrom"] = json!([{"prefix": "1-", "configMapRef": {"name": "c"}}]), "envFrom[0].prefix: Invalid value".into()),
        (|w| w["spec"]["template"]["spec"]["runtime"]["sandbox"]["imagePullSecrets"] = json!([{}]), "imagePullSecrets[0].name: Required value".into()),
        (|w| w["spec"]["template"]["spec"]["networkInterfaces"] = json!([]), format!("{template}.networkInterfaces: Required value: must define at least one network interface")),
        (|w| w["spec"]["template"]["spec"]["networkInterfaces"][0]["networkPolicy"] = json!({"ingress": [{"from": [{"ipBlock": {"cidr": "all"}}]}]}), "from[0].ipBlock.cidr: Invalid value: \"all\"".into()),
        (|w| w["spec"]["template"]["spec"]["volumes"] = json!([{"name": "cfg", "configMap": {"name": "c"}}]), format!("{template}.volumes[0].name: Required value: volume must be attached at least 1 time")),
        (|w| w["spec"]["template"]["spec"]["volumes"] = json!([{"name": "cfg", "configMap": {"name": "c", "defaultMode": 4096}, "secret": {"secretName": "s"}}]), "volumes[0]: Forbidden: may not specify more than 1 volume source".into()),
        (|w| w["spec"]["template"]["spec"]["volumes"] = json!([{"name": "d", "disk": {"template": {"spec": {"type": "ssd", "resources": {"requests": {"storage": "5Gi"}}}}}}]), "storage requests must be at least 10Gi".into()),
        (|w| w["spec"]["template"]["spec"]["volumes"] = json!([{"name": "d", "disk": {"template": {"spec": {"populator": {"filesystem": {"type": "ext4"}}}}}}]), "volume resource requests are required when not provided by populator".into()),
        (|w| w["spec"]["template"]["metadata"] = json!({"labels": {"compute.datumapis.com/workload-uid": "x"}}), "spec.template.metadata.labels[compute.datumapis.com/workload-uid]: Forbidden".into()),
        (|w| { let runtime = &mut w["spec"]["template"]["spec"]["runtime"]; runtime.as_object_mut().unwrap().remove("sandbox"); runtime["virtualMachine"] = json!({"volumeAttachments": []}); }, "must provide at least one volume attachment for the boot volume".into()),
    ];
    for (index, (change, wanted)) in cases.iter().enumerate() {
        let told = refused(&place, &format!("wrong-{index}"), change).await;
        assert!(told.contains(wanted), "{wanted}\nnot in\n{told}");
    }
    // All errors are told at once.
    let told = refused(&place, "wrong-all", |w| {
        w["spec"]["placements"][0]["cityCodes"] = json!(["XXX"]);
        w["spec"]["placements"][0]["scaleSettings"]["minReplicas"] = json!(0);
        w["spec"]["template"]["spec"]["networkInterfaces"] = json!([]);
    })
    .await;
    assert_eq!(told.lines().count(), 3, "{told}");
    assert!(told.starts_with("spec.placements[0].cityCodes[0]"), "{told}");
}

#[tokio::test]
async fn what_was_admitted_stays_though_its_city_is_closed() {
    let place = Place::new(&["DFW", "IAD"]).await;
    place.deploy(&workload("api", "ghcr.io/acme/api:1", &["DFW", "IAD"], 1)).await;
    place.until_phase("api", "Done").await;
    let binding = super::place::inside("/apis/networking.datumapis.com/v1alpha/locationbindings/iad");
    assert_eq!(place.client.delete(&binding).await.unwrap().code, 200);
    place.set_image("api", "ghcr.io/acme/api:2").await;
    let wider = json!({"spec": {"placements": [{"name": "default", "cityCodes": ["DFW", "ORD"], "scaleSettings": {"minReplicas": 1}}]}});
    let path = format!("{}/api", of(COMPUTE, "workloads"));
    let refused = place.client.merge(&path, &wider).await.unwrap();
    assert_eq!(refused.code, 422, "{}", refused.text());
    // What runs there goes on, and the workload says that the city is closed.
    assert!(place.instance("api-default-iad-0").await.is_some());
    let opened = workload("other", "ghcr.io/acme/api:1", &["IAD"], 1);
    assert_eq!(place.client.post(&of(COMPUTE, "workloads"), &opened).await.unwrap().code, 422);
}
