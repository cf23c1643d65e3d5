//! Routes of modules: streams both ways, from the first byte to the last.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a test a failed step is a failed test"
)]

mod calls;
mod faces;
mod gates;
mod nodes;
#[path = "../shelves/server.rs"]
#[allow(dead_code, reason = "these tests don't do everything that the others do")]
mod server;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use apiserver::authn::Account;
use apiserver::limits::Settings;
use http::{Response, Version};
use hyper::body::Incoming;
use serde_json::{Value, json};
use testbed::server::Client;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use faces::{Echo, Greeter};
use server::{Extras, Server, until};
use wire::{VERSIONS, begin, next, rest, send, send_trailer};

/// The kinds that the servers of these tests serve.
mod served {
    pub fn all() -> Vec<krm::kind::Kind> {
        Vec::new()
    }
}

const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";

async fn server(limits: Settings) -> Server {
    Server::with(Extras { routes: vec![Arc::new(Echo), Arc::new(Greeter)], limits, ..Extras::default() })
        .await
}

/// Ann, who may ask for some paths.
async fn ann(server: &Server, paths: &[&str]) -> Client {
    let admin = server.client();
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "faces"},
        "rules": [{"nonResourceURLs": paths, "verbs": ["*"]}],
    });
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "ann"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "faces"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ann"}],
    });
    let roles = BINDINGS.replace("bindings", "s");
    assert_eq!(admin.post(&roles, &role).await.unwrap().code, 201);
    assert_eq!(admin.post(BINDINGS, &binding).await.unwrap().code, 201);
    admin.with("impersonate-user", "ann")
}

async fn revoke(server: &Server) {
    assert_eq!(server.client().delete(&format!("{BINDINGS}/ann")).await.unwrap().code, 200);
}

/// The audit events of a path.
fn audited(server: &Server, path: &str) -> Vec<Value> {
    server.audited().into_iter().filter(|event| event["requestURI"] == path).collect()
}

/// Waits for the audit event of the end of the only request to a path.
async fn end_of(server: &Server, path: &str) -> Value {
    let ends = || {
        let events = audited(server, path);
        events.into_iter().filter(|event| event["stage"] == "ResponseComplete").collect::<Vec<_>>()
    };
    until("the end of the request is in the audit log", || async { !ends().is_empty() }).await;
    let [end] = &ends()[..] else { panic!("it ended more than once") };
    end.clone()
}

