//! What was done is told in sentences, by the policies of today, to those who may know.

use serde_json::{Value, json};
use testbed::server::{Client, Server};

use crate::{GROUNDPLANE, MAPS, map};

const GROUP: &str = "/apis/activity.miloapis.com/v1alpha1";
const INVENTORY: &str = "/apis/inventory.miloapis.com/v1alpha1";

async fn ask(client: &Client, plural: &str, spec: &Value) -> testbed::server::Answer {
    let kind = match plural {
        "activityqueries" => "ActivityQuery",
        "activityfacetqueries" => "ActivityFacetQuery",
        "auditlogqueries" => "AuditLogQuery",
        "auditlogfacetsqueries" => "AuditLogFacetsQuery",
        "eventqueries" => "EventQuery",
        "eventfacetqueries" => "EventFacetQuery",
        _ => "PolicyPreview",
    };
    let body = typed("activity.miloapis.com/v1alpha1", kind, json!({ "spec": spec }));
    client.post(&format!("{GROUP}/{plural}"), &body).await.unwrap()
}

fn typed(api_version: &str, kind: &str, mut object: Value) -> Value {
    object["apiVersion"] = api_version.into();
    object["kind"] = kind.into();
    object
}

fn of_inventory(kind: &str, object: Value) -> Value {
    typed("inventory.miloapis.com/v1alpha1", kind, object)
}

async fn activities(client: &Client, more: &Value) -> Vec<Value> {
    let mut spec = json!({ "startTime": "now-1h", "endTime": "now" });
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let answer = ask(client, "activityqueries", &spec).await;
    assert_eq!(answer.code, 201, "{}", answer.text());
    answer.json()["status"]["results"].as_array().unwrap().clone()
}

async fn summaries(client: &Client, more: Value) -> Vec<String> {
    let found = activities(client, &more).await;
    found.iter().map(|activity| activity["spec"]["summary"].as_str().unwrap().to_owned()).collect()
}

fn acting(server: &Server, user: &str) -> Client {
    server.client().with("impersonate-user", user).with("impersonate-group", "system:masters")
}

async fn a_site(client: &Client) {
    let made = [
        ("regions", "Region", json!({ "metadata": { "name": "eu" }, "spec": { "displayName": "Europe" } })),
        (
            "sites",
            "Site",
            json!({ "metadata": { "name": "fra1" }, "spec": { "displayName": "Frankfurt 1", "regionRef": { "name": "eu" }, "type": "Datacenter" } }),
        ),
        (
            "racks",
            "Rack",
            json!({ "metadata": { "name": "r12" }, "spec": { "siteRef": { "name": "fra1" }, "heightU": 42 } }),
        ),
    ];
    for (plural, kind, object) in made {
        let answer =
            client.post(&format!("{INVENTORY}/{plural}"), &of_inventory(kind, object)).await.unwrap();
        assert_eq!(answer.code, 201, "{}", answer.text());
    }
}

fn node(name: &str, unit: u32) -> Value {
    json!({ "metadata": { "name": name }, "spec": {
        "siteRef": { "name": "fra1" },
        "hardware": { "cpuCores": 8, "cpuArchitecture": "amd64", "memoryBytes": 1024 },
        "placement": { "rackRef": { "name": "r12" }, "startUnit": unit, "unitHeight": 1 },
    } })
}

