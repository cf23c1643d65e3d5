//! Connections and requests.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::Options;
use super::body::Pieces;
use super::faults::Fault;
use super::model::Model;
use super::{change, login, tree};

/// What connections share.
pub struct Served {
    pub options: Options,
    pub model: Mutex<Model>,
    pub identity: Mutex<Option<Identity>>,
}

/// A certificate that signs itself.
pub struct Identity {
    pub pem: String,
    config: Arc<ServerConfig>,
}

impl Identity {
    pub fn new(address: SocketAddr) -> std::io::Result<Identity> {
        let failed =
            |error: &dyn std::fmt::Display| std::io::Error::other(format!("making a certificate: {error}"));
        let names = vec![address.ip().to_string(), "localhost".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).map_err(|error| failed(&error))?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| failed(&error))?
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .map_err(|error| failed(&error))?;
        Ok(Identity { pem: made.cert.pem(), config: Arc::new(config) })
    }
}

/// An answer before faults.
pub struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Bytes,
}

impl Answer {
    pub fn json(status: u16, value: &Value) -> Answer {
        let headers = vec![("content-type", "application/json".to_owned())];
        Answer { status, headers, body: Bytes::from(value.to_string()) }
    }

    pub fn empty(status: u16) -> Answer {
        Answer { status, headers: Vec::new(), body: Bytes::new() }
    }

    pub fn with(mut self, name: &'static str, value: &str) -> Answer {
        self.headers.push((name, value.to_owned()));
        self
    }

    fn response(self, fault: Option<Fault>) -> Response<Pieces> {
        let body = match fault {
            Some(Fault::EndlessBody) => Pieces::endless(),
            Some(Fault::SlowBytes) => Pieces::slow(self.body),
            _ => Pieces::whole(self.body),
        };
        let mut response = Response::new(body);
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or_default();
        for (name, value) in self.headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                response.headers_mut().insert(HeaderName::from_static(name), value);
            }
        }
        response
    }
}

/// An error in the form that Redfish prescribes.
pub fn refusal(status: u16, message: &str) -> Answer {
    let info = json!([{ "MessageId": "Base.1.16.GeneralError", "Message": message, "Severity": "Critical" }]);
    Answer::json(
        status,
        &json!({ "error": { "code": "Base.1.16.GeneralError", "message": message, "@Message.ExtendedInfo": info } }),
    )
}

pub async fn serve(listener: TcpListener, served: Arc<Served>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        tokio::spawn(connection(stream, served.clone()));
    }
}

async fn connection(stream: TcpStream, served: Arc<Served>) {
    let _ = stream.set_nodelay(true);
    let config = {
        let identity = served.identity.lock().unwrap_or_else(PoisonError::into_inner);
        identity.as_ref().map(|identity| identity.config.clone())
    };
    let service = service_fn(|request| answer(request, served.clone()));
    let http = hyper::server::conn::http1::Builder::new();
    // A client that goes away early gets no answer.
    match config {
        None => drop(http.serve_connection(TokioIo::new(stream), service).await),
        Some(config) => {
            let Ok(stream) = TlsAcceptor::from(config).accept(stream).await else { return };
            drop(http.serve_connection(TokioIo::new(stream), service).await);
        }
    }
}

async fn answer(request: Request<Incoming>, served: Arc<Served>) -> Result<Response<Pieces>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let path = head.uri.path().trim_end_matches('/');
    if let Some(own) = path.strip_prefix("/sim/") {
        return Ok(control(&served, &head.method, own, &body).response(None));
    }
    let is_root = path == "/redfish/v1";
    let _running = Running::new(&served);
    let faults = served.model.lock().unwrap_or_else(PoisonError::into_inner).faults.clone();
    let fault = faults.into_iter().find(|fault| !is_root || !fault.spares_the_root());
    match fault {
        Some(Fault::Hang) => std::future::pending().await,
        Some(Fault::Slow(millis)) => tokio::time::sleep(Duration::from_millis(millis)).await,
        _ => {}
    }
    let answered = match fault {
        Some(Fault::Unavailable) => refusal(503, "The service is starting.").with("retry-after", "1"),
        Some(Fault::Unauthorized) => refusal(401, "The credentials are not valid."),
        Some(Fault::NotJson) => Answer::empty(200).with_body(b"<html>It works!</html>"),
        Some(Fault::WrongShape) => Answer::json(200, &json!(["not", "an", "object"])),
        Some(Fault::RedirectLoop) => Answer::empty(308).with("location", path),
        Some(Fault::RedirectElsewhere) => {
            Answer::empty(308).with("location", "https://192.0.2.1/redfish/v1/")
        }
        _ => respond(&served, &head, path, &body),
    };
    Ok(answered.response(fault))
}

