//! `exec`: a command in a container. The body of the request is its input, the answer its output, both in frames.

use std::sync::Arc;
use std::time::Duration;

use apiserver::answer::{self, Aborted, Answer};
use apiserver::request::query::Query;
use apiserver::route::RequestBody;
use bytes::Bytes;
use compute::exec_frame::{self as frame, Decoder};
use containers::{Error, ExecRequest, ExecSession, ExitCause, InstanceId, Runtime, TerminalSize};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use krm::status::Status;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

/// Frames that are sent ahead of the client.
const AHEAD: usize = 16;
/// Bytes that are read at once.
const PIECE: usize = 32 << 10;
/// How long output is waited for after a command has ended: what it left behind may keep it open.
const LAST_OUTPUT: Duration = Duration::from_secs(1);
/// Size of a terminal that says none.
const SIZE: TerminalSize = TerminalSize { rows: 24, columns: 80 };

type Frames = mpsc::Sender<Result<Frame<Bytes>, Aborted>>;

/// Answers a request to run a command.
pub async fn answer(
    runtime: &Arc<dyn Runtime>,
    id: InstanceId,
    query: &Query,
    body: RequestBody,
) -> Result<Result<Answer, Error>, Status> {
    let request = read(id, query)?;
    let has_input = query.flag("stdin").unwrap_or(false);
    let mut session = match runtime.exec(request).await {
        Ok(session) => session,
        Err(error) => return Ok(Err(error)),
    };
    if !has_input {
        session.stdin = None;
    }
    let (frames, read) = mpsc::channel(AHEAD);
    tokio::spawn(async move {
        tokio::select! {
            // Dropping the session kills the command.
            () = frames.closed() => {}
            () = serve(session, body, frames.clone()) => {}
        }
    });
    let body = StreamBody::new(ReceiverStream::new(read)).boxed_unsync();
    Ok(Ok(answer::stream(200, "application/vnd.groundplane.exec", body)))
}

fn read(id: InstanceId, query: &Query) -> Result<ExecRequest, Status> {
    let command: Vec<String> = query.all("command").into_iter().map(str::to_owned).collect();
    if command.is_empty() {
        return Err(Status::bad_request("command is required: once for the program and for each argument"));
    }
    let size = |name: &str, otherwise: u16| {
        let number = query.number(name).ok().flatten();
        number.and_then(|number| u16::try_from(number).ok()).filter(|number| *number > 0).unwrap_or(otherwise)
    };
    let has_terminal = query.flag("tty").unwrap_or(false);
    let terminal = has_terminal
        .then(|| TerminalSize { rows: size("rows", SIZE.rows), columns: size("columns", SIZE.columns) });
    let container = query.get("container").filter(|name| !name.is_empty()).map(str::to_owned);
    Ok(ExecRequest { id, container, command, terminal })
}

async fn serve(session: ExecSession, body: RequestBody, frames: Frames) {
    let ExecSession { stdin, stdout, stderr, resize, exit } = session;
    let input = feed(body, stdin, resize);
    let outputs = async {
        let errors = async {
            if let Some(stderr) = stderr {
                copy(stderr, frame::STDERR, &frames).await;
            }
        };
        tokio::join!(copy(stdout, frame::STDOUT, &frames), errors);
    };
    let ended = async {
        tokio::pin!(outputs);
        tokio::pin!(exit);
        let cause = tokio::select! {
            cause = &mut exit => {
                let _ = tokio::time::timeout(LAST_OUTPUT, &mut outputs).await;
                cause
            }
            () = &mut outputs => exit.await,
        };
        result(cause)
    };
    let result = tokio::select! {
        result = ended => result,
        // Input goes on for as long as the command does.
        () = async { input.await; std::future::pending::<()>().await } => return,
    };
    let bytes = serde_json::to_vec(&result).unwrap_or_default();
    let _ = frames.send(Ok(Frame::data(frame::encode(frame::RESULT, &bytes)))).await;
}

fn result(cause: containers::Result<ExitCause>) -> Value {
    match cause {
        Ok(cause) => match cause.code() {
            Some(code) => json!({ "exitCode": code }),
            None => json!({ "message": cause.to_string() }),
        },
        Err(error) => json!({ "message": error.to_string() }),
    }
}

async fn copy(mut from: Box<dyn AsyncRead + Send + Unpin>, channel: u8, frames: &Frames) {
    let mut piece = vec![0; PIECE];
    while let Ok(count @ 1..) = from.read(&mut piece).await {
        if frames.send(Ok(Frame::data(frame::encode(channel, &piece[..count])))).await.is_err() {
            return;
        }
    }
}

/// Passes input and sizes of the terminal on, until the client sends no more.
async fn feed(
    mut body: RequestBody,
    mut stdin: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    resize: mpsc::Sender<TerminalSize>,
) {
    let mut decoder = Decoder::default();
    while let Some(Ok(piece)) = body.frame().await {
        let Ok(piece) = piece.into_data() else { continue };
        decoder.push(&piece);
        loop {
            match decoder.take() {
                Ok(Some((frame::STDIN, bytes))) if bytes.is_empty() => stdin = None,
                Ok(Some((frame::STDIN, bytes))) => {
                    let Some(input) = &mut stdin else { continue };
                    if input.write_all(&bytes).await.is_err() || input.flush().await.is_err() {
                        stdin = None;
                    }
                }
                Ok(Some((frame::RESIZE, bytes))) => {
                    let size: Value = serde_json::from_slice(&bytes).unwrap_or_default();
                    let number =
                        |field: &str| size[field].as_u64().and_then(|number| u16::try_from(number).ok());
                    if let (Some(rows), Some(columns)) = (number("rows"), number("columns")) {
                        let _ = resize.send(TerminalSize { rows, columns }).await;
                    }
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
}
