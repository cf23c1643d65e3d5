//! HTTPS client for documents of OIDC issuers and for webhooks.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::outgoing::Outgoing;

/// How long a document may take.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// How large one may be.
const MAX_BYTES: usize = 1 << 20;
/// How long an answer to what is sent may take, and how large it may be.
const POST_LIMIT: Duration = Duration::from_secs(30);
const MAX_ANSWER: usize = 256 << 20;
/// Where systems keep the CAs they trust.
const SYSTEM_CAS: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Gets a document by its URL.
pub trait Fetch: Send + Sync {
    /// The document at `url`.
    fn get<'a>(&'a self, url: &'a str) -> Fetching<'a>;
}

/// A document on its way.
pub type Fetching<'a> = Pin<Box<dyn Future<Output = Result<Bytes, FetchError>> + Send + 'a>>;

/// Why a document could not be fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot get {url}: {why}")]
pub struct FetchError {
    /// Which document.
    pub url: String,
    /// Why.
    pub why: String,
}

/// Gets documents over HTTPS, and over plain HTTP from this machine only.
pub struct HttpFetch {
    tls: Arc<ClientConfig>,
    /// All that may be called; everything where there is none.
    outgoing: Option<Arc<Outgoing>>,
}

impl HttpFetch {
    /// Trusts the CAs in `ca_pem`, or those of the system when there is none.
    pub fn new(ca_pem: Option<&str>) -> Result<HttpFetch, FetchError> {
        let mut roots = RootCertStore::empty();
        match ca_pem {
            Some(pem) => {
                for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
                    let added = certificate.ok().and_then(|certificate| roots.add(certificate).ok());
                    added.ok_or_else(|| {
                        failed(
                            "the issuer",
                            "certificateAuthority must contain CA certificates in PEM format",
                        )
                    })?;
                }
            }
            None => {
                roots.add_parsable_certificates(system_cas());
            }
        }
        let tls = ClientConfig::builder_with_provider(crate::tls::provider())
            .with_safe_default_protocol_versions()
            .map_err(|error| failed("the issuer", error))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(HttpFetch { tls: Arc::new(tls), outgoing: None })
    }

    /// The same, which calls nothing but what is allowed, and that over HTTPS alone.
    pub fn within(self, outgoing: Arc<Outgoing>) -> HttpFetch {
        HttpFetch { outgoing: Some(outgoing), ..self }
    }

    /// Sends JSON to `url`, and takes what is answered with whatever code.
    pub async fn post(&self, url: &str, body: Bytes) -> Result<(u16, Bytes), FetchError> {
        let posting = async {
            let uri: Uri = url.parse().map_err(|error| failed(url, error))?;
            let request = Request::post(&uri)
                .header(http::header::CONTENT_TYPE, "application/json")
                .header(http::header::ACCEPT, "application/json")
                .body(Full::new(body))
                .map_err(|error| failed(url, error))?;
            self.exchange(request, url, MAX_ANSWER).await
        };
        let posting = tokio::time::timeout(POST_LIMIT, posting).await;
        posting.unwrap_or_else(|_| Err(failed(url, "context deadline exceeded")))
    }

    async fn fetch(&self, url: &str) -> Result<Bytes, FetchError> {
        let uri: Uri = url.parse().map_err(|error| failed(url, error))?;
        let request = Request::get(&uri)
            .header(http::header::ACCEPT, "application/json")
            .body(Full::default())
            .map_err(|error| failed(url, error))?;
        match self.exchange(request, url, MAX_BYTES).await? {
            (200, body) => Ok(body),
            (code, _) => {
                let code = StatusCode::from_u16(code).unwrap_or_default();
                Err(failed(url, format!("unexpected HTTP status {code}")))
            }
        }
    }

    async fn exchange(
        &self,
        request: Request<Full<Bytes>>,
        url: &str,
        most: usize,
    ) -> Result<(u16, Bytes), FetchError> {
        let uri = request.uri();
        let host = uri.host().ok_or_else(|| failed(url, "the URL has no host"))?;
        let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") if is_loopback(&bare) && self.outgoing.is_none() => false,
            _ => return Err(failed(url, "the URL must use https")),
        };
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let stream = self.connect(&bare, port).await;
        let stream = stream
            .map_err(|error| failed(url, format!("dial tcp {host}:{port}: connect: {}", plain(&error))))?;
        if !secure {
            return exchange(stream, request, url, most).await;
        }
        let name = ServerName::try_from(bare).map_err(|error| failed(url, error))?;
        let connector = tokio_rustls::TlsConnector::from(self.tls.clone());
        let stream = connector.connect(name, stream).await;
        let stream =
            stream.map_err(|error| failed(url, format!("tls: failed to verify certificate: {error}")))?;
        exchange(stream, request, url, most).await
    }
}

