//! One HTTP/2 connection that many requests share, as the watches of a controller do.

use bytes::Bytes;
use http::Method;
use http_body_util::Full;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};

use super::client::{Client, Failed};
use super::lines::Lines;

/// A connection for many requests at once.
#[derive(Clone)]
pub struct Shared {
    client: Client,
    sender: SendRequest<Full<Bytes>>,
}

impl Shared {
    pub(super) async fn open(client: &Client) -> Result<Shared, Failed> {
        let stream = client.secured("h2").await?;
        let (sender, connection) = Builder::new(TokioExecutor::new())
            // Whoever does not read must not keep the others on the connection waiting.
            .initial_connection_window_size(1 << 26)
            .handshake(TokioIo::new(stream))
            .await?;
        tokio::spawn(connection);
        Ok(Shared { client: client.clone(), sender })
    }

    /// Opens a watch.
    pub async fn watch(&self, path: &str) -> Result<Lines, Failed> {
        let mut sender = self.sender.clone();
        let uri = format!("https://{}{path}", self.client.address());
        sender.ready().await?;
        let answer = sender.send_request(self.client.request(&Method::GET, &uri, "", Bytes::new())?).await?;
        Ok(Lines::new(answer.status().as_u16(), answer.into_body(), sender))
    }
}
