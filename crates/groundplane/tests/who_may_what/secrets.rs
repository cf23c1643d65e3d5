//! The values of secrets: who may look around sees that one is there, who may reveal it sees what it holds, and each reveal
//! is noted down.

use http::Method;
use serde_json::{Value, json};
use testbed::server::Client;

use super::iam::{IAM, TENANCY, Town, binding, made, on_object};

const PLANE: &str = "/apis/resourcemanager.miloapis.com/v1alpha1/projects/web/control-plane";
const SECRETS: &str = "/apis/resourcemanager.miloapis.com/v1alpha1/projects/web/control-plane/api/v1/namespaces/default/secrets";
const VALUE: &str = "marzipan-7";

/// A project with a secret in it, somebody who looks around, somebody who edits, and somebody who may write but not look.
async fn town() -> Town {
    let town = Town::of(&["vera", "eve", "wim", "rob"], &[]).await;
    let admin = &town.admin;
    made(admin, &format!("{TENANCY}/projects"), &json!({"metadata": {"name": "web"}})).await;
    let writer = json!({
        "metadata": {"name": "depositor"},
        "spec": {"launchStage": "Alpha", "includedPermissions": [
            "core.miloapis.com/secrets.get", "core.miloapis.com/secrets.create", "core.miloapis.com/secrets.update",
            "core.miloapis.com/secrets.patch",
        ]},
    });
    made(admin, &format!("{IAM}/namespaces/milo-system/roles"), &writer).await;
    let bindings = format!("{IAM}/namespaces/milo-system/policybindings");
    for (who, role) in [("vera", "project-viewer"), ("eve", "project-editor"), ("wim", "depositor")] {
        let on = on_object("resourcemanager.miloapis.com", "Project", "web");
        made(admin, &bindings, &binding(who, role, who, on)).await;
    }
    let secret = json!({
        "metadata": {"name": "key", "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": format!("{{\"stringData\":{{\"pin\":\"{VALUE}\"}}}}"),
        }},
        "stringData": {"pin": VALUE, "user": VALUE},
    });
    made(admin, SECRETS, &secret).await;
    town
}

fn holds(text: &str) -> bool {
    text.contains(VALUE) || text.contains(&krm::base64::encode(VALUE.as_bytes()))
}

/// Every way in which a secret is read.
async fn readings(client: &Client) -> Vec<(String, u16, Vec<u8>)> {
    let read = client.get(&format!("{SECRETS}/key")).await.unwrap().json();
    let now = format!("asOf={}", read["metadata"]["resourceVersion"].as_str().unwrap());
    let mut all = Vec::new();
    for (path, accept) in [
        (format!("{SECRETS}/key"), "application/json"),
        (format!("{SECRETS}/key"), "application/yaml"),
        (format!("{SECRETS}/key"), "application/vnd.kubernetes.protobuf"),
        (format!("{SECRETS}/key"), "application/json;as=Table;v=v1;g=meta.k8s.io"),
        (format!("{SECRETS}/key?includeObject=Object"), "application/json;as=Table;v=v1;g=meta.k8s.io"),
        (format!("{SECRETS}/key?{now}"), "application/json"),
        (format!("{SECRETS}?{now}"), "application/json"),
        (SECRETS.to_owned(), "application/json"),
        (SECRETS.to_owned(), "application/yaml"),
        (SECRETS.to_owned(), "application/vnd.kubernetes.protobuf"),
        (format!("{SECRETS}?includeObject=Object"), "application/json;as=Table;v=v1;g=meta.k8s.io"),
        (format!("{PLANE}/api/v1/secrets"), "application/json"),
        (format!("{SECRETS}?watch=1&timeoutSeconds=1"), "application/json"),
        (
            format!("{SECRETS}?watch=1&timeoutSeconds=1&includeObject=Object"),
            "application/json;as=Table;v=v1;g=meta.k8s.io",
        ),
        (format!("{SECRETS}/key/history?diff=true"), "application/json"),
    ] {
        let answer = client.clone().with("accept", accept).get(&path).await.unwrap();
        all.push((format!("{path} as {accept}"), answer.code, answer.body.to_vec()));
    }
    all
}

