//! Services: requests and their approval, the gate in front of a service's kinds, and locations.

use super::*;

const SERVICE: &str = "shop";

fn service(mode: &str, phase: &str) -> Value {
    let spec = json!({
        "serviceName": "shop.example.com", "phase": phase, "displayName": "Shop", "description": "Widgets of all sizes",
        "owner": {"producerProjectRef": {"name": "provider"}}, "enablementPolicy": {"mode": mode},
    });
    object(SERVICES, "Service", SERVICE, spec)
}

fn entitlements(project: &str) -> String {
    inside(project, &cluster(SERVICES, "serviceentitlements"))
}

fn request(message: &str) -> Value {
    object(
        SERVICES,
        "ServiceEntitlement",
        SERVICE,
        json!({"serviceRef": {"name": SERVICE}, "requestMessage": message}),
    )
}

fn consumer() -> String {
    inside("provider", &format!("{}/shop-acme", cluster(SERVICES, "serviceconsumers")))
}

async fn until_ready(client: &Client, wanted: &str) -> Value {
    let path = format!("{}/{SERVICE}", entitlements("acme"));
    until(wanted, || async { condition(&get(client, &path).await, "Ready") == wanted }).await;
    get(client, &path).await
}

async fn decide(client: &Client, decision: &str, message: &str) {
    let patch = json!({"spec": {"approval": {"decision": decision, "message": message}}});
    until("the provider is told", || async { client.merge(&consumer(), &patch).await.unwrap().code == 200 })
        .await;
}

async fn prepare(client: &Client, mode: &str) {
    for project in ["provider", "acme"] {
        make_project(client, project).await;
    }
    define_widgets(client, "acme").await;
    make(client, &cluster(SERVICES, "services"), &service(mode, "Published")).await;
}

