//! Requests to the public API over HTTP/1.1, and their answers.

mod ask;
mod connect;
mod lines;

pub use ask::{Ask, segment};
pub use connect::Connector;
pub use lines::Lines;

use std::cell::RefCell;
use std::error::Error;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use serde_json::{Value, json};

use crate::failure::{Failure, Refusal};
use crate::kubeconfig::Access;

/// How often a server that is busy is asked again.
const MOST_TRIES: u32 = 10;

/// What is said of a path that the server does not know.
pub const UNKNOWN_PATH: &str = "the server could not find the requested resource";

/// A server, and who asks it.
pub struct Client {
    connector: Connector,
    /// The path of the server's address, before every other.
    root: String,
    /// The path of a project's control plane; empty for the server's own.
    plane: String,
    headers: HeaderMap,
    timeout: Option<Duration>,
    verbosity: u8,
    warn: Box<dyn Fn(&str)>,
    warned: RefCell<Vec<String>>,
    idle: RefCell<Vec<SendRequest<Full<Bytes>>>>,
}

/// A whole answer.
pub struct Answer {
    /// The HTTP status.
    pub code: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Client {
    /// A client of the server that `access` names, in a project's plane if one is named.
    pub fn new(
        access: &Access,
        project: Option<&str>,
        timeout: Option<Duration>,
        verbosity: u8,
        warn: Box<dyn Fn(&str)>,
    ) -> Result<Client, Failure> {
        let (connector, path) = Connector::new(access)?;
        let plane = project.map_or(String::new(), |project| {
            format!("/apis/resourcemanager.miloapis.com/v1alpha1/projects/{}/control-plane", segment(project))
        });
        Ok(Client {
            connector,
            root: path.trim_end_matches('/').to_owned(),
            plane,
            headers: ask::identity_headers(access)?,
            timeout,
            verbosity,
            warn,
            warned: RefCell::default(),
            idle: RefCell::default(),
        })
    }

    /// Where the server listens, for messages.
    pub fn address(&self) -> &str {
        self.connector.authority()
    }

    /// Asks, and reads the whole answer, whatever it says.
    pub async fn answer(&self, ask: &Ask) -> Result<Answer, Failure> {
        let mut tries = 0;
        loop {
            let answer = self.limited(ask, self.answer_once(ask)).await?;
            let after = answer.headers.get("retry-after").and_then(|after| after.to_str().ok()?.parse().ok());
            match after {
                Some(seconds) if matches!(answer.code, 429 | 503) && tries < MOST_TRIES => {
                    tries += 1;
                    tokio::time::sleep(Duration::from_secs(u64::min(seconds, 30))).await;
                }
                _ => return Ok(answer),
            }
        }
    }

    async fn answer_once(&self, ask: &Ask) -> Result<Answer, Failure> {
        let begun = Instant::now();
        let (response, sender) = self.send(ask).await?;
        let (head, body) = response.into_parts();
        let body = body.collect().await.map_err(|error| self.broken_off(ask, &error))?.to_bytes();
        if let Some(mut sender) = sender
            && sender.ready().await.is_ok()
        {
            self.idle.borrow_mut().push(sender);
        }
        if self.verbosity >= 6 {
            let took = begun.elapsed().as_millis();
            eprintln!(
                "{} https://{}{} {} in {took} milliseconds",
                ask.method,
                self.address(),
                self.path(ask),
                head.status
            );
        }
        if self.verbosity >= 8 {
            eprintln!("{}", String::from_utf8_lossy(&body));
        }
        Ok(Answer { code: head.status.as_u16(), headers: head.headers, body })
    }

    /// Asks for JSON; anything but success is a failure.
    pub async fn value(&self, ask: &Ask) -> Result<Value, Failure> {
        let answer = self.answer(ask).await?;
        if !(200..300).contains(&answer.code) {
            // Servers that expect TLS say so with a text, not with a Status.
            return Err(match answer.code == 400 && !answer.body.starts_with(b"{") {
                true => self.with_https_hint(refused(&answer)),
                false => refused(&answer),
            });
        }
        serde_json::from_slice(&answer.body).map_err(|error| {
            Failure::other(format!("{} {}: the response is not JSON: {error}", ask.method, self.path(ask)))
        })
    }

    fn with_https_hint(&self, failure: Failure) -> Failure {
        match self.connector.https_hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }

    /// Asks for an answer that comes line by line.
    pub async fn lines(&self, ask: &Ask) -> Result<Lines, Failure> {
        Ok(Lines::new(self.open(ask).await?))
    }

    /// Asks for an answer that is read as it comes.
    pub async fn open(&self, ask: &Ask) -> Result<Incoming, Failure> {
        let (response, _) = self.limited(ask, self.send(ask)).await?;
        let (head, body) = response.into_parts();
        if !head.status.is_success() {
            let body = body.collect().await.map_err(|error| self.broken_off(ask, &error))?.to_bytes();
            return Err(refused(&Answer { code: head.status.as_u16(), headers: head.headers, body }));
        }
        Ok(body)
    }

    async fn limited<T>(
        &self,
        ask: &Ask,
        asked: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        match self.timeout {
            None => asked.await,
            Some(limit) => tokio::time::timeout(limit, asked).await.unwrap_or_else(|_| {
                let address = self.address();
                let why =
                    format!("the server at {address} did not answer within {limit:?} (--request-timeout)");
                Err(without_answer(ask, why))
            }),
        }
    }

    async fn send(
        &self,
        ask: &Ask,
    ) -> Result<(Response<Incoming>, Option<SendRequest<Full<Bytes>>>), Failure> {
        loop {
            let idle = self.idle.borrow_mut().pop();
            let was_idle = idle.is_some();
            let mut sender = match idle {
                Some(sender) => sender,
                None => self.connector.connect().await?,
            };
            match sender.send_request(self.request(ask)?).await {
                // The server had closed it, and nothing was sent.
                Err(error) if was_idle && (error.is_canceled() || error.is_closed()) => {}
                Err(error) => return Err(self.broken_off(ask, &error)),
                Ok(response) => {
                    self.tell_warnings(response.headers());
                    return Ok((response, Some(sender)));
                }
            }
        }
    }

    fn path(&self, ask: &Ask) -> String {
        // Health and version are the server's; a project's control plane has none of its own.
        let first = ask.path.split(['/', '?']).nth(1).unwrap_or("");
        let plane = if matches!(first, "api" | "apis" | "openapi") { self.plane.as_str() } else { "" };
        format!("{}{plane}{}", self.root, ask.path_and_query())
    }

    fn request(&self, ask: &Ask) -> Result<Request<Full<Bytes>>, Failure> {
        let mut request = Request::builder()
            .method(ask.method.clone())
            .uri(self.path(ask))
            .header("host", self.address())
            .header("accept", ask.accept.as_str());
        if !ask.body.is_empty() {
            request = request.header("content-type", ask.media);
        }
        for (name, value) in &ask.headers {
            request = request.header(*name, value.as_str());
        }
        let mut request = request.body(Full::new(ask.body.clone())).map_err(|error| {
            Failure::other(format!("{} {}: invalid request: {error}", ask.method, ask.path))
        })?;
        request.headers_mut().extend(self.headers.clone());
        Ok(request)
    }

    /// Each warning is told once.
    fn tell_warnings(&self, headers: &HeaderMap) {
        for value in headers.get_all("warning") {
            let text = value.to_str().ok().and_then(ask::warning_text);
            if let Some(text) = text
                && !self.warned.borrow().contains(&text)
            {
                (self.warn)(&text);
                self.warned.borrow_mut().push(text);
            }
        }
    }

    fn broken_off(&self, ask: &Ask, error: &hyper::Error) -> Failure {
        let cause = error.source().map_or(String::new(), |cause| format!(": {cause}"));
        let address = self.address();
        let failure =
            without_answer(ask, format!("the connection to the server {address} was lost: {error}{cause}"));
        self.with_https_hint(failure)
    }
}

/// Of what only reads, that is all there is to say; a change may have been made all the same.
fn without_answer(ask: &Ask, why: String) -> Failure {
    match ask.changes_nothing() {
        true => Failure::Other(why),
        false => Failure::Unanswered(why)
            .hint("the change may have been made; check the current state before you try again"),
    }
}

/// Why the server did not do it.
pub fn refused(answer: &Answer) -> Failure {
    let status = serde_json::from_slice::<Value>(&answer.body).ok().filter(|body| body["kind"] == "Status");
    let status = status.unwrap_or_else(|| {
        let text = String::from_utf8_lossy(&answer.body);
        let text = text.trim();
        let prevented = format!("an error on the server ({}) has prevented the request from succeeding", krm::field::quote(text));
        let (reason, message) = match answer.code {
            401 => ("Unauthorized", "the server has asked for the client to provide credentials"),
            403 => ("Forbidden", text),
            404 => ("NotFound", UNKNOWN_PATH),
            405 => ("MethodNotAllowed", "the server does not allow this method on the requested resource"),
            406 => ("NotAcceptable", text),
            429 => ("TooManyRequests", "the server has received too many requests and has asked us to try again later"),
            503 => ("ServiceUnavailable", "the server is currently unable to handle the request"),
            504 => ("Timeout", "the server was unable to return a response in the time allotted, but may still be processing the request"),
            _ => ("InternalError", prevented.as_str()),
        };
        json!({"kind": "Status", "status": "Failure", "message": message, "code": answer.code, "reason": reason})
    });
    Failure::Server(Box::new(Refusal { status, during: None }))
}
