//! gRPC calls, with a client that everybody uses.

use std::pin::Pin;
use std::task::{Context, Poll};

use apiserver::limits::Settings;
use http::{Uri, Version};
use hyper_util::rt::TokioIo;
use testbed::server::Client;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_stream::StreamExt;
use tonic::client::Grpc;
use tonic::codegen::Service;
use tonic::metadata::MetadataValue;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;

use super::faces::GREETER;
use super::wire::{begin, rest};
use super::{ann, end_of, revoke, server};

/// Connects as a client of the tests does.
struct Connector(Client);

impl Service<Uri> for Connector {
    type Response = TokioIo<TlsStream<TcpStream>>;
    type Error = testbed::server::Failed;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let client = self.0.clone();
        Box::pin(async move { Ok(TokioIo::new(client.secured("h2").await?)) })
    }
}

async fn channel(client: &Client) -> Grpc<Channel> {
    let endpoint = Endpoint::from_static("http://localhost");
    let channel = endpoint.connect_with_connector(Connector(client.clone())).await.unwrap();
    let mut grpc = Grpc::new(channel);
    grpc.ready().await.unwrap();
    grpc
}

fn asking<T>(client: &Client, message: T) -> Request<T> {
    let mut request = Request::new(message);
    for (name, value) in &client.headers {
        let value = MetadataValue::try_from(value.as_bytes()).unwrap();
        request
            .metadata_mut()
            .insert(tonic::metadata::MetadataKey::from_bytes(name.as_str().as_bytes()).unwrap(), value);
    }
    request
}

async fn unary(client: &Client, service: &str, method: &str, said: &str) -> Result<String, Status> {
    let path = format!("/{service}/{method}").parse().unwrap();
    let request = asking(client, said.to_owned());
    let codec = ProstCodec::<String, String>::default();
    channel(client).await.unary(request, path, codec).await.map(tonic::Response::into_inner)
}

#[tokio::test]
async fn a_call_is_answered_and_audited_with_its_code() {
    let server = server(Settings::default()).await;
    let admin = server.client();
    assert_eq!(unary(&admin, GREETER, "Greet", "Ann").await.unwrap(), "hello, Ann");
    let end = end_of(&server, "/tests.v1.Greeter/Greet").await;
    assert_eq!(end["annotations"]["groundplane.dev/grpc-status"], "0");
    let path = format!("/{GREETER}/Count").parse().unwrap();
    let codec = ProstCodec::<String, String>::default();
    let counted =
        channel(&admin).await.server_streaming(asking(&admin, String::new()), path, codec).await.unwrap();
    let counted: Vec<String> = counted.into_inner().map(Result::unwrap).collect().await;
    assert_eq!(counted, ["1", "2", "3"]);
}

#[tokio::test]
async fn failures_of_calls_are_told_in_grpc() {
    let server = server(Settings::default()).await;
    let admin = server.client();
    let unknown = unary(&admin, "osac.v1.Unknown", "List", "").await.unwrap_err();
    assert_eq!((unknown.code(), unknown.message()), (Code::Unimplemented, "unknown service osac.v1.Unknown"));
    let unknown = unary(&admin, GREETER, "Sing", "").await.unwrap_err();
    assert_eq!(unknown.code(), Code::Unimplemented);
    let missing = unary(&admin, GREETER, "Greet", "nobody").await.unwrap_err();
    assert_eq!(missing.code(), Code::NotFound);
    let stranger = admin.stranger().with_token("no-such-token");
    assert_eq!(unary(&stranger, GREETER, "Greet", "Ann").await.unwrap_err().code(), Code::Unauthenticated);
    let nobody = admin.clone().with("impersonate-user", "nobody");
    let refused = unary(&nobody, GREETER, "Greet", "Ann").await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied);
    assert!(refused.message().contains("cannot post path \"/tests.v1.Greeter/Greet\""), "{refused:?}");
    // By hand: the failure is the head alone, with the code of a call that was answered.
    let headers = [("content-type", "application/grpc+proto"), ("te", "trailers")];
    let (_sender, answer) = begin(&admin, Version::HTTP_2, "POST", "/api/v1/namespaces", &headers).await;
    let answer = answer.await;
    assert_eq!((answer.status().as_u16(), &answer.headers()["grpc-status"]), (200, &"12".parse().unwrap()));
    assert_eq!(answer.headers()["content-type"], "application/grpc");
    assert!(rest(answer).await.0);
    assert_eq!(end_of(&server, "/osac.v1.Unknown/List").await["responseStatus"]["code"], 501);
}

#[tokio::test]
async fn a_call_beyond_the_limits_is_refused_as_exhausted() {
    let server = server(Settings { requests_per_user: 0, ..Settings::default() }).await;
    let refused = unary(&server.client(), GREETER, "Greet", "Ann").await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted, "{refused:?}");
}

#[tokio::test]
async fn a_call_streams_both_ways_until_the_right_to_it_goes() {
    let server = server(Settings::default()).await;
    let ann = ann(&server, &["/tests.v1.Greeter/*"]).await;
    let (said, heard) = tokio::sync::mpsc::channel(1);
    let path = format!("/{GREETER}/Chat").parse().unwrap();
    let saying = tokio_stream::wrappers::ReceiverStream::new(heard);
    let codec = ProstCodec::<String, String>::default();
    said.send("one".to_owned()).await.unwrap();
    let answer = channel(&ann).await.streaming(asking(&ann, saying), path, codec).await.unwrap();
    let mut answer = answer.into_inner();
    assert_eq!(answer.next().await.unwrap().unwrap(), "ONE");
    said.send("two".to_owned()).await.unwrap();
    assert_eq!(answer.next().await.unwrap().unwrap(), "TWO");
    revoke(&server).await;
    let refused = answer.next().await.unwrap().unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied, "{refused:?}");
    assert_eq!(end_of(&server, "/tests.v1.Greeter/Chat").await["responseStatus"]["code"], 403);
}