/// Counts a request as long as it is being answered.
struct Running<'a>(&'a Served);

impl<'a> Running<'a> {
    fn new(served: &'a Served) -> Running<'a> {
        let mut model = served.model.lock().unwrap_or_else(PoisonError::into_inner);
        model.running += 1;
        model.most_running = model.most_running.max(model.running);
        Running(served)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.model.lock().unwrap_or_else(PoisonError::into_inner).running -= 1;
    }
}

fn respond(served: &Served, head: &http::request::Parts, path: &str, body: &[u8]) -> Answer {
    let Served { options, model, .. } = served;
    let mut model = model.lock().unwrap_or_else(PoisonError::into_inner);
    model.requests += 1;
    model.settle();
    let Some(below) = path.strip_prefix("/redfish/v1") else {
        return match path {
            "/redfish" => Answer::json(200, &json!({ "v1": "/redfish/v1/" })),
            _ => refusal(404, "There is nothing here."),
        };
    };
    let segments: Vec<&str> = below.split('/').filter(|segment| !segment.is_empty()).collect();
    let body: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    let is_login = head.method == Method::POST && segments == ["SessionService", "Sessions"];
    if is_login && options.has_sessions {
        return login::log_in(&mut model, options, &body);
    }
    if !segments.is_empty() && !login::is_allowed(&mut model, options, &head.headers) {
        return refusal(401, "The request needs a valid session or password.");
    }
    if head.method != Method::GET {
        return change::change(&mut model, options, &head.method, &segments, &head.headers, &body);
    }
    match tree::read(&model, options, &segments) {
        None => refusal(404, &format!("The resource {path} does not exist.")),
        Some((value, etag)) => {
            let value = page(value, path, head.uri.query(), options.page, model.has(Fault::EndlessPages));
            let answer = Answer::json(200, &value);
            etag.into_iter().fold(answer, |answer, etag| answer.with("etag", &etag))
        }
    }
}

/// One page of a collection.
fn page(mut value: Value, path: &str, query: Option<&str>, size: Option<usize>, is_endless: bool) -> Value {
    let skip = query.and_then(|query| query.strip_prefix("$skip=")).and_then(|skip| skip.parse().ok());
    let skip: usize = skip.unwrap_or(0);
    let Some(members) = value.get_mut("Members").and_then(Value::as_array_mut) else { return value };
    let count = members.len();
    let size = size.unwrap_or(count.max(1));
    if is_endless {
        value["Members@odata.nextLink"] = format!("{path}?$skip={}", skip + 1).into();
        return value;
    }
    *members = members.iter().skip(skip).take(size).cloned().collect();
    if skip + size < count {
        value["Members@odata.nextLink"] = format!("{path}?$skip={}", skip + size).into();
    }
    value
}

/// The simulator's own paths.
fn control(served: &Served, method: &Method, path: &str, body: &[u8]) -> Answer {
    let mut model = served.model.lock().unwrap_or_else(PoisonError::into_inner);
    match (method.as_str(), path) {
        ("GET", "state") => Answer::json(200, &model.state()),
        ("DELETE", "faults") => {
            model.faults.clear();
            Answer::empty(204)
        }
        ("POST", "faults") => match serde_json::from_slice(body) {
            Ok(fault) => {
                model.faults.push(fault);
                Answer::empty(204)
            }
            Err(error) => refusal(400, &format!("not a fault: {error}")),
        },
        _ => refusal(404, "GET /sim/state, POST /sim/faults, DELETE /sim/faults"),
    }
}

impl Answer {
    fn with_body(mut self, body: &'static [u8]) -> Answer {
        self.body = Bytes::from_static(body);
        self
    }
}
