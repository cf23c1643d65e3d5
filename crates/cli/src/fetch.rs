//! Something from elsewhere over HTTP: with limits, and without giving anybody a secret that was meant for another.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode, Uri, header};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// What a fetch may take.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How large the answer may be.
    pub bytes: usize,
    /// How long a connection may take.
    pub connect: Duration,
    /// How long an answer may take.
    pub answer: Duration,
    /// How often it is sent elsewhere.
    pub redirects: usize,
    /// How often it is tried again where nobody answered, or the server was in trouble.
    pub retries: u32,
    /// How long the first pause before that is; each further one is five times as long.
    pub pause: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            bytes: 64 << 20,
            connect: Duration::from_secs(16),
            answer: Duration::from_secs(300),
            redirects: 5,
            retries: 2,
            pause: Duration::from_millis(500),
        }
    }
}

/// A header that proves who asks. It is sent to the host it was meant for, and to no other.
#[derive(Clone)]
pub struct Proof {
    name: &'static str,
    value: String,
}

impl Proof {
    /// A user and a password.
    pub fn basic(user: &str, password: &str) -> Proof {
        let value = format!("Basic {}", krm::base64::encode(format!("{user}:{password}").as_bytes()));
        Proof { name: "authorization", value }
    }

    /// A token, as OpenStack's services take it.
    pub fn keystone(token: &str) -> Proof {
        Proof { name: "x-auth-token", value: token.to_owned() }
    }

    /// A token, as everybody else takes it.
    pub fn bearer(token: &str) -> Proof {
        Proof { name: "authorization", value: format!("Bearer {token}") }
    }
}

impl fmt::Debug for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proof({})", self.name)
    }
}

/// Why something was not to be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot get {url}: {why}")]
pub struct NotFetched {
    url: String,
    why: String,
    is_passing: bool,
}

/// Gets what is at a URL.
pub fn fetch(url: &str, proof: Option<&Proof>, limits: &Limits) -> Result<Vec<u8>, NotFetched> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(url, error))?;
    runtime.block_on(async {
        let mut pause = limits.pause;
        let mut tries = 0;
        loop {
            match follow(url, proof, limits).await {
                Err(error) if error.is_passing && tries < limits.retries => {
                    tries += 1;
                    tokio::time::sleep(pause).await;
                    pause *= 5;
                }
                answer => return answer.map(|bytes| bytes.to_vec()),
            }
        }
    })
}

/// Goes where it is sent.
async fn follow(url: &str, proof: Option<&Proof>, limits: &Limits) -> Result<Bytes, NotFetched> {
    let first: Uri = url.parse().map_err(|error| failed(url, error))?;
    let mut at = first.clone();
    for _ in 0..=limits.redirects {
        let is_same = at.authority() == first.authority() && at.scheme() == first.scheme();
        let asked = ask(&at, proof.filter(|_| is_same), limits);
        let answer = tokio::time::timeout(limits.answer, asked).await;
        let response = answer.unwrap_or_else(|_| Err(passing(url, "it took too long")))?;
        if response.status().is_redirection() {
            at = elsewhere(&at, &response)
                .ok_or_else(|| failed(url, "it is sent nowhere that can be read"))?;
            if first.scheme_str() == Some("https") && at.scheme_str() != Some("https") {
                return Err(failed(url, "it is sent from https to http, which is not followed"));
            }
            continue;
        }
        return body(url, response, limits).await;
    }
    Err(failed(url, format!("it is sent elsewhere more than {} times", limits.redirects)))
}

async fn body(url: &str, response: Response<Incoming>, limits: &Limits) -> Result<Bytes, NotFetched> {
    let status = response.status();
    if status.is_server_error() {
        return Err(passing(url, format!("the answer is {status}")));
    }
    if status != StatusCode::OK {
        let hint = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "; it takes other credentials",
            _ => "",
        };
        return Err(failed(url, format!("the answer is {status}{hint}")));
    }
    let collected =
        tokio::time::timeout(limits.answer, Limited::new(response.into_body(), limits.bytes).collect());
    match collected.await {
        Err(_) => Err(passing(url, "it took too long")),
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            Err(failed(url, format!("it is larger than {} bytes", limits.bytes)))
        }
        Ok(Err(error)) => Err(passing(url, error)),
    }
}

fn elsewhere(at: &Uri, response: &Response<Incoming>) -> Option<Uri> {
    let location = response.headers().get(header::LOCATION)?.to_str().ok()?;
    let to: Uri = location.parse().ok()?;
    if to.host().is_some() {
        return Some(to).filter(|to| matches!(to.scheme_str(), Some("http" | "https")));
    }
    let path = to.path_and_query().cloned()?;
    Uri::builder()
        .scheme(at.scheme()?.clone())
        .authority(at.authority()?.clone())
        .path_and_query(path)
        .build()
        .ok()
}

async fn ask(uri: &Uri, proof: Option<&Proof>, limits: &Limits) -> Result<Response<Incoming>, NotFetched> {
    let url = uri.to_string();
    let host = uri.host().ok_or_else(|| failed(&url, "it names no host"))?;
    let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let is_secure = uri.scheme_str() == Some("https");
    let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
    let connecting = tokio::time::timeout(limits.connect, TcpStream::connect((bare.as_str(), port))).await;
    let stream = match connecting {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return Err(passing(&url, error)),
        Err(_) => return Err(passing(&url, "nobody answers")),
    };
    if !is_secure {
        return exchange(stream, uri, proof).await;
    }
    let name = ServerName::try_from(bare).map_err(|error| failed(&url, error))?;
    let connector = TlsConnector::from(Arc::new(tls(&url)?));
    let stream = connector.connect(name, stream).await.map_err(|error| failed(&url, error))?;
    exchange(stream, uri, proof).await
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    uri: &Uri,
    proof: Option<&Proof>,
) -> Result<Response<Incoming>, NotFetched> {
    let url = uri.to_string();
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|error| passing(&url, error))?;
    tokio::spawn(connection);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let mut request = Request::get(path)
        .header(header::HOST, authority)
        .header(header::USER_AGENT, concat!("groundplane/", env!("CARGO_PKG_VERSION")))
        .header(header::ACCEPT, "application/x-yaml, */*");
    if let Some(proof) = proof {
        request = request.header(proof.name, proof.value.as_str());
    }
    // What is wrong with a secret is nobody's business.
    let request =
        request.body(Empty::<Bytes>::new()).map_err(|_| failed(&url, "the credentials can't be sent"))?;
    sender.send_request(request).await.map_err(|error| passing(&url, error))
}

fn tls(url: &str) -> Result<ClientConfig, NotFetched> {
    let pem = client::system_authorities();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(CertificateDer::pem_slice_iter(&pem).filter_map(Result::ok));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| failed(url, error))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

fn failed(url: &str, why: impl fmt::Display) -> NotFetched {
    NotFetched { url: shown(url), why: why.to_string(), is_passing: false }
}

/// It may be otherwise the next time.
fn passing(url: &str, why: impl fmt::Display) -> NotFetched {
    NotFetched { is_passing: true, ..failed(url, why) }
}

/// Without what stands after the question mark: some put tokens there.
fn shown(url: &str) -> String {
    match url.split_once('?') {
        Some((path, _)) => format!("{path}?…"),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests;
