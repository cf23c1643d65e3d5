//! gRPC by hand: messages of few fields, frames, and calls over one HTTP/2 connection.

use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use testbed::server::Client;
use tokio::net::TcpStream;

/// A field with a message, a text or bytes.
pub fn bytes(number: u8, content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    let mut field = vec![number << 3 | 2];
    let mut length = content.len();
    while length >= 0x80 {
        field.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
        length >>= 7;
    }
    field.push(u8::try_from(length).unwrap());
    field.extend_from_slice(content);
    field
}

/// A field with a small number.
pub fn number(field: u8, value: u8) -> Vec<u8> {
    vec![field << 3, value]
}

/// A message as a frame of a call.
pub fn frame(message: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(message.len() + 5);
    frame.extend_from_slice(&[0]);
    frame.extend_from_slice(&u32::try_from(message.len()).unwrap().to_be_bytes());
    frame.extend_from_slice(message);
    frame.freeze()
}

/// One call.
pub struct Call {
    /// Service and method.
    pub path: &'static str,
    /// The message.
    pub message: Vec<u8>,
}

/// Where calls go.
#[derive(Clone)]
pub enum Endpoint {
    /// To a server of ours, with a certificate.
    Tls(Box<Client>),
    /// To an address, without TLS.
    Plain(String),
}

impl Endpoint {
    pub fn tls(client: Client) -> Endpoint {
        Endpoint::Tls(Box::new(client))
    }

    pub fn plain(address: &str) -> Endpoint {
        Endpoint::Plain(address.to_owned())
    }

    /// A new connection.
    pub async fn connect(&self) -> Connection {
        let mut builder = Builder::new(TokioExecutor::new());
        builder.initial_connection_window_size(1 << 26).initial_stream_window_size(1 << 22);
        let (sender, origin) = match self {
            Endpoint::Tls(client) => {
                let stream = TokioIo::new(client.secured("h2").await.unwrap());
                let (sender, connection) = builder.handshake(stream).await.unwrap();
                tokio::spawn(connection);
                (sender, format!("https://{}", client.address()))
            }
            Endpoint::Plain(address) => {
                let stream = TcpStream::connect(address).await.unwrap();
                stream.set_nodelay(true).unwrap();
                let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
                tokio::spawn(connection);
                (sender, format!("http://{address}"))
            }
        };
        Connection { sender, origin }
    }
}

/// A connection.
#[derive(Clone)]
pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
    origin: String,
}

impl Connection {
    /// Begins a call.
    pub async fn begin(&mut self, call: &Call) -> Response<Incoming> {
        let request = Request::post(format!("{}/{}", self.origin, call.path))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(Full::new(frame(&call.message)))
            .unwrap();
        self.sender.ready().await.unwrap();
        self.sender.send_request(request).await.unwrap()
    }

    /// Makes a call that must succeed.
    pub async fn call(&mut self, call: &Call) -> Bytes {
        let answer = self.begin(call).await;
        let (head, body) = answer.into_parts();
        let body = body.collect().await.unwrap();
        let trailers = body.trailers().cloned().unwrap_or_default();
        let status = trailers.get("grpc-status").or_else(|| head.headers.get("grpc-status"));
        assert!(status.is_some_and(|status| status == "0"), "{}: {:?} {trailers:?}", call.path, head.headers);
        body.to_bytes()
    }
}
