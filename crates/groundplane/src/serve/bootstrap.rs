//! What every store has from the start: the namespaces that clients expect, and the roles that come with the server.

use apiserver::api::Api;
use apiserver::authz;
use apiserver::client::Client;
use apiserver::planes::NAMESPACES;
use krm::Object;

use crate::failure::Failure;

/// Makes what is missing, and brings the roles that ship up to date.
pub async fn run(api: &Api) -> Result<(), Failure> {
    let client = Client::system(api, "groundplane");
    for name in NAMESPACES {
        let mut namespace = Object::new("v1", "Namespace");
        namespace.set_meta("name", Some(name.into()));
        ensure(&client, namespace).await?;
    }
    for object in authz::bootstrap_objects() {
        match client.get_like(&object).await {
            Some(existing) => {
                if let Some(mended) = authz::reconciled(&existing, &object) {
                    client.update(mended).await.map_err(|status| failed(&object, &status))?;
                }
            }
            None => ensure(&client, object).await?,
        }
    }
    let made = platform::bootstrap::run(api).await;
    made.map_err(|status| Failure::new("making the roles that ship", status))
}

async fn ensure(client: &Client, object: Object) -> Result<(), Failure> {
    if client.get_like(&object).await.is_some() {
        return Ok(());
    }
    match client.create(object.clone()).await {
        // Another server of the same store was first.
        Err(status) if status.reason == "AlreadyExists" => Ok(()),
        Err(status) => Err(failed(&object, &status)),
        Ok(_) => Ok(()),
    }
}

fn failed(object: &Object, status: &krm::Status) -> Failure {
    Failure::new(format_args!("making {} {}", object.kind(), object.name()), status)
}