#[tokio::test]
async fn whoever_looks_around_sees_that_a_secret_is_there_and_not_what_it_holds() {
    let town = town().await;
    let (vera, eve) = (town.person("vera"), town.person("eve"));
    for (what, code, bytes) in readings(&vera).await {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert_eq!(code, 200, "{what}: {text}");
        assert!(!holds(&text), "{what}: {text}");
        assert!(bytes.windows(3).any(|part| part == b"key"), "{what}: {text}");
    }
    let read = vera.get(&format!("{SECRETS}/key")).await.unwrap().json();
    assert_eq!(read["data"], json!({"pin": "", "user": ""}));
    assert_eq!(read["metadata"]["annotations"], json!({"groundplane.dev/redacted": "true"}));
    let shown =
        readings(&eve).await.into_iter().filter(|(_, _, bytes)| holds(&String::from_utf8_lossy(bytes)));
    assert!(shown.count() >= 10, "who may reveal is shown values as Kubernetes shows them");
    let can = |verb: &str| {
        json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {"resourceAttributes": {
            "verb": verb, "resource": "secrets", "namespace": "default", "name": "key",
        }}})
    };
    let reviews = format!("{PLANE}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
    for (person, verb, may) in [(&vera, "get", true), (&vera, "reveal", false), (&eve, "reveal", true)] {
        let told = person.post(&reviews, &can(verb)).await.unwrap().json();
        assert_eq!(told["status"]["allowed"], may, "{verb}: {told}");
    }
    // A permission on one secret reveals that one.
    made(&town.admin, SECRETS, &json!({"metadata": {"name": "other"}, "stringData": {"pin": VALUE}})).await;
    let role = json!({
        "metadata": {"name": "revealer"},
        "spec": {"launchStage": "Alpha", "includedPermissions": ["core.miloapis.com/secrets.reveal"]},
    });
    let iam = format!("{PLANE}{IAM}/namespaces/default");
    made(&town.admin, &format!("{iam}/roles"), &role).await;
    let mut one = binding(
        "one",
        "revealer",
        "vera",
        json!({"resourceRef": {"kind": "Secret", "namespace": "default", "name": "other"}}),
    );
    one["spec"]["roleRef"] = json!({"name": "revealer"});
    made(&town.admin, &format!("{iam}/policybindings"), &one).await;
    let listed = vera.get(SECRETS).await.unwrap().json();
    let pins: Vec<bool> =
        listed["items"].as_array().unwrap().iter().map(|item| holds(&item["data"].to_string())).collect();
    assert_eq!(pins, [false, true], "{listed}");
}

#[tokio::test]
async fn what_is_read_without_values_is_not_written_back_and_nothing_copies_them() {
    let town = town().await;
    let wim = town.person("wim");
    let key = format!("{SECRETS}/key");
    let mut read = wim.get(&key).await.unwrap().json();
    let refused = wim.put(&key, &read).await.unwrap();
    assert_eq!(refused.code, 422, "{}", refused.text());
    assert!(refused.text().contains("would delete them"), "{}", refused.text());
    let copy = json!([{"op": "copy", "from": "/data/pin", "path": "/metadata/annotations/seen"}]);
    let copied =
        wim.send(Method::PATCH, &key, "application/json-patch+json", copy.to_string()).await.unwrap();
    assert_eq!(copied.code, 403, "{}", copied.text());
    let labelled = wim.merge(&key, &json!({"metadata": {"labels": {"shelf": "top"}}})).await.unwrap();
    assert_eq!((labelled.code, holds(&labelled.text())), (200, false), "{}", labelled.text());
    read["metadata"] = json!({"name": "key"});
    read["data"] = json!({"pin": krm::base64::encode(VALUE.as_bytes()), "user": "Ym9i"});
    let replaced = wim.put(&key, &read).await.unwrap();
    assert_eq!((replaced.code, holds(&replaced.text())), (200, false), "{}", replaced.text());
    let undone = wim.post(&format!("{key}/undo"), &json!({})).await.unwrap();
    assert!(!holds(&undone.text()), "{}", undone.text());
    let kept = town.admin.get(&key).await.unwrap().json();
    assert_eq!(kept["data"]["pin"], krm::base64::encode(VALUE.as_bytes()));
}

