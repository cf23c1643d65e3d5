//! A user of a simulated server, who asks again until the answer is known.

use std::sync::Arc;
use std::time::Duration;

use apiserver::api::Api;
use apiserver::client::Client;
use apiserver::controllers::world::ServerWorld;
use krm::Object;
use krm::kind::QueryContext;
use krm::status::Status;
use reconcile::target::Target;

/// Pause before a request is repeated.
const PAUSE: Duration = Duration::from_millis(100);

/// Reads and writes through the same code as requests. What a scenario asks of a user can be asked again after a restart.
pub struct User {
    client: Client,
}

impl User {
    pub(crate) fn of(api: &Api) -> User {
        User { client: Client::system(api, "user") }
    }

    /// An object, as its server shows it.
    pub fn get(&self, target: &Target) -> Option<Arc<Object>> {
        let api = self.client.api();
        ServerWorld::new(api, api.store().latest()).plane(&target.plane).get(&target.at)
    }

    /// All objects of a resource in a plane.
    pub fn list(&self, plane: &str, group: &str, plural: &str) -> Vec<Arc<Object>> {
        let api = self.client.api();
        ServerWorld::new(api, api.store().latest()).plane(plane).all(group, plural)
    }

    /// Creates an object of the root plane, unless one of its name is there.
    pub async fn create(&self, object: &Object) -> Result<(), String> {
        loop {
            match self.client.create(object.clone()).await {
                Err(status) if status.reason == "AlreadyExists" => return Ok(()),
                Err(status) if !may_pass(&status) => return Err(status.message),
                Err(_) => tokio::time::sleep(PAUSE).await,
                Ok(_) => return Ok(()),
            }
        }
    }

    /// Changes an object of the root plane, until it is as `change` makes it.
    pub async fn change(&self, target: &Target, change: impl Fn(&mut Object)) -> Result<(), String> {
        loop {
            // It may be held back.
            if let Some(old) = self.get(target) {
                let mut new = Object::clone(&old);
                change(&mut new);
                if new == *old {
                    return Ok(());
                }
                match self.client.update(new).await {
                    Ok(_) => return Ok(()),
                    Err(status) if !may_pass(&status) => return Err(status.message),
                    Err(_) => {}
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// It was not written, or may have been, or somebody else was faster.
fn may_pass(status: &Status) -> bool {
    matches!(status.code, 409 | 429 | 503 | 504)
}
