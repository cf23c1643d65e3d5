//! Requests to registries over HTTP/1.1, with TLS except on loopback; redirects are bounded.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, Uri, header};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::RegistrySettings;
use crate::image::digest::shortened;

/// Where certificate authorities are kept, on the systems there are.
const SYSTEM_AUTHORITIES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// Makes requests. Every request has a connection of its own: an image is a dozen requests.
pub(in crate::image) struct Transport {
    tls: Arc<ClientConfig>,
    plain_http: std::collections::BTreeSet<String>,
    connect: Duration,
    idle: Duration,
    redirects: u32,
}

/// Why there is no answer.
pub(super) enum Failed {
    /// The registry breaks a rule; it will again.
    Refused(String),
    /// The registry can't be reached or is too slow.
    Unavailable(String),
}

impl Transport {
    pub(super) fn new(settings: &RegistrySettings) -> Result<Self, String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(authorities(settings)?)
            .with_no_client_auth();
        Ok(Self {
            tls: Arc::new(tls),
            plain_http: settings.plain_http.clone(),
            connect: settings.connect,
            idle: settings.idle,
            redirects: settings.redirects,
        })
    }

    /// Whether the host is talked to without TLS.
    pub(super) fn is_plain(&self, host: &str) -> bool {
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let is_loopback = name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        is_loopback || name == "localhost" || self.plain_http.contains(host)
    }

    /// A GET that follows redirects. What authorizes it goes to the first host only.
    pub(super) async fn get(
        &self,
        url: &Uri,
        headers: &HeaderMap,
        authorization: Option<&HeaderValue>,
    ) -> Result<Response<Incoming>, Failed> {
        let mut target = url.clone();
        for _ in 0..=self.redirects {
            let authorization = authorization.filter(|_| target.authority() == url.authority());
            let response = self.get_once(&target, headers, authorization).await?;
            if !response.status().is_redirection() {
                return Ok(response);
            }
            target = next_target(&target, response.headers())?;
            let host = target.authority().map_or("", |authority| authority.as_str());
            if target.scheme_str() != Some("https")
                && !(target.scheme_str() == Some("http") && self.is_plain(host))
            {
                let target = shortened(&target.to_string());
                return Err(Failed::Refused(format!(
                    "the registry redirects to {target:?}, which is not HTTPS"
                )));
            }
        }
        Err(Failed::Refused(format!("the registry redirects more than {} times", self.redirects)))
    }

    async fn get_once(
        &self,
        url: &Uri,
        headers: &HeaderMap,
        authorization: Option<&HeaderValue>,
    ) -> Result<Response<Incoming>, Failed> {
        let authority = url.authority().ok_or_else(|| Failed::Refused("a URL without a host".to_owned()))?;
        let is_tls = url.scheme_str() == Some("https");
        let path = url.path_and_query().map_or("/", |path| path.as_str());
        let mut request = Request::get(path)
            .header(header::HOST, authority.as_str())
            .header(header::USER_AGENT, concat!("groundplane/", env!("CARGO_PKG_VERSION")))
            .body(Empty::<Bytes>::new())
            .map_err(|error| Failed::Refused(error.to_string()))?;
        request.headers_mut().extend(headers.clone());
        if let Some(authorization) = authorization {
            request.headers_mut().insert(header::AUTHORIZATION, authorization.clone());
        }
        let port = authority.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let connected = timeout(self.connect, self.connect(authority.host(), port, is_tls)).await;
        let stream = match connected {
            Err(_) => return Err(Failed::Unavailable(format!("{authority} does not take a connection"))),
            Ok(stream) => {
                stream.map_err(|error| Failed::Unavailable(format!("connecting to {authority}: {error}")))?
            }
        };
        let unavailable = |error: hyper::Error| Failed::Unavailable(format!("{authority}: {error}"));
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(unavailable)?;
        // It ends with the response's body.
        tokio::spawn(connection);
        match timeout(self.idle, sender.send_request(request)).await {
            Err(_) => Err(Failed::Unavailable(format!("{authority} does not answer"))),
            Ok(response) => response.map_err(unavailable),
        }
    }

    async fn connect(&self, host: &str, port: u16, is_tls: bool) -> std::io::Result<Box<dyn Stream>> {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((host, port)).await?;
        stream.set_nodelay(true)?;
        if !is_tls {
            return Ok(Box::new(stream));
        }
        let name = ServerName::try_from(host.to_owned()).map_err(std::io::Error::other)?;
        let stream = tokio_rustls::TlsConnector::from(self.tls.clone()).connect(name, stream).await?;
        Ok(Box::new(stream))
    }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

fn next_target(from: &Uri, headers: &HeaderMap) -> Result<Uri, Failed> {
    let refuse = || Failed::Refused("the registry redirects without saying where to".to_owned());
    let location =
        headers.get(header::LOCATION).and_then(|location| location.to_str().ok()).ok_or_else(refuse)?;
    let location: Uri = location.parse().map_err(|_| refuse())?;
    if location.authority().is_some() {
        return Ok(location);
    }
    let mut parts = location.into_parts();
    parts.scheme = from.scheme().cloned();
    parts.authority = from.authority().cloned();
    Uri::from_parts(parts).map_err(|_| refuse())
}

fn authorities(settings: &RegistrySettings) -> Result<RootCertStore, String> {
    let named = std::env::var_os("SSL_CERT_FILE").map(std::path::PathBuf::from);
    let files = named.into_iter().chain(SYSTEM_AUTHORITIES.map(std::path::PathBuf::from));
    let pem = match &settings.authorities {
        Some(pem) => pem.clone(),
        // Without any, registries on loopback can still be used.
        None => files.filter_map(|file| std::fs::read(file).ok()).next().unwrap_or_default(),
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| format!("reading certificate authorities: {error}"))?;
        // The system's list may hold some that are of no use here.
        let _ = roots.add(certificate);
    }
    Ok(roots)
}
