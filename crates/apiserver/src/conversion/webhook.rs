//! Calls a conversion webhook.

use std::sync::Arc;

use krm::Object;
use krm::kind::{Converter, WebhookLocation};
use krm::status::Status;

use super::review;
use crate::authn::fetch::HttpFetch;
use crate::call::Call;
use crate::outgoing::Outgoing;

/// The only error that clients see for a project's webhook that can't be used.
const UNREACHABLE: &str = "the webhook is not allowed, can't be reached, or did not answer with a valid review; the \
                           administrator of the server lists the hosts that projects may use in --project-webhooks";

/// The objects at the version with this index, in their order. All of them are of one kind and in another version.
pub async fn convert(
    call: &Call,
    target: usize,
    objects: &[Object],
    are_listed: bool,
) -> Result<Vec<Object>, Status> {
    let Some(first) = objects.first() else { return Ok(Vec::new()) };
    let kind = &*call.kind;
    let listed = if are_listed { &kind.names.list_kind } else { &kind.names.kind };
    let about = format!("conversion webhook for {}, Kind={listed}", first.api_version());
    let failed = |why: String| Status::failure(500, "", why);
    let Some(converter) = &kind.converter else {
        return Err(failed(format!("{about} failed: the definition no longer configures a webhook")));
    };
    let desired = kind.api_version(&kind.versions[target].name);
    let uid = crate::write::new_uid();
    let request = review::request(converter, &uid, &desired, objects)
        .ok_or_else(|| failed("no supported conversion review versions".to_owned()))?;
    let outgoing = (!call.plane.is_root()).then(|| call.api.outgoing());
    let is_for_project = outgoing.is_some();
    let answer = post(converter, request.to_string(), outgoing).await;
    let converted = answer.and_then(|answer| review::objects(&request, &answer, &uid));
    let converted = converted.map_err(|why| {
        if !is_for_project {
            return failed(format!("{about} failed: {why}"));
        }
        // Whoever names an address in a project learns neither what answers there nor whether anything does.
        tracing::debug!(plane = call.plane.as_str(), why, "a conversion webhook of a project failed");
        failed(format!("{about} failed: {UNREACHABLE}"))
    })?;
    if converted.len() != objects.len() {
        let (got, wanted) = (converted.len(), objects.len());
        return Err(failed(format!("{about} returned {got} objects, expected {wanted}")));
    }
    let each = objects.iter().zip(converted).enumerate();
    let each = each.map(|(index, (original, converted))| {
        review::checked(original, converted, &desired).map_err(|fault| {
            let place = match (are_listed, fault.is_of_type) {
                (true, _) => format!("invalid converted object at index {index}"),
                (false, true) => "invalid object at index 0".to_owned(),
                (false, false) => format!("invalid {}", fault.what),
            };
            failed(format!("{about} returned {place}: {}", fault.why))
        })
    });
    each.collect()
}

/// What the webhook answers, or why it does not. For a project only what is allowed is called.
async fn post(
    converter: &Converter,
    body: String,
    outgoing: Option<Arc<Outgoing>>,
) -> Result<Vec<u8>, String> {
    let url = format!("{}?timeout=30s", converter.url());
    let sent = |why: &dyn std::fmt::Display| format!("Post \"{url}\": {why}");
    if let WebhookLocation::Service { name, .. } = &converter.place {
        return Err(sent(&format_args!(
            "service {name:?} not found: this server has no Services; set \
             spec.conversion.webhook.clientConfig.url in the definition"
        )));
    }
    let mut client = HttpFetch::new(converter.ca_bundle.as_deref()).map_err(|error| sent(&error.why))?;
    if let Some(outgoing) = outgoing {
        client = client.within(outgoing);
    }
    let (code, answer) = client.post(&url, body.into()).await.map_err(|error| sent(&error.why))?;
    match code {
        200..=299 => Ok(answer.to_vec()),
        404 => Err("the server could not find the requested resource".to_owned()),
        500.. => {
            let text = String::from_utf8_lossy(&answer);
            Err(format!(
                "an error on the server ({:?}) has prevented the request from succeeding",
                text.trim()
            ))
        }
        code => Err(format!(
            "the server responded with the status code {code} but did not return more information"
        )),
    }
}
