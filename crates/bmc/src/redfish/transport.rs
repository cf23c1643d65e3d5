//! HTTP/1.1 to one BMC: bounded in time, size, concurrency and rate.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_rustls::TlsConnector;

use crate::Address;
use crate::error::Cause;
use crate::trust::{Fingerprint, Verification};

/// How much a BMC is asked, and how much of it is read.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Deadline of one request, connecting included. Defaults to 30 seconds.
    pub request: Duration,
    /// Deadline of connecting. Defaults to 10 seconds.
    pub connect: Duration,
    /// The largest answer in bytes. Defaults to 4 MiB.
    pub body: usize,
    /// Requests at a time. Defaults to 2: BMCs are small computers.
    pub concurrency: usize,
    /// Requests per second. Defaults to 50.
    pub rate: u32,
    /// The longest that a task on the BMC is waited for. Defaults to 10 minutes.
    pub task: Duration,
    /// The longest list that is followed over pages, in members. Defaults to 10,000.
    pub members: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            request: Duration::from_secs(30),
            connect: Duration::from_secs(10),
            body: 4 << 20,
            concurrency: 2,
            rate: 50,
            task: Duration::from_secs(600),
            members: 10_000,
        }
    }
}

/// An answer whose body was read.
pub struct Received {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// Why there is no answer.
pub struct Lost {
    pub cause: Cause,
    /// Whether the BMC can't have seen the request.
    pub is_unsent: bool,
}

/// Connections to one BMC.
pub struct Transport {
    address: Address,
    verification: Option<Verification>,
    pub limits: Limits,
    slots: Semaphore,
    /// When the next request may be sent.
    next: Mutex<Option<Instant>>,
    idle: Mutex<Vec<SendRequest<Full<Bytes>>>>,
}

impl Transport {
    pub fn new(address: &Address, verification: Option<Verification>, limits: Limits) -> Transport {
        Transport {
            address: address.clone(),
            verification,
            limits,
            slots: Semaphore::new(limits.concurrency.max(1)),
            next: Mutex::default(),
            idle: Mutex::default(),
        }
    }

    pub fn pin(&self) -> Option<Fingerprint> {
        self.verification.as_ref().and_then(Verification::pin)
    }

    /// Sends one request. A connection that the BMC had closed meanwhile is replaced, if the request was not sent or
    /// changes nothing.
    pub async fn send(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<Received, Lost> {
        let Ok(_slot) = self.slots.acquire().await else {
            return Err(Lost { cause: Cause::Unreachable { why: "closed".to_owned() }, is_unsent: true });
        };
        self.turn().await;
        let after = self.limits.request;
        let sent = timeout(after, self.exchange(method, path, headers, body)).await;
        sent.unwrap_or(Err(Lost { cause: Cause::TimedOut { after }, is_unsent: false }))
    }

    /// Waits for this request's turn within the rate.
    async fn turn(&self) {
        let interval = Duration::from_secs(1) / self.limits.rate.max(1);
        let turn = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let turn = next.unwrap_or_else(Instant::now).max(Instant::now());
            *next = Some(turn + interval);
            turn
        };
        sleep_until(turn).await;
    }

    async fn exchange(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<Received, Lost> {
        let is_read = *method == Method::GET || *method == Method::HEAD;
        loop {
            let open = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let was_open = open.is_some();
            let mut sender = match open {
                Some(sender) if sender.is_closed() => continue,
                Some(sender) => sender,
                None => self.connect().await.map_err(|cause| Lost { cause, is_unsent: true })?,
            };
            let request = request(&self.address, method, path, headers, body)?;
            if sender.ready().await.is_err() {
                if was_open {
                    continue;
                }
                let why = "the BMC closed the connection".to_owned();
                return Err(Lost { cause: Cause::Unreachable { why }, is_unsent: true });
            }
            let response = match sender.try_send_request(request).await {
                Ok(response) => response,
                Err(mut error) => {
                    let is_unsent = error.take_message().is_some();
                    if was_open && (is_unsent || is_read) {
                        continue;
                    }
                    return Err(Lost { cause: broken(&error.into_error()), is_unsent });
                }
            };
            let (head, incoming) = response.into_parts();
            let body =
                read(incoming, self.limits.body).await.map_err(|cause| Lost { cause, is_unsent: false })?;
            if !sender.is_closed() {
                self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
            }
            return Ok(Received { status: head.status, headers: head.headers, body });
        }
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, Cause> {
        let after = self.limits.connect;
        let connected = timeout(after, self.connection()).await;
        connected.unwrap_or(Err(Cause::TimedOut { after }))
    }

    async fn connection(&self) -> Result<SendRequest<Full<Bytes>>, Cause> {
        let host = self.address.host();
        let resolved = tokio::net::lookup_host((host, self.address.port())).await;
        let resolved: Vec<_> =
            resolved.map_err(|error| Cause::NameResolution { why: error.to_string() })?.collect();
        let stream = TcpStream::connect(resolved.as_slice()).await.map_err(|error| match error.kind() {
            std::io::ErrorKind::ConnectionRefused => Cause::Refused,
            _ => Cause::Unreachable { why: error.to_string() },
        })?;
        let _ = stream.set_nodelay(true);
        let Some(verification) = &self.verification else { return speak(stream).await };
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| Cause::Invalid { why: format!("\"{host}\" is not a name for TLS") })?;
        let connector = TlsConnector::from(verification.config.clone());
        let stream = connector.connect(name, stream).await.map_err(|error| verification.explain(&error))?;
        let certificate = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
        let certificate = certificate.ok_or_else(|| Cause::Tls { why: "no certificate".to_owned() })?;
        verification.learn(certificate)?;
        speak(stream).await
    }
}

async fn speak(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<SendRequest<Full<Bytes>>, Cause> {
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(|error| broken(&error))?;
    tokio::spawn(connection);
    Ok(sender)
}

fn request(
    address: &Address,
    method: &Method,
    path: &str,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Request<Full<Bytes>>, Lost> {
    let wrong = |why: String| Lost { cause: Cause::WrongShape { why }, is_unsent: true };
    let mut request = Request::new(Full::new(body.clone()));
    *request.method_mut() = method.clone();
    *request.uri_mut() = path.parse().map_err(|_| wrong(format!("\"{path}\" is not a path")))?;
    *request.headers_mut() = headers.clone();
    let authority = address.authority();
    // Without the port where it is the usual one, as browsers do: some BMCs know no other form.
    let usual = if address.is_plain() { ":80" } else { ":443" };
    let host = HeaderValue::from_str(authority.strip_suffix(usual).unwrap_or(&authority))
        .map_err(|_| wrong("the host is not valid in a header".to_owned()))?;
    request.headers_mut().insert(http::header::HOST, host);
    Ok(request)
}

async fn read(mut incoming: Incoming, limit: usize) -> Result<Bytes, Cause> {
    let mut body = BytesMut::new();
    while let Some(frame) = incoming.frame().await {
        let Ok(data) = frame.map_err(|error| broken(&error))?.into_data() else { continue };
        if body.len() + data.len() > limit {
            return Err(Cause::TooLarge { limit });
        }
        body.extend_from_slice(&data);
    }
    Ok(body.freeze())
}

fn broken(error: &hyper::Error) -> Cause {
    let source = std::error::Error::source(error).map_or(String::new(), |source| format!(": {source}"));
    let why = format!("{error}{source}");
    match error.is_parse() || error.is_parse_status() {
        true => Cause::WrongShape { why: format!("not HTTP: {why}") },
        false => Cause::Unreachable { why },
    }
}
