//! The sealed values of an object, for whoever may get `<plural>/credentials`.

use krm::kind::secret_of;
use krm::status::Status;
use serde_json::{Map, Value, json};

use super::resource::Asked;
use crate::answer::{self, Answer};
use crate::call::Call;
use crate::encode;
use crate::keys;
use crate::request::accept::Accept;
use crate::write::sealed;

/// Answers with the values that are set, each under the path that it is written at.
pub async fn answer(call: &Call, asked: &Asked) -> Result<Answer, Status> {
    let accept = Accept::negotiate(&asked.headers, false)?.with_query(&asked.query)?;
    call.may_get()?;
    let snapshot = call.api.store().current().await.map_err(|error| crate::api::store_failure(&error))?;
    let read = |key: &store::Key| match snapshot.get(key) {
        Some(entry) => encode::read(&call.api.reveal(key, entry)?).map(Some),
        None => Ok(None),
    };
    let object = read(&call.key()?)?.ok_or_else(|| call.not_found())?;
    let secret = secret_of(&call.kind.names.singular, &call.name);
    let key = keys::object(&call.plane, &sealed::address(&secret));
    let key = key.map_err(|error| Status::bad_request(error.to_string()))?;
    let kept = read(&key)?.map(|secret| sealed::decoded(&secret)).unwrap_or_default();
    let set = call.kind.sealed.iter().filter(|field| field.reference_in(&object.0).is_some());
    let values: Map<String, Value> =
        set.filter_map(|field| Some((field.path.to_owned(), kept.get(field.key())?.clone()))).collect();
    let told = json!({ "apiVersion": "groundplane.dev/v1alpha1", "kind": "Credentials", "values": values });
    Ok(answer::object::value(&accept, 200, &told))
}
