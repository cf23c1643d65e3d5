//! What a synchronizer listens to: metrics and health, and notifications of a webhook.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use cli::Failure;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use sources::runner::Metrics;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::config::Config;

/// Largest notification, in bytes.
const LARGEST: usize = 1 << 20;
/// How long ago the last success may be for the process to be ready, in seconds: three intervals of an hour.
const READY: f64 = 3.0 * 3600.0;

/// Starts what is configured. Gives the notifications of the webhook, if there is one.
pub async fn start(
    config: &Config,
    metrics: &Arc<Metrics>,
    stop: &CancellationToken,
) -> Result<Option<mpsc::Receiver<Value>>, Failure> {
    if let Some(address) = config.metrics {
        let shown = Listener { metrics: metrics.clone(), webhook: None };
        listen(address, shown, stop.clone()).await?;
    }
    let (Some(address), Some(token)) = (config.webhook, &config.webhook_token) else { return Ok(None) };
    let (sender, told) = mpsc::channel(1024);
    let webhook = Some((sender, Arc::from(token.as_str())));
    listen(address, Listener { metrics: metrics.clone(), webhook }, stop.clone()).await?;
    Ok(Some(told))
}

#[derive(Clone)]
struct Listener {
    metrics: Arc<Metrics>,
    webhook: Option<(mpsc::Sender<Value>, Arc<str>)>,
}

async fn listen(address: SocketAddr, listener: Listener, stop: CancellationToken) -> Result<(), Failure> {
    let socket = TcpListener::bind(address).await;
    let socket = socket.map_err(|error| Failure::other(format!("listening on {address}: {error}")))?;
    if let Ok(address) = socket.local_addr() {
        let what = if listener.webhook.is_some() { "webhook" } else { "metrics" };
        tracing::info!(%address, what, "listening");
    }
    tokio::spawn(async move {
        loop {
            let accepted = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                accepted = socket.accept() => accepted,
            };
            let Ok((stream, _)) = accepted else {
                // Out of sockets, say: the next one may do.
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                continue;
            };
            let listener = listener.clone();
            tokio::spawn(async move {
                let answer = service_fn(move |request: Request<Incoming>| {
                    let listener = listener.clone();
                    async move { Ok::<_, Infallible>(listener.answer(request).await) }
                });
                // Whoever goes away early is not waited for.
                let _ = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), answer)
                    .await;
            });
        }
    });
    Ok(())
}

impl Listener {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        match (request.method(), request.uri().path(), &self.webhook) {
            (&Method::GET, "/metrics", None) => text(StatusCode::OK, self.metrics.text()),
            (&Method::GET, "/healthz" | "/livez", _) => text(StatusCode::OK, "ok\n".to_owned()),
            (&Method::GET, "/readyz", None) => self.ready(),
            (&Method::POST, _, Some((sender, token))) => notified(request, sender, token).await,
            _ => text(StatusCode::NOT_FOUND, "there is nothing at this path\n".to_owned()),
        }
    }

    fn ready(&self) -> Response<Full<Bytes>> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        match now - self.metrics.last_success() < READY {
            true => text(StatusCode::OK, "ok\n".to_owned()),
            false => text(StatusCode::SERVICE_UNAVAILABLE, "no list was written lately\n".to_owned()),
        }
    }
}

/// Takes a notification of whoever knows the token.
async fn notified(
    request: Request<Incoming>,
    sender: &mpsc::Sender<Value>,
    token: &str,
) -> Response<Full<Bytes>> {
    let given = ["authorization", "x-webhook-token"]
        .iter()
        .find_map(|name| request.headers().get(*name)?.to_str().ok());
    let given = given.unwrap_or_default();
    let given = given.strip_prefix("Bearer ").or_else(|| given.strip_prefix("Token ")).unwrap_or(given);
    if !is_same(given.as_bytes(), token.as_bytes()) {
        return text(StatusCode::UNAUTHORIZED, "the token is missing or wrong\n".to_owned());
    }
    let body = Limited::new(request.into_body(), LARGEST).collect().await;
    let body = body.map(|body| serde_json::from_slice(&body.to_bytes()));
    let Ok(Ok(body)) = body else {
        return text(StatusCode::BAD_REQUEST, "the body must be JSON of at most 1 MiB\n".to_owned());
    };
    match sender.try_send(body) {
        Ok(()) => text(StatusCode::ACCEPTED, "ok\n".to_owned()),
        Err(_) => {
            text(StatusCode::SERVICE_UNAVAILABLE, "too many notifications wait; send it again\n".to_owned())
        }
    }
}

/// Compares without telling by the time it takes where texts differ.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differs = one.iter().zip(other).fold(0, |differs, (one, other)| differs | (one ^ other));
    one.len() == other.len() && differs == 0
}

fn text(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let plain = http::HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(http::header::CONTENT_TYPE, plain);
    response
}
