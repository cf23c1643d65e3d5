//! Every method of the fulfillment API, as nobody, as a viewer of another project and as a viewer.

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use testbed::server::Client;

use super::iam::{IAM, TENANCY, Town, binding, made, on_object};

const FULFILLMENT: &str = "/apis/fulfillment.groundplane.dev/v1alpha1";
/// Identifier of the cluster of the project `web`.
const PLANTED: &str = "7f3a7f3a-0000-4000-8000-00000000beef";
const ABSENT: &str = "7f3a7f3a-0000-4000-8000-00000000dead";
/// Title of a host that is in no cluster.
const HIDDEN: &str = "hidden-title-7f3a";

const OK: u16 = 0;
const INVALID_ARGUMENT: u16 = 3;
const DEADLINE_EXCEEDED: u16 = 4;
const NOT_FOUND: u16 = 5;
const PERMISSION_DENIED: u16 = 7;
const UNAUTHENTICATED: u16 = 16;

/// One method.
#[derive(Debug, Clone)]
struct Rpc {
    service: String,
    method: String,
    is_client_streaming: bool,
}

/// Every method of every service.
fn rpcs() -> Vec<Rpc> {
    let mut all = Vec::new();
    for service in gateway::schema::pool().services() {
        for method in service.methods() {
            all.push(Rpc {
                service: service.full_name().to_owned(),
                method: method.name().to_owned(),
                is_client_streaming: method.is_client_streaming(),
            });
        }
    }
    assert!(all.len() > 55, "only {} methods were found", all.len());
    all
}

impl Rpc {
    /// Whether it is for everybody, without a login.
    fn is_open(&self) -> bool {
        !self.service.starts_with("osac.") || self.service.ends_with(".Capabilities")
    }

    fn is_private(&self) -> bool {
        self.service.starts_with("osac.private.")
    }

    fn changes(&self) -> bool {
        ["Create", "Update", "Delete", "Signal", "Sync"].contains(&self.method.as_str())
    }

    /// A request about an object: `id` is field 1 of all that have one, and so is `object`.
    fn request(&self, id: &str) -> Vec<u8> {
        let named = field_1(id.as_bytes());
        match self.method.as_str() {
            "Create" | "Update" | "Sync" => field_1(&named),
            "List" | "Watch" => Vec::new(),
            _ => named,
        }
    }
}

fn field_1(content: &[u8]) -> Vec<u8> {
    let mut field = vec![0x0a, u8::try_from(content.len()).unwrap()];
    field.extend_from_slice(content);
    field
}

/// A gRPC client of one person, which knows nothing but HTTP/2.
struct Person {
    sender: SendRequest<Full<Bytes>>,
    client: Client,
}

impl Person {
    async fn of(client: Client) -> Person {
        let stream = client.secured("h2").await.unwrap();
        let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        Person { sender, client }
    }

    /// The status of a call, with everything that came back.
    async fn call(&mut self, rpc: &Rpc, id: &str) -> (u16, String) {
        let message = rpc.request(id);
        let mut frame = vec![0];
        frame.extend_from_slice(&u32::try_from(message.len()).unwrap().to_be_bytes());
        frame.extend_from_slice(&message);
        let uri = format!("https://{}/{}/{}", self.client.address(), rpc.service, rpc.method);
        let mut request =
            Request::post(uri).header("content-type", "application/grpc").header("te", "trailers");
        request = request.header("grpc-timeout", "2S");
        for (name, value) in &self.client.headers {
            request = request.header(name, value);
        }
        self.sender.ready().await.unwrap();
        let answer = self.sender.send_request(request.body(Full::new(frame.into())).unwrap()).await.unwrap();
        let (head, body) = answer.into_parts();
        let mut headers = head.headers;
        let mut told = String::new();
        match body.collect().await {
            Ok(body) => {
                headers.extend(body.trailers().cloned().unwrap_or_default());
                told = String::from_utf8_lossy(&body.to_bytes()).into_owned();
            }
            // A stream that was cut off.
            Err(_) => return (DEADLINE_EXCEEDED, told),
        }
        let code = headers.get("grpc-status").and_then(|code| code.to_str().ok()?.parse().ok());
        let message = headers.get("grpc-message").and_then(|text| text.to_str().ok()).unwrap_or_default();
        (code.unwrap_or_else(|| panic!("{rpc:?}: no status in {headers:?}")), told + message)
    }
}

async fn town() -> Town {
    let town = Town::of(&["vera", "vic"], &["--controllers", "none"]).await;
    let admin = &town.admin;
    for project in ["web", "shop"] {
        made(admin, &format!("{TENANCY}/projects"), &json!({"metadata": {"name": project}})).await;
    }
    let typed = |kind: &str, fields: Value| {
        let mut object = json!({"apiVersion": "fulfillment.groundplane.dev/v1alpha1", "kind": kind});
        object.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        object
    };
    let class = typed("HostClass", json!({"metadata": {"name": "gpu"}}));
    made(admin, &format!("{FULFILLMENT}/hostclasses"), &class).await;
    let sets = json!({"workers": {"hostClass": "gpu", "size": 1}});
    let template = typed("ClusterTemplate", json!({"metadata": {"name": "small"}, "nodeSets": sets}));
    made(admin, &format!("{FULFILLMENT}/clustertemplates"), &template).await;
    for (plural, kind, spec) in
        [("hosts", "Host", json!({"title": HIDDEN})), ("hubs", "Hub", json!({"namespace": HIDDEN}))]
    {
        let planted = typed(kind, json!({"metadata": {"name": PLANTED}, "spec": spec}));
        made(admin, &format!("{FULFILLMENT}/{plural}"), &planted).await;
    }
    let spec = json!({"template": "small", "nodeSets": {"workers": {"size": 1}}});
    let cluster = json!({"id": PLANTED, "metadata": {"name": "planted-web"}, "spec": spec});
    let cluster = typed("Cluster", cluster);
    made(admin, &clusters(), &cluster).await;
    let bindings = format!("{IAM}/namespaces/milo-system/policybindings");
    for (who, project) in [("vera", "web"), ("vic", "shop")] {
        let on = on_object("resourcemanager.miloapis.com", "Project", project);
        made(admin, &bindings, &binding(who, "project-viewer", who, on)).await;
    }
    town
}

