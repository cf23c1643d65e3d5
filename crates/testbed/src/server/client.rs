//! A small HTTPS client for tests: a connection per request in flight, kept for the next.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use serde_json::Value;
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::identity::Identity;
use super::lines::Lines;
use super::shared::Shared;

/// Why there was no answer.
pub type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Talks to one server as one user.
#[derive(Clone)]
pub struct Client {
    identity: Arc<Identity>,
    shows_certificate: bool,
    connector: TlsConnector,
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

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Client {
    /// The user of a kubeconfig that the server wrote.
    pub fn from_kubeconfig(path: &Path) -> Result<Client, String> {
        Self::new(Arc::new(Identity::read(path)?), true)
    }

    fn new(identity: Arc<Identity>, shows_certificate: bool) -> Result<Client, String> {
        let connector = TlsConnector::from(identity.tls(shows_certificate, "http/1.1")?);
        Ok(Client { identity, shows_certificate, connector, idle: Arc::default(), headers: HeaderMap::new() })
    }

    /// The same user with connections of its own.
    pub fn apart(&self) -> Client {
        Client { idle: Arc::default(), ..self.clone() }
    }

    /// Somebody who shows no certificate.
    ///
    /// # Panics
    ///
    /// Never: the certificates were read before.
    pub fn stranger(&self) -> Client {
        Self::new(self.identity.clone(), false).expect("the server's certificate was read before")
    }

    /// The same user towards another listener of the server.
    ///
    /// # Panics
    ///
    /// Never: the certificates were read before.
    pub fn towards(&self, address: &str) -> Client {
        let identity = Arc::new(self.identity.towards(address));
        let client = Self::new(identity, self.shows_certificate);
        let client = client.expect("the server's certificate was read before");
        Client { headers: self.headers.clone(), ..client }
    }

    /// Where the server listens.
    pub fn address(&self) -> &str {
        &self.identity.address
    }

    /// The same with a header on every request.
    pub fn with(mut self, name: &'static str, value: &str) -> Client {
        if let Ok(value) = value.parse() {
            self.headers.insert(name, value);
        }
        self
    }

    /// The same with a token.
    pub fn with_token(self, token: &str) -> Client {
        self.with("authorization", &format!("Bearer {token}"))
    }

    /// A new, secured connection on which nothing has been said yet.
    pub async fn secured(&self, protocol: &str) -> Result<TlsStream<TcpStream>, Failed> {
        let stream = TcpStream::connect(self.address()).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::try_from("localhost")?;
        let connector = match protocol {
            "http/1.1" => self.connector.clone(),
            other => TlsConnector::from(self.identity.tls(self.shows_certificate, other)?),
        };
        Ok(connector.connect(name, stream).await?)
    }

    /// The same with as little room as the system allows for what comes in and is not read.
    pub async fn secured_narrow(&self) -> Result<TlsStream<TcpStream>, Failed> {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(4096)?;
        let stream = socket.connect(self.address().parse()?).await?;
        Ok(self.connector.connect(ServerName::try_from("localhost")?, stream).await?)
    }

    /// A connection that many requests share.
    pub async fn shared(&self) -> Result<Shared, Failed> {
        Shared::open(self).await
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, Failed> {
        let (sender, connection) = handshake(TokioIo::new(self.secured("http/1.1").await?)).await?;
        tokio::spawn(connection);
        Ok(sender)
    }

    pub(super) fn request(
        &self,
        method: &Method,
        path: &str,
        media: &str,
        body: Bytes,
    ) -> Result<Request<Full<Bytes>>, Failed> {
        let mut request = Request::builder().method(method).uri(path);
        if path.starts_with('/') {
            request = request.header("host", self.address());
        }
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
                // It was never sent.
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

    /// A JSON patch.
    pub async fn patch(&self, path: &str, body: &Value) -> Result<Answer, Failed> {
        self.send(Method::PATCH, path, "application/json-patch+json", body.to_string()).await
    }

    /// A server-side apply.
    pub async fn apply(&self, path: &str, body: &Value) -> Result<Answer, Failed> {
        self.send(Method::PATCH, path, "application/apply-patch+yaml", body.to_string()).await
    }

    /// DELETE.
    pub async fn delete(&self, path: &str) -> Result<Answer, Failed> {
        self.send(Method::DELETE, path, "", Bytes::new()).await
    }

    /// Opens a watch on a connection of its own.
    pub async fn watch(&self, path: &str) -> Result<Lines, Failed> {
        let mut sender = self.connect().await?;
        let answer = sender.send_request(self.request(&Method::GET, path, "", Bytes::new())?).await?;
        Ok(Lines::new(answer.status().as_u16(), answer.into_body(), sender))
    }
}
