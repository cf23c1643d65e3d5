//! Requests to a server, and their responses.

use std::error::Error as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::body::{self, Body};
use crate::connect::{Protocols, SendError, Sender};
use crate::error::{Error, Refusal, Result};
use crate::kubeconfig::{Access, Overrides};
use crate::lease::{FENCE_HEADER, Fence};
use crate::lines::Lines;
use crate::link::{Link, Session};
use crate::request::{self, Request, segment};
use crate::retries::Retries;

/// A client of one server. Cheap to clone; clones share connections and credentials.
#[derive(Clone)]
pub struct Client {
    link: Arc<Link>,
    /// The project whose control plane it is in; `None` for the server's own.
    project: Option<String>,
    namespace: String,
    timeout: Option<Duration>,
    retries: Retries,
    fence: Option<String>,
    observer: Option<Arc<dyn Observer>>,
}

/// A whole response.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The HTTP status.
    pub code: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Answer {
    /// The body as JSON of a type; anything but success is the server's refusal.
    pub fn read<T: DeserializeOwned>(&self, what: impl std::fmt::Display) -> Result<T> {
        if !(200..300).contains(&self.code) {
            return Err(Refusal::read(self).into());
        }
        serde_json::from_slice(&self.body)
            .map_err(|error| Error::Unreadable(format!("{what}: the response is not JSON: {error}")))
    }
}

/// Sees what a client does.
pub trait Observer: Send + Sync {
    /// The server sent a warning. Each is told once.
    fn warned(&self, text: &str);
    /// A request was answered.
    fn answered(&self, _: &Exchange<'_>) {}
}

/// A request and its response.
pub struct Exchange<'a> {
    /// The method.
    pub method: &'a Method,
    /// Host and port of the server.
    pub address: &'a str,
    /// Path and parameters.
    pub path: &'a str,
    /// The HTTP status.
    pub status: StatusCode,
    /// The body.
    pub body: &'a [u8],
    /// How long it took.
    pub took: Duration,
}

impl Client {
    /// A client of the server that the environment's kubeconfig names.
    pub async fn from_environment() -> Result<Client> {
        Client::new(Access::load(&Overrides::default()).await?)
    }

    /// A client of a server.
    pub fn new(access: Access) -> Result<Client> {
        Client::with(access, concat!("groundplane/", env!("CARGO_PKG_VERSION")), Protocols::Any)
    }

    /// The same under the name of a program: its User-Agent, which is the field manager of writes that name none.
    pub fn called(access: Access, user_agent: &str) -> Result<Client> {
        Client::with(access, user_agent, Protocols::Any)
    }

    fn with(access: Access, user_agent: &str, protocols: Protocols) -> Result<Client> {
        let namespace = access.namespace.clone();
        let (session, path) = Session::new(access, user_agent, protocols)?;
        let link = Link {
            authority: session.connector.authority().to_owned(),
            root: path.trim_end_matches('/').to_owned(),
            user_agent: user_agent.to_owned(),
            protocols,
            current: Mutex::new(Arc::new(session)),
            renewing: tokio::sync::Mutex::default(),
            warned: Mutex::default(),
        };
        Ok(Client {
            link: Arc::new(link),
            project: None,
            namespace,
            timeout: None,
            retries: Retries::default(),
            fence: None,
            observer: None,
        })
    }

    /// The same in the control plane of a project.
    pub fn in_plane(&self, project: &str) -> Client {
        Client { project: Some(project.to_owned()), ..self.clone() }
    }

    /// The same in the server's own control plane.
    pub fn in_root(&self) -> Client {
        Client { project: None, ..self.clone() }
    }

    /// The project whose control plane it is in; `None` for the server's own.
    pub fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    /// The same with a time limit for one request and its response. A watch has none once it has begun.
    pub fn with_timeout(self, timeout: Option<Duration>) -> Client {
        Client { timeout, ..self }
    }

