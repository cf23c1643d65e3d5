//! The node listener: nodes with keys of their own, who see nothing but themselves.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use apiserver::answer::{self, Answer};
use apiserver::api::Api;
use apiserver::authn::Unauthorized;
use apiserver::node::{
    self, Node, NodeAuthenticator, NodePipelineError, NodePresented, NodeRequest, NodeRoute,
};
use apiserver::route::Rules;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::request::Parts;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use krm::status::Status;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;

use super::server::{Extras, NodeExtras, Server, until};
use super::wire::{VERSIONS, begin, rest};
use super::{Echo, audited, end_of};

/// Keys of nodes, in a header or in the query. Each can be revoked.
#[derive(Default)]
struct BootKeys(Mutex<HashMap<String, (Node, CancellationToken)>>);

impl BootKeys {
    fn of(names: &[&str]) -> Arc<BootKeys> {
        let keys = names.iter().map(|name| {
            let node = Node { name: (*name).to_owned(), uid: format!("uid-of-{name}") };
            (format!("key-of-{name}"), (node, CancellationToken::new()))
        });
        Arc::new(BootKeys(Mutex::new(keys.collect())))
    }

    fn revoke(&self, name: &str) {
        self.0.lock().unwrap().remove(&format!("key-of-{name}")).unwrap().1.cancel();
    }
}

impl NodeAuthenticator for BootKeys {
    fn authenticate<'a>(
        &'a self,
        _: &'a Api,
        presented: NodePresented<'a>,
    ) -> BoxFuture<'a, Result<Node, Unauthorized>> {
        let header = presented.head.headers.get("x-boot-key").and_then(|value| value.to_str().ok());
        let query = presented.head.uri.query().and_then(|query| query.strip_prefix("key="));
        let key = header.filter(|key| !key.is_empty()).or(query).unwrap_or_default();
        let found = self.0.lock().unwrap().get(key).map(|(node, _)| node.clone());
        let refused = || Unauthorized { reason: "no such key".to_owned() };
        Box::pin(async move { found.ok_or_else(refused) })
    }

    fn revoked(&self, _: &Api, node: &Node) -> BoxFuture<'static, ()> {
        let token =
            self.0.lock().unwrap().values().find(|(other, _)| other == node).map(|(_, it)| it.clone());
        Box::pin(async move {
            if let Some(token) = token {
                token.cancelled().await;
            }
        })
    }
}

/// Boot files: `/boot/<node>` and `/boot`, the caller's own; `/boot/<node>/log` goes on for ever.
struct BootFiles;

impl NodeRoute for BootFiles {
    fn name(&self) -> &'static str {
        "boot-files"
    }

    fn paths(&self) -> Vec<String> {
        vec!["/boot".to_owned(), "/api/v1.0/bootactions".to_owned()]
    }

    fn about(&self, head: &Parts) -> Option<String> {
        head.uri.path().strip_prefix("/boot/")?.split('/').next().map(str::to_owned)
    }

    fn rules(&self, head: &Parts) -> Rules {
        match head.uri.path().ends_with("/log") {
            true => Rules::stream(),
            false => Rules::default(),
        }
    }

    fn answer(&self, request: NodeRequest) -> BoxFuture<'_, Result<Answer, Status>> {
        Box::pin(async move {
            if request.head.uri.path().ends_with("/log") {
                let (sender, frames) = tokio::sync::mpsc::channel(1);
                sender.send(Ok(Frame::data(Bytes::from_static(b"begun")))).await.map_err(Status::internal)?;
                tokio::spawn(async move { sender.closed().await });
                let body = StreamBody::new(ReceiverStream::new(frames)).boxed_unsync();
                return Ok(answer::stream(200, "text/plain", body));
            }
            let sent = request.body.read().await?;
            Ok(answer::text(200, format!("#!ipxe {} {}", request.node.name, sent.len())))
        })
    }
}

async fn server(keys: &Arc<BootKeys>, settings: node::Settings) -> (Server, SocketAddr) {
    started(keys, settings, false).await
}

async fn started(keys: &Arc<BootKeys>, settings: node::Settings, over_tls: bool) -> (Server, SocketAddr) {
    let (authenticators, routes) = (vec![keys.clone() as _], vec![Arc::new(BootFiles) as _]);
    let nodes = NodeExtras { authenticators, routes, settings, over_tls };
    let extras = Extras { routes: vec![Arc::new(Echo)], nodes: Some(nodes), ..Extras::default() };
    let server = Server::with(extras).await;
    let address = server.nodes.unwrap();
    (server, address)
}