#[tokio::test]
async fn every_state_of_a_request_has_its_text() {
    let (_server, client) = server();
    prepare(&client, "GatedByProvider").await;
    let said = async |name: &str| {
        let answer = client.post(&widgets("acme"), &widget(name, 1)).await.unwrap();
        assert_eq!(answer.code, 403, "{}", answer.text());
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        message.split_once("is forbidden: ").unwrap().1.to_owned()
    };
    // Not requested.
    assert_eq!(
        said("a").await,
        "Shop is not enabled for project \"acme\". Request access with: groundplane access request shop --project acme"
    );
    // Pending, with what the project says.
    make(&client, &entitlements("acme"), &request("Team trial")).await;
    let pending = until_ready(&client, "False:EntitlementPendingApproval").await;
    assert_eq!(
        (&pending["status"]["phase"], &pending["status"]["origin"]),
        (&json!("PendingApproval"), &json!("Direct"))
    );
    assert_eq!(pending["status"]["serviceName"], "shop.example.com");
    assert_eq!(message(&pending, "Ready"), "Awaiting provider approval");
    assert!(said("a").await.contains("is awaiting provider approval"));
    let asked = get(&client, &consumer()).await;
    assert_eq!(asked["spec"]["requestMessage"], "Team trial");
    assert_eq!(asked["spec"]["consumerProjectRef"]["name"], "acme");
    // Asking twice is a conflict of names that says so, not another request.
    assert_eq!(client.post(&entitlements("acme"), &request("again")).await.unwrap().code, 409);
    // Denied.
    decide(&client, "Denied", "Not eligible").await;
    let denied = until_ready(&client, "False:EntitlementRejected").await;
    assert_eq!(
        (&denied["status"]["phase"], message(&denied, "Ready").as_str()),
        (&json!("Rejected"), "Not eligible")
    );
    assert_eq!(denied["status"].get("entitledAt"), None);
    assert!(said("a").await.contains("was denied: Not eligible. Request it again with: "));
    // Asked again.
    let path = format!("{}/{SERVICE}", entitlements("acme"));
    assert_eq!(client.delete(&path).await.unwrap().code, 200);
    until("the provider is told", || async { client.get(&consumer()).await.unwrap().code == 404 }).await;
    make(&client, &entitlements("acme"), &request("please")).await;
    until_ready(&client, "False:EntitlementPendingApproval").await;
    // Active.
    decide(&client, "Approved", "").await;
    let active = until_ready(&client, "True:EntitlementActive").await;
    assert_eq!(
        (&active["status"]["phase"], message(&active, "Ready").as_str()),
        (&json!("Active"), "Entitlement is active")
    );
    let since = active["status"]["entitledAt"].as_str().unwrap().to_owned();
    make(&client, &widgets("acme"), &widget("a", 1)).await;
    until("the provider sees it", || async {
        get(&client, &consumer()).await["status"]["phase"] == "Active"
    })
    .await;
    // Suspended.
    let suspend = |on: bool| json!({"spec": {"suspended": on}});
    assert_eq!(client.merge(&consumer(), &suspend(true)).await.unwrap().code, 200);
    until("suspended", || async {
        condition(&get(&client, &path).await, "Suspended") == "True:ProjectSuspended"
    })
    .await;
    assert!(said("b").await.contains("is suspended by the provider"));
    assert_eq!(client.merge(&consumer(), &suspend(false)).await.unwrap().code, 200);
    until("active", || async { condition(&get(&client, &path).await, "Suspended") == "False:ProjectActive" })
        .await;
    // Revoked: what is there can be read and deleted, and is told.
    decide(&client, "Denied", "Trial is over").await;
    let revoked = until_ready(&client, "False:EntitlementRejected").await;
    assert_eq!(revoked["status"]["entitledAt"], since.as_str(), "it stays");
    let why = said("b").await;
    assert!(
        why.contains("was revoked: Trial is over. Request it again with: groundplane access request shop"),
        "{why}"
    );
    let there = format!("{}/a", widgets("acme"));
    let changed = client.merge(&there, &json!({"spec": {"size": 2}})).await.unwrap();
    assert_eq!(changed.code, 403, "{}", changed.text());
    assert_eq!(client.get(&there).await.unwrap().code, 200);
    let events = inside("acme", "/api/v1/namespaces/default/events?fieldSelector=reason%3DServiceRevoked");
    until("it is told on what it stops", || async { !items(&client, &events).await.is_empty() }).await;
    assert_eq!(client.delete(&there).await.unwrap().code, 200);
    // Not offered any more.
    decide(&client, "Approved", "").await;
    until_ready(&client, "True:EntitlementActive").await;
    let services = format!("{}/{SERVICE}", cluster(SERVICES, "services"));
    assert_eq!(client.merge(&services, &json!({"spec": {"phase": "Retired"}})).await.unwrap().code, 200);
    until_ready(&client, "False:ServiceNotPublished").await;
    assert_eq!(
        said("b").await,
        "Shop is not available to project \"acme\": Service shop is not published. See what is offered with: groundplane \
         services list --project acme"
    );
    let back = client.merge(&services, &json!({"spec": {"phase": "Published"}})).await.unwrap();
    assert_eq!(back.code, 422, "a phase only goes forward: {}", back.text());
}

#[tokio::test]
async fn a_request_that_nobody_looked_at_is_processing_and_is_not_asked_for_again() {
    let server = Server::fresh(GROUNDPLANE, &["--controllers=all,-service-entitlement-controller"]).unwrap();
    let client = server.client();
    prepare(&client, "GatedByProvider").await;
    let made = make(&client, &entitlements("acme"), &request("")).await;
    assert_eq!(made.get("status"), None, "{made}");
    assert_eq!(client.post(&entitlements("acme"), &request("")).await.unwrap().code, 409);
    let refused = client.post(&widgets("acme"), &widget("a", 1)).await.unwrap();
    assert_eq!(refused.code, 403);
    let why = "access to Shop for project \"acme\" is still being processed. Wait for it with: groundplane access request \
               shop --project acme --wait";
    assert!(refused.json()["message"].as_str().unwrap().ends_with(why), "{}", refused.text());
    let (code, shown, _) = commands::run(&server, &["access", "shop", "--project", "acme"]);
    assert_eq!(code, 0);
    assert!(shown.contains("Status:   Processing (requested "), "{shown}");
}

