//! Routes of these tests: an echo with rules that differ by path, and a gRPC service.

use std::time::Duration;

use apiserver::answer::{self, Answer};
use apiserver::authz::OwnedAttributes;
use apiserver::route::{Access, Claim, RequestBody, Requirement, Route, RouteRequest, Rules, Upgrade, grpc};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use futures_util::future::BoxFuture;
use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use krm::status::Status;
use prost::Message;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

/// Sends back what it is sent, as it comes.
pub struct Echo;

impl Route for Echo {
    fn name(&self) -> &'static str {
        "echo"
    }

    fn claims(&self) -> Vec<Claim> {
        let subresource = Claim::Subresource {
            group: String::new(),
            plural: "configmaps".to_owned(),
            subresource: "echo".to_owned(),
        };
        vec![Claim::Path("/echo".to_owned()), Claim::Path("/api/private".to_owned()), subresource]
    }

    fn access(&self, head: &Parts) -> Result<Access, Status> {
        Ok(Access::root(match head.uri.path() {
            "/echo/health" => Requirement::Public,
            "/echo/me" => Requirement::Authenticated,
            "/api/private/notes" => Requirement::Resource(OwnedAttributes {
                verb: "get".to_owned(),
                version: "v1".to_owned(),
                resource: "configmaps".to_owned(),
                namespace: "default".to_owned(),
                ..OwnedAttributes::default()
            }),
            "/echo/nowhere" => return Err(Status::bad_request("there is no such place")),
            _ => Requirement::Path,
        }))
    }

    fn rules(&self, head: &Parts) -> Rules {
        match head.uri.path() {
            "/echo/stream" | "/echo/flood" | "/echo/upgrade" => {
                Rules { write_patience: Duration::from_millis(300), ..Rules::stream() }
            }
            "/echo/impatient" => {
                Rules { read_patience: Some(Duration::from_millis(100)), ..Rules::default() }
            }
            "/echo/short" => Rules { deadline: Some(Duration::from_millis(100)), ..Rules::default() },
            "/echo/small" => Rules { max_body_bytes: 8, ..Rules::default() },
            _ => Rules::default(),
        }
    }

    fn answer(&self, request: RouteRequest) -> BoxFuture<'_, Result<Answer, Status>> {
        Box::pin(async move {
            assert!(!request.head.headers.contains_key("authorization"));
            let path = request.head.uri.path();
            match path {
                "/echo/flood" => Ok(flood()),
                "/echo/panic" => panic!("as it was asked to"),
                "/echo/me" => Ok(answer::text(200, request.who.user.to_string())),
                "/echo/upgrade" => Ok(Upgrade::to(
                    "echo",
                    Box::new(|upgraded| {
                        Box::pin(async move {
                            let mut connection = hyper_util::rt::TokioIo::new(upgraded);
                            let mut bytes = [0; 64];
                            while let Ok(count @ 1..) = connection.read(&mut bytes).await {
                                connection.write_all(&bytes[..count]).await.unwrap();
                            }
                        })
                    }),
                )),
                // Only now is the body read, all of it.
                "/echo/whole" | "/echo/small" | "/echo/short" => {
                    Ok(answer::text(200, request.body.read().await?))
                }
                _ => Ok(echo(request.body)),
            }
        })
    }
}

fn echo(mut body: RequestBody) -> Answer {
    let (frames, read) = mpsc::channel(1);
    // In a task, so that it is shown that the server ends what a route has left behind.
    tokio::spawn(async move {
        while let Some(Ok(frame)) = body.frame().await {
            if frames.send(Ok(frame)).await.is_err() {
                return;
            }
        }
    });
    let body = StreamBody::new(ReceiverStream::new(read)).boxed_unsync();
    let mut answer = answer::stream(200, "application/octet-stream", body);
    answer.headers_mut().insert("trailer", HeaderValue::from_static("x-sum"));
    answer
}

fn flood() -> Answer {
    let frames = futures_util::stream::repeat_with(|| Ok(Frame::data(Bytes::from_static(&[0; 1 << 16]))));
    answer::stream(200, "application/octet-stream", StreamBody::new(frames).boxed_unsync())
}

/// A gRPC service of two methods, whose messages are strings.
pub struct Greeter;

/// Its full name.
pub const GREETER: &str = "tests.v1.Greeter";

impl Route for Greeter {
    fn name(&self) -> &'static str {
        "greeter"
    }

    fn claims(&self) -> Vec<Claim> {
        vec![Claim::Grpc(GREETER.to_owned())]
    }

    fn access(&self, _: &Parts) -> Result<Access, Status> {
        Ok(Access::root(Requirement::Path))
    }

    fn rules(&self, head: &Parts) -> Rules {
        match head.uri.path().ends_with("/Chat") {
            true => Rules::stream(),
            false => Rules::default(),
        }
    }

    fn answer(&self, request: RouteRequest) -> BoxFuture<'_, Result<Answer, Status>> {
        Box::pin(async move {
            let (frames, read) = mpsc::channel(1);
            match grpc::named(request.head.uri.path()).map(|(_, method)| method) {
                Some("Greet") => {
                    let name = messages(&request.body.read().await?).remove(0);
                    if name == "nobody" {
                        return Err(Status::not_found(&krm::status::Subject::new("", "greetings"), "nobody"));
                    }
                    tokio::spawn(async move {
                        let _ = frames.send(Ok(Frame::data(message(&format!("hello, {name}"))))).await;
                        let _ = frames.send(Ok(Frame::trailers(ended(0)))).await;
                    });
                }
                Some("Count") => {
                    tokio::spawn(async move {
                        for number in 1..=3 {
                            let _ = frames.send(Ok(Frame::data(message(&number.to_string())))).await;
                        }
                        let _ = frames.send(Ok(Frame::trailers(ended(0)))).await;
                    });
                }
                Some("Chat") => {
                    let mut body = request.body;
                    tokio::spawn(async move {
                        while let Some(Ok(frame)) = body.frame().await {
                            for said in frame.into_data().iter().flat_map(|data| messages(data)) {
                                let _ = frames.send(Ok(Frame::data(message(&said.to_uppercase())))).await;
                            }
                        }
                        let _ = frames.send(Ok(Frame::trailers(ended(0)))).await;
                    });
                }
                _ => return Err(Status::failure(501, "NotImplemented", "unknown method")),
            }
            let body = StreamBody::new(ReceiverStream::new(read)).boxed_unsync();
            Ok(answer::stream(200, "application/grpc", body))
        })
    }
}

fn ended(code: u16) -> HeaderMap {
    [(grpc::STATUS, HeaderValue::from(code))].into_iter().collect()
}

fn message(text: &str) -> Bytes {
    let text = text.to_owned();
    let mut bytes = BytesMut::new();
    bytes.put_u8(0);
    bytes.put_u32(u32::try_from(text.encoded_len()).unwrap());
    text.encode(&mut bytes).unwrap();
    bytes.freeze()
}

/// The messages in some bytes, which are whole in these tests.
fn messages(mut bytes: &[u8]) -> Vec<String> {
    let mut all = Vec::new();
    while bytes.len() >= 5 {
        bytes.advance(1);
        let length = bytes.get_u32() as usize;
        all.push(String::decode(&bytes[..length]).unwrap());
        bytes.advance(length);
    }
    all
}