async fn send(address: SocketAddr, key: &str, path: &str, body: Vec<u8>) -> Response<Incoming> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut requests, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let request = Request::builder().uri(path).header("host", "nodes").header("x-boot-key", key);
    requests.send_request(request.body(Full::new(Bytes::from(body))).unwrap()).await.unwrap()
}

async fn get(address: SocketAddr, key: &str, path: &str) -> (u16, String) {
    super::text(send(address, key, path, Vec::new()).await).await
}

#[tokio::test]
async fn a_node_sees_itself_and_no_other() {
    let keys = BootKeys::of(&["n1", "n2"]);
    let (server, nodes) = server(&keys, node::Settings::default()).await;
    for path in ["/boot", "/boot/n1", "/api/v1.0/bootactions"] {
        assert_eq!(get(nodes, "key-of-n1", path).await, (200, "#!ipxe n1 0".to_owned()), "{path}");
    }
    let (code, other) = get(nodes, "key-of-n1", "/boot/n2").await;
    let (_, missing) = get(nodes, "key-of-n1", "/boot/n3").await;
    assert_eq!((code, &other), (404, &missing), "nobody learns which nodes there are");
    assert_eq!(get(nodes, "", "/boot/n1").await.0, 401);
    assert_eq!(get(nodes, "key-of-n3", "/boot/n1").await.0, 401);
    // A key in the URI works too, and is not written down.
    assert_eq!(get(nodes, "", "/boot/n2?key=key-of-n2").await.0, 200);
    until("both are in the audit log", || async { audited(&server, "/boot/n2").len() == 2 }).await;
    let events = audited(&server, "/boot/n2");
    let forbidden = &events[0]["annotations"]["authorization.k8s.io/decision"];
    assert_eq!((&events[0]["responseStatus"]["code"], forbidden), (&404.into(), &"forbid".into()));
    assert_eq!(events[1]["user"]["username"], "system:node:n2");
    assert_eq!(events[1]["user"]["uid"], "uid-of-n2");
    assert!(!server.audited().iter().any(|event| event.to_string().contains("key-of-")));
}

#[tokio::test]
async fn nodes_are_served_over_tls_with_the_certificate_of_the_server() {
    let keys = BootKeys::of(&["n1", "n2"]);
    let (server, address) = started(&keys, node::Settings::default(), true).await;
    // Whoever verifies the server needs its authority alone: nodes have no certificates.
    let node = server.client().stranger().towards(&address.to_string());
    let n1 = node.clone().with("x-boot-key", "key-of-n1");
    assert_eq!(n1.get("/boot").await.unwrap().text(), "#!ipxe n1 0");
    assert_eq!(n1.get("/boot/n2").await.unwrap().code, 404);
    assert_eq!(node.get("/boot").await.unwrap().code, 401);
    assert_eq!(server.client().towards(&address.to_string()).get("/boot").await.unwrap().code, 401);
    assert_eq!(n1.get("/api/v1/namespaces").await.unwrap().code, 404);
    for version in VERSIONS {
        let headers = [("x-boot-key", "key-of-n1")];
        let (sender, answer) = begin(&node, version, "GET", "/boot/n1/log", &headers).await;
        drop(sender);
        let mut answer = answer.await;
        assert_eq!((answer.status(), answer.version()), (http::StatusCode::OK, version));
        assert_eq!(super::next(&mut answer).await, "begun");
    }
    // Without TLS nothing is said.
    let mut plain = TcpStream::connect(address).await.unwrap();
    plain.write_all(b"GET /boot HTTP/1.1\r\nhost: nodes\r\nx-boot-key: key-of-n1\r\n\r\n").await.unwrap();
    let mut said = Vec::new();
    let _ = plain.read_to_end(&mut said).await;
    assert!(!String::from_utf8_lossy(&said).contains("HTTP/1.1"), "{said:?}");
}

#[tokio::test]
async fn the_two_listeners_serve_nothing_of_each_other() {
    let keys = BootKeys::of(&["n1"]);
    let (server, nodes) = server(&keys, node::Settings::default()).await;
    for path in
        ["/api", "/api/v1/namespaces", "/apis", "/version", "/metrics", "/healthz", "/echo", "/openapi/v2"]
    {
        assert_eq!(get(nodes, "key-of-n1", path).await.0, 404, "{path}");
    }
    assert_eq!(server.client().get("/boot/n1").await.unwrap().code, 404);
    assert_eq!(server.client().with("x-boot-key", "key-of-n1").get("/boot").await.unwrap().code, 404);
}