#[tokio::test]
async fn a_day_in_a_rack_reads_as_sentences() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let alice = acting(&server, "alice");
    a_site(&alice).await;
    let nodes = format!("{INVENTORY}/nodes");
    assert_eq!(alice.post(&nodes, &of_inventory("Node", node("node-7", 14))).await.unwrap().code, 201);
    let moved = json!({ "spec": { "placement": { "startUnit": 20 } } });
    assert_eq!(alice.merge(&format!("{nodes}/node-7"), &moved).await.unwrap().code, 200);
    let bob = acting(&server, "bob@example.com");
    let tag = json!({ "spec": { "assetTag": "A-1" } });
    assert_eq!(bob.merge(&format!("{nodes}/node-7"), &tag).await.unwrap().code, 200);
    assert_eq!(bob.delete(&format!("{nodes}/node-7")).await.unwrap().code, 200);
    let client = server.client();
    let told = summaries(&client, json!({ "changeSource": "human" })).await;
    assert_eq!(
        told,
        [
            "bob@example.com deleted Node node-7",
            "bob@example.com updated Node node-7",
            "alice moved Node node-7 to rack r12 at U20",
            "alice placed Node node-7 in rack r12 at U14",
            "alice created Rack r12 at site fra1",
            "alice created Site Frankfurt 1 in region eu",
            "alice created Region Europe",
        ]
    );
    // By actor, kind, object, verb and words.
    assert_eq!(summaries(&client, json!({ "actorName": "bob@example.com" })).await.len(), 2);
    assert_eq!(summaries(&client, json!({ "resourceKind": "Rack", "changeSource": "human" })).await.len(), 1);
    assert_eq!(
        summaries(
            &client,
            json!({ "filter": "spec.resource.name == 'node-7' && spec.changeSource == 'human'" })
        )
        .await
        .len(),
        4
    );
    assert_eq!(
        summaries(&client, json!({ "verb": "delete" })).await,
        ["bob@example.com deleted Node node-7"]
    );
    assert_eq!(summaries(&client, json!({ "search": "PLACED r12" })).await.len(), 1);
    let of_two = "spec.resource.kind in ['Site', 'Region'] && spec.summary.startsWith('alice')";
    assert_eq!(summaries(&client, json!({ "filter": of_two })).await.len(), 2);
    // Pages go on where the last ended, and show nothing twice.
    let mut seen = Vec::new();
    let mut resume = String::new();
    loop {
        let spec = json!({ "startTime": "now-1h", "endTime": "now", "limit": 3, "changeSource": "human", "continue": resume });
        let page = ask(&client, "activityqueries", &spec).await.json();
        let results = page["status"]["results"].as_array().unwrap();
        seen.extend(results.iter().map(|activity| activity["spec"]["summary"].as_str().unwrap().to_owned()));
        resume = page["status"]["continue"].as_str().unwrap_or_default().to_owned();
        if resume.is_empty() {
            break;
        }
    }
    assert_eq!(seen, told);
    // What changed, and what the sentence names.
    let moved = activities(&client, &json!({ "search": "moved" })).await.remove(0);
    assert_eq!(
        moved["spec"]["changes"],
        json!([{ "field": "spec.placement.startUnit", "old": "14", "new": "20" }])
    );
    assert_eq!(moved["spec"]["links"][0]["marker"], "node-7");
    assert_eq!(moved["spec"]["links"][0]["resource"]["kind"], "Node");
    assert!(moved["metadata"]["name"].as_str().unwrap().starts_with("act-"));
    let by_bob = activities(&client, &json!({ "verb": "delete" })).await.remove(0);
    assert_eq!(
        by_bob["spec"]["actor"],
        json!({ "type": "user", "name": "bob@example.com", "email": "bob@example.com" })
    );
    // Which values there are, counted.
    let spec = json!({ "facets": [{ "field": "spec.actor.name" }, { "field": "spec.resource.kind", "limit": 1 }], "filter": "spec.changeSource == 'human'" });
    let facets = ask(&client, "activityfacetqueries", &spec).await.json();
    let values = &facets["status"]["facets"];
    assert_eq!(
        values[0]["values"],
        json!([{ "value": "alice", "count": 5 }, { "value": "bob@example.com", "count": 2 }])
    );
    assert_eq!(values[1]["values"], json!([{ "value": "Node", "count": 4 }]));
    // As a list, and as kubectl shows it.
    let list = client
        .get(&format!("{GROUP}/activities?fieldSelector=spec.actor.name%3Dalice"))
        .await
        .unwrap()
        .json();
    assert_eq!(list["items"].as_array().unwrap().len(), 5, "{list}");
}