async fn text(answer: Response<Incoming>) -> (u16, String) {
    let code = answer.status().as_u16();
    let body = http_body_util::BodyExt::collect(answer.into_body()).await.unwrap().to_bytes();
    (code, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn bytes_go_both_ways_at_once_and_trailers_come_last() {
    let server = server(Settings::default()).await;
    for version in VERSIONS {
        let headers = [("te", "trailers"), ("trailer", "x-sum")];
        let (sender, answer) = begin(&server.client(), version, "POST", "/echo", &headers).await;
        send(&sender, "one").await;
        let mut answer = answer.await;
        assert_eq!(answer.status(), 200);
        assert_eq!(next(&mut answer).await, "one");
        // What is sent now answers to what was received before.
        send(&sender, "two").await;
        assert_eq!(next(&mut answer).await, "two", "{version:?}");
        send_trailer(sender, "x-sum", "6").await;
        let (is_complete, trailers) = rest(answer).await;
        assert!(is_complete);
        assert_eq!(trailers["x-sum"], "6", "{version:?}");
    }
}

#[tokio::test]
async fn a_request_counts_until_the_last_byte_of_its_answer() {
    let server = server(Settings { requests_per_user: 1, ..Settings::default() }).await;
    let ann = ann(&server, &["/echo*"]).await;
    for version in VERSIONS {
        let path = format!("/echo?{version:?}");
        let (sender, answer) = begin(&ann, version, "POST", &path, &[]).await;
        send(&sender, "one").await;
        let mut answer = answer.await;
        assert_eq!(next(&mut answer).await, "one");
        assert_eq!(ann.get("/echo/me").await.unwrap().code, 429, "{version:?}");
        assert!(audited(&server, &path).is_empty(), "it has not ended");
        drop(sender);
        assert!(rest(answer).await.0);
        until("it no longer counts", || async { ann.get("/echo/me").await.unwrap().code == 200 }).await;
        let end = end_of(&server, &path).await;
        assert_eq!(end["responseStatus"]["code"], 200);
        assert_eq!(
            (&end["user"]["username"], &end["impersonatedUser"]["username"]),
            (&json!("system:admin"), &json!("ann"))
        );
    }
}

#[tokio::test]
async fn whoever_loses_the_right_is_cut_off_in_the_middle() {
    let server = server(Settings::default()).await;
    for (number, version) in VERSIONS.into_iter().enumerate() {
        let ann = match number {
            0 => ann(&server, &["/echo*"]).await,
            _ => {
                let again = json!({"metadata": {"name": "ann"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io",
                    "kind": "ClusterRole", "name": "faces"}, "subjects": [{"apiGroup": "rbac.authorization.k8s.io",
                    "kind": "User", "name": "ann"}]});
                assert_eq!(server.client().post(BINDINGS, &again).await.unwrap().code, 201);
                server.client().with("impersonate-user", "ann")
            }
        };
        let path = format!("/echo/stream?{version:?}");
        // The rules go by the path, without its query.
        let (sender, answer) = begin(&ann, version, "POST", &path, &[]).await;
        send(&sender, "one").await;
        let mut answer = answer.await;
        assert_eq!(next(&mut answer).await, "one");
        until("its beginning is in the audit log", || async { audited(&server, &path).len() == 1 }).await;
        assert_eq!(audited(&server, &path)[0]["stage"], "ResponseStarted");
        revoke(&server).await;
        let (is_complete, _) = rest(answer).await;
        assert!(!is_complete, "{version:?}: the client takes the answer for complete");
        let end = end_of(&server, &path).await;
        assert_eq!(end["responseStatus"]["code"], 403);
        assert_eq!(ann.get("/echo").await.unwrap().code, 403);
    }
}

#[tokio::test]
async fn a_watch_ends_when_the_right_to_it_goes() {
    let server = server(Settings::default()).await;
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "reader"},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}],
    });
    let admin = server.client();
    let roles = BINDINGS.replace("bindings", "s");
    assert_eq!(admin.post(&roles, &role).await.unwrap().code, 201);
    let binding = json!({"metadata": {"name": "ann"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole", "name": "reader"}, "subjects": [{"apiGroup": "rbac.authorization.k8s.io",
        "kind": "User", "name": "ann"}]});
    assert_eq!(admin.post(BINDINGS, &binding).await.unwrap().code, 201);
    let ann = admin.clone().with("impersonate-user", "ann");
    let path = "/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=0";
    let (sender, answer) = begin(&ann, Version::HTTP_2, "GET", path, &[]).await;
    drop(sender);
    let mut answer = answer.await;
    assert_eq!(answer.status(), 200);
    revoke(&server).await;
    let line: Value = serde_json::from_str(&next(&mut answer).await).unwrap();
    assert_eq!((&line["type"], &line["object"]["code"]), (&json!("ERROR"), &json!(403)));
    assert!(rest(answer).await.0);
}