#[tokio::test]
async fn a_node_whose_key_is_revoked_is_cut_off() {
    let keys = BootKeys::of(&["n1"]);
    let (server, nodes) = server(&keys, node::Settings::default()).await;
    let mut answer = send(nodes, "key-of-n1", "/boot/n1/log", Vec::new()).await;
    assert_eq!(super::next(&mut answer).await, "begun");
    keys.revoke("n1");
    assert!(!rest(answer).await.0);
    assert_eq!(end_of(&server, "/boot/n1/log").await["responseStatus"]["code"], 403);
    assert_eq!(get(nodes, "key-of-n1", "/boot").await.0, 401);
}

#[tokio::test]
async fn nodes_have_limits_of_their_own() {
    let keys = BootKeys::of(&["n1", "n2"]);
    let settings = node::Settings { requests_per_node: 1, max_body_bytes: 8, ..node::Settings::default() };
    let (_server, nodes) = server(&keys, settings).await;
    let mut first = send(nodes, "key-of-n1", "/boot/n1/log", Vec::new()).await;
    assert_eq!(super::next(&mut first).await, "begun");
    assert_eq!(get(nodes, "key-of-n1", "/boot/n1/log").await.0, 429);
    assert_eq!(get(nodes, "key-of-n2", "/boot").await.0, 200, "others are not held up");
    assert_eq!(send(nodes, "key-of-n2", "/boot", vec![0; 9]).await.status(), 413);
}

#[tokio::test]
async fn a_flood_of_the_node_listener_leaves_the_api_alone() {
    let keys = BootKeys::of(&["n1"]);
    let (server, nodes) = server(&keys, node::Settings::default()).await;
    let mut flood = Vec::new();
    for _ in 0..300 {
        let mut stream = TcpStream::connect(nodes).await.unwrap();
        // The beginning of a request that never ends. More connections than one address may have are closed.
        let _ = stream.write_all(b"GET /boot HTTP/1.1\r\nx-boot-key: ").await;
        flood.push(stream);
    }
    let admin = server.client();
    for _ in 0..20 {
        assert_eq!(admin.get("/api/v1/namespaces/default").await.unwrap().code, 200);
    }
    drop(flood);
    until("the node listener answers again", || async {
        match TcpStream::connect(nodes).await {
            Ok(stream) => answers(stream).await,
            Err(_) => false,
        }
    })
    .await;
}

async fn answers(stream: TcpStream) -> bool {
    let Ok((mut requests, connection)) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await
    else {
        return false;
    };
    tokio::spawn(connection);
    let request = Request::builder().uri("/boot").header("host", "nodes").header("x-boot-key", "key-of-n1");
    let answer = requests.send_request(request.body(Full::<Bytes>::default()).unwrap()).await;
    answer.is_ok_and(|answer| answer.status() == 200)
}

#[tokio::test]
async fn without_a_module_for_nodes_there_is_no_node_listener() {
    let server = Server::embedded().await;
    let refused = |keys: &[&Arc<BootKeys>], routes: usize| {
        let authenticators = keys.iter().map(|keys| -> Arc<dyn NodeAuthenticator> { (*keys).clone() });
        let routes = (0..routes).map(|_| -> Arc<dyn NodeRoute> { Arc::new(BootFiles) }).collect();
        let below = node::NodeServer { api: server.api.clone(), metrics: Arc::default(), audit: None };
        node::NodePipeline::new(below, authenticators.collect(), routes, node::Settings::default()).err()
    };
    let keys = BootKeys::of(&[]);
    assert_eq!(refused(&[], 0), Some(NodePipelineError::Nothing));
    assert_eq!(refused(&[&keys], 0), Some(NodePipelineError::Nothing));
    assert!(refused(&[], 1).unwrap().to_string().starts_with("nothing serves nodes"));
    assert_eq!(refused(&[&keys, &keys], 1), Some(NodePipelineError::Several(2)));
    let twice = refused(&[&keys], 2).unwrap().to_string();
    assert_eq!(twice, "the routes boot-files and boot-files both answer for /boot");
    assert_eq!(refused(&[&keys], 1), None);
}