#[tokio::test]
async fn what_is_wrong_with_a_query_is_told_by_its_field() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = server.client();
    for (more, field, why) in [
        (json!({ "startTime": "yesterday" }), "spec.startTime", "now-7d"),
        (json!({ "endTime": "2039-01-01T00:00:00Z" }), "spec.endTime", "future"),
        (json!({ "startTime": "now", "endTime": "now-1h" }), "spec.endTime", "after startTime"),
        (json!({ "startTime": "now-90d" }), "spec.startTime", "30 days"),
        (json!({ "limit": -1 }), "spec.limit", "negative"),
        (json!({ "limit": 1001 }), "spec.limit", "1000"),
        (json!({ "filter": "resource.kind == 'Rack'" }), "spec.filter", "undeclared reference"),
        (json!({ "filter": "spec.actor.email == 'x'" }), "spec.filter", "undefined field"),
        (json!({ "continue": "nonsense" }), "spec.continue", "status.continue of an earlier page"),
        (json!({ "verb": "look" }), "spec.verb", "create"),
    ] {
        let mut spec = json!({ "startTime": "now-1h", "endTime": "now" });
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = ask(&client, "activityqueries", &spec).await;
        assert_eq!(answer.code, 422, "{more}: {}", answer.text());
        assert!(answer.text().contains(field) && answer.text().contains(why), "{more}: {}", answer.text());
    }
}

#[tokio::test]
async fn a_policy_tells_the_past_anew_and_can_be_tried_before() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let alice = acting(&server, "alice");
    alice.post(MAPS, &map("a", "one")).await.unwrap();
    let client = server.client();
    let of_maps = json!({ "resourceKind": "ConfigMap", "actorName": "alice" });
    assert_eq!(summaries(&client, of_maps.clone()).await, ["alice created ConfigMap a in namespace default"]);
    let spec = json!({
        "resource": { "apiGroup": "", "kind": "ConfigMap" },
        "auditRules": [
            { "name": "delete", "match": "audit.verb == 'delete'", "summary": "{{ actor }} threw {{ audit.objectRef.name }} away" },
            { "name": "any", "match": "audit.responseStatus.code < 300", "summary": "{{ link(actor, actorRef) }} filed {{ link('map ' + audit.objectRef.name, audit.objectRef) }} ({{ kind }})" },
        ],
    });
    let sample = json!({ "type": "audit", "audit": { "auditID": "1", "verb": "delete", "user": { "username": "eve" },
        "objectRef": { "resource": "configmaps", "name": "z" }, "responseStatus": { "code": 200 } } });
    let preview = json!({ "policy": spec, "inputs": [sample, { "type": "event", "event": {} }] });
    let tried = ask(&client, "policypreviews", &preview).await.json();
    assert_eq!(tried["status"]["activities"][0]["spec"]["summary"], "eve threw z away", "{tried}");
    assert_eq!(tried["status"]["results"][0]["matchedRuleIndex"], 0);
    assert_eq!(tried["status"]["results"][1]["matched"], false);
    let policies = format!("{GROUP}/activitypolicies");
    let made = client
        .post(
            &policies,
            &typed(
                "activity.miloapis.com/v1alpha1",
                "ActivityPolicy",
                json!({ "metadata": { "name": "maps" }, "spec": spec }),
            ),
        )
        .await
        .unwrap();
    assert_eq!(made.code, 201, "{}", made.text());
    assert_eq!(made.json()["status"]["conditions"][0]["reason"], "Valid", "{}", made.text());
    assert_eq!(summaries(&client, of_maps.clone()).await, ["alice filed map a (configmaps)"]);
    // One that can't be used says why, and what ships counts again.
    let broken =
        json!({ "spec": { "auditRules": [{ "name": "x", "match": "audit.verb ==", "summary": "x" }] } });
    let broken = client.merge(&format!("{policies}/maps"), &broken).await.unwrap().json();
    assert_eq!(broken["status"]["conditions"][0]["reason"], "ValidationFailed", "{broken}");
    assert_eq!(summaries(&client, of_maps).await, ["alice created ConfigMap a in namespace default"]);
    // Activities are computed on request, so there is nothing to reindex and no kind that says so.
    assert_eq!(client.get(&format!("{GROUP}/reindexjobs")).await.unwrap().code, 404);
}