    /// The same with other rules for sending requests again.
    pub fn with_retries(self, retries: Retries) -> Client {
        Client { retries, ..self }
    }

    /// The same with somebody who sees what it does.
    pub fn observed_by(self, observer: Arc<dyn Observer>) -> Client {
        Client { observer: Some(observer), ..self }
    }

    /// The same, whose writes the server refuses with a conflict once the lease is no longer held as it was when `fence`
    /// was made.
    pub fn fenced(&self, fence: &Fence) -> Client {
        Client { fence: Some(fence.header()), ..self.clone() }
    }

    /// Host and port of the server, for messages.
    pub fn address(&self) -> &str {
        &self.link.authority
    }

    /// The namespace of objects that name none.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Sends a request and reads the whole response, whatever it says.
    pub async fn answer(&self, request: &Request) -> Result<Answer> {
        let mut attempts = 0;
        loop {
            let ended = self.limited(request, self.answer_once(request)).await;
            attempts += 1;
            match self.retries.pause(request, &ended, attempts) {
                None => return ended,
                Some(pause) => tokio::time::sleep(pause).await,
            }
        }
    }

    async fn answer_once(&self, request: &Request) -> Result<Answer> {
        let begun = Instant::now();
        let (session, response, sender) = self.send(request).await?;
        let (head, body) = response.into_parts();
        let body = body.collect().await.map_err(|error| session.lost(request, &error, false))?.to_bytes();
        session.keep(sender).await;
        if let Some(observer) = &self.observer {
            observer.answered(&Exchange {
                method: &request.method,
                address: self.address(),
                path: &self.path(request),
                status: head.status,
                body: &body,
                took: begun.elapsed(),
            });
        }
        Ok(Answer { code: head.status.as_u16(), headers: head.headers, body })
    }

    /// Sends a request and reads JSON of a type; anything but success is an error.
    pub async fn read<T: DeserializeOwned>(&self, request: &Request) -> Result<T> {
        let answer = self.answer(request).await?;
        let read = answer.read(format_args!("{} {}", request.method, self.path(request)));
        match read {
            // Servers that expect TLS say so with a text, not with a Status.
            Err(Error::Refused(refusal)) if answer.code == 400 && !answer.body.starts_with(b"{") => {
                let hint = self.link.session().connector.https_hint();
                Err(Refusal { hint, ..*refusal }.into())
            }
            read => read,
        }
    }

    /// Sends a request and reads JSON; anything but success is an error.
    pub async fn value(&self, request: &Request) -> Result<Value> {
        self.read(request).await
    }

    /// Sends a request whose response comes line by line.
    pub async fn lines(&self, request: &Request) -> Result<Lines> {
        Ok(Lines::new(self.open(request).await?))
    }

    /// Sends a request whose response is read as it comes.
    pub async fn open(&self, request: &Request) -> Result<Incoming> {
        let (session, response, _) = self.limited(request, self.send(request)).await?;
        let (head, body) = response.into_parts();
        if !head.status.is_success() {
            let body = body.collect().await.map_err(|error| session.lost(request, &error, false))?.to_bytes();
            let answer = Answer { code: head.status.as_u16(), headers: head.headers, body };
            return Err(Refusal::read(&answer).into());
        }
        Ok(body)
    }

    /// Sends a request whose body is sent as it comes, while the response is read as it comes. It is tried once.
    pub async fn exchange(&self, request: &Request, body: mpsc::Receiver<Bytes>) -> Result<Incoming> {
        let session = self.link.renewed().await?;
        let (mut sender, _) = session.sender().await?;
        let target = sender.target(session.connector.authority(), &self.path(request));
        let built = self.built(request, &session, target, body::streamed(body))?;
        let sent = self.limited(request, async {
            let sent = sender.send(built, session.connector.authority()).await;
            sent.map_err(|SendError { error, is_unhandled }| session.lost(request, &error, is_unhandled))
        });
        let (head, body) = sent.await?.into_parts();
        if !head.status.is_success() {
            let body = body.collect().await.map_err(|error| session.lost(request, &error, false))?.to_bytes();
            let answer = Answer { code: head.status.as_u16(), headers: head.headers, body };
            return Err(Refusal::read(&answer).into());
        }
        Ok(body)
    }

