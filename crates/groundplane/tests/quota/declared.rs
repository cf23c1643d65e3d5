//! What a service declares of quota is registered, metered and granted while the service is offered.

use super::*;

const CONFIGURATION: &str = "shop";

fn configuration(phase: &str) -> Value {
    let projects = json!({"apiGroup": "resourcemanager.miloapis.com", "kind": "Project"});
    let limit = |name: &str, default: u64| {
        json!({"name": name, "metric": format!("shop.example.com/{name}"), "consumerType": projects,
            "unit": "piece", "defaultLimit": default})
    };
    let spec = json!({
        "serviceRef": {"name": "shop"}, "phase": phase,
        "metrics": [{"name": WIDGETS, "description": "Widgets of a project"}, {"name": "shop.example.com/weight"}],
        "quota": {
            "metricRules": [{"selector": {"apiGroup": "shop.example.com", "kind": "Widget"},
                "metricCosts": {WIDGETS: 1, "shop.example.com/weight": 5}}],
            "limits": [limit("widgets", 2), limit("weight", 100)],
        },
    });
    object(SERVICES, "ServiceConfiguration", CONFIGURATION, spec)
}

async fn names(client: &Client, plural: &str) -> Vec<String> {
    let all = items(client, &cluster(QUOTA, plural)).await.into_iter();
    all.map(|object| object["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn the_quota_of_a_service_comes_and_goes_with_its_configuration() {
    let (_server, client) = server();
    make_project(&client, "provider").await;
    let spec = json!({"serviceName": "shop.example.com", "phase": "Published", "displayName": "Shop",
        "owner": {"producerProjectRef": {"name": "provider"}}});
    make(&client, &cluster(SERVICES, "services"), &object(SERVICES, "Service", "shop", spec)).await;
    let configurations = cluster(SERVICES, "serviceconfigurations");
    let path = format!("{configurations}/{CONFIGURATION}");
    let until_told = async |wanted: &str| {
        until(wanted, || async { condition(&get(&client, &path).await, "QuotaRegistered") == wanted }).await;
    };
    let change = async |patch: Value| {
        let answer = client.merge(&path, &patch).await.unwrap();
        assert_eq!(answer.code, 200, "{}", answer.text());
    };
    let registrations = || names(&client, "resourceregistrations");

    make(&client, &configurations, &configuration("Draft")).await;
    until_told("False:NotOffered").await;
    assert!(registrations().await.is_empty(), "a draft registers nothing");
    change(json!({"spec": {"phase": "Published"}})).await;
    until_told("True:Registered").await;
    assert_eq!(registrations().await, ["shop-weight", "shop-widgets"]);
    let widgets_registered =
        get(&client, &format!("{}/shop-widgets", cluster(QUOTA, "resourceregistrations"))).await;
    let registered = &widgets_registered["spec"];
    assert_eq!((&registered["resourceType"], &registered["type"]), (&json!(WIDGETS), &json!("Entity")));
    assert_eq!(
        (&registered["baseUnit"], &registered["description"]),
        (&json!("piece"), &json!("Widgets of a project"))
    );
    assert_eq!(registered["claimingResources"], json!([{"apiGroup": "shop.example.com", "kind": "Widget"}]));

    // A new project has the default, and what it creates costs what the rule says.
    make_project(&client, "acme").await;
    define_widgets(&client, "acme").await;
    let entitlement = object(SERVICES, "ServiceEntitlement", "shop", json!({"serviceRef": {"name": "shop"}}));
    make(&client, &inside("acme", &cluster(SERVICES, "serviceentitlements")), &entitlement).await;
    until("the project is entitled", || async {
        client.post(&widgets("acme"), &widget("a", 1)).await.unwrap().code == 201
    })
    .await;
    make(&client, &widgets("acme"), &widget("b", 1)).await;
    let refused = client.post(&widgets("acme"), &widget("c", 1)).await.unwrap();
    assert_eq!(refused.code, 403);
    assert!(refused.text().contains("used: widgets=2, limited: widgets=2"), "{}", refused.text());
    let usage = inside("acme", &format!("{}/-/usage", namespaced(QUOTA, "default", "resourceclaims")));
    let used = get(&client, &usage).await["items"].clone();
    let rows = |field: &str| [0, 1].map(|row| used[row][field].as_i64().unwrap());
    assert_eq!((rows("used"), rows("limit")), ([10, 2], [100, 2]), "weight and widgets: {used}");

    // A change is carried over; whom a limit holds for can't change, and a metric has one limit.
    change(json!({"spec": {"quota": {"metricRules": [{"selector": {"apiGroup": "shop.example.com", "kind": "Widget"},
        "metricCosts": {WIDGETS: 1}, "whenExceeded": "Wait"}]}}})).await;
    until_told("False:Incomplete").await;
    assert_eq!(
        message(&get(&client, &path).await, "QuotaRegistered"),
        "metric \"shop.example.com/weight\" has a limit, but no rule costs it"
    );
    assert_eq!(registrations().await, ["shop-widgets"]);
    until("the policy waits", || async {
        let policies = items(&client, &cluster(QUOTA, "claimcreationpolicies")).await;
        policies.len() == 1 && policies[0]["spec"]["whenExceeded"] == "Wait"
    })
    .await;
    make(&client, &widgets("acme"), &widget("c", 1)).await;
    let mut wrong = configuration("Published")["spec"]["quota"]["limits"].clone();
    wrong[0]["consumerType"]["kind"] = "Organization".into();
    wrong[1]["metric"] = WIDGETS.into();
    let wrong = client.merge(&path, &json!({"spec": {"quota": {"limits": wrong}}})).await.unwrap();
    assert_eq!(wrong.code, 422);
    let causes = wrong.json()["details"]["causes"].as_array().unwrap().clone();
    let fields: Vec<&str> = causes.iter().map(|cause| cause["field"].as_str().unwrap()).collect();
    assert_eq!(
        fields,
        [
            "spec.quota.limits[0].consumerType",
            "spec.quota.limits[1].metric",
            "spec.quota.limits[1].consumerType"
        ][..2]
    );

    // What somebody else registered stays theirs.
    change(json!({"spec": {"quota": {"limits": [], "metricRules": []}}})).await;
    until("nothing of the service is left", || async { registrations().await.is_empty() }).await;
    meter_widgets(&client, "Refuse").await;
    change(configuration("Published")).await;
    until_told("False:Incomplete").await;
    let told = message(&get(&client, &path).await, "QuotaRegistered");
    assert_eq!(told, format!("ResourceRegistration widgets has the type {WIDGETS}"));

    // With the end of the offer, all of it goes, but not what others made.
    change(json!({"spec": {"phase": "Retired"}})).await;
    until_told("False:NotOffered").await;
    assert_eq!(registrations().await, ["widgets"]);
    assert!(names(&client, "grantcreationpolicies").await.is_empty());
    assert_eq!(names(&client, "claimcreationpolicies").await, ["widget"]);
}
