//! Requests whose bodies are sent while the answer comes, over HTTP/1.1 and HTTP/2.

use std::convert::Infallible;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, Version};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use testbed::server::Client;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

/// The end of a request body into which its client writes.
pub type Sender = mpsc::Sender<Result<Frame<Bytes>, Infallible>>;
type Sent = StreamBody<ReceiverStream<Result<Frame<Bytes>, Infallible>>>;

/// Both versions of HTTP.
pub const VERSIONS: [Version; 2] = [Version::HTTP_11, Version::HTTP_2];

/// Begins a request on a connection of its own. Its body is what is sent to the sender.
pub async fn begin(
    client: &Client,
    version: Version,
    method: &str,
    path: &str,
    headers: &[(&'static str, &str)],
) -> (Sender, impl Future<Output = Response<Incoming>> + use<>) {
    let (sender, frames) = mpsc::channel(1);
    let uri = match version {
        Version::HTTP_2 => format!("https://{}{path}", client.address()),
        _ => path.to_owned(),
    };
    let mut request = Request::builder().method(method).uri(uri);
    if version == Version::HTTP_11 {
        request = request.header("host", client.address());
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut request = request.body(Sent::new(ReceiverStream::new(frames))).unwrap();
    request.headers_mut().extend(client.headers.clone());
    let answering = match version {
        Version::HTTP_2 => {
            let stream = TokioIo::new(client.secured("h2").await.unwrap());
            let builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
            let (mut requests, connection) = builder.handshake(stream).await.unwrap();
            tokio::spawn(connection);
            tokio::spawn(async move { requests.send_request(request).await })
        }
        _ => {
            let stream = TokioIo::new(client.secured("http/1.1").await.unwrap());
            let (mut requests, connection) = hyper::client::conn::http1::handshake(stream).await.unwrap();
            tokio::spawn(connection.with_upgrades());
            tokio::spawn(async move { requests.send_request(request).await })
        }
    };
    (sender, async move { answering.await.unwrap().unwrap() })
}

/// Sends some bytes.
pub async fn send(sender: &Sender, bytes: &'static str) {
    sender.send(Ok(Frame::data(Bytes::from_static(bytes.as_bytes())))).await.unwrap();
}

/// Sends a last trailer.
pub async fn send_trailer(sender: Sender, name: &'static str, value: &'static str) {
    let trailers: HeaderMap = [(name.parse().unwrap(), value.parse().unwrap())].into_iter().collect();
    sender.send(Ok(Frame::trailers(trailers))).await.unwrap();
}

/// The next bytes of an answer.
pub async fn next(answer: &mut Response<Incoming>) -> String {
    let frame = answer.frame().await.unwrap().unwrap();
    String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()
}

/// Reads an answer to its end: whether it was complete, and its trailers.
pub async fn rest(mut answer: Response<Incoming>) -> (bool, HeaderMap) {
    let mut trailers = HeaderMap::new();
    while let Some(frame) = answer.frame().await {
        match frame {
            Err(_) => return (false, trailers),
            Ok(frame) => trailers.extend(frame.into_trailers().unwrap_or_default()),
        }
    }
    (true, trailers)
}
