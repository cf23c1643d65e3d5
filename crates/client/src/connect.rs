//! Connections to a server: HTTP/2 where it speaks it, else HTTP/1.1.

use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper::client::conn::{TrySendError, http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::body::Body;
use crate::error::{Error, Result};
use crate::kubeconfig::Access;
use crate::tls;

/// How often an HTTP/2 connection with open requests is asked whether it is alive, and how long that may take.
const PING_EVERY: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// What an HTTP/2 connection takes before somebody reads it: a watch that nobody reads must not stop the others.
const CONNECTION_WINDOW: u32 = 64 << 20;
const STREAM_WINDOW: u32 = 1 << 20;

/// Which protocols are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocols {
    /// HTTP/2 over TLS, and HTTP/1.1 for servers that don't speak it and without TLS.
    Any,
    /// HTTP/1.1 alone.
    Http1,
}

/// Makes connections to one server.
pub struct Connector {
    /// Host and port.
    authority: String,
    host: String,
    port: u16,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl Connector {
    /// For the server that `access` names; the second is the path of its address.
    pub fn new(access: &Access, protocols: Protocols) -> Result<(Connector, String)> {
        let wrong = |why: &str| Error::Config(format!("server address {}: {why}", access.server));
        let address = match access.server.contains("://") {
            true => access.server.clone(),
            false => format!("https://{}", access.server),
        };
        let uri: Uri = address.parse().map_err(|_| wrong("not a URL"))?;
        let is_secured = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(wrong("the scheme must be https or http")),
        };
        let host = uri.host().ok_or_else(|| wrong("the host is missing"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let authority = uri.authority().map(|authority| authority.as_str().to_owned()).unwrap_or_default();
        let tls = match is_secured {
            false => None,
            true => {
                let name = access.server_name.as_deref().unwrap_or(&host).to_owned();
                let name = ServerName::try_from(name)
                    .map_err(|_| wrong("the host is not a valid server name for TLS"))?;
                let offered: &[&str] = match protocols {
                    Protocols::Any => &["h2", "http/1.1"],
                    Protocols::Http1 => &["http/1.1"],
                };
                Some((TlsConnector::from(Arc::new(tls::config(access, offered)?)), name))
            }
        };
        let port = uri.port_u16().unwrap_or(if is_secured { 443 } else { 80 });
        Ok((Connector { authority, host, port, tls }, uri.path().to_owned()))
    }

    /// Host and port, as messages name them.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The next step when a server does not speak plain HTTP.
    pub fn https_hint(&self) -> Option<String> {
        self.tls.is_none().then(|| format!("if the server expects HTTPS, use https://{}", self.authority))
    }

    /// A new connection.
    pub async fn connect(&self) -> Result<Sender> {
        let stream = TcpStream::connect((self.host.as_str(), self.port))
            .await
            .map_err(|error| self.refused(&error))?;
        let _ = stream.set_nodelay(true);
        let Some((connector, name)) = &self.tls else { return first_version(stream).await };
        let stream = connector.connect(name.clone(), stream).await.map_err(|error| mistrusted(&error))?;
        match stream.get_ref().1.alpn_protocol() == Some(b"h2") {
            true => second_version(stream).await,
            false => first_version(stream).await,
        }
    }

    fn refused(&self, error: &std::io::Error) -> Error {
        match error.kind() {
            std::io::ErrorKind::ConnectionRefused => Error::ConnectionRefused(self.authority.clone()),
            _ => unreachable_because(format!("{}: {error}", self.authority)),
        }
    }
}

async fn first_version(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<Sender> {
    let handshake = http1::handshake(TokioIo::new(stream)).await;
    let (sender, connection) = handshake.map_err(unreachable_because)?;
    tokio::spawn(connection);
    Ok(Sender::First(sender))
}

async fn second_version(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<Sender> {
    let handshake = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .initial_connection_window_size(CONNECTION_WINDOW)
        .initial_stream_window_size(STREAM_WINDOW)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_TIMEOUT)
        .handshake(TokioIo::new(stream))
        .await;
    let (sender, connection) = handshake.map_err(unreachable_because)?;
    tokio::spawn(connection);
    Ok(Sender::Second(sender))
}

fn unreachable_because(why: impl std::fmt::Display) -> Error {
    Error::Unreachable { why: why.to_string(), is_mistrusted: false }
}

fn mistrusted(error: &std::io::Error) -> Error {
    Error::Unreachable {
        why: format!("tls: {error}"),
        is_mistrusted: error.to_string().contains("certificate"),
    }
}

/// One end of a connection.
pub enum Sender {
    /// HTTP/1.1: one request after the other.
    First(http1::SendRequest<Body>),
    /// HTTP/2: many at once.
    Second(http2::SendRequest<Body>),
}

/// Why there is no response.
#[derive(Debug)]
pub struct SendError {
    /// What the connection says.
    pub error: hyper::Error,
    /// Whether the server can't have handled the request.
    pub is_unhandled: bool,
}

impl std::fmt::Display for SendError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.error.fmt(f)
    }
}

impl Sender {
    /// Another sender on the same connection, if it takes several requests at once.
    pub fn share(&self) -> Option<Sender> {
        match self {
            Sender::First(_) => None,
            Sender::Second(sender) => Some(Sender::Second(sender.clone())),
        }
    }

    /// Whether the connection takes no more requests.
    pub fn is_closed(&self) -> bool {
        match self {
            Sender::First(sender) => sender.is_closed(),
            Sender::Second(sender) => sender.is_closed(),
        }
    }

    /// Waits until the connection takes another request; `false` if it never will.
    pub async fn is_ready(&mut self) -> bool {
        match self {
            Sender::First(sender) => sender.ready().await.is_ok(),
            Sender::Second(sender) => sender.ready().await.is_ok(),
        }
    }

    /// The target of a request as this version of HTTP has it.
    pub fn target(&self, authority: &str, path: &str) -> String {
        match self {
            Sender::First(_) => path.to_owned(),
            Sender::Second(_) => format!("https://{authority}{path}"),
        }
    }

    /// Sends a request whose target is [`target`](Self::target).
    pub async fn send(
        &mut self,
        mut request: Request<Body>,
        authority: &str,
    ) -> std::result::Result<Response<Incoming>, SendError> {
        let sent = match self {
            Sender::First(sender) => {
                if let Ok(host) = authority.parse() {
                    request.headers_mut().insert("host", host);
                }
                sender.try_send_request(request).await
            }
            Sender::Second(sender) => sender.try_send_request(request).await,
        };
        sent.map_err(|mut error: TrySendError<_>| {
            let is_unsent = error.take_message().is_some();
            let error = error.into_error();
            SendError { is_unhandled: is_unsent || is_refused_stream(&error), error }
        })
    }
}

/// Whether the server said that it has not looked at the request: RFC 9113, section 8.7.
fn is_refused_stream(error: &hyper::Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<h2::Error>() {
            return error.reason() == Some(h2::Reason::REFUSED_STREAM);
        }
        cause = error.source();
    }
    false
}
