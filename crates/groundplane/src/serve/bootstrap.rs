//! What every store has from the start: the namespaces that clients expect, and what comes with the server and
//! its modules.

use apiserver::api::Api;
use apiserver::authz;
use apiserver::client::Client;
use apiserver::planes::{NAMESPACES, NODE_LEASES};
use krm::Object;

use crate::failure::Failure;
use crate::modules;

/// Makes what is missing, and brings the roles that ship up to date. The first objects of modules come last: all that
/// decides about them is there by then.
pub async fn run(api: &Api) -> Result<(), Failure> {
    let client = Client::system(api, "groundplane");
    for name in NAMESPACES.into_iter().chain([NODE_LEASES]) {
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
    for module in modules::servers() {
        let made = module.bootstrap(api).await;
        made.map_err(|status| Failure::new(format_args!("making what {} ships", module.name()), status))?;
    }
    for object in modules::first_objects(&api.feature_gates()) {
        ensure(&client, object).await?;
    }
    Ok(())
}

/// Makes an object unless it exists.
pub async fn ensure(client: &Client, object: Object) -> Result<(), Failure> {
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
