//! Backups, streamed while they are made.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use bytes::Bytes;
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

use crate::answer::{self, Answer};
use crate::api::Api;
use crate::call::Call;

/// What it is sent as.
const MEDIA_TYPE: &str = "application/vnd.groundplane.backup";
/// Bytes that are sent at a time.
const CHUNK: usize = 256 << 10;
/// How long a client may take nothing before its backup is given up: while it is made, history is not tidied up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Begins a backup. One that fails on the way ends without the mark at its end.
pub fn answer(call: &Call) -> Answer {
    let (chunks, made) = sync_channel(2);
    let (out, sent) = mpsc::channel(2);
    let runtime = Handle::current();
    let api = call.api.clone();
    let writing = runtime.clone();
    tokio::task::spawn_blocking(move || write(&api, &writing, chunks));
    tokio::task::spawn_blocking(move || forward(&made, &out, &runtime));
    let frames = ReceiverStream::new(sent).map(|chunk| Ok(Frame::data(chunk)));
    answer::stream(200, MEDIA_TYPE, StreamBody::new(frames).boxed_unsync())
}

fn write(api: &Api, runtime: &Handle, chunks: SyncSender<Bytes>) {
    let mut output = Output { chunk: Vec::with_capacity(CHUNK), chunks };
    let done = runtime.block_on(api.store().backup_naming(api.key_files(), &mut output));
    match done.map_err(|error| error.to_string()).and_then(|summary| match output.send() {
        Ok(()) => Ok(summary),
        Err(error) => Err(error.to_string()),
    }) {
        Ok(summary) => tracing::info!(
            revision = %summary.revision, objects = summary.objects, records = summary.records, bytes = summary.bytes,
            "backup completed"
        ),
        Err(error) => tracing::warn!(error, "backup failed"),
    }
}

fn forward(made: &Receiver<Bytes>, out: &mpsc::Sender<Bytes>, runtime: &Handle) {
    while let Ok(chunk) = made.recv() {
        if runtime.block_on(out.send_timeout(chunk, PATIENCE)).is_err() {
            return;
        }
    }
}

/// Gathers what is written into chunks.
struct Output {
    chunk: Vec<u8>,
    chunks: SyncSender<Bytes>,
}

impl Output {
    fn send(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK));
        let gone = |_| io::Error::new(io::ErrorKind::BrokenPipe, "the client disconnected");
        self.chunks.send(chunk.into()).map_err(gone)
    }
}

impl io::Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.chunk.extend_from_slice(bytes);
        if self.chunk.len() >= CHUNK {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()
    }
}