fn clusters() -> String {
    format!("{TENANCY}/projects/web/control-plane{FULFILLMENT}/clusters")
}

/// What is there that nobody may change.
async fn versions(admin: &Client) -> Vec<Value> {
    let mut all = Vec::new();
    let paths = ["hosts", "hubs"].map(|plural| format!("{FULFILLMENT}/{plural}/{PLANTED}"));
    for path in paths.into_iter().chain([format!("{}/planted-web", clusters())]) {
        let found = admin.get(&path).await.unwrap();
        assert_eq!(found.code, 200, "{path} is gone: {}", found.text());
        all.push(found.json()["metadata"]["resourceVersion"].clone());
    }
    for list in [format!("{FULFILLMENT}/hosts"), clusters()] {
        all.push(admin.get(&list).await.unwrap().json()["items"].as_array().unwrap().len().into());
    }
    all
}

#[tokio::test]
async fn nobody_calls_a_method_that_needs_a_login() {
    let town = town().await;
    let mut nobody = Person::of(town.server.stranger()).await;
    for rpc in rpcs().into_iter().filter(|rpc| !rpc.is_open()) {
        let (code, told) = nobody.call(&rpc, PLANTED).await;
        assert_eq!(code, UNAUTHENTICATED, "{rpc:?}: {told}");
        assert!(!told.contains(PLANTED) && !told.contains(HIDDEN), "{rpc:?}: {told}");
    }
    for rpc in rpcs().into_iter().filter(|rpc| rpc.is_open() && !rpc.is_client_streaming) {
        let (code, told) = nobody.call(&rpc, "").await;
        assert!([OK, DEADLINE_EXCEEDED].contains(&code), "{rpc:?}: {code} {told}");
    }
}

#[tokio::test]
async fn a_viewer_of_another_project_learns_nothing_by_any_method() {
    let town = town().await;
    let before = versions(&town.admin).await;
    let mut vic = Person::of(town.person("vic")).await;
    for rpc in rpcs().into_iter().filter(|rpc| !rpc.is_open()) {
        let (planted, told) = vic.call(&rpc, PLANTED).await;
        let (absent, otherwise) = vic.call(&rpc, ABSENT).await;
        let allowed: &[u16] = match rpc.method.as_str() {
            // His own clusters, of which there are none, and what everybody may know.
            "List" | "Watch" | "Sync" => &[OK, PERMISSION_DENIED, DEADLINE_EXCEEDED],
            "Create" => &[PERMISSION_DENIED, INVALID_ARGUMENT],
            _ => &[NOT_FOUND, PERMISSION_DENIED],
        };
        assert!(allowed.contains(&planted), "{rpc:?}: {planted} {told}");
        assert_eq!(planted, absent, "{rpc:?}: {told} / {otherwise}");
        assert_eq!(told.replace(PLANTED, ABSENT), otherwise, "{rpc:?}");
        assert!(!told.contains(HIDDEN) && !told.contains("planted-web"), "{rpc:?}: {told}");
    }
    assert_eq!(versions(&town.admin).await, before);
}

#[tokio::test]
async fn a_viewer_reads_the_clusters_of_the_project_and_changes_nothing_by_any_method() {
    let town = town().await;
    let before = versions(&town.admin).await;
    let mut vera = Person::of(town.person("vera")).await;
    let mut read = 0;
    for rpc in rpcs().into_iter().filter(|rpc| !rpc.is_open()) {
        let (code, told) = vera.call(&rpc, PLANTED).await;
        assert!(!told.contains(HIDDEN), "{rpc:?}: {told}");
        let of_clusters = rpc.service.ends_with(".Clusters");
        match rpc.method.as_str() {
            _ if rpc.changes() && rpc.method != "Sync" => {
                let refused = [NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT];
                assert!(refused.contains(&code), "{rpc:?}: {code} {told}");
            }
            "Get" if of_clusters => {
                assert_eq!(code, OK, "{rpc:?}: {told}");
                assert!(told.contains(PLANTED), "{rpc:?}: {told}");
                read += 1;
            }
            "List" if of_clusters => {
                assert!(code == OK && told.contains(PLANTED), "{rpc:?}: {code} {told}");
                read += 1;
            }
            // Credentials take a permission of their own.
            method if method.contains("Kubeconfig") || method.contains("Password") => {
                assert!([NOT_FOUND, PERMISSION_DENIED].contains(&code), "{rpc:?}: {code} {told}");
            }
            "Get" | "List" if rpc.is_private() => {
                assert!([NOT_FOUND, PERMISSION_DENIED].contains(&code), "{rpc:?}: {code} {told}");
            }
            _ => assert_ne!(code, UNAUTHENTICATED, "{rpc:?}: {told}"),
        }
    }
    assert_eq!(read, 4, "clusters are read on both faces");
    assert_eq!(versions(&town.admin).await, before);
}
