//! A small HTTPS client for tests: a connection per request in flight, kept for the next.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Talks to one server as one user.
#[derive(Clone)]
pub struct Client {
    address: String,
    tls: Arc<ClientConfig>,
    idle: Arc<Mutex<Vec<SendRequest<Full<Bytes>>>>>,
    /// Sent with every request.
    pub headers: HeaderMap,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub code: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Answer {
    /// The body as JSON; null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// A stream of JSON lines: a watch.
pub struct Lines {
    body: Incoming,
    rest: Vec<u8>,
    /// The status.
    pub code: u16,
    // The connection ends when its sender goes.
    _sender: SendRequest<Full<Bytes>>,
}

impl Lines {
    /// The next line; `None` when the stream has ended.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                return serde_json::from_slice(&line).ok();
            }
            let frame = self.body.frame().await?.ok()?;
            if let Some(data) = frame.data_ref() {
                self.rest.extend_from_slice(data);
            }
        }
    }
}

type Failed = Box<dyn std::error::Error + Send + Sync>;

impl Client {
    /// The user of a kubeconfig that the server wrote.
    pub fn from_kubeconfig(path: &Path) -> Result<Client, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.trim().trim_start_matches("- ").strip_prefix(name));
            line.map(|value| value.trim().trim_matches('"').to_owned())
                .ok_or_else(|| format!("no {name} in {text}"))
        };
        let pem = |name: &str| decode(&field(name)?).ok_or_else(|| format!("{name} is not base64"));
        let url = field("server:")?;
        let mut roots = RootCertStore::empty();
        let ca = CertificateDer::from_pem_slice(&pem("certificate-authority-data:")?);
        roots.add(ca.map_err(|error| error.to_string())?).map_err(|error| error.to_string())?;
        let certificate = CertificateDer::from_pem_slice(&pem("client-certificate-data:")?);
        let key = PrivateKeyDer::from_pem_slice(&pem("client-key-data:")?);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_client_auth_cert(
                vec![certificate.map_err(|error| error.to_string())?],
                key.map_err(|error| error.to_string())?,
            )
            .map_err(|error| error.to_string())?;
        Ok(Client {
            address: url.trim_start_matches("https://").to_owned(),
            tls: Arc::new(tls),
            idle: Arc::default(),
            headers: HeaderMap::new(),
        })
    }

    /// Where the server listens.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The same with a header on every request.
    pub fn with(mut self, name: &'static str, value: &str) -> Client {
        if let Ok(value) = value.parse() {
            self.headers.insert(name, value);
        }
        self
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, Failed> {
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::try_from("localhost")?;
        let stream = TlsConnector::from(self.tls.clone()).connect(name, stream).await?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(sender)
    }

    fn request(
        &self,
        method: &Method,
        path: &str,
        media: &str,
        body: Bytes,
    ) -> Result<Request<Full<Bytes>>, Failed> {
        let mut request = Request::builder().method(method).uri(path).header("host", &self.address);
        if !body.is_empty() {
            request = request.header("content-type", media);
        }
        let mut request = request.body(Full::new(body))?;
        request.headers_mut().extend(self.headers.clone());
        Ok(request)
    }

    /// Sends a request; a connection that the server has closed in the meantime is replaced.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        media: &str,
        body: impl Into<Bytes>,
    ) -> Result<Answer, Failed> {
        let body = body.into();
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let was_idle = idle.is_some();
            let mut sender = match idle {
                Some(sender) => sender,
                None => self.connect().await?,
            };
            let sent = sender.send_request(self.request(&method, path, media, body.clone())?).await;
            let answer = match sent {
                Err(error) if was_idle && (error.is_canceled() || error.is_closed()) => continue,
                other => other?,
            };
            let (head, incoming) = answer.into_parts();
            let body = incoming.collect().await?.to_bytes();
            if sender.ready().await.is_ok() {
                self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
            }
            return Ok(Answer { code: head.status.as_u16(), headers: head.headers, body });
        }
    }

    /// GET.
    pub async fn get(&self, path: &str) -> Result<Answer, Failed> {
        self.send(Method::GET, path, "", Bytes::new()).await
    }

    /// POST of JSON.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Answer, Failed> {
        self.send(Method::POST, path, "application/json", body.to_string()).await
    }

    /// PUT of JSON.
    pub async fn put(&self, path: &str, body: &Value) -> Result<Answer, Failed> {
        self.send(Method::PUT, path, "application/json", body.to_string()).await
    }

    /// A merge patch.
    pub async fn merge(&self, path: &str, body: &Value) -> Result<Answer, Failed> {
        self.send(Method::PATCH, path, "application/merge-patch+json", body.to_string()).await
    }

    /// A server-side apply.
    pub async fn apply(&self, path: &str, body: &Value) -> Result<Answer, Failed> {
        self.send(Method::PATCH, path, "application/apply-patch+yaml", body.to_string()).await
    }

    /// DELETE.
    pub async fn delete(&self, path: &str) -> Result<Answer, Failed> {
        self.send(Method::DELETE, path, "", Bytes::new()).await
    }

    /// Opens a watch.
    pub async fn watch(&self, path: &str) -> Result<Lines, Failed> {
        let mut sender = self.connect().await?;
        let answer = sender.send_request(self.request(&Method::GET, path, "", Bytes::new())?).await?;
        let code = answer.status().as_u16();
        Ok(Lines { code, body: answer.into_body(), rest: Vec::new(), _sender: sender })
    }
}

fn decode(text: &str) -> Option<Vec<u8>> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    for chunk in text.trim_end_matches('=').as_bytes().chunks(4) {
        let mut group = 0u32;
        for byte in chunk {
            let digit = ALPHABET.iter().position(|known| known == byte)?;
            group = group << 6 | u32::try_from(digit).ok()?;
        }
        group <<= 6 * (4 - chunk.len());
        bytes.extend_from_slice(&group.to_be_bytes()[1..chunk.len().max(1)]);
    }
    Some(bytes)
}
