//! The Redfish service of a BMC: authenticated requests, resources, collections, changes.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::Value;
use tokio::sync::OnceCell;

use super::resource::{Resource, message};
use super::session::Sessions;
use super::tasks;
use super::transport::{Limits, Lost, Received, Transport};
use crate::credentials::Credentials;
use crate::error::{Cause, Error, Result};
use crate::login::LoginGuard;
use crate::trust::{Fingerprint, Trust, Verification};
use crate::{Address, Environment};

const ROOT: &str = "/redfish/v1/";
/// Redirects that one request follows.
const REDIRECTS: usize = 3;

/// The service root.
pub type Root = Resource;

/// One BMC's service.
pub struct Service {
    address: Address,
    transport: Transport,
    sessions: Option<Sessions>,
    root: OnceCell<Root>,
}

impl Service {
    pub fn new(
        address: &Address,
        trust: &Trust,
        credentials: Option<Credentials>,
        limits: Limits,
        ledger_key: Option<&str>,
        environment: &Environment,
    ) -> Result<Service> {
        let verification = match address.is_plain() {
            true => None,
            false => Some(
                Verification::new(trust)
                    .map_err(|why| Error::new(address, "set up TLS", Cause::Invalid { why }))?,
            ),
        };
        let guard = LoginGuard::new(address, ledger_key, environment);
        Ok(Service {
            address: address.clone(),
            transport: Transport::new(address, verification, limits),
            sessions: credentials.map(|credentials| Sessions::new(credentials, guard)),
            root: OnceCell::new(),
        })
    }

    pub fn address(&self) -> &Address {
        &self.address
    }

    pub fn limits(&self) -> &Limits {
        &self.transport.limits
    }

    pub fn pin(&self) -> Option<Fingerprint> {
        self.transport.pin()
    }

    /// The service root, which needs no login.
    pub async fn root(&self) -> Result<&Root> {
        let read = || async {
            let received = self.follow(&Method::GET, ROOT, &HeaderMap::new(), &Bytes::new()).await;
            let received = received.map_err(|lost| self.lost("read the service root", lost))?;
            let root = self.resource(ROOT, received)?;
            match root.text("RedfishVersion").is_some() || root.link("Systems").is_some() {
                true => Ok(root),
                false => {
                    let why = "the service root has neither RedfishVersion nor Systems".to_owned();
                    Err(self.failed("read the service root", Cause::WrongShape { why }))
                }
            }
        };
        self.root.get_or_try_init(read).await
    }

    /// Reads a resource.
    pub async fn get(&self, path: &str) -> Result<Resource> {
        let received = self.call(&Method::GET, path, None, None).await?;
        self.resource(path, received)
    }

