//! Requests that a face of this server, such as the portal, makes in its own process: the public API in the name of the
//! person who uses the face, with the same authorization, limits and audit as over a socket.

use std::net::SocketAddr;
use std::sync::Weak;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::Request;
use http_body_util::Full;
use krm::status::Status;

use crate::answer::Answer;
use crate::identity::Identity;
use crate::pipeline::Pipeline;
use crate::tls::Peer;

/// Whom an in-process request is made for. Requests that come over a socket can't carry it.
#[derive(Clone)]
pub(crate) struct InProcess(pub(crate) Identity);

/// Answers requests of the public API.
trait Answers: Send + Sync {
    fn answer(&self, request: Request<Full<Bytes>>, from: SocketAddr) -> BoxFuture<'_, Answer>;
}

impl Answers for Pipeline {
    fn answer(&self, request: Request<Full<Bytes>>, from: SocketAddr) -> BoxFuture<'_, Answer> {
        Box::pin(async move { self.serve(request, &Peer::Unknown, from).await })
    }
}

/// The public API of this server, called in-process.
#[derive(Clone)]
pub struct PublicApi(Weak<dyn Answers>);

impl PublicApi {
    /// The API that a pipeline serves. The pipeline outlives no one by it.
    pub fn of(pipeline: Weak<Pipeline>) -> PublicApi {
        PublicApi(pipeline)
    }

    /// Answers a request in somebody's name. Credentials in its headers don't count.
    pub async fn answer(
        &self,
        who: &Identity,
        from: SocketAddr,
        mut request: Request<Bytes>,
    ) -> Result<Answer, Status> {
        let Some(pipeline) = self.0.upgrade() else {
            return Err(Status::unavailable("the server is shutting down"));
        };
        request.extensions_mut().insert(InProcess(who.clone()));
        Ok(pipeline.answer(request.map(Full::new), from).await)
    }

    /// Answers a request with the credentials in its headers, as one over a socket: to find out whose they are.
    pub async fn answer_with_credentials(
        &self,
        from: SocketAddr,
        request: Request<Bytes>,
    ) -> Result<Answer, Status> {
        let Some(pipeline) = self.0.upgrade() else {
            return Err(Status::unavailable("the server is shutting down"));
        };
        Ok(pipeline.answer(request.map(Full::new), from).await)
    }
}
