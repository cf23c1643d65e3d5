//! Verification of the history, and its signed checkpoints.

use bytes::Bytes;
use krm::base64;
use krm::status::Status;
use serde_json::{Value, json};
use store::sign::PublicKey;
use store::{Checkpoint, Problem, Report};

use super::beyond;
use crate::answer::{self, Answer};
use crate::api::store_failure;
use crate::call::Call;
use crate::pipeline::RequestContext;
use crate::request::accept::Accept;
use crate::transaction::{API_VERSION, plan::named};

/// So many problems are told.
const MOST_PROBLEMS: usize = 1000;
/// The one checkpoint that can be asked for.
const LATEST: &str = "latest";

/// Checks all of history.
pub async fn answer(known: &RequestContext, call: &Call, body: &Bytes) -> Result<Answer, Status> {
    let accept = Accept::negotiate(&known.headers, false)?.with_query(&known.query)?;
    let spec = match body.is_empty() {
        true => Value::Null,
        false => beyond::read(known, body, "Verification")?.get("spec").cloned().unwrap_or_default(),
    };
    let mut trusted = Vec::new();
    for key in spec.get("trustedKeys").and_then(Value::as_array).into_iter().flatten() {
        let read = key.as_str().and_then(|text| text.parse::<PublicKey>().ok());
        trusted.push(read.ok_or_else(|| {
            Status::bad_request(format!("spec.trustedKeys: {key} is not a valid public key"))
        })?);
    }
    let store = call.api.store();
    let failed = |error: store::Error| store_failure(&error);
    let mut report = store.verify(&trusted).await.map_err(failed)?;
    let given = spec.get("checkpoint").filter(|kept| !kept.is_null()).map(exported).transpose()?;
    let known = [("exported", given), ("separately kept", kept_elsewhere(call, &mut report).await)];
    if known.iter().all(|(_, kept)| kept.is_none()) {
        let what = "that the history was not cut off after its newest checkpoint: no checkpoint that was kept elsewhere was \
                    compared";
        report.unproven.push(what.to_owned());
    }
    for (how, kept) in known {
        let Some(kept) = kept else { continue };
        let mut signers = vec![store.signer()];
        signers.extend_from_slice(&trusted);
        let what = match (kept.is_signed_by(&signers), store.has_checkpoint(&kept).await.map_err(failed)?) {
            (_, true) => None,
            (true, false) => Some(
                "was signed by this server, but is not in the history: the history was truncated or replaced",
            ),
            (false, false) => Some("is not signed by a trusted key, and is not in the history"),
        };
        report.problems.extend(what.map(|what| Problem {
            key: None,
            version: None,
            what: format!("the {how} checkpoint {} {what}", kept.index),
        }));
    }
    Ok(answer::object::value(&accept, 201, &told(&report)))
}

/// The checkpoint that this server keeps besides in the store.
async fn kept_elsewhere(call: &Call, report: &mut Report) -> Option<Checkpoint> {
    let keeper = call.api.checkpoint_keeper()?.clone();
    let place = keeper.place();
    let read = tokio::task::spawn_blocking(move || keeper.kept()).await;
    match read.map_err(std::io::Error::other).and_then(|kept| kept) {
        Ok(kept) => kept,
        Err(error) => {
            report.unproven.push(format!("the checkpoint that is kept in {place} can't be read: {error}"));
            None
        }
    }
}

fn told(report: &Report) -> Value {
    let problems: Vec<Value> = report
        .problems
        .iter()
        .take(MOST_PROBLEMS)
        .map(|problem| {
            let mut told = json!({ "what": problem.what });
            if let Some(key) = &problem.key {
                told["object"] = named(key).into();
                told["key"] = key.to_string().into();
            }
            if let Some(version) = problem.version {
                told["revision"] = version.to_string().into();
            }
            told
        })
        .collect();
    json!({
        "apiVersion": API_VERSION, "kind": "Verification", "metadata": {},
        "status": {
            "verified": report.problems.is_empty(),
            "objects": report.objects,
            "records": report.records,
            "checkpoints": report.checkpoints,
            "coveredThrough": report.covered.to_string(),
            "problems": problems,
            "unproven": report.unproven,
        },
    })
}

/// The newest checkpoint, to be kept elsewhere.
pub async fn checkpoint(known: &RequestContext, call: &Call) -> Result<Answer, Status> {
    let accept = Accept::negotiate(&known.headers, false)?.with_query(&known.query)?;
    if call.name != LATEST {
        return Err(call.not_found());
    }
    let store = call.api.store();
    let found = store.checkpoint().await.map_err(|error| store_failure(&error))?;
    let found = found.ok_or_else(|| call.not_found())?;
    let hash: String = found.hash().iter().map(|byte| format!("{byte:02x}")).collect();
    let data = serde_json::to_vec(&found).map_err(Status::internal)?;
    let told = json!({
        "apiVersion": API_VERSION, "kind": "Checkpoint", "metadata": { "name": LATEST },
        "index": found.index,
        "count": found.count,
        "coveredThrough": found.version().to_string(),
        "hash": hash,
        "publicKey": store.signer().to_string(),
        "data": base64::encode(&data),
    });
    Ok(answer::object::value(&accept, 200, &told))
}

/// A checkpoint as it was exported.
fn exported(value: &Value) -> Result<Checkpoint, Status> {
    let data = value.get("data").and_then(Value::as_str);
    let data = data.and_then(|text| base64::decode(text).ok());
    let read = data.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    read.ok_or_else(|| Status::bad_request("spec.checkpoint: must be an exported Checkpoint"))
}
