//! A small OpenID Connect issuer: discovery, keys, the code flow with PKCE, the device flow, refresh and revocation.
//!
//! It believes everybody who they say they are: whoever it is told to be logged in as. It listens on loopback without TLS, as
//! the specifications allow for this machine.

mod form;
mod keys;
mod state;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use form::Form;
use state::State;

/// Somebody who can be logged in as.
#[derive(Debug, Clone)]
pub struct Person {
    /// The `sub` of tokens.
    pub subject: String,
    /// The `email`.
    pub email: String,
    /// The `groups`.
    pub groups: Vec<String>,
}

impl Person {
    /// Somebody by an address.
    pub fn new(email: &str, groups: &[&str]) -> Person {
        let subject = email.split('@').next().unwrap_or(email).to_owned();
        Person {
            subject,
            email: email.to_owned(),
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        }
    }
}

/// An issuer that runs until it is dropped.
pub struct Issuer {
    address: SocketAddr,
    state: Arc<State>,
    serving: JoinHandle<()>,
}

impl Issuer {
    /// Starts one on a free port, with somebody who is logged in at it.
    pub async fn start(person: Person) -> std::io::Result<Issuer> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let state = Arc::new(State::new(format!("http://{address}"), person)?);
        let serving = tokio::spawn(serve(listener, state.clone()));
        Ok(Issuer { address, state, serving })
    }

    /// Its name, as tokens have it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on tokens are good for so many seconds.
    pub fn tokens_last(&self, seconds: u64) {
        self.state.set_lifetime(seconds);
    }

    /// Somebody goes to the page of the device flow and confirms a code; `false` when there is none such.
    pub fn confirm(&self, user_code: &str) -> bool {
        self.state.decide(user_code, true)
    }

    /// The same, but turns it down.
    pub fn turn_down(&self, user_code: &str) -> bool {
        self.state.decide(user_code, false)
    }

    /// Takes back everything it has given out: nothing can be refreshed any more.
    pub fn forget_all(&self) {
        self.state.forget_all();
    }

    /// How many tokens it has given out.
    pub fn given_out(&self) -> usize {
        self.state.given_out()
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(listener: TcpListener, state: Arc<State>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let state = state.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| answer(request, state.clone()));
            // Whoever goes away early gets no answer.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn answer(request: Request<Incoming>, state: Arc<State>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let query = Form::read(head.uri.query().unwrap_or_default());
    let sent = Form::read(&String::from_utf8_lossy(&body));
    Ok(match (&head.method, head.uri.path()) {
        (&Method::GET, "/.well-known/openid-configuration") => page(200, &discovery(&state)),
        (&Method::GET, "/jwks") => page(200, &json!({ "keys": [state.public_key()] })),
        (&Method::GET, "/authorize") => match state.authorize(&query) {
            Ok(location) => redirect(&location),
            Err(error) => page(400, &json!({ "error": error })),
        },
        (&Method::POST, "/device_authorization") => page(200, &state.begin_device(&sent)),
        (&Method::GET, "/device") => match state.decide(query.get("user_code"), true) {
            true => page(200, &json!({ "message": "you are logged in; go back to your terminal" })),
            false => page(404, &json!({ "error": "there is no such code" })),
        },
        (&Method::POST, "/token") => match state.token(&sent) {
            Ok(tokens) => page(200, &tokens),
            Err(error) => page(400, &json!({ "error": error })),
        },
        (&Method::POST, "/revoke") => {
            state.revoke(sent.get("token"));
            page(200, &json!({}))
        }
        _ => page(404, &json!({ "error": "not_found" })),
    })
}

fn discovery(state: &State) -> Value {
    let at = |path: &str| format!("{}{path}", state.url());
    json!({
        "issuer": state.url(),
        "authorization_endpoint": at("/authorize"),
        "token_endpoint": at("/token"),
        "device_authorization_endpoint": at("/device_authorization"),
        "revocation_endpoint": at("/revoke"),
        "jwks_uri": at("/jwks"),
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token", state::DEVICE_GRANT],
        "code_challenge_methods_supported": ["S256"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
        "scopes_supported": ["openid", "email", "groups", "offline_access"],
    })
}

fn page(code: u16, value: &Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(value.to_string())));
    *response.status_mut() = http::StatusCode::from_u16(code).unwrap_or_default();
    response.headers_mut().insert("content-type", http::HeaderValue::from_static("application/json"));
    response.headers_mut().insert("cache-control", http::HeaderValue::from_static("no-store"));
    response
}

fn redirect(location: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = http::StatusCode::FOUND;
    if let Ok(value) = http::HeaderValue::from_str(location) {
        response.headers_mut().insert("location", value);
    }
    response
}