#[tokio::test]
async fn nobody_is_told_of_what_they_may_not_read() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = server.client();
    for namespace in ["red", "blue"] {
        client.post("/api/v1/namespaces", &json!({ "metadata": { "name": namespace } })).await.unwrap();
        let maps = format!("/api/v1/namespaces/{namespace}/configmaps");
        let object = json!({ "metadata": { "name": format!("in-{namespace}") }, "data": {} });
        assert_eq!(client.post(&maps, &object).await.unwrap().code, 201);
    }
    let role = json!({ "metadata": { "name": "asks" }, "rules": [
        { "apiGroups": ["activity.miloapis.com"], "resources": ["*"], "verbs": ["create", "list", "watch"] },
    ] });
    client.post("/apis/rbac.authorization.k8s.io/v1/clusterroles", &role).await.unwrap();
    let bind = |kind: &str, role: &str| {
        json!({ "metadata": { "name": format!("eve-{role}") },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role },
        "subjects": [{ "kind": "User", "name": "eve", "apiGroup": "rbac.authorization.k8s.io" }] })
    };
    client
        .post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &bind("ClusterRole", "asks"))
        .await
        .unwrap();
    let bound = client
        .post("/apis/rbac.authorization.k8s.io/v1/namespaces/red/rolebindings", &bind("ClusterRole", "view"))
        .await;
    assert_eq!(bound.unwrap().code, 201);
    let eve = server.client().with("impersonate-user", "eve");
    let told = summaries(&eve, json!({ "search": "ConfigMap" })).await;
    assert_eq!(told, ["admin created ConfigMap in-red in namespace red"]);
    let facets = json!({ "facets": [{ "field": "spec.resource.namespace" }] });
    let counted = ask(&eve, "activityfacetqueries", &facets).await.json();
    assert!(!counted.to_string().contains("blue"), "{counted}");
    let requests = ask(
        &eve,
        "auditlogqueries",
        &json!({ "startTime": "now-1h", "endTime": "now", "filter": "verb == 'create'" }),
    )
    .await;
    assert_eq!(requests.code, 201, "{}", requests.text());
    assert!(requests.text().contains("in-red") || requests.text().contains("/red/"), "{}", requests.text());
    assert!(!requests.text().contains("blue"), "{}", requests.text());
    let stranger = server.client().with("impersonate-user", "mallory");
    let refused =
        ask(&stranger, "activityqueries", &json!({ "startTime": "now-1h", "endTime": "now" })).await;
    assert_eq!(refused.code, 403);
}

