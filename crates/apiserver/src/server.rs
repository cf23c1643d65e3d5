//! The listeners: accept connections, run TLS, serve HTTP, and shut down gracefully.

mod pool;
mod rest;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use self::pool::Pool;
use self::rest::{Rest, Tracked};
use crate::answer::Answer;
use crate::node::NodePipeline;
use crate::pipeline::Pipeline;
use crate::tls::{Peer, ServerTls};

/// How long a client may take to shake hands.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How often a quiet connection is asked whether it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// How long requests that go on may take to end when the server stops.
const GRACE: Duration = Duration::from_secs(20);

/// How connections of a listener are served.
#[derive(Debug, Clone, Copy)]
struct Terms {
    /// Connections at once.
    connections: usize,
    /// Connections of one address at once.
    connections_per_address: usize,
    /// How long a client may take to send the head of a request.
    head: Duration,
    /// Bytes that such a head may have.
    head_bytes: u32,
    /// Requests at once on a connection of HTTP/2.
    streams: u32,
    /// Whether a connection without TLS, or without a choice of protocol in it, may turn out to be HTTP/2.
    guesses_version: bool,
}

const OF_THE_API: Terms = Terms {
    connections: 50_000,
    connections_per_address: 50_000,
    head: Duration::from_secs(30),
    head_bytes: 1 << 20,
    streams: 2_000,
    guesses_version: true,
};
const OF_NODES: Terms = Terms {
    connections: 4_096,
    connections_per_address: 64,
    head: Duration::from_secs(10),
    head_bytes: 64 << 10,
    streams: 32,
    guesses_version: false,
};

/// Answers the requests of a listener.
trait Service: Send + Sync + 'static {
    fn answer(
        &self,
        request: Request<Tracked>,
        peer: &Peer,
        from: SocketAddr,
    ) -> impl Future<Output = Answer> + Send;
}

impl Service for Pipeline {
    async fn answer(&self, request: Request<Tracked>, peer: &Peer, from: SocketAddr) -> Answer {
        self.serve(request, peer, from).await
    }
}

impl Service for NodePipeline {
    async fn answer(&self, request: Request<Tracked>, peer: &Peer, from: SocketAddr) -> Answer {
        self.serve(request, peer, from).await
    }
}

/// Serves the API until `stop` says so; then lets what goes on finish.
pub async fn serve(
    listener: TcpListener,
    tls: Arc<ServerTls>,
    pipeline: Arc<Pipeline>,
    stop: watch::Receiver<bool>,
) {
    serve_by(OF_THE_API, listener, Some(tls), pipeline, stop).await;
}

/// Serves nodes, with TLS or without, until `stop` says so. None of its connections is one of the API's.
pub async fn serve_nodes(
    listener: TcpListener,
    tls: Option<Arc<ServerTls>>,
    pipeline: Arc<NodePipeline>,
    stop: watch::Receiver<bool>,
) {
    serve_by(OF_NODES, listener, tls, pipeline, stop).await;
}

async fn serve_by<S: Service>(
    terms: Terms,
    listener: TcpListener,
    tls: Option<Arc<ServerTls>>,
    service: Arc<S>,
    mut stop: watch::Receiver<bool>,
) {
    let graceful = GracefulShutdown::new();
    let pool = Pool::new(terms.connections, terms.connections_per_address);
    loop {
        let room = pool.room().await;
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let (stream, from) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, or the peer has gone: neither is a reason to stop.
                tracing::warn!(%error, "failed to accept a connection");
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
        };
        let Some(place) = pool.place(room, from.ip()) else {
            tracing::debug!(%from, "closed a connection: this address has too many");
            continue;
        };
        let (tls, service) = (tls.clone(), service.clone());
        let watcher = graceful.watcher();
        tokio::spawn(async move {
            let _place = place;
            // Small writes, such as a watch's events, are not to wait for more.
            let _ = stream.set_nodelay(true);
            match tls {
                Some(tls) => secured(terms, stream, from, &tls, service, watcher).await,
                None => plain(terms, stream, from, service, watcher).await,
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(GRACE, graceful.shutdown()).await.is_err() {
        tracing::warn!("some connections did not close in time and were aborted");
    }
}

async fn secured<S: Service>(
    terms: Terms,
    stream: TcpStream,
    from: SocketAddr,
    tls: &ServerTls,
    service: Arc<S>,
    watcher: Watcher,
) {
    let accepting = TlsAcceptor::from(tls.config()).accept(stream);
    let mut stream = match tokio::time::timeout(HANDSHAKE, accepting).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return tracing::debug!(%from, %error, "TLS handshake failed"),
        Err(_) => return tracing::debug!(%from, "TLS handshake timed out"),
    };
    // Until the first byte nothing below watches the clock.
    match tokio::time::timeout(terms.head, stream.fill_buf()).await {
        Ok(Ok(bytes)) if !bytes.is_empty() => {}
        _ => return tracing::debug!(%from, "closed a connection without a request"),
    }
    let (_, session) = stream.get_ref();
    let peer = tls.peer(session.peer_certificates());
    let is_http2 = session.alpn_protocol() == Some(b"h2");
    connection(terms, stream, is_http2, peer, from, service, watcher).await;
}

async fn plain<S: Service>(
    terms: Terms,
    stream: TcpStream,
    from: SocketAddr,
    service: Arc<S>,
    watcher: Watcher,
) {
    match tokio::time::timeout(terms.head, stream.peek(&mut [0])).await {
        Ok(Ok(1..)) => {}
        _ => return tracing::debug!(%from, "closed a connection without a request"),
    }
    connection(terms, stream, false, Peer::Unknown, from, service, watcher).await;
}

async fn connection<S: Service>(
    terms: Terms,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    is_http2: bool,
    peer: Peer,
    from: SocketAddr,
    service: Arc<S>,
    watcher: Watcher,
) {
    let peer = Arc::new(peer);
    let service = service_fn(move |request: Request<Incoming>| {
        let (service, peer) = (service.clone(), peer.clone());
        async move {
            let (request, rest) = Rest::of(request);
            let answer = service.answer(request, &peer, from).await;
            Ok::<_, std::convert::Infallible>(rest.settle(answer).await)
        }
    });
    let mut builder = Builder::new(TokioExecutor::new());
    if !terms.guesses_version {
        // While it guesses, nothing watches the clock either.
        builder = if is_http2 { builder.http2_only() } else { builder.http1_only() };
    }
    let most = terms.head_bytes as usize;
    builder.http1().timer(TokioTimer::new()).header_read_timeout(terms.head).max_buf_size(most);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .max_concurrent_streams(terms.streams)
        .max_header_list_size(terms.head_bytes);
    let serving = builder.serve_connection_with_upgrades(TokioIo::new(stream), service).into_owned();
    if let Err(error) = watcher.watch(serving).await {
        tracing::debug!(%from, %error, "connection error");
    }
}
