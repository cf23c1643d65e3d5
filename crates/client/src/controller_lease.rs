//! The lease of a controller: the one that a server takes too when it runs the controller itself.

use std::time::Duration;

use http::Method;
use reconcile::lease::{Acquired, Keeper, Later};
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::lease::Fence;
use crate::request::{Request, segment};
use crate::sending::Client;

/// The lease of a controller. Whoever holds it runs the controller: a server, or a process beside it.
///
/// It is kept in the memory and the log of the store, not as an object: renewing it writes nothing.
pub struct ControllerLease {
    client: Client,
    controller: String,
    identity: String,
}

impl ControllerLease {
    /// The lease of a controller, for a holder whose identity no other one has.
    pub fn new(client: &Client, controller: &str, identity: &str) -> ControllerLease {
        let (controller, identity) = (controller.to_owned(), identity.to_owned());
        ControllerLease { client: client.in_root(), controller, identity }
    }

    async fn ask(&self, lasts: Duration, number: Option<&str>) -> Result<Value> {
        let path = format!("/apis/groundplane.dev/v1alpha1/controllers/{}/lease", segment(&self.controller));
        let seconds = lasts.as_secs() + u64::from(lasts.subsec_nanos() > 0);
        let body = json!({
            "apiVersion": "groundplane.dev/v1alpha1", "kind": "ControllerLease",
            "spec": {"holderIdentity": self.identity, "leaseDurationSeconds": seconds, "number": number},
        });
        let answer = self.client.value(&Request::new(Method::PUT, path).json(&body)).await?;
        Ok(answer["status"].clone())
    }
}

impl Keeper for ControllerLease {
    type Fence = Fence;
    type Error = Error;

    fn acquire(&self, lasts: Duration) -> Later<'_, Result<Acquired<Fence>>> {
        Box::pin(async move {
            let status = self.ask(lasts, None).await?;
            Ok(match status["number"].as_str().filter(|_| status["held"] == true) {
                Some(number) => Acquired::Taken(Fence::of_controller(&self.controller, number)),
                None => {
                    let left = status["secondsLeft"].as_f64().unwrap_or(1.0);
                    Acquired::HeldElsewhere(Duration::try_from_secs_f64(left).unwrap_or_default())
                }
            })
        })
    }

    fn renew<'a>(&'a self, fence: &'a Fence) -> Later<'a, Result<bool>> {
        // The term is the one that it was taken for; the request has to name some.
        Box::pin(async move { Ok(self.ask(Duration::from_secs(1), fence.number()).await?["held"] == true) })
    }

    fn release<'a>(&'a self, fence: &'a Fence) -> Later<'a, ()> {
        Box::pin(async move {
            if let Err(error) = self.ask(Duration::ZERO, fence.number()).await {
                // It ends by itself, later.
                tracing::debug!(controller = self.controller, %error, "the lease can't be released");
            }
        })
    }

    fn is_closed(&self, _: &Error) -> bool {
        false
    }
}