#[tokio::test]
async fn requests_and_events_can_be_asked_for() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = server.client();
    client.post(MAPS, &map("a", "one")).await.unwrap();
    client.get(&format!("{MAPS}/nothing")).await.unwrap();
    let event = |name: &str, kind: &str| {
        json!({ "metadata": { "name": name, "namespace": "default" }, "reason": "Tried", "type": kind,
        "message": "it was tried", "involvedObject": { "kind": "ConfigMap", "apiVersion": "v1", "namespace": "default", "name": "a" },
        "source": { "component": "tester" }, "lastTimestamp": null })
    };
    for (name, kind) in [("e1", "Normal"), ("e2", "Warning")] {
        let made = client.post("/api/v1/namespaces/default/events", &event(name, kind)).await.unwrap();
        assert_eq!(made.code, 201, "{}", made.text());
    }
    let window = |more: Value| {
        let mut spec = json!({ "startTime": "now-1h", "endTime": "now" });
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        spec
    };
    // Lines are gathered for a moment before they are written.
    let filter =
        json!({ "filter": "verb == 'get' && responseStatus.code == 404 && objectRef.name == 'nothing'" });
    let mut found = Value::Null;
    for _ in 0..100 {
        found = ask(&client, "auditlogqueries", &window(filter.clone())).await.json();
        if !found["status"]["results"].as_array().unwrap().is_empty() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(found["status"]["results"][0]["objectRef"]["resource"], "configmaps", "{found}");
    let facets = json!({ "facets": [{ "field": "verb" }], "filter": "objectRef.resource == 'configmaps'" });
    let counted = ask(&client, "auditlogfacetsqueries", &facets).await.json();
    assert!(
        counted["status"]["facets"][0]["values"]
            .as_array()
            .unwrap()
            .iter()
            .any(|value| value["value"] == "create"),
        "{counted}"
    );
    let warnings = ask(
        &client,
        "eventqueries",
        &window(json!({ "fieldSelector": "type=Warning,involvedObject.kind=ConfigMap" })),
    )
    .await
    .json();
    let results = warnings["status"]["results"].as_array().unwrap();
    assert_eq!(results.len(), 1, "{warnings}");
    assert_eq!(results[0]["event"]["note"], "it was tried");
    assert_eq!(results[0]["kind"], "EventRecord");
    let refused = ask(&client, "eventqueries", &window(json!({ "fieldSelector": "color=red" }))).await;
    assert_eq!(refused.code, 422, "{}", refused.text());
    let counted = ask(&client, "eventfacetqueries", &json!({ "facets": [{ "field": "type" }] })).await.json();
    let values = counted["status"]["facets"][0]["values"].as_array().unwrap();
    assert!(values.contains(&json!({ "value": "Warning", "count": 1 })), "{counted}");
}

#[tokio::test]
async fn whoever_deletes_what_finalizers_keep_is_told_to_have_deleted_it() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let (alice, client) = (acting(&server, "alice"), server.client());
    let namespace = typed("v1", "Namespace", json!({ "metadata": { "name": "attic" } }));
    assert_eq!(alice.post("/api/v1/namespaces", &namespace).await.unwrap().code, 201);
    let mut kept = map("kept", "one");
    kept["metadata"]["finalizers"] = json!(["example.com/wait"]);
    assert_eq!(alice.post(MAPS, &kept).await.unwrap().code, 201);
    assert_eq!(alice.delete("/api/v1/namespaces/attic").await.unwrap().code, 200);
    assert_eq!(alice.delete(&format!("{MAPS}/kept")).await.unwrap().code, 200);
    let by_alice = json!({ "actorName": "alice" });
    assert_eq!(
        summaries(&client, by_alice).await,
        [
            "alice deleted ConfigMap kept in namespace default",
            "alice deleted Namespace attic",
            "alice created ConfigMap kept in namespace default",
            "alice created Namespace attic",
        ]
    );
    // Changes while it waits are changes.
    let waiting = json!({ "metadata": { "labels": { "shelf": "top" } } });
    assert_eq!(alice.merge(&format!("{MAPS}/kept"), &waiting).await.unwrap().code, 200);
    let newest = activities(&client, &json!({ "actorName": "alice" })).await.remove(0);
    assert!(newest["spec"]["summary"].as_str().unwrap().starts_with("alice updated"), "{newest}");
}