impl HttpFetch {
    /// Connects to a host. The addresses that are checked are those that are connected to.
    async fn connect(&self, host: &str, port: u16) -> std::io::Result<TcpStream> {
        let Some(outgoing) = &self.outgoing else { return TcpStream::connect((host, port)).await };
        let refused = || std::io::Error::new(std::io::ErrorKind::PermissionDenied, "not allowed");
        if !outgoing.may_be_asked_for(host, port) {
            return Err(refused());
        }
        let addresses = tokio::net::lookup_host((host, port)).await?;
        let allowed: Vec<SocketAddr> =
            addresses.filter(|address| outgoing.may_connect(host, *address)).collect();
        match allowed.is_empty() {
            true => Err(refused()),
            false => TcpStream::connect(&*allowed).await,
        }
    }
}

/// The error as people know it from elsewhere: without its number.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string().to_lowercase();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

impl Fetch for HttpFetch {
    fn get<'a>(&'a self, url: &'a str) -> Fetching<'a> {
        Box::pin(async move {
            let fetching = tokio::time::timeout(TIME_LIMIT, self.fetch(url));
            fetching.await.unwrap_or_else(|_| Err(failed(url, "timed out after 10 seconds")))
        })
    }
}

impl std::fmt::Debug for HttpFetch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpFetch").finish_non_exhaustive()
    }
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    mut request: Request<Full<Bytes>>,
    url: &str,
    most: usize,
) -> Result<(u16, Bytes), FetchError> {
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|error| failed(url, error))?;
    // It ends with the exchange, whose time is limited; an error of it shows there too.
    let connection = Abort(tokio::spawn(connection));
    let uri = request.uri();
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let authority = http::HeaderValue::from_str(authority).map_err(|error| failed(url, error))?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let path: Uri = path.parse().map_err(|error| failed(url, error))?;
    request.headers_mut().insert(http::header::HOST, authority);
    *request.uri_mut() = path;
    let response = sender.send_request(request).await.map_err(|error| failed(url, error))?;
    let code = response.status().as_u16();
    let body = Limited::new(response.into_body(), most).collect().await;
    drop(connection);
    body.map(|body| (code, body.to_bytes())).map_err(|error| failed(url, error))
}

struct Abort<T>(tokio::task::JoinHandle<T>);

impl<T> Drop for Abort<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn system_cas() -> Vec<CertificateDer<'static>> {
    let named = std::env::var("SSL_CERT_FILE").ok();
    let places = named.iter().map(String::as_str).chain(SYSTEM_CAS);
    let texts = places.filter_map(|path| std::fs::read(path).ok());
    let mut bundles =
        texts.map(|text| CertificateDer::pem_slice_iter(&text).filter_map(Result::ok).collect::<Vec<_>>());
    bundles.find(|bundle| !bundle.is_empty()).unwrap_or_default()
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn failed(url: &str, why: impl std::fmt::Display) -> FetchError {
    FetchError { url: url.to_owned(), why: why.to_string() }
}

#[cfg(test)]
mod tests;
