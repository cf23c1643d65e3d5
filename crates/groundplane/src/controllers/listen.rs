//! Metrics and health of a process with controllers, over plain HTTP.

use std::convert::Infallible;
use std::net::SocketAddr;

use bytes::Bytes;
use http::{Request, Response, StatusCode, header::CONTENT_TYPE};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use remote::{Host, Informers};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// What is shown.
#[derive(Clone)]
pub struct Shown {
    /// The controllers.
    pub hosts: Vec<Host>,
    /// What they follow.
    pub informers: Informers,
}

/// Listens at an address.
pub async fn bind(address: SocketAddr) -> Result<TcpListener, String> {
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|error| format!("listening on {address} for metrics: {error}"))?;
    if let Ok(address) = listener.local_addr() {
        tracing::info!(%address, "metrics and health are served");
    }
    Ok(listener)
}

/// Answers until it is stopped.
pub async fn serve(listener: TcpListener, shown: Shown, stop: CancellationToken) {
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // Out of sockets, say: the next one may do.
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            continue;
        };
        let shown = shown.clone();
        tokio::spawn(async move {
            let answer = service_fn(move |request: Request<Incoming>| {
                let answer = shown.answer(request.uri().path());
                async move { Ok::<_, Infallible>(answer) }
            });
            // Whoever goes away early is not waited for.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}

impl Shown {
    fn answer(&self, path: &str) -> Response<Full<Bytes>> {
        match path {
            "/metrics" => text(StatusCode::OK, self.metrics()),
            "/livez" | "/healthz" => text(StatusCode::OK, "ok\n".to_owned()),
            "/readyz" => match self.informers.problems() {
                none if none.is_empty() => text(StatusCode::OK, "ok\n".to_owned()),
                problems => text(StatusCode::SERVICE_UNAVAILABLE, problems.join("\n") + "\n"),
            },
            _ => text(StatusCode::NOT_FOUND, "there are /metrics, /livez and /readyz\n".to_owned()),
        }
    }

    fn metrics(&self) -> String {
        let samples: Vec<_> = self.hosts.iter().map(|host| host.progress().sample).collect();
        let size = self.informers.size();
        let mut text = reconcile::metrics::text(&samples, self.informers.gates());
        for (name, help, value) in [
            ("informer_objects", "Objects in the caches.", size.objects),
            ("informer_bytes", "Bytes of the objects in the caches.", size.bytes),
        ] {
            text += &format!("# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n");
        }
        text
    }
}

fn text(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
