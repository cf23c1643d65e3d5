//! Logs of instances and commands in them: the subresources `log` and `exec`, answered by what runs the instances.
//!
//! The pipeline has authorized a request before it comes here: `get` on `instances/log`, `create` on `instances/exec`. It ends
//! the stream when the caller loses that right.

mod exec;
mod log;

use std::sync::Arc;

use apiserver::answer::Answer;
use apiserver::client::Client;
use apiserver::request::query::Query;
use apiserver::route::{Access, Claim, Requirement, Route, RouteRequest, Rules};
use compute::kinds::Instance;
use containers::{Error, InstanceId, Runtime};
use futures_util::future::BoxFuture;
use http::Method;
use http::request::Parts;
use krm::kind::Resource;
use krm::status::{Status, Subject};

/// Text of a log.
const LOG: &str = "log";
/// A command in a container.
const EXEC: &str = "exec";

/// Answers for the streams of instances.
pub struct Streams {
    runtime: Option<Arc<dyn Runtime>>,
}

impl Streams {
    /// Streams of the instances of a runtime. Without one, every request is answered with the reason.
    pub fn new(runtime: Option<Arc<dyn Runtime>>) -> Streams {
        Streams { runtime }
    }
}

impl Route for Streams {
    fn name(&self) -> &'static str {
        "instance streams"
    }

    fn claims(&self) -> Vec<Claim> {
        let claim = |subresource: &str| Claim::Subresource {
            group: Instance::GROUP.to_owned(),
            plural: Instance::PLURAL.to_owned(),
            subresource: subresource.to_owned(),
        };
        vec![claim(LOG), claim(EXEC)]
    }

    fn access(&self, _: &Parts) -> Result<Access, Status> {
        Ok(Access::root(Requirement::Path))
    }

    fn subresource_verbs(&self, subresource: &str) -> &'static [&'static str] {
        if subresource == EXEC { &["create"] } else { &["get"] }
    }

    fn rules(&self, head: &Parts) -> Rules {
        let is_followed = head.uri.query().is_some_and(|query| query.contains("follow=true"));
        if head.method == Method::POST || is_followed { Rules::stream() } else { Rules::default() }
    }

    fn answer(&self, request: RouteRequest) -> BoxFuture<'_, Result<Answer, Status>> {
        Box::pin(async move {
            let target = request.target.clone().ok_or_else(Status::no_such_resource)?;
            let query = Query::parse(request.head.uri.query().unwrap_or_default())?;
            let wanted = if target.subresource == EXEC { Method::POST } else { Method::GET };
            if request.head.method != wanted {
                return Err(Status::method_not_allowed());
            }
            let reader = Client::system(&request.api, "groundplane").in_plane(&request.plane);
            let found = reader.get::<Instance>(&target.namespace, &target.name).await;
            let subject = Subject::new(Instance::GROUP, Instance::PLURAL);
            let instance = found.ok_or_else(|| Status::not_found(&subject, &target.name))?;
            let Some(runtime) = &self.runtime else {
                return Err(Status::unavailable(
                    "this server runs no instances: start it with --instances containers",
                ));
            };
            let id = InstanceId::new(&instance.metadata.uid).map_err(Status::internal)?;
            let failed = |error: Error| refusal(&target.name, &error);
            match target.subresource.as_str() {
                EXEC => exec::answer(runtime, id, &query, request.body).await?.map_err(failed),
                _ => log::answer(runtime, id, &query).await?.map_err(failed),
            }
        })
    }
}

/// Why the runtime can't answer, in the words of the API.
fn refusal(instance: &str, error: &Error) -> Status {
    match error {
        Error::NotFound { .. } => Status::failure(
            409,
            "Conflict",
            format!("instance {instance:?} has not started yet, or runs on another machine"),
        ),
        Error::NotRunning { container, .. } => Status::failure(
            409,
            "Conflict",
            format!("container {container:?} of instance {instance:?} does not run"),
        ),
        Error::NoSuchContainer { containers, .. } => Status::bad_request(format!(
            "instance {instance:?} has the containers {}: name one of them",
            containers.join(", ")
        )),
        error => Status::unavailable(format!("instance {instance:?}: {error}")),
    }
}
