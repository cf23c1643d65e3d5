//! Get.

use std::time::Duration;

use bytes::Bytes;
use krm::status::Status;
use store::{Snapshot, Version};

use crate::api::{Api, store_failure};
use crate::call::Call;
use crate::past::as_of::AsOf;
use crate::present::Presenter;

/// The bytes of the object at the call's version, no older than `resource_version` says.
pub async fn get(call: &Call, resource_version: &str) -> Result<Bytes, Status> {
    let snapshot = match resource_version {
        "" => call.api.store().current().await.map_err(|error| store_failure(&error))?,
        "0" => call.api.store().latest(),
        text => {
            let version = parse_version(text).map_err(|why| Status::failure(500, "", why))?;
            no_older_than(&call.api, version).await?
        }
    };
    let key = call.key()?;
    let entry = snapshot.get(&key).ok_or_else(|| call.not_found())?;
    Presenter::of(call).bytes(&key, entry)
}

/// The bytes of the object as it was at a time or revision.
pub async fn as_of(call: &Call, text: &str, resource_version: &str) -> Result<Bytes, Status> {
    not_both(resource_version)?;
    let entry = AsOf::parse(text, call.api.now())?.object(call).await?;
    let entry = entry.ok_or_else(|| call.not_found())?;
    Presenter::of(call).bytes(&call.key()?, &entry)
}

/// The past is asked for in one way.
pub fn not_both(resource_version: &str) -> Result<(), Status> {
    match resource_version {
        "" | "0" => Ok(()),
        _ => Err(Status::bad_request("asOf and resourceVersion are mutually exclusive")),
    }
}

/// Reads a version that a client names.
pub fn parse_version(text: &str) -> Result<Version, String> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let why = if is_number { "value out of range" } else { "invalid syntax" };
    let version = is_number.then(|| text.parse().ok()).flatten();
    version.ok_or_else(|| {
        format!("resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: {why}")
    })
}

/// What is there once the store has reached `version`; a version that does not come is refused after a while.
pub async fn no_older_than(api: &Api, version: Version) -> Result<Snapshot, Status> {
    let patience = Duration::from_secs(3);
    let step = Duration::from_millis(50);
    let mut waited = Duration::ZERO;
    loop {
        let snapshot = match waited.is_zero() {
            true => api.store().latest(),
            false => api.store().current().await.map_err(|error| store_failure(&error))?,
        };
        if snapshot.version() >= version {
            return Ok(snapshot);
        }
        if waited >= patience {
            return Err(too_far_ahead(version, snapshot.version()));
        }
        tokio::time::sleep(step).await;
        waited += step;
    }
}

/// A version that nobody has handed out yet.
pub fn too_far_ahead(asked: Version, current: Version) -> Status {
    let mut status =
        Status::timeout(format_args!("Too large resource version: {asked}, current: {current}"), 1);
    if let Some(details) = &mut status.details {
        details.causes.push(krm::status::Cause {
            reason: "ResourceVersionTooLarge".to_owned(),
            message: "Too large resource version".to_owned(),
            ..krm::status::Cause::default()
        });
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_digits_and_nothing_else() {
        assert_eq!(parse_version("65536"), Ok(Version::new(65_536)));
        for text in ["", "+5", "-5", " 5", "5.0", "0x5"] {
            assert!(parse_version(text).unwrap_err().ends_with("invalid syntax"), "{text}");
        }
        assert!(parse_version("18446744073709551616").unwrap_err().ends_with("value out of range"));
    }
}
