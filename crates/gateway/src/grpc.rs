//! gRPC: finds the method of a call by its descriptor, and answers with messages.

mod capabilities;
mod codec;
mod health;
mod reflection;
mod sync;
mod unary;

use std::pin::Pin;

use apiserver::answer::{Aborted, Answer};
use apiserver::route::{self, Access, Claim, Requirement, Route, RouteRequest, Rules};
use futures_util::future::BoxFuture;
use http::header::{HeaderMap, HeaderName};
use http::request::Parts;
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use krm::status::Status;
use prost_reflect::{DynamicMessage, MethodDescriptor};
use tokio_stream::Stream;
use tonic::codec::{CompressionEncoding, Streaming};
use tonic::server::StreamingService;
use tonic::{Code, Request, Response};

use crate::caller::Caller;
use crate::collection::{Collection, Face};
use crate::events;
use crate::failure::Failure;
use crate::schema;
use codec::MessageCodec;

/// Bytes of one message, at most.
const LARGEST: usize = 16 << 20;

/// The trailer with a `google.rpc.Status`.
const DETAILS: HeaderName = HeaderName::from_static("grpc-status-details-bin");

/// The gRPC services.
pub struct Grpc;

/// Messages that answer a call.
pub(crate) type Messages = Pin<Box<dyn Stream<Item = Result<DynamicMessage, tonic::Status>> + Send>>;

/// A service, and who answers for it.
#[derive(Clone, Copy)]
enum Service {
    Objects(Face, &'static Collection),
    Events(Face),
    Capabilities,
    Metadata,
    Health,
    Reflection,
}

impl Service {
    fn of(name: &str) -> Option<Service> {
        for face in [Face::Private, Face::Public] {
            let Some(short) = name.strip_prefix(face.package()).and_then(|rest| rest.strip_prefix('.'))
            else {
                continue;
            };
            return match short {
                "Events" => Some(Service::Events(face)),
                "Capabilities" => Some(Service::Capabilities),
                short => Collection::of_service(short)
                    .filter(|collection| collection.is_on(face))
                    .map(|collection| Service::Objects(face, collection)),
            };
        }
        Some(match name {
            "metadata.v1.Metadata" => Service::Metadata,
            "grpc.health.v1.Health" => Service::Health,
            "grpc.reflection.v1.ServerReflection" | "grpc.reflection.v1alpha.ServerReflection" => {
                Service::Reflection
            }
            _ => return None,
        })
    }

    /// Whether it needs no login.
    fn is_public(self) -> bool {
        !matches!(self, Service::Objects(..) | Service::Events(_))
    }
}

/// The method that a path names.
fn method(path: &str) -> Option<(Service, MethodDescriptor)> {
    let (service, method) = route::grpc::named(path)?;
    let descriptor = schema::service(service)?;
    let method = descriptor.methods().find(|found| found.name() == method)?;
    Some((Service::of(service)?, method))
}

impl Route for Grpc {
    fn name(&self) -> &'static str {
        "fulfillment-grpc"
    }

    fn claims(&self) -> Vec<Claim> {
        let services = schema::pool().services().map(|service| service.full_name().to_owned());
        services.filter(|name| Service::of(name).is_some()).map(Claim::Grpc).collect()
    }

    fn access(&self, head: &Parts) -> Result<Access, Status> {
        let service = route::grpc::named(head.uri.path()).and_then(|(service, _)| Service::of(service));
        Ok(Access::root(match service.is_some_and(Service::is_public) {
            true => Requirement::Public,
            false => Requirement::Authenticated,
        }))
    }

    fn rules(&self, head: &Parts) -> Rules {
        let is_stream = method(head.uri.path())
            .is_some_and(|(_, method)| method.is_server_streaming() || method.is_client_streaming());
        match is_stream {
            true => Rules::stream(),
            false => Rules { max_body_bytes: LARGEST as u64, ..Rules::default() },
        }
    }