#[tokio::test]
async fn a_service_of_self_service_is_active_at_once_and_brings_what_it_needs() {
    let (_server, client) = server();
    prepare(&client, "SelfService").await;
    let mut base = service("SelfService", "Published");
    base["metadata"]["name"] = "base".into();
    base["spec"]["serviceName"] = "base.example.com".into();
    make(&client, &cluster(SERVICES, "services"), &base).await;
    let services = format!("{}/{SERVICE}", cluster(SERVICES, "services"));
    let needs = json!({"spec": {"dependencies": [{"serviceRef": {"name": "base"}}]}});
    assert_eq!(client.merge(&services, &needs).await.unwrap().code, 200);
    make(&client, &entitlements("acme"), &request("")).await;
    until_ready(&client, "True:EntitlementActive").await;
    let needed = format!("{}/base", entitlements("acme"));
    until("what it needs is active too", || async {
        let answer = client.get(&needed).await.unwrap();
        answer.code == 200 && answer.json()["status"]["phase"] == "Active"
    })
    .await;
    let status = get(&client, &needed).await["status"].clone();
    assert_eq!((&status["origin"], &status["dependencyOf"]), (&json!("Dependency"), &json!("shop")));
    assert_eq!(client.delete(&format!("{}/{SERVICE}", entitlements("acme"))).await.unwrap().code, 200);
    until("it goes with the other", || async { client.get(&needed).await.unwrap().code == 404 }).await;
    // A canonical name is not the name of a Service object; an entitlement is named after its service.
    let canonical = object(
        SERVICES,
        "ServiceEntitlement",
        "shop.example.com",
        json!({"serviceRef": {"name": "shop.example.com"}}),
    );
    assert_eq!(client.post(&entitlements("acme"), &canonical).await.unwrap().code, 422);
    let other = object(SERVICES, "ServiceEntitlement", "mine", json!({"serviceRef": {"name": "shop"}}));
    assert_eq!(client.post(&entitlements("acme"), &other).await.unwrap().code, 422);
}

