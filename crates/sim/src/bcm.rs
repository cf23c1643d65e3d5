//! A BCM head node: JSON calls over mutual TLS, LiteNodes with inherited settings, sessions of events. It shares no code with the
//! adapter that it tests.
//!
//! `/sim/devices` is its own: POST adds or changes devices, DELETE removes one, and everybody with a session hears of it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// What to simulate.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where to listen. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// Number of LiteNodes.
    pub nodes: usize,
    /// Version that it tells.
    pub version: String,
}

/// What a client needs: the CA, and a certificate with its key, as PEM.
#[derive(Debug, Clone, Default)]
pub struct Keys {
    /// The CA of the head node.
    pub authority: String,
    /// A client certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
}

/// A head node that runs until it is dropped.
pub struct Simulator {
    address: SocketAddr,
    keys: Keys,
    shared: Arc<Shared>,
    serving: JoinHandle<()>,
}

struct Shared {
    state: Mutex<State>,
    changed: tokio::sync::Notify,
    version: String,
}

#[derive(Default)]
struct State {
    devices: Vec<Value>,
    categories: Vec<Value>,
    racks: Vec<Value>,
    partitions: Vec<Value>,
    /// Events that wait, by session.
    sessions: HashMap<String, Vec<Value>>,
    last_session: u64,
    acknowledged: u64,
    /// Calls that are answered with an error.
    denied: Vec<String>,
}

const PARTITION: &str = "5b0a3f3e-0000-4000-8000-000000000001";
const CATEGORY: &str = "7c9f0a30-0000-4000-8000-000000000001";
const RACK: &str = "bb000000-0000-4000-8000-000000000001";
const ZERO: &str = "00000000-0000-0000-0000-000000000000";

impl Simulator {
    /// Starts one.
    pub async fn start(options: Options) -> std::io::Result<Simulator> {
        let listener = TcpListener::bind(options.listen).await?;
        let address = listener.local_addr()?;
        let (acceptor, keys) = identity().map_err(std::io::Error::other)?;
        let state = State {
            devices: (1..=options.nodes).map(device).chain([head_node(), physical_node()]).collect(),
            categories: vec![
                json!({"baseType": "Category", "childType": "", "uuid": CATEGORY, "name": "gpu-h100",
                    "notes": "# NVIDIA H100 hosts\n\nEight GPUs.\n", "extra_values": null,
                    "bmcSettings": {"userName": "bright", "password": "from-category", "userID": 4}}),
                json!({"baseType": "Category", "childType": "", "uuid": "7c9f0a30-0000-4000-8000-000000000002",
                    "name": "default", "notes": "", "bmcSettings": null, "extra_values": null}),
            ],
            racks: vec![json!({"baseType": "Rack", "childType": "", "uuid": RACK, "name": "A1"})],
            partitions: vec![
                json!({"baseType": "Partition", "childType": "", "uuid": PARTITION, "name": "base",
                "bmcSettings": {"userName": "partition-user", "password": "from-partition"}}),
            ],
            ..State::default()
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            changed: tokio::sync::Notify::new(),
            version: options.version,
        });
        let serving = tokio::spawn(serve(listener, acceptor, shared.clone()));
        Ok(Simulator { address, keys, shared, serving })
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// What a client needs.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Answers a call, such as `cmdevice.getDevices`, with the error of a profile that lacks it.
    pub fn deny(&self, call: &str) {
        self.shared.lock().denied.push(call.to_owned());
    }

    /// Answers all calls again.
    pub fn allow_all(&self) {
        self.shared.lock().denied.clear();
    }

    /// Changes the device with a hostname, or adds it.
    pub fn change(&self, hostname: &str, field: &str, value: Value) {
        self.shared.change(hostname, field, value);
    }

    /// Removes the device with a hostname.
    pub fn remove(&self, hostname: &str) {
        self.shared.remove(hostname);
    }

    /// Ends all sessions, as a restart of the daemon does.
    pub fn end_sessions(&self) {
        let ended =
            json!({"baseType": "Event", "childType": "EndOfSessionEvent", "reason": "CMDaemon stops"});
        self.shared.lock().sessions.values_mut().for_each(|waiting| waiting.push(ended.clone()));
        self.shared.changed.notify_waiters();
    }