    async fn limited<T>(&self, request: &Request, sent: impl Future<Output = Result<T>>) -> Result<T> {
        match self.timeout {
            None => sent.await,
            Some(limit) => tokio::time::timeout(limit, sent).await.unwrap_or_else(|_| {
                let address = self.address().to_owned();
                Err(Error::TimedOut { address, limit, is_change: !request.changes_nothing() })
            }),
        }
    }

    async fn send(&self, request: &Request) -> Result<(Arc<Session>, Response<Incoming>, Sender)> {
        let session = self.link.renewed().await?;
        loop {
            let (mut sender, was_open) = session.sender().await?;
            let target = sender.target(session.connector.authority(), &self.path(request));
            let sent = sender
                .send(
                    self.built(request, &session, target, body::whole(request.body.clone()))?,
                    session.connector.authority(),
                )
                .await;
            match sent {
                // The server had closed it, and nothing was sent.
                Err(SendError { is_unhandled: true, error }) if was_open && !is_answered(&error) => {
                    session.shared.lock().unwrap_or_else(PoisonError::into_inner).take();
                }
                Err(SendError { error, is_unhandled }) => {
                    return Err(session.lost(request, &error, is_unhandled));
                }
                Ok(response) => {
                    self.tell_warnings(response.headers());
                    if response.status() == StatusCode::UNAUTHORIZED {
                        session.is_refused.store(true, std::sync::atomic::Ordering::Relaxed);
                    }
                    return Ok((session, response, sender));
                }
            }
        }
    }

    fn path(&self, request: &Request) -> String {
        // Health and version are the server's; a project's control plane has none of its own.
        let first = request.path.split(['/', '?']).nth(1).unwrap_or("");
        let plane = match &self.project {
            Some(project) if matches!(first, "api" | "apis" | "openapi") => format!(
                "/apis/resourcemanager.miloapis.com/v1alpha1/projects/{}/control-plane",
                segment(project)
            ),
            _ => String::new(),
        };
        format!("{}{plane}{}", self.link.root, request.path_and_query())
    }

    fn built(
        &self,
        request: &Request,
        session: &Session,
        target: String,
        body: Body,
    ) -> Result<http::Request<Body>> {
        let mut built = http::Request::builder()
            .method(request.method.clone())
            .uri(target)
            .header("accept", request.accept.as_str());
        if !request.body.is_empty() {
            built = built.header("content-type", request.media);
        }
        for (name, value) in &request.headers {
            built = built.header(*name, value.as_str());
        }
        if let Some(fence) = self.fence.as_ref().filter(|_| request.method != Method::GET) {
            built = built.header(FENCE_HEADER, fence.as_str());
        }
        let mut built = built.body(body).map_err(|error| {
            Error::Invalid(format!("{} {}: invalid request: {error}", request.method, request.path))
        })?;
        built.headers_mut().extend(session.headers.clone());
        Ok(built)
    }

    fn tell_warnings(&self, headers: &HeaderMap) {
        let Some(observer) = &self.observer else { return };
        for value in headers.get_all("warning") {
            let Some(text) = value.to_str().ok().and_then(request::warning_text) else { continue };
            let mut warned = self.link.warned.lock().unwrap_or_else(PoisonError::into_inner);
            if !warned.contains(&text) {
                observer.warned(&text);
                warned.push(text);
            }
        }
    }
}

/// Whether the error is the server's word on the request, not the end of a connection.
fn is_answered(error: &hyper::Error) -> bool {
    error.source().is_some_and(|cause| cause.is::<h2::Error>())
}