#[tokio::test]
async fn the_policies_that_ship_are_there_to_be_read() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = server.client();
    let policies = format!("{GROUP}/activitypolicies");
    let listed = client.get(&policies).await.unwrap().json();
    let names: Vec<&str> = listed["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["metadata"]["name"].as_str().unwrap())
        .collect();
    for name in ["inventory.miloapis.com-node", "core.miloapis.com-configmap", "iam.miloapis.com-role"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    for item in listed["items"].as_array().unwrap() {
        assert_eq!(item["status"]["conditions"][0]["reason"], "Valid", "{item}");
    }
    // Nobody wrote them, so nobody is told to have.
    assert!(summaries(&client, json!({ "resourceKind": "ActivityPolicy" })).await.is_empty());
    // A copy of one under another name takes its place, and only the copy counts.
    let alice = acting(&server, "alice");
    alice.post(MAPS, &map("a", "one")).await.unwrap();
    let mut copy = client.get(&format!("{policies}/core.miloapis.com-configmap")).await.unwrap().json();
    let rule =
        json!({ "name": "made", "match": "audit.verb == 'create'", "summary": "{{ actor }} made a map" });
    copy["spec"]["auditRules"] = json!([rule]);
    copy["metadata"] = json!({ "name": "maps-of-ours" });
    let made = client.post(&policies, &copy).await.unwrap();
    assert_eq!(made.code, 201, "{}", made.text());
    alice.delete(&format!("{MAPS}/a")).await.unwrap();
    let of_maps = json!({ "resourceKind": "ConfigMap", "actorName": "alice" });
    assert_eq!(summaries(&client, of_maps).await, ["alice made a map"]);
}

#[tokio::test]
async fn an_answer_that_is_not_whole_says_so() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = server.client();
    let warnings = |answer: &testbed::server::Answer| -> Vec<String> {
        answer.headers.get_all("warning").iter().map(|value| value.to_str().unwrap().to_owned()).collect()
    };
    let long = json!({ "startTime": "now-2d", "endTime": "now" });
    let answer = ask(&client, "eventqueries", &long).await;
    let told = warnings(&answer);
    assert!(told.len() == 1 && told[0].contains("events are kept for 60 minutes"), "{told:?}");
    let status = &answer.json()["status"];
    let times = [&status["effectiveStartTime"], &status["effectiveEndTime"]];
    let [start, end] = times.map(|time| krm::time::Moment::parse(time.as_str().unwrap()).unwrap());
    assert_eq!(end.seconds - start.seconds, 3600);
    let short = json!({ "startTime": "now-30m", "endTime": "now" });
    for (plural, spec) in [("eventqueries", &short), ("activityqueries", &long), ("auditlogqueries", &long)] {
        let answer = ask(&client, plural, spec).await;
        assert!(answer.code == 201 && warnings(&answer).is_empty(), "{plural}: {:?}", warnings(&answer));
    }
}

#[tokio::test]
async fn activities_are_listed_by_what_queries_are_asked_for() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let alice = acting(&server, "alice");
    for name in ["a", "b", "c"] {
        alice.post(MAPS, &map(name, "one")).await.unwrap();
    }
    alice.delete(&format!("{MAPS}/b")).await.unwrap();
    let listed = async |query: &str| {
        let answer = alice.get(&format!("{GROUP}/activities?{query}")).await.unwrap();
        assert_eq!(answer.code, 200, "{}", answer.text());
        let items = answer.json()["items"].as_array().unwrap().clone();
        items.iter().map(|item| item["spec"]["summary"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let deleted = ["alice deleted ConfigMap b in namespace default"];
    assert_eq!(listed("verb=delete&fieldSelector=spec.actor.name%3Dalice").await, deleted);
    assert_eq!(listed("filter=spec.summary.contains('deleted%20ConfigMap')").await, deleted);
    assert_eq!(listed("search=ConfigMap+B").await.len(), 2);
    let all = alice.get(&format!("{GROUP}/activities")).await.unwrap().json();
    let id = all["items"][0]["metadata"]["name"].as_str().unwrap();
    assert_eq!(listed(&format!("fieldSelector=metadata.name%3D{id}")).await, deleted);
    assert_eq!(listed(&format!("filter=metadata.name%3D%3D'{id}'")).await, deleted);
    let uid = all["items"][0]["spec"]["resource"]["uid"].as_str().unwrap();
    assert_eq!(listed(&format!("fieldSelector=spec.resource.uid%3D{uid}")).await.len(), 2);
    for wrong in ["verb=look", "filter=spec.color"] {
        assert_eq!(alice.get(&format!("{GROUP}/activities?{wrong}")).await.unwrap().code, 400, "{wrong}");
    }
}