    /// How often clients have said that they are alive.
    pub fn acknowledged(&self) -> u64 {
        self.shared.lock().acknowledged
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn uuid(number: usize) -> String {
    format!("285fc71d-c0f7-421e-bc31-{number:012x}")
}

/// A LiteNode. Every third inherits the settings of its BMC from its category, every fourth from the partition.
fn device(number: usize) -> Value {
    let settings = match number % 3 {
        0 => Value::Null,
        _ => json!({"baseType": "BMCSettings", "userName": "admin", "password": "own-secret", "userID": 2}),
    };
    let (category, settings) = match number % 4 {
        0 => (ZERO, Value::Null),
        _ => (CATEGORY, settings),
    };
    let mac = format!("52:54:00:CC:{:02X}:{:02X}", number / 256, number % 256);
    json!({
        "baseType": "Device", "childType": "LiteNode", "uuid": uuid(number), "hostname": format!("node{number:03}"),
        "mac": mac, "category": category, "partition": PARTITION, "bmcSettings": settings, "powerControl": "rf0",
        "notes": format!("---\nhost_class: gpu-h100\n---\n# Node {number}\n\nA LiteNode.\n"),
        "rackPosition": if number.is_multiple_of(5) { Value::Null } else { json!({"rack": RACK, "position": number, "height": 1}) },
        "interfaces": [
            {"childType": "NetworkPhysicalInterface", "name": "BOOTIF", "mac": mac, "ip": format!("10.141.{}.{}", number / 250, number % 250 + 1)},
            {"childType": "NetworkBmcInterface", "name": "rf0", "mac": "00:00:00:00:00:00", "ip": format!("192.168.{}.{}", number / 250, number % 250 + 1)},
        ],
        "extra_values": null, "modified": false, "to_be_removed": false, "revision": "",
    })
}

fn head_node() -> Value {
    json!({"baseType": "Device", "childType": "HeadNode", "uuid": uuid(999_998), "hostname": "bcm-head", "mac": "00:50:56:9B:E4:6D",
        "category": "", "notes": "", "bmcSettings": null, "rackPosition": null, "interfaces": [], "extra_values": null})
}

fn physical_node() -> Value {
    json!({"baseType": "Device", "childType": "PhysicalNode", "uuid": uuid(999_999), "hostname": "imaged", "mac": "00:00:00:00:00:00",
        "category": CATEGORY, "notes": null, "bmcSettings": null, "rackPosition": null, "interfaces": [], "extra_values": null})
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, state: &mut State, updated: &[&str], removed: &[&str]) {
        let event = json!({"baseType": "Event", "childType": "EntitiesChangedEvent", "entityTypeName": "Device",
            "updateUuids": updated, "removeUuids": removed});
        state.sessions.values_mut().for_each(|waiting| waiting.push(event.clone()));
        self.changed.notify_waiters();
    }

    fn change(&self, hostname: &str, field: &str, value: Value) {
        let mut state = self.lock();
        let number = state.devices.len() + 1000;
        let at = state.devices.iter().position(|device| device["hostname"] == hostname);
        let at = at.unwrap_or_else(|| {
            let mut new = device(number);
            new["hostname"] = hostname.into();
            state.devices.push(new);
            state.devices.len() - 1
        });
        state.devices[at][field] = value;
        let uuid = state.devices[at]["uuid"].as_str().unwrap_or_default().to_owned();
        self.tell(&mut state, &[&uuid], &[]);
    }

    fn remove(&self, hostname: &str) {
        let mut state = self.lock();
        let gone: Vec<String> = state
            .devices
            .iter()
            .filter(|device| device["hostname"] == hostname)
            .filter_map(|device| device["uuid"].as_str().map(str::to_owned))
            .collect();
        state.devices.retain(|device| device["hostname"] != hostname);
        let gone: Vec<&str> = gone.iter().map(String::as_str).collect();
        self.tell(&mut state, &[], &gone);
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let (code, answer) = match (&head.method, head.uri.path()) {
            (&Method::GET, "/rest/v1/version") => (
                200,
                json!({"cm_version": self.version, "cmd_version": "sim",
                "build_hash": "0", "build_index": 1, "database_version": 1}),
            ),
            (&Method::POST, "/json") => (200, self.call(&body).await),
            (&Method::POST, "/sim/devices") => {
                let hostname = body["hostname"].as_str().unwrap_or_default().to_owned();
                for (field, value) in body.as_object().into_iter().flatten() {
                    self.change(&hostname, field, value.clone());
                }
                (200, Value::Bool(true))
            }
            (&Method::DELETE, path) if path.starts_with("/sim/devices/") => {
                self.remove(path.trim_start_matches("/sim/devices/"));
                (200, Value::Bool(true))
            }
            _ => (404, json!({"error": "not found"})),
        };
        let mut response = Response::new(Full::new(Bytes::from(answer.to_string())));
        *response.status_mut() = http::StatusCode::from_u16(code).unwrap_or_default();
        response
    }

    async fn call(&self, body: &Value) -> Value {
        let text = |field: &str| body[field].as_str().unwrap_or_default();
        let call = format!("{}.{}", text("service"), text("call"));
        let args = body["args"].as_array().cloned().unwrap_or_default();
        let first = args.first().and_then(Value::as_str).unwrap_or_default().to_owned();
        if call == "cmsession.waitForEvents" {
            let seconds = args.get(1).and_then(Value::as_u64).unwrap_or(10);
            return self.wait(&first, Duration::from_secs(seconds.min(30))).await;
        }
        let mut state = self.lock();
        if state.denied.contains(&call) {
            return json!({"errormessage": format!("This certificate does not allow access to {call}")});
        }
        match call.as_str() {
            "cmdevice.getDevices" => json!(state.devices),
            "cmdevice.getCategories" => json!(state.categories),
            "cmpart.getRacks" | "cmpart.getRacksByUuids" => json!(state.racks),
            "cmpart.getPartitions" => json!(state.partitions),
            "cmnet.getNetworks" | "cmnet.getNetworksByUuids" => json!([]),
            "cmdevice.getDevice" => {
                let is_it = |device: &&Value| {
                    ["hostname", "uuid", "mac"].iter().any(|field| device[*field] == first.as_str())
                };
                state.devices.iter().find(is_it).cloned().unwrap_or(Value::Null)
            }
            "cmsession.registerSession" => {
                state.last_session += 1;
                let session = format!("e0000000-0000-4000-8000-{:012x}", state.last_session);
                let alive = json!({"baseType": "Event", "childType": "KeepAliveEvent"});
                state.sessions.insert(session.clone(), vec![alive]);
                session.into()
            }
            "cmsession.acknowledgeKeepAlive" => {
                state.acknowledged += 1;
                Value::Bool(true)
            }
            "cmsession.unregisterSession" => Value::Bool(state.sessions.remove(&first).is_some()),
            _ => json!({"errormessage": format!("unknown call {call}")}),
        }
    }

    async fn wait(&self, session: &str, most: Duration) -> Value {
        let deadline = tokio::time::Instant::now() + most;
        loop {
            let changed = self.changed.notified();
            {
                let mut state = self.lock();
                let Some(waiting) = state.sessions.get_mut(session) else {
                    return json!({"errormessage": "unknown session"});
                };
                if !waiting.is_empty() {
                    return Value::Array(std::mem::take(waiting));
                }
            }
            if tokio::time::timeout_at(deadline, changed).await.is_err() {
                return json!([{"baseType": "Event", "childType": "NullEvent"}]);
            }
        }
    }
}

async fn serve(listener: TcpListener, acceptor: TlsAcceptor, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, shared) = (acceptor.clone(), shared.clone());
        tokio::spawn(async move {
            // Who has no certificate is told so by TLS.
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let answer = service_fn(move |request: Request<Incoming>| {
                let shared = shared.clone();
                async move { Ok::<_, Infallible>(shared.answer(request).await) }
            });
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}

/// A CA, a certificate of the head node for a name that nobody uses, and one for a client.
fn identity() -> Result<(TlsAcceptor, Keys), Box<dyn std::error::Error + Send + Sync>> {
    let mut authority = CertificateParams::new(Vec::new())?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;
    let server_key = KeyPair::generate()?;
    let mut server = CertificateParams::new(vec!["master.cm.cluster".to_owned()])?;
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let server = server.signed_by(&server_key, &authority)?;
    let client_key = KeyPair::generate()?;
    let mut client = CertificateParams::new(vec!["admin".to_owned()])?;
    client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let client = client.signed_by(&client_key, &authority)?;
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes())?)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build()?;
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(verifier)
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(server.pem().as_bytes())?],
            PrivateKeyDer::from_pem_slice(server_key.serialize_pem().as_bytes())?,
        )?;
    let keys =
        Keys { authority: authority.pem(), certificate: client.pem(), key: client_key.serialize_pem() };
    Ok((TlsAcceptor::from(Arc::new(config)), keys))
}
