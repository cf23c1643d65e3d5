//! A small client for JSON over HTTPS, for adapters: mutual TLS, a CA of the source, limits, and faults by cause.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, HeaderMap};
use http::{Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::rt::TokioIo;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use zeroize::Zeroizing;

use crate::adapter::{Fault, FaultKind};

/// Largest answer, in bytes.
const LARGEST: usize = 256 << 20;

/// Credentials for a system, by the keys of a Secret: `username`, `password`, `token`, `tls.crt`, `tls.key`, `ca.crt` and those of
/// the adapter. Erased when dropped, never shown.
#[derive(Clone, Default)]
pub struct Credentials(std::collections::BTreeMap<String, Zeroizing<String>>);

impl Credentials {
    /// Adds a value.
    pub fn set(&mut self, key: &str, value: String) {
        self.0.insert(key.to_owned(), Zeroizing::new(value));
    }

    /// Takes over all values of others.
    pub fn overlay(&mut self, others: &Credentials) {
        self.0.extend(others.0.clone());
    }

    /// A value.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|value| value.as_str()).filter(|value| !value.is_empty())
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// How the certificate of a system is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verify {
    /// Chain and name.
    Name,
    /// The chain alone: the name in the certificate may be another one.
    Chain,
}

/// A client of one system.
#[derive(Clone)]
pub struct Http {
    base: Uri,
    root: String,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    headers: HeaderMap,
    timeout: Duration,
}

/// An answer.
pub struct Answer {
    /// Status code.
    pub status: StatusCode,
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: Bytes,
}

impl Http {
    /// A client for a URL, with the certificates of the credentials.
    pub fn new(
        url: &str,
        credentials: &Credentials,
        verify: Verify,
        timeout: Duration,
    ) -> Result<Http, Fault> {
        let wrong = |why: &str| Fault::new(FaultKind::Config, format!("spec.endpoint {url:?}: {why}"));
        let base: Uri = url.parse().map_err(|_| wrong("is not a URL"))?;
        let host = base.host().ok_or_else(|| wrong("has no host"))?;
        let tls = match base.scheme_str() {
            Some("http") => None,
            Some("https") => {
                let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
                let name = ServerName::try_from(bare).map_err(|_| wrong("the host is no name for TLS"))?;
                Some((TlsConnector::from(Arc::new(config(credentials, verify)?)), name))
            }
            _ => return Err(wrong("must begin with https:// or http://")),
        };
        let root = base.path().trim_end_matches('/').to_owned();
        Ok(Http { base, root, tls, headers: HeaderMap::new(), timeout })
    }

    /// The same with a header in every request.
    pub fn header(mut self, name: &'static str, value: &str) -> Result<Http, Fault> {
        let mut value: http::HeaderValue = value
            .parse()
            .map_err(|_| Fault::new(FaultKind::Config, format!("the value of {name} has line breaks")))?;
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Ok(self)
    }

    /// The same with a user name and a password in every request.
    pub fn basic(self, user: &str, password: &str) -> Result<Http, Fault> {
        let text = data_encoding::BASE64.encode(format!("{user}:{password}").as_bytes());
        self.header("authorization", &format!("Basic {text}"))
    }

    /// The same with another limit for the time of a request.
    pub fn within(mut self, timeout: Duration) -> Http {
        self.timeout = timeout;
        self
    }

    /// The URL, without a slash at its end.
    pub fn url(&self) -> String {
        self.base.to_string().trim_end_matches('/').to_owned()
    }

    /// Gets JSON.
    pub async fn get(&self, path: &str) -> Result<Value, Fault> {
        self.json(Method::GET, path, None).await
    }

    /// Sends JSON and reads JSON; anything but success is a fault.
    pub async fn json(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, Fault> {
        let answer = self.send(method.clone(), path, body).await?;
        self.read(&method, path, &answer)
    }

    /// Reads the JSON of an answer; anything but success is a fault.
    pub fn read(&self, method: &Method, path: &str, answer: &Answer) -> Result<Value, Fault> {
        let what = format!("{method} {}{path}", self.url());
        let kind = match answer.status.as_u16() {
            200..=299 => {
                let read = serde_json::from_slice(&answer.body);
                return read
                    .map_err(|error| Fault::shape(format!("{what}: the answer is not JSON: {error}")));
            }
            401 => FaultKind::Unauthorized,
            403 => FaultKind::Forbidden,
            406 => FaultKind::WrongVersion,
            429 | 500..=599 => FaultKind::Server,
            _ => FaultKind::WrongShape,
        };
        let said: String = String::from_utf8_lossy(&answer.body).chars().take(300).collect();
        Err(Fault::new(kind, format!("{what}: {} {said}", answer.status)))
    }

    /// Sends a request and reads the whole answer, whatever it says. Redirects are not followed.
    pub async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Answer, Fault> {
        let what = format!("{method} {}{path}", self.url());
        let sent = tokio::time::timeout(self.timeout, self.send_once(method, path, body));
        match sent.await {
            Ok(sent) => sent.map_err(|fault| fault.during(&what)),
            Err(_) => {
                let why = format!("{what}: no answer within {} s", self.timeout.as_secs());
                Err(Fault::new(FaultKind::TimedOut, why))
            }
        }
    }

    async fn send_once(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Answer, Fault> {
        let tcp = |error: std::io::Error| Fault::new(FaultKind::Tcp, error.to_string());
        let host = self.base.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let port = self.base.port_u16().unwrap_or(if self.tls.is_some() { 443 } else { 80 });
        let mut found = tokio::net::lookup_host((host, port))
            .await
            .map_err(|error| Fault::new(FaultKind::Dns, format!("{host}: {error}")))?
            .peekable();
        if found.peek().is_none() {
            return Err(Fault::new(FaultKind::Dns, format!("{host} has no address")));
        }
        let found: Vec<_> = found.collect();
        let stream = TcpStream::connect(found.as_slice()).await.map_err(tcp)?;
        let _ = stream.set_nodelay(true);
        let body = body.map(|body| Bytes::from(body.to_string()));
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.root));
        let authority = self.base.authority().map(|authority| authority.as_str()).unwrap_or(host);
        request = request
            .header(HOST, authority)
            .header("accept", "application/json")
            .header("connection", "close");
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let mut request = request
            .body(Full::new(body.unwrap_or_default()))
            .map_err(|error| Fault::new(FaultKind::Config, error.to_string()))?;
        request.headers_mut().extend(self.headers.clone());
        match &self.tls {
            None => exchange(TokioIo::new(stream), request).await,
            Some((connector, name)) => {
                let stream =
                    connector.connect(name.clone(), stream).await.map_err(|error| tls_fault(&error))?;
                exchange(TokioIo::new(stream), request).await
            }
        }
    }
}

async fn exchange(
    stream: impl hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
) -> Result<Answer, Fault> {
    let fault = |error: hyper::Error| {
        let cause = std::error::Error::source(&error).map_or(String::new(), |cause| format!(": {cause}"));
        // A server that wants a certificate may say so only after the handshake.
        let kind = if cause.contains("ertificate") { FaultKind::Tls } else { FaultKind::Tcp };
        Fault::new(kind, format!("{error}{cause}"))
    };
    let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await.map_err(fault)?;
    let running = tokio::spawn(connection);
    let response = sender.send_request(request).await.map_err(fault)?;
    let (head, body) = response.into_parts();
    let body = Limited::new(body, LARGEST).collect().await;
    running.abort();
    let body =
        body.map_err(|error| Fault::new(FaultKind::Tcp, format!("the answer ended early: {error}")))?;
    Ok(Answer { status: head.status, headers: head.headers, body: body.to_bytes() })
}

fn tls_fault(error: &std::io::Error) -> Fault {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let is_time = matches!(
        inner,
        Some(rustls::Error::InvalidCertificate(
            CertificateError::Expired
                | CertificateError::NotValidYet
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYetContext { .. }
        ))
    );
    Fault::new(if is_time { FaultKind::Clock } else { FaultKind::Tls }, format!("TLS: {error}"))
}

fn config(credentials: &Credentials, verify: Verify) -> Result<ClientConfig, Fault> {
    let wrong = |what: &str, error: &dyn std::fmt::Display| {
        Fault::new(FaultKind::Config, format!("the credentials' {what} can't be used: {error}"))
    };
    let system;
    let (name, authorities) = match credentials.get("ca.crt") {
        Some(own) => ("ca.crt", own.as_bytes()),
        None => {
            system = client::system_authorities();
            ("system CAs", system.as_slice())
        }
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(authorities) {
        let certificate = certificate.map_err(|error| wrong(name, &error))?;
        let added = roots.add(certificate);
        if name == "ca.crt" {
            added.map_err(|error| wrong(name, &error))?;
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong("TLS versions", &error))?;
    let builder = match verify {
        Verify::Name => builder.with_root_certificates(roots),
        Verify::Chain => {
            let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
            let inner = inner.build().map_err(|error| wrong("ca.crt", &error))?;
            builder.dangerous().with_custom_certificate_verifier(Arc::new(ChainOnly(inner)))
        }
    };
    match (credentials.get("tls.crt"), credentials.get("tls.key")) {
        (Some(certificate), Some(key)) => {
            let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate.as_bytes()).collect();
            let chain = chain.map_err(|error| wrong("tls.crt", &error))?;
            let key =
                PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|error| wrong("tls.key", &error))?;
            builder.with_client_auth_cert(chain, key).map_err(|error| wrong("tls.crt", &error))
        }
        _ => Ok(builder.with_no_client_auth()),
    }
}

/// Verifies the chain of a certificate, whatever name is in it.
#[derive(Debug)]
struct ChainOnly(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for ChainOnly {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.0.verify_server_cert(end_entity, intermediates, name, ocsp, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// A text as part of a path or query.
pub fn escaped(text: &str) -> String {
    client::segment(text)
}
