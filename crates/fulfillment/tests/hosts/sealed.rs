//! Credentials: taken inline, kept in a Secret, given back only through `credentials`, and never told anywhere else.

use serde_json::{Value, json};
use testbed::server::{Answer, Client};

use super::objects::make;
use super::server::{Server, until};
use super::{host, object, of};

const MARKER: &str = "marker-9f3a \"quoted\" \\ é";
const OTHER: &str = "marker-second-one";
const SECRETS: &str = "/api/v1/namespaces/groundplane-sealed/secrets";

fn with_password(name: &str, password: &str) -> Value {
    host(
        name,
        &json!({"bmc": {"url": "redfish://192.0.2.1/redfish/v1/Systems/1", "user": "root", "password": password}}),
    )
}

/// Nothing of the markers is in an answer, in clear or in base64.
fn clean(answer: &Answer) -> Value {
    let text = answer.text();
    for marker in [MARKER, OTHER, "marker-9f3a"] {
        let coded = krm::base64::encode(marker.as_bytes());
        assert!(!text.contains(marker) && !text.contains(coded.trim_end_matches('=')), "{text}");
    }
    answer.json()
}

async fn credentials(client: &Client, name: &str) -> Value {
    let answer = client.get(&format!("{}/{name}/credentials", of("hosts"))).await.unwrap();
    assert_eq!(answer.code, 200, "{}", answer.text());
    answer.json()["values"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_goes_into_a_secret_whichever_way_it_is_written() {
    let server = Server::embedded().await;
    let client = server.client();
    let hosts = of("hosts");
    let at = |name: &str| format!("{hosts}/{name}");
    // Created, with what kubectl keeps in an annotation.
    let mut wanted = with_password("created", MARKER);
    let applied = wanted.to_string();
    wanted["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": applied});
    let made = clean(&client.post(&hosts, &wanted).await.unwrap());
    let reference = json!({"name": "host.created", "key": "password", "generation": 1});
    assert_eq!(made["spec"]["bmc"]["passwordRef"], reference, "{made}");
    assert_eq!(made["spec"]["bmc"].get("password"), None);
    assert_eq!(credentials(&client, "created").await, json!({"spec.bmc.password": MARKER}));

    // Replaced, patched in both ways, applied, in a transaction: the same.
    for name in ["put", "merge", "json", "apply", "transaction"] {
        if name != "apply" && name != "transaction" {
            make(&client, &hosts, &with_password(name, OTHER)).await;
        }
        let answer = match name {
            "put" => {
                let mut changed = client.get(&at(name)).await.unwrap().json();
                changed["spec"]["bmc"]["password"] = MARKER.into();
                client.put(&at(name), &changed).await
            }
            "merge" => client.merge(&at(name), &json!({"spec": {"bmc": {"password": MARKER}}})).await,
            "json" => {
                let add = json!([{"op": "add", "path": "/spec/bmc/password", "value": MARKER}]);
                client.patch(&at(name), &add).await
            }
            "apply" => {
                client.apply(&format!("{}?fieldManager=source", at(name)), &with_password(name, MARKER)).await
            }
            _ => {
                let items = json!([{"operation": "create", "object": with_password(name, MARKER)}]);
                let work = json!({
                    "apiVersion": "groundplane.dev/v1alpha1", "kind": "Transaction", "spec": {"items": items},
                });
                client.post("/apis/groundplane.dev/v1alpha1/transactions", &work).await
            }
        };
        let answer = answer.unwrap();
        assert!(matches!(answer.code, 200 | 201), "{name}: {}", answer.text());
        clean(&answer);
        assert_eq!(credentials(&client, name).await, json!({"spec.bmc.password": MARKER}), "{name}");
    }
    // Removing the reference, or sending nothing, removes it; its Secret goes with the last value.
    for (name, patch) in [("merge", json!({"passwordRef": null})), ("put", json!({"password": ""}))] {
        let removed = client.merge(&at(name), &json!({"spec": {"bmc": patch}})).await.unwrap();
        assert_eq!(clean(&removed)["spec"]["bmc"].get("passwordRef"), None);
        assert_eq!(credentials(&client, name).await, json!({}));
        assert_eq!(client.get(&format!("{SECRETS}/host.{name}")).await.unwrap().code, 404);
    }
    // An applier that stops saying it lets it go.
    let mut without = with_password("apply", "");
    without["spec"]["bmc"].as_object_mut().unwrap().remove("password");
    client.apply(&format!("{}?fieldManager=source", at("apply")), &without).await.unwrap();
    assert_eq!(credentials(&client, "apply").await, json!({}));
    // What somebody says about a reference counts for nothing.
    let stolen = json!({"name": "host.created", "key": "password", "generation": 7});
    let mut thief = host("thief", &json!({"bmc": {"passwordRef": stolen}}));
    let made = clean(&client.post(&hosts, &thief).await.unwrap());
    assert_eq!(made["spec"]["bmc"].get("passwordRef"), None, "{made}");
    thief["spec"]["bmc"]["password"] = OTHER.into();
    let applied =
        client.apply(&format!("{}?fieldManager=thief&force=true", at("thief")), &thief).await.unwrap();
    assert_eq!(clean(&applied)["spec"]["bmc"]["passwordRef"]["name"], "host.thief");

    assert_eq!(client.delete(&at("created")).await.unwrap().code, 200);
    assert_eq!(
        client.get(&format!("{SECRETS}/host.created")).await.unwrap().code,
        404,
        "it goes with its host"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unchanged_password_writes_nothing_and_a_changed_one_is_counted() {
    let server = Server::embedded().await;
    let client = server.client();
    let path = format!("{}/h1?fieldManager=source", of("hosts"));
    let first = clean(&client.apply(&path, &with_password("h1", MARKER)).await.unwrap());
    let secret = |found: &Answer| found.json()["metadata"]["resourceVersion"].clone();
    let kept = client.get(&format!("{SECRETS}/host.h1")).await.unwrap();
    let again = clean(&client.apply(&path, &with_password("h1", MARKER)).await.unwrap());
    assert_eq!(first["metadata"]["resourceVersion"], again["metadata"]["resourceVersion"]);
    assert_eq!(secret(&kept), secret(&client.get(&format!("{SECRETS}/host.h1")).await.unwrap()));
    let merged = json!({"spec": {"bmc": {"password": MARKER}}});
    let again = clean(&client.merge(&format!("{}/h1", of("hosts")), &merged).await.unwrap());
    assert_eq!(first["metadata"]["resourceVersion"], again["metadata"]["resourceVersion"]);

    let changed = clean(&client.apply(&path, &with_password("h1", OTHER)).await.unwrap());
    assert_eq!(changed["spec"]["bmc"]["passwordRef"]["generation"], 2);
    assert_ne!(first["metadata"]["resourceVersion"], changed["metadata"]["resourceVersion"]);

    // An undo does not bring an old password back, and does not lose the new one.
    client.merge(&format!("{}/h1", of("hosts")), &json!({"spec": {"title": "one"}})).await.unwrap();
    let undone = client.post(&format!("{}/h1/undo", of("hosts")), &json!({"steps": 2})).await.unwrap();
    assert!(matches!(undone.code, 200 | 201), "{}", undone.text());
    clean(&undone);
    assert_eq!(credentials(&client, "h1").await, json!({"spec.bmc.password": OTHER}));
    let history = client.get(&format!("{}/h1/history?diff=true", of("hosts"))).await.unwrap();
    clean(&history);
    // A host that is made again has no password until somebody sends one.
    client.delete(&format!("{}/h1", of("hosts"))).await.unwrap();
    let restored = client.post(&format!("{}/h1/restore", of("hosts")), &json!({})).await.unwrap();
    assert!(matches!(restored.code, 200 | 201), "{}", restored.text());
    assert_eq!(credentials(&client, "h1").await, json!({}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn credentials_take_a_permission_of_their_own_and_are_audited() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, &of("hosts"), &with_password("h1", MARKER)).await;
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    for (name, resources) in [("viewer", json!(["hosts"])), ("keeper", json!(["hosts", "hosts/credentials"]))]
    {
        let rules = json!([{"apiGroups": ["fulfillment.groundplane.dev"], "resources": resources, "verbs": ["get", "list"]}]);
        make(&client, &format!("{rbac}/clusterroles"), &json!({"metadata": {"name": name}, "rules": rules}))
            .await;
        let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name});
        let subjects = json!([{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}]);
        let binding = json!({"metadata": {"name": name}, "roleRef": role, "subjects": subjects});
        make(&client, &format!("{rbac}/clusterrolebindings"), &binding).await;
    }
    let path = format!("{}/h1", of("hosts"));
    let as_user = |name: &str| client.apart().with("impersonate-user", name);
    clean(&as_user("viewer").get(&path).await.unwrap());
    let refused = as_user("viewer").get(&format!("{path}/credentials")).await.unwrap();
    assert_eq!(refused.code, 403);
    clean(&refused);
    assert_eq!(as_user("viewer").get(&format!("{SECRETS}/host.h1")).await.unwrap().code, 403);
    assert_eq!(credentials(&as_user("keeper"), "h1").await, json!({"spec.bmc.password": MARKER}));
    let stranger = client.stranger().get(&format!("{path}/credentials")).await.unwrap();
    assert!(matches!(stranger.code, 401 | 403));
    // A record is written once the last byte is sent.
    let is_revealed = |event: &Value| {
        event["annotations"]["groundplane.dev/secret-values"] == "revealed"
            && event["objectRef"]["subresource"] == "credentials"
            && event["responseStatus"]["code"] == 200
    };
    until("the reveal is noted down", || async { server.audited().iter().any(is_revealed) }).await;
    let audited = server.audited();
    assert!(!audited.iter().any(|event| event.to_string().contains("marker-")), "no body in the audit log");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_plans_and_watches_do_not_repeat_a_password() {
    let server = Server::embedded().await;
    let client = server.client();
    let hosts = of("hosts");
    make(&client, &hosts, &host("h1", &json!({}))).await;
    // Bodies that are wrong in many ways.
    let mut wrong =
        vec![with_password("h2", MARKER), with_password("h3", MARKER), with_password("h4", MARKER)];
    wrong[0].as_object_mut().unwrap().remove("kind");
    wrong[1]["apiVersion"] = "v2".into();
    wrong[2]["spec"]["class"] = "none".into();
    for body in wrong {
        let refused = client.post(&hosts, &body).await.unwrap();
        assert!(refused.code >= 400, "{}", refused.text());
        clean(&refused);
    }
    let path = format!("{hosts}/h1");
    let patches = [
        json!({"spec": {"bmc": {"password": MARKER, "url": "none"}}}),
        json!({"kind": null, "spec": {"bmc": {"password": MARKER}}}),
        json!({"spec": {"bmc": {"password": MARKER, "unknown": 1}}}),
    ];
    for patch in &patches {
        let strict = client.merge(&format!("{path}?fieldValidation=Strict"), patch).await.unwrap();
        assert!(strict.code >= 400, "{}", strict.text());
        clean(&strict);
    }
    let test = json!([{"op": "add", "path": "/spec/bmc", "value": {"password": MARKER}}, {"op": "remove", "path": "/kind"}]);
    clean(&client.patch(&path, &test).await.unwrap());
    // Plans hold what was sent, and show it to nobody.
    let items = json!([
        {"operation": "create", "object": with_password("planned", MARKER)},
        {"operation": "patch", "target": {"apiVersion": "fulfillment.groundplane.dev/v1alpha1", "kind": "Host", "name": "h1"},
         "patch": {"spec": {"bmc": {"password": MARKER}}}},
    ]);
    let plan = json!({
        "apiVersion": "groundplane.dev/v1alpha1", "kind": "Plan", "metadata": {"name": "p"}, "spec": {"items": items},
    });
    let plans = "/apis/groundplane.dev/v1alpha1/plans";
    let planned = client.post(plans, &plan).await.unwrap();
    assert_eq!(planned.code, 201, "{}", planned.text());
    clean(&planned);
    clean(&client.get(&format!("{plans}/p")).await.unwrap());
    let applied = client.post(&format!("{plans}/p/apply"), &json!({})).await.unwrap();
    assert!(matches!(applied.code, 200 | 201), "{}", applied.text());
    clean(&applied);
    assert_eq!(credentials(&client, "planned").await, json!({"spec.bmc.password": MARKER}));
    clean(&client.get(&hosts).await.unwrap());
    clean(&client.get(&format!("{hosts}?watch=1&timeoutSeconds=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan")).await.unwrap_or_else(|error| panic!("{error}")));
    // Hubs have two, and clusters keep theirs in their status.
    let hub = object("Hub", "hub", &json!({"spec": {"kubeconfig": MARKER, "pullSecret": OTHER}}));
    let made = clean(&client.post(&of("hubs"), &hub).await.unwrap());
    assert_eq!(made["spec"]["kubeconfigRef"]["key"], "kubeconfig");
    let values =
        client.get(&format!("{}/hub/credentials", of("hubs"))).await.unwrap().json()["values"].clone();
    assert_eq!(values, json!({"spec.kubeconfig": MARKER, "spec.pullSecret": OTHER}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_has_a_password_sent_elsewhere_who_does_not_know_it() {
    let server = Server::embedded().await;
    let client = server.client();
    let hosts = of("hosts");
    make(&client, &hosts, &with_password("h1", MARKER)).await;
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    for (name, resources) in
        [("editor", json!(["hosts", "hosts/undo"])), ("keeper", json!(["hosts", "hosts/credentials"]))]
    {
        let rules = json!([{"apiGroups": ["fulfillment.groundplane.dev"], "resources": resources, "verbs": ["*"]},
            {"apiGroups": ["groundplane.dev"], "resources": ["*"], "verbs": ["*"]}]);
        make(&client, &format!("{rbac}/clusterroles"), &json!({"metadata": {"name": name}, "rules": rules}))
            .await;
        let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name});
        let subjects = json!([{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}]);
        let binding = json!({"metadata": {"name": name}, "roleRef": role, "subjects": subjects});
        make(&client, &format!("{rbac}/clusterrolebindings"), &binding).await;
    }
    let path = format!("{hosts}/h1");
    let editor = client.apart().with("impersonate-user", "editor");
    let keeper = client.apart().with("impersonate-user", "keeper");
    let thief = "redfish://198.51.100.66/redfish/v1/Systems/1";
    let moved = |fields: Value| json!({"spec": {"bmc": fields}});
    // Whichever way it is written.
    let mut put = client.get(&path).await.unwrap().json();
    put["spec"]["bmc"]["url"] = thief.into();
    let target = json!({"apiVersion": "fulfillment.groundplane.dev/v1alpha1", "kind": "Host", "name": "h1"});
    let items = json!([{"operation": "patch", "target": target, "patch": moved(json!({"url": thief}))}]);
    let work = json!({
        "apiVersion": "groundplane.dev/v1alpha1", "kind": "Transaction", "spec": {"items": items},
    });
    let applied = host("h1", &json!({"bmc": {"url": thief}}));
    let refused = [
        editor.put(&path, &put).await,
        editor.merge(&path, &moved(json!({"url": thief}))).await,
        editor.merge(&path, &moved(json!({"url": null}))).await,
        editor.merge(&path, &moved(json!({"insecure": true}))).await,
        editor.merge(&path, &moved(json!({"certificate": "00".repeat(32)}))).await,
        editor.patch(&path, &json!([{"op": "replace", "path": "/spec/bmc/url", "value": thief}])).await,
        editor.apply(&format!("{path}?fieldManager=thief&force=true"), &applied).await,
        editor.post("/apis/groundplane.dev/v1alpha1/transactions", &work).await,
    ];
    for (number, answer) in refused.into_iter().enumerate() {
        let answer = answer.unwrap();
        assert_eq!(answer.code, 403, "{number}: {}", answer.text());
        assert!(answer.text().contains("says where spec.bmc.password is sent"), "{}", answer.text());
    }
    // What has nothing to do with it is theirs, and so is a password that they send or remove.
    for (who, fields) in [
        (&editor, json!({"user": "operator", "insecure": false})),
        (&editor, json!({"url": thief, "password": OTHER})),
        (&editor, json!({"url": "redfish://192.0.2.1/redfish/v1/Systems/1", "password": OTHER})),
        (&keeper, json!({"url": thief})),
    ] {
        let answer = who.merge(&path, &moved(fields)).await.unwrap();
        assert_eq!(answer.code, 200, "{}", answer.text());
    }
    // An undo is a write like the others.
    let undone = editor.post(&format!("{path}/undo"), &json!({"steps": 1})).await.unwrap();
    assert_eq!(undone.code, 403, "{}", undone.text());
    let removed = editor.merge(&path, &moved(json!({"url": null, "passwordRef": null}))).await.unwrap();
    assert_eq!(removed.code, 200, "{}", removed.text());
    let free = editor.merge(&path, &moved(json!({"url": thief}))).await.unwrap();
    assert_eq!(free.code, 200, "nothing is sent there: {}", free.text());
}
