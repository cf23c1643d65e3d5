//! One request and its answer, over TCP.

use std::io;
use std::time::Duration;

use hickory_proto::op::{Message, MessageType};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::error::Error;

/// Sends a message and returns the answer as it came. The limit is for all of it: resolving, connecting, answering.
pub(super) async fn exchange(
    server: &str,
    message: &Message,
    limit: Duration,
) -> Result<(Message, Vec<u8>), Error> {
    let bytes = message.to_vec().map_err(|error| Error::Message(error.to_string()))?;
    let answer = match timeout(limit, send(server, &bytes)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(source)) => return Err(Error::Unreachable { server: server.to_owned(), source }),
        Err(_) => return Err(Error::Timeout { server: server.to_owned(), limit }),
    };
    let untrusted = |reason: String| Error::Untrusted { server: server.to_owned(), reason };
    let parsed =
        Message::from_vec(&answer).map_err(|error| untrusted(format!("it can't be read: {error}")))?;
    if parsed.id != message.id
        || parsed.message_type != MessageType::Response
        || parsed.op_code != message.op_code
    {
        return Err(untrusted("it answers another request".to_owned()));
    }
    Ok((parsed, answer))
}

async fn send(server: &str, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(server).await?;
    let length = u16::try_from(bytes.len())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "the message is larger than 64 KiB"))?;
    let mut framed = Vec::with_capacity(bytes.len() + 2);
    framed.extend(length.to_be_bytes());
    framed.extend(bytes);
    stream.write_all(&framed).await?;
    let length = stream.read_u16().await?;
    let mut answer = vec![0; usize::from(length)];
    stream.read_exact(&mut answer).await?;
    Ok(answer)
}