    /// Reads a resource that a BMC may lack, or lists and does not implement.
    pub async fn get_optional(&self, path: &str) -> Result<Option<Resource>> {
        match self.get(path).await {
            Ok(resource) => Ok(Some(resource)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Paths of the members of a collection, over all pages.
    pub async fn members(&self, path: &str) -> Result<Vec<String>> {
        let mut paths = Vec::new();
        let mut page = Some(path.to_owned());
        while let Some(path) = page {
            let collection = self.get(&path).await?;
            let members = collection.members().ok_or_else(|| {
                let why = format!("{path} has no Members");
                self.failed("read a collection", Cause::WrongShape { why })
            })?;
            let is_empty = members.is_empty();
            paths.extend(members);
            page = collection.next_page().filter(|next| !is_empty && *next != path);
            if paths.len() > self.transport.limits.members {
                let limit = self.transport.limits.members;
                let why = format!("{path} has more than {limit} members");
                return Err(self.failed("read a collection", Cause::WrongShape { why }));
            }
        }
        Ok(paths)
    }

    /// Changes a resource. An ETag is sent if `with_etag`, and if the BMC asks for one.
    pub async fn patch(&self, path: &str, change: &Value, with_etag: bool) -> Result<()> {
        let mut etag = match with_etag {
            true => Some(self.etag(path).await?),
            false => None,
        };
        loop {
            let sent = self.call(&Method::PATCH, path, Some(change), etag.as_deref()).await;
            match sent {
                Err(error) if etag.is_none() && asks_for_etag(&error) => etag = Some(self.etag(path).await?),
                Err(error) => return Err(error),
                Ok(received) => return tasks::finish(self, "change", received).await,
            }
        }
    }

    /// Calls an action and waits for its task.
    pub async fn post(&self, path: &str, arguments: &Value) -> Result<()> {
        let received = self.call(&Method::POST, path, Some(arguments), None).await?;
        tasks::finish(self, "act", received).await
    }

    /// Ends the session, if there is one.
    pub async fn log_out(&self) -> Result<()> {
        match &self.sessions {
            Some(sessions) => sessions.end(self).await,
            None => Ok(()),
        }
    }

    async fn etag(&self, path: &str) -> Result<String> {
        let resource = self.get(path).await?;
        Ok(resource.etag().unwrap_or_else(|| "*".to_owned()))
    }

    /// One authenticated request; a refusal is an error.
    pub async fn call(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        etag: Option<&str>,
    ) -> Result<Received> {
        let action = format!("{method} {path}");
        let mut headers = HeaderMap::new();
        let bytes = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        if body.is_some() {
            headers.insert("content-type", HeaderValue::from_static("application/json"));
        }
        if let Some(etag) = etag.and_then(|etag| HeaderValue::from_str(etag).ok()) {
            headers.insert("if-match", etag);
        }
        let received = match &self.sessions {
            Some(sessions) => sessions.authenticated(self, method, path, headers, &bytes).await?,
            None => {
                self.follow(method, path, &headers, &bytes).await.map_err(|lost| self.lost(&action, lost))?
            }
        };
        match self.refusal(path, &received) {
            None => Ok(received),
            Some(cause) => Err(self.failed(&action, cause)),
        }
    }

    /// One request as it is, following redirects of reads on this BMC.
    pub async fn follow(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> std::result::Result<Received, Lost> {
        let mut headers = headers.clone();
        headers.insert("accept", HeaderValue::from_static("application/json"));
        headers.insert("odata-version", HeaderValue::from_static("4.0"));
        let mut path = path.to_owned();
        for _ in 0..=REDIRECTS {
            let received = self.transport.send(method, &path, &headers, body).await?;
            if !received.status.is_redirection() || received.status == StatusCode::NOT_MODIFIED {
                return Ok(received);
            }
            let to = header(&received.headers, "location").unwrap_or_default();
            match self.local_path(&to).filter(|_| *method == Method::GET) {
                Some(local) => path = local,
                None => return Err(Lost { cause: Cause::Redirected { to }, is_unsent: false }),
            }
        }
        Err(Lost { cause: Cause::Redirected { to: path }, is_unsent: false })
    }

    /// The path of a URL on this BMC. Tokens and passwords go nowhere else.
    pub fn local_path(&self, url: &str) -> Option<String> {
        if url.starts_with('/') && !url.starts_with("//") {
            return Some(url.to_owned());
        }
        let scheme = if self.address.is_plain() { "http://" } else { "https://" };
        let rest = url.strip_prefix(scheme)?;
        let (authority, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
        let default = format!("{}:{}", authority, if self.address.is_plain() { 80 } else { 443 });
        let ours = self.address.authority();
        (authority == ours || default == ours).then(|| path.to_owned())
    }

    /// Why an answer is a refusal; `None` when it is not.
    pub fn refusal(&self, path: &str, received: &Received) -> Option<Cause> {
        let user = || self.sessions.as_ref().map_or_else(String::new, |sessions| sessions.user().to_owned());
        let why = || message(&received.body);
        Some(match received.status.as_u16() {
            200..=299 => return None,
            401 => Cause::Unauthorized { user: user() },
            403 => Cause::Forbidden { user: user() },
            404 => Cause::NotFound { what: path.to_owned() },
            405 | 501 => Cause::Unsupported { what: path.to_owned() },
            409 | 423 | 429 | 503 => Cause::Busy { why: why(), retry_after: retry_after(&received.headers) },
            status => Cause::Refusal { code: format!("HTTP {status}"), why: why() },
        })
    }

    pub fn failed(&self, action: &str, cause: Cause) -> Error {
        Error::new(&self.address, action, cause)
    }

    pub fn lost(&self, action: &str, lost: Lost) -> Error {
        let error = self.failed(action, lost.cause);
        if lost.is_unsent { error.unsent() } else { error }
    }

    fn resource(&self, path: &str, received: Received) -> Result<Resource> {
        let action = format!("read {path}");
        if let Some(cause) = self.refusal(path, &received) {
            return Err(self.failed(&action, cause));
        }
        let etag = header(&received.headers, "etag");
        Resource::parse(&received.body, etag).map_err(|why| self.failed(&action, Cause::WrongShape { why }))
    }
}

/// Whether a resource is missing, or the BMC does not implement it.
pub fn is_absent(error: &Error) -> bool {
    matches!(error.cause(), Cause::NotFound { .. } | Cause::Unsupported { .. })
}

fn asks_for_etag(error: &Error) -> bool {
    matches!(error.cause(), Cause::Refusal { code, .. } if code == "HTTP 428" || code == "HTTP 412")
}

pub fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    header(headers, "retry-after")?.trim().parse().ok().map(Duration::from_secs)
}
