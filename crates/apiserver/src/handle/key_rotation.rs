//! Rotation of the encryption key of Secrets.

use krm::status::Status;
use serde_json::json;

use crate::answer::{self, Answer};
use crate::api::store_failure;
use crate::call::Call;
use crate::pipeline::RequestContext;
use crate::request::accept::Accept;
use crate::transaction::API_VERSION;

/// Makes a new key and puts the data keys under it. What is sealed stays as it is, and requests go on meanwhile.
pub async fn answer(known: &RequestContext, call: &Call) -> Result<Answer, Status> {
    let accept = Accept::negotiate(&known.headers, false)?.with_query(&known.query)?;
    let rotated =
        call.api.store().rotate_sealing_key_in_place().await.map_err(|error| store_failure(&error))?;
    tracing::info!(key = rotated.key, user = &*call.who.user, "rotated the encryption key of Secrets");
    let told = json!({
        "apiVersion": API_VERSION, "kind": "KeyRotation", "metadata": {},
        "status": { "key": rotated.key, "dataKeys": rotated.data_keys },
    });
    Ok(answer::object::value(&accept, 201, &told))
}
