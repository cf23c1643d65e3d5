//! Watches over WebSocket: one message per event.

use bytes::Bytes;
use futures_util::SinkExt;
use http::HeaderMap;
use http::header::{
    CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, UPGRADE,
};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use krm::status::Status;
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

use crate::answer::Answer;
use crate::route::Upgrade;
use krm::base64;

/// What the key of a client is joined with, by RFC 6455.
const MAGIC: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// A protocol that carries a token; it is never chosen.
const BEARER: &str = "base64url.bearer.authorization.k8s.io.";

/// Whether a request asks for a WebSocket.
pub fn is_asked_for(headers: &HeaderMap) -> bool {
    let has = |name, word: &str| {
        let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        values.flat_map(|value| value.split(',')).any(|part| part.trim().eq_ignore_ascii_case(word))
    };
    has(CONNECTION, "upgrade") && has(UPGRADE, "websocket")
}

/// Agrees to a WebSocket, and sends each line as a message once it is there.
pub fn answer(headers: &HeaderMap, lines: mpsc::Receiver<Bytes>) -> Result<Answer, Status> {
    let Some(key) = headers.get(SEC_WEBSOCKET_KEY) else {
        return Err(Status::bad_request("the header Sec-WebSocket-Key is required"));
    };
    let joined = [key.as_bytes(), MAGIC].concat();
    let digest = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, &joined);
    let mut answer = Upgrade::to("websocket", Box::new(|upgraded| Box::pin(send(upgraded, lines))));
    let out = answer.headers_mut();
    let accept = base64::encode(digest.as_ref());
    out.insert(SEC_WEBSOCKET_ACCEPT, HeaderValue::from_str(&accept).map_err(Status::internal)?);
    if let Some(protocol) = protocol(headers) {
        out.insert(SEC_WEBSOCKET_PROTOCOL, protocol);
    }
    Ok(answer)
}

/// The first protocol that is offered and carries no token.
fn protocol(headers: &HeaderMap) -> Option<HeaderValue> {
    let offered = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    let mut offered = offered.flat_map(|value| value.split(',')).map(str::trim);
    let chosen = offered.find(|name| !name.is_empty() && !name.starts_with(BEARER))?;
    HeaderValue::from_str(chosen).ok()
}

async fn send(upgraded: Upgraded, mut lines: mpsc::Receiver<Bytes>) {
    let mut socket = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, None).await;
    while let Some(chunk) = lines.recv().await {
        for line in chunk.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let Ok(text) = std::str::from_utf8(line) else { continue };
            if socket.send(Message::text(text)).await.is_err() {
                return;
            }
        }
    }
    let _ = socket.close(None).await;
}