#[tokio::test]
async fn a_project_sees_the_locations_where_a_service_of_its_is_available() {
    let (_server, client) = server();
    prepare(&client, "SelfService").await;
    let configuration = |classes: Value| {
        object(
            SERVICES,
            "ServiceConfiguration",
            SERVICE,
            json!({
                "serviceRef": {"name": SERVICE}, "phase": "Published", "locations": {"supportedClasses": classes},
            }),
        )
    };
    make(&client, &cluster(SERVICES, "serviceconfigurations"), &configuration(json!(["datum-managed"])))
        .await;
    let location = |name: &str, class: &str, provider: Option<Value>| {
        let mut spec = json!({"locationClassName": class, "displayName": "Dallas",
            "topology": {"topology.datum.net/city-code": "DFW"}});
        spec.as_object_mut().unwrap().extend(provider.map(|provider| ("provider".to_owned(), provider)));
        object(NETWORKING, "Location", name, spec)
    };
    let cloud = json!({"gcp": {"projectId": "p", "region": "r", "zone": "z"}});
    let locations = cluster(NETWORKING, "locations");
    make(&client, &locations, &location("dfw", "datum-managed", None)).await;
    make(&client, &locations, &location("cloud", "datum-managed", Some(cloud.clone()))).await;
    make(&client, &locations, &location("mine", "self-managed", Some(cloud))).await;
    for name in ["dfw", "cloud", "mine"] {
        let spec = json!({"serviceRef": {"name": SERVICE}, "locationRef": {"name": name}});
        let made = object(SERVICES, "ServiceAvailability", &format!("shop-{name}"), spec);
        make(&client, &cluster(SERVICES, "serviceavailabilities"), &made).await;
    }
    let bindings = inside("acme", &cluster(NETWORKING, "locationbindings"));
    let seen = async || -> Vec<String> {
        let names = items(&client, &bindings).await.into_iter();
        names.map(|binding| binding["metadata"]["name"].as_str().unwrap().to_owned()).collect()
    };
    let availability = format!("{}/shop-dfw", cluster(SERVICES, "serviceavailabilities"));
    until("the location waits for a site", || async {
        condition(&get(&client, &availability).await, "Available") == "False:LocationNotReady"
    })
    .await;
    assert!(seen().await.is_empty(), "a project that is entitled to nothing sees nothing");
    make(&client, &entitlements("acme"), &request("")).await;
    until("the cloud is seen", || async { seen().await == ["cloud"] }).await;
    let binding = get(&client, &format!("{bindings}/cloud")).await;
    assert_eq!(binding["spec"]["displayName"], "Dallas");
    assert!(!binding.to_string().contains("gcp"), "who provides it is none of the project's business");
    // A site with the city code makes the other one ready.
    let inventory = "inventory.miloapis.com/v1alpha1";
    let region = object(inventory, "Region", "south", json!({"displayName": "South"}));
    make(&client, &cluster(inventory, "regions"), &region).await;
    let mut site = object(
        inventory,
        "Site",
        "dfw1",
        json!({"displayName": "Dallas 1", "regionRef": {"name": "south"}, "type": "Datacenter"}),
    );
    site["metadata"]["labels"] = json!({"topology.datum.net/city-code": "DFW"});
    make(&client, &cluster(inventory, "sites"), &site).await;
    until("both are seen", || async { seen().await == ["cloud", "dfw"] }).await;
    until("both are available", || async {
        items(&client, &bindings)
            .await
            .iter()
            .all(|binding| condition(binding, "Available") == "True:Available")
    })
    .await;
    assert_eq!(get(&client, &format!("{locations}/dfw")).await["status"]["sites"], json!(["dfw1"]));
    // The catalog of compute is offered by location.
    let compute = "compute.datumapis.com/v1alpha";
    for (name, locations) in [("small", json!([])), ("large", json!([{"name": "dfw"}]))] {
        let spec = json!({"resources": {"cpu": "1000m", "memory": "2048Mi"}, "locations": locations});
        make(&client, &cluster(compute, "instancetypes"), &object(compute, "InstanceType", name, spec)).await;
    }
    until("types are offered by location", || async {
        let types = |binding: &Value| binding["status"]["instanceTypes"].clone();
        let all: Vec<Value> = items(&client, &bindings).await.iter().map(types).collect();
        all == [json!(["small"]), json!(["large", "small"])]
    })
    .await;
    assert_eq!(client.delete(&availability).await.unwrap().code, 200);
    until("no longer available there", || async { seen().await == ["cloud"] }).await;
    assert_eq!(client.delete(&format!("{}/{SERVICE}", entitlements("acme"))).await.unwrap().code, 200);
    until("without the entitlement, none", || async { seen().await.is_empty() }).await;
}

#[tokio::test]
async fn a_rule_of_a_service_names_a_metric_that_is_declared() {
    let (_server, client) = server();
    prepare(&client, "SelfService").await;
    let costs = json!({"shop.example.com/widgets": 1, "shop.example.com/gadgets": 2});
    let configuration = object(
        SERVICES,
        "ServiceConfiguration",
        SERVICE,
        json!({
            "serviceRef": {"name": SERVICE}, "phase": "Published",
            "metrics": [{"name": "shop.example.com/widgets"}],
            "quota": {
                "metricRules": [{"selector": {"apiGroup": "shop.example.com", "kind": "Widget"}, "metricCosts": costs}],
                "limits": [{"name": "x", "metric": "shop.example.com/other", "consumerType": {"apiGroup": "a", "kind": "Project"}}],
            },
        }),
    );
    let refused = client.post(&cluster(SERVICES, "serviceconfigurations"), &configuration).await.unwrap();
    assert_eq!(refused.code, 422);
    let causes = refused.json()["details"]["causes"].as_array().unwrap().clone();
    let fields: Vec<&str> = causes.iter().map(|cause| cause["field"].as_str().unwrap()).collect();
    assert_eq!(
        fields,
        ["spec.quota.metricRules[0].metricCosts[shop.example.com/gadgets]", "spec.quota.limits[0].metric",]
    );
}