/// A client with a token of a service account that is accepted for three more seconds.
async fn with_expiring_token(server: &Server) -> Client {
    let admin = server.client();
    let account = json!({"metadata": {"name": "robot"}});
    let account = admin.post("/api/v1/namespaces/default/serviceaccounts", &account).await.unwrap();
    assert_eq!(account.code, 201, "{}", account.text());
    let role = json!({"metadata": {"name": "robots"}, "rules": [
        {"nonResourceURLs": ["/echo*"], "verbs": ["*"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]}]});
    let binding = json!({"metadata": {"name": "robots"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole", "name": "robots"},
        "subjects": [{"kind": "ServiceAccount", "name": "robot", "namespace": "default"}]});
    assert_eq!(admin.post(&BINDINGS.replace("bindings", "s"), &role).await.unwrap().code, 201);
    assert_eq!(admin.post(BINDINGS, &binding).await.unwrap().code, 201);
    let account = account.json();
    let uid = account["metadata"]["uid"].as_str().unwrap();
    let account = Account { plane: "", namespace: "default", name: "robot", uid, secret: None };
    // Tokens are accepted for a minute longer than they say, since clocks differ.
    let issued = std::time::SystemTime::now() - Duration::from_secs(60);
    let token = server.tokens().issue(&account, &[], Duration::from_secs(3), issued).unwrap();
    admin.stranger().with_token(&token.token)
}

#[tokio::test]
async fn streams_and_watches_end_when_the_token_expires() {
    let server = server(Settings::default()).await;
    let robot = with_expiring_token(&server).await;
    let (sender, echo) = begin(&robot, Version::HTTP_2, "POST", "/echo/stream", &[]).await;
    send(&sender, "one").await;
    let path = "/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=0";
    let (watching, watch) = begin(&robot, Version::HTTP_2, "GET", path, &[]).await;
    drop(watching);
    let (mut echo, watch) = (echo.await, watch.await);
    assert_eq!((echo.status(), watch.status()), (http::StatusCode::OK, http::StatusCode::OK));
    assert_eq!(next(&mut echo).await, "one");
    assert!(!rest(echo).await.0, "the stream is cut");
    assert_eq!(end_of(&server, "/echo/stream").await["responseStatus"]["code"], 401);
    // A watch ends as one whose time is over: its client goes on with the next token.
    assert!(rest(watch).await.0);
    assert_eq!(robot.get("/echo/me").await.unwrap().code, 401);
}

#[tokio::test]
async fn a_list_counts_until_its_last_byte() {
    let server = server(Settings { requests_per_user: 1, ..Settings::default() }).await;
    let admin = server.client();
    // More than the buffers between server and client take.
    let text = "x".repeat(900 << 10);
    for number in 0..32 {
        let map = json!({"metadata": {"name": format!("m{number}")}, "data": {"text": text}});
        let made = admin.post("/api/v1/namespaces/default/configmaps", &map).await.unwrap();
        assert_eq!(made.code, 201, "{}", made.text());
    }
    let path = "/api/v1/namespaces/default/configmaps";
    for version in VERSIONS {
        let (sender, answer) = begin(&admin, version, "GET", path, &[]).await;
        drop(sender);
        let answer = answer.await;
        assert_eq!(answer.status(), 200);
        assert_eq!(admin.get("/echo/me").await.unwrap().code, 429, "{version:?}: the list is not sent yet");
        assert!(rest(answer).await.0);
        until("it no longer counts", || async { admin.get("/echo/me").await.unwrap().code == 200 }).await;
    }
}

#[tokio::test]
async fn discovery_lists_the_subresources_of_routes() {
    let server = server(Settings::default()).await;
    let core = server.client().get("/api/v1").await.unwrap().json();
    let listed = core["resources"].as_array().unwrap().iter().find(|it| it["name"] == "configmaps/echo");
    let listed = listed.unwrap_or_else(|| panic!("{core}"));
    assert_eq!((&listed["kind"], &listed["namespaced"]), (&json!("ConfigMap"), &json!(true)));
    assert_eq!(listed["verbs"], json!(["create", "get"]));
    let aggregated = server
        .client()
        .with("accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    let groups = aggregated.get("/api").await.unwrap().json();
    let resources = groups["items"][0]["versions"][0]["resources"].as_array().unwrap().clone();
    let maps = resources.iter().find(|resource| resource["resource"] == "configmaps").unwrap();
    assert_eq!(maps["subresources"][0]["subresource"], "echo");
}

#[tokio::test]
async fn a_client_that_stalls_is_cut() {
    let server = server(Settings { requests_per_user: 1, ..Settings::default() }).await;
    let ann = ann(&server, &["/echo*"]).await;
    for version in VERSIONS {
        // It sends nothing more, in the middle of an answer.
        let (sender, answer) = begin(&ann, version, "POST", "/echo/impatient", &[]).await;
        send(&sender, "one").await;
        let mut answer = answer.await;
        assert_eq!(next(&mut answer).await, "one");
        assert!(!rest(answer).await.0, "{version:?}");
        until("it no longer counts", || async { ann.get("/echo/me").await.unwrap().code == 200 }).await;
        // It takes nothing of an answer without end, and keeps its connection.
        let (_sender, answer) = begin(&ann, version, "POST", "/echo/flood", &[]).await;
        let answer = answer.await;
        let path = "/echo/flood";
        let ended =
            async || audited(&server, path).iter().any(|event| event["responseStatus"]["code"] == 408);
        until("the stream that nobody reads is ended", ended).await;
        drop(answer);
    }
    // It takes too long altogether: then it is told, since nothing of the answer was sent.
    let (_sender, answer) = begin(&ann, Version::HTTP_2, "POST", "/echo/short", &[]).await;
    assert_eq!(answer.await.status(), 504);
}

#[tokio::test]
async fn a_body_is_as_large_as_its_route_allows() {
    let server = server(Settings::default()).await;
    let admin = server.client();
    for version in VERSIONS {
        let (sender, answer) = begin(&admin, version, "POST", "/echo/small", &[]).await;
        send(&sender, "12345678").await;
        drop(sender);
        assert_eq!(text(answer.await).await, (200, "12345678".to_owned()));
        let (sender, answer) = begin(&admin, version, "POST", "/echo/small", &[]).await;
        send(&sender, "12345678").await;
        send(&sender, "9").await;
        let (code, why) = text(answer.await).await;
        assert_eq!(code, 413);
        assert!(why.contains("limit is 8"), "{why}");
        let (_sender, answer) =
            begin(&admin, version, "POST", "/echo/small", &[("content-length", "9")]).await;
        assert_eq!(answer.await.status(), 413, "{version:?}: it is refused before anything is sent");
    }
}

#[tokio::test]
async fn a_route_says_what_its_callers_need() {
    let server = server(Settings::default()).await;
    let (admin, stranger) = (server.client(), server.client().stranger());
    let nobody = admin.clone().with("impersonate-user", "nobody");
    let code = async |client: &Client, path: &str| client.get(path).await.unwrap().code;
    assert_eq!(code(&stranger, "/echo/health").await, 200);
    assert_eq!(code(&stranger.clone().with_token("no-such-token"), "/echo/health").await, 200);
    assert_eq!(code(&stranger, "/echo/me").await, 401);
    assert_eq!(code(&nobody, "/echo/me").await, 200);
    assert_eq!(nobody.get("/echo/me").await.unwrap().text(), "nobody");
    assert_eq!(code(&nobody, "/echo").await, 403);
    assert_eq!(code(&nobody, "/api/private/notes").await, 403);
    assert_eq!(code(&nobody, "/api/v1/namespaces/default/configmaps/a/echo").await, 403);
    for path in ["/echo", "/api/private/notes", "/api/v1/namespaces/default/configmaps/a/echo"] {
        assert_eq!(code(&admin, path).await, 200, "{path}");
    }
    let listed = admin.get("/").await.unwrap().json();
    assert!(listed["paths"].as_array().unwrap().contains(&json!("/api/private")), "{listed}");
    assert_eq!(code(&admin, "/echo/nowhere").await, 400);
    assert_eq!(code(&admin, "/echo/../api/v1/namespaces").await, 400);
    // Nobody answers for what is only reserved.
    assert_eq!(code(&admin, "/api/fulfillment/v1").await, 404);
    let refused = nobody.get("/api/v1/namespaces/default/configmaps/a/echo").await.unwrap().json();
    assert!(refused["message"].as_str().unwrap().contains("\"configmaps/echo\""), "{refused}");
    let end = end_of(&server, "/echo/nowhere").await;
    assert_eq!(end["responseStatus"]["code"], 400);
}

#[tokio::test]
async fn a_panic_costs_one_answer() {
    let server = server(Settings::default()).await;
    let admin = server.client();
    assert_eq!(admin.get("/echo/panic").await.unwrap().code, 500);
    until("it is audited", || async { !audited(&server, "/echo/panic").is_empty() }).await;
    assert_eq!(audited(&server, "/echo/panic")[0]["stage"], "Panic");
    assert_eq!(admin.get("/echo/me").await.unwrap().code, 200);
}

#[tokio::test]
async fn a_connection_that_changes_its_protocol_lasts_and_ends_like_a_stream() {
    let server = server(Settings::default()).await;
    let ann = ann(&server, &["/echo*"]).await;
    let headers = [("connection", "upgrade"), ("upgrade", "echo")];
    let (_sender, answer) = begin(&ann, Version::HTTP_11, "GET", "/echo/upgrade", &headers).await;
    let answer = answer.await;
    assert_eq!(answer.status(), 101);
    let mut connection = hyper_util::rt::TokioIo::new(hyper::upgrade::on(answer).await.unwrap());
    connection.write_all(b"one").await.unwrap();
    let mut bytes = [0; 3];
    connection.read_exact(&mut bytes).await.unwrap();
    assert_eq!(&bytes, b"one");
    revoke(&server).await;
    // However the connection ends, it ends.
    assert!(matches!(connection.read(&mut bytes).await, Ok(0) | Err(_)));
    assert_eq!(end_of(&server, "/echo/upgrade").await["responseStatus"]["code"], 403);
}

#[tokio::test]
async fn streams_end_when_the_server_stops() {
    let server = server(Settings::default()).await;
    let (sender, answer) = begin(&server.client(), Version::HTTP_2, "POST", "/echo/stream", &[]).await;
    send(&sender, "one").await;
    let mut answer = answer.await;
    assert_eq!(next(&mut answer).await, "one");
    server.end_streams();
    assert!(!rest(answer).await.0);
    assert_eq!(end_of(&server, "/echo/stream").await["responseStatus"]["code"], 503);
}
