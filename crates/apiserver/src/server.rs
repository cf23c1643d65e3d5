//! The listener: accepts connections, runs TLS, serves HTTP, and shuts down gracefully.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::AsyncBufReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use crate::pipeline::Pipeline;
use crate::tls::ServerTls;

/// How long a client may take to shake hands.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long a client may take to send the head of a request.
const HEAD: Duration = Duration::from_secs(30);
/// How often a quiet connection is asked whether it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// How long requests that go on may take to end when the server stops.
const GRACE: Duration = Duration::from_secs(20);
/// Connections at once.
const CONNECTIONS: usize = 50_000;

/// Serves connections until `stop` says so; then lets what goes on finish.
pub async fn serve(
    listener: TcpListener,
    tls: Arc<ServerTls>,
    pipeline: Arc<Pipeline>,
    mut stop: watch::Receiver<bool>,
) {
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = room.clone().acquire_owned().await else { break };
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
        let (tls, pipeline) = (tls.clone(), pipeline.clone());
        let watcher = graceful.watcher();
        tokio::spawn(async move {
            let _place = place;
            connection(stream, from, &tls, pipeline, watcher).await;
        });
    }
    drop(listener);
    if tokio::time::timeout(GRACE, graceful.shutdown()).await.is_err() {
        tracing::warn!("some connections did not close in time and were aborted");
    }
}

async fn connection(
    stream: TcpStream,
    from: SocketAddr,
    tls: &ServerTls,
    pipeline: Arc<Pipeline>,
    watcher: hyper_util::server::graceful::Watcher,
) {
    // Small writes, such as a watch's events, are not to wait for more.
    let _ = stream.set_nodelay(true);
    let accepting = TlsAcceptor::from(tls.config()).accept(stream);
    let mut stream = match tokio::time::timeout(HANDSHAKE, accepting).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return tracing::debug!(%from, %error, "TLS handshake failed"),
        Err(_) => return tracing::debug!(%from, "TLS handshake timed out"),
    };
    // Until the first byte nothing below watches the clock.
    match tokio::time::timeout(HEAD, stream.fill_buf()).await {
        Ok(Ok(bytes)) if !bytes.is_empty() => {}
        _ => return tracing::debug!(%from, "closed a connection without a request"),
    }
    let peer = Arc::new(tls.peer(stream.get_ref().1.peer_certificates()));
    let service = service_fn(move |request| {
        let (pipeline, peer) = (pipeline.clone(), peer.clone());
        async move { Ok::<_, std::convert::Infallible>(pipeline.serve(request, &peer, from).await) }
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(1 << 20);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .max_concurrent_streams(2_000)
        .max_header_list_size(1 << 20);
    let serving = builder.serve_connection_with_upgrades(TokioIo::new(stream), service).into_owned();
    if let Err(error) = watcher.watch(serving).await {
        tracing::debug!(%from, %error, "connection error");
    }
}