#[tokio::test]
async fn rbac_means_what_it_means_in_kubernetes_and_every_reveal_is_noted_down() {
    let town = town().await;
    let rbac = format!("{PLANE}/apis/rbac.authorization.k8s.io/v1/namespaces/default");
    let role = json!({"metadata": {"name": "reader"}, "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]});
    made(&town.admin, &format!("{rbac}/roles"), &role).await;
    let bound = json!({
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"kind": "User", "name": "rob", "apiGroup": "rbac.authorization.k8s.io"}],
    });
    made(&town.admin, &format!("{rbac}/rolebindings"), &bound).await;
    let key = format!("{SECRETS}/key");
    for (who, sees) in [("rob", true), ("vera", false), ("eve", true)] {
        let answer = town.person(who).get(&key).await.unwrap();
        assert_eq!((answer.code, holds(&answer.text())), (200, sees), "{who}: {}", answer.text());
    }
    // Nothing is shown by what is not there, by tables and metadata, and by questions about other kinds.
    let eve = town.person("eve");
    assert_eq!(eve.get(&format!("{SECRETS}/absent")).await.unwrap().code, 404);
    for accept in [
        "application/json;as=Table;v=v1;g=meta.k8s.io",
        "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    ] {
        assert_eq!(eve.clone().with("accept", accept).get(&key).await.unwrap().code, 200);
    }
    for path in ["search?q=key", "plans"] {
        let answer = eve.get(&format!("{PLANE}/apis/groundplane.dev/v1alpha1/{path}")).await.unwrap();
        assert_eq!(answer.code, 200, "{path}: {}", answer.text());
    }
    let expected = [("rob", "revealed"), ("vera", "redacted"), ("eve", "revealed")];
    let expected = expected.map(|(who, what)| (who.to_owned(), what.to_owned()));
    let mut tries = 0;
    while noted(&town) != expected {
        super::iam::again(&mut tries).await;
    }
    let query = json!({
        "apiVersion": "activity.miloapis.com/v1alpha1", "kind": "AuditLogQuery",
        "spec": {"startTime": "now-1h", "endTime": "now", "filter": "secretValues == 'revealed' && verb == 'get'"},
    });
    let path = format!("{PLANE}/apis/activity.miloapis.com/v1alpha1/auditlogqueries");
    let told = made(&town.admin, &path, &query).await;
    let who: Vec<&str> = told["status"]["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|event| event["user"]["username"].as_str())
        .collect();
    assert_eq!(who, ["eve", "rob"], "the newest first: {told}");
    let log = std::fs::read_to_string(town.server.data().join("audit.log")).unwrap();
    assert!(!holds(&log));
    let is_about_others = |event: &Value| {
        !event["annotations"]["groundplane.dev/secret-values"].is_null()
            && event["objectRef"]["resource"] != "secrets"
    };
    let events = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let others: Vec<Value> = events.filter(is_about_others).collect();
    assert!(others.is_empty(), "{others:?}");
}

/// Who read a secret, and whether values were shown, as the audit log has it.
fn noted(town: &Town) -> Vec<(String, String)> {
    let log = std::fs::read_to_string(town.server.data().join("audit.log")).unwrap();
    let events = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let reads = events.filter(|event| event["verb"] == "get" && event["objectRef"]["resource"] == "secrets");
    reads
        .filter_map(|event| {
            let told = event["annotations"]["groundplane.dev/secret-values"].as_str()?.to_owned();
            Some((event["user"]["username"].as_str()?.to_owned(), told))
        })
        .collect()
}