    fn answer(&self, request: RouteRequest) -> BoxFuture<'_, Result<Answer, Status>> {
        Box::pin(async move {
            let Some((service, method)) = method(request.head.uri.path()) else {
                return Err(Status::failure(501, "NotImplemented", "unknown method"));
            };
            let call = Call { caller: Caller::of(&request)?, service, method: method.clone() };
            let codec = MessageCodec::new(method.input());
            let mut grpc = tonic::server::Grpc::new(codec)
                .accept_compressed(CompressionEncoding::Gzip)
                .send_compressed(CompressionEncoding::Gzip)
                .max_decoding_message_size(LARGEST);
            let inner = http::Request::from_parts(request.head, request.body);
            let answer = grpc.streaming(call, inner).await;
            let (mut head, body) = answer.into_parts();
            if let Some(trailers) = trailers_alone(&mut head.headers) {
                let frames = tokio_stream::once(Ok(Frame::trailers(trailers)));
                return Ok(http::Response::from_parts(head, StreamBody::new(frames).boxed_unsync()));
            }
            let body = body.map_err(|status| Aborted(status.message().to_owned())).boxed_unsync();
            Ok(http::Response::from_parts(head, body))
        })
    }
}

/// Takes the trailers of a call that failed at once out of its head. Answers are forwarded as streams, and the end of a
/// stream without trailers would be no end of a call.
fn trailers_alone(headers: &mut HeaderMap) -> Option<HeaderMap> {
    headers.get(route::grpc::STATUS)?;
    let mut trailers = HeaderMap::new();
    for name in [route::grpc::STATUS, route::grpc::MESSAGE, DETAILS] {
        if let Some(value) = headers.remove(&name) {
            trailers.insert(name, value);
        }
    }
    Some(trailers)
}

/// A call of one method.
#[derive(Clone)]
struct Call {
    caller: Caller,
    service: Service,
    method: MethodDescriptor,
}

impl StreamingService<DynamicMessage> for Call {
    type Response = DynamicMessage;
    type ResponseStream = Messages;
    type Future = BoxFuture<'static, Result<Response<Messages>, tonic::Status>>;

    fn call(&mut self, request: Request<Streaming<DynamicMessage>>) -> Self::Future {
        let call = self.clone();
        Box::pin(async move { call.answer(request.into_inner()).await.map(Response::new) })
    }
}

impl Call {
    async fn answer(self, mut requests: Streaming<DynamicMessage>) -> Result<Messages, tonic::Status> {
        match (self.service, self.method.name()) {
            (Service::Reflection, _) => return Ok(reflection::answer(&self.method, requests)),
            (Service::Objects(face, collection), "Sync") => {
                return sync::answer(self.caller, face, collection, &self.method, requests);
            }
            _ => {}
        }
        let Some(request) = requests.message().await? else {
            return Err(Failure::invalid("the call has no message").into());
        };
        match self.service {
            Service::Events(face) => {
                let output = self.method.output();
                let wanted = events::Wanted::read(&request);
                let watch = events::Watch::open(self.caller, face, wanted).await?;
                Ok(Box::pin(watch.messages(output)))
            }
            Service::Health if self.method.is_server_streaming() => {
                Ok(health::watch(self.caller, &self.method))
            }
            _ => {
                let answer = self.unary(request).await?;
                Ok(Box::pin(tokio_stream::once(Ok(answer))))
            }
        }
    }

    async fn unary(self, request: DynamicMessage) -> Result<DynamicMessage, Failure> {
        let output = self.method.output();
        match self.service {
            Service::Objects(face, collection) => {
                unary::answer(self.caller, face, collection, self.method.name(), request, output).await
            }
            Service::Capabilities => capabilities::get(&self.caller.api, &request, output),
            Service::Metadata => Ok(capabilities::metadata(&self.caller.api, output)),
            Service::Health => health::check(&self.caller, &request, output).await,
            Service::Events(_) | Service::Reflection => {
                Err(Failure::new(Code::Unimplemented, "the method is a stream"))
            }
        }
    }
}
