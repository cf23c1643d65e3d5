//! A token for a service account: `serviceaccounts/<name>/token`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use krm::field::{FieldError, Path};
use krm::status::Subject;
use krm::time::Moment;
use krm::{Object, Status};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{read, write};
use crate::authn::{Account, BoundSecret, ServiceAccountTokens};

const GROUP: &str = "authentication.k8s.io";
const KIND: &str = "TokenRequest";
const AN_HOUR: i64 = 3600;
const TEN_MINUTES: i64 = 600;

#[derive(Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    audiences: Vec<String>,
    expiration_seconds: Option<i64>,
    bound_object_ref: Option<BoundObject>,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
struct BoundObject {
    #[serde(skip_serializing_if = "String::is_empty")]
    kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    api_version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    uid: String,
}

/// The uid of a secret of the account's namespace, for tokens that are bound to one.
pub type Bound<'a> = &'a dyn Fn(&str) -> Option<String>;

/// An answered request, and what the audit log may say about it.
#[derive(Debug)]
pub struct TokenAnswer {
    /// The `TokenRequest` with the token in its status.
    pub object: Object,
    /// For the annotation `authentication.kubernetes.io/issued-credential-id`.
    pub credential_id: String,
}

/// A `TokenRequest` for an account that is there.
pub fn token_request(
    tokens: &ServiceAccountTokens,
    account: &Account<'_>,
    secret_uid: Bound<'_>,
    mut request: Object,
    now: SystemTime,
) -> Result<TokenAnswer, Status> {
    match_account(&request, account)?;
    let mut spec: Spec = read(&request, "spec")?;
    if spec.audiences.is_empty() {
        spec.audiences = tokens.audiences().to_vec();
    }
    let seconds = *spec.expiration_seconds.get_or_insert(AN_HOUR);
    check_lifetime(seconds)?;
    let secret = spec.bound_object_ref.as_ref().map(|bound| bound_secret(bound, secret_uid)).transpose()?;
    let secret = secret.as_ref().map(|(name, uid)| BoundSecret { name, uid });

    let lifetime = Duration::from_secs(seconds.unsigned_abs());
    let issued = tokens.issue(&Account { secret, ..*account }, &spec.audiences, lifetime, now);
    let issued = issued.map_err(|error| Status::internal(format!("failed to generate token: {error}")))?;

    request.set_type("authentication.k8s.io/v1", KIND);
    request.set_meta("name", Some(account.name.into()));
    request.set_meta("namespace", Some(account.namespace.into()));
    request.set_meta("uid", (!account.uid.is_empty()).then(|| account.uid.into()));
    request.set_meta("creationTimestamp", Some(moment(now).to_string().into()));
    write(&mut request, "spec", &spec)?;
    let status = json!({"token": issued.token, "expirationTimestamp": moment(issued.expires).to_string()});
    request.set("status", Some(status));
    Ok(TokenAnswer { object: request, credential_id: issued.credential_id })
}

/// What the body says about the account must be so.
fn match_account(request: &Object, account: &Account<'_>) -> Result<(), Status> {
    let metadata = Path::of("metadata");
    let wrong = |field: &str, given: &str, detail: &'static str| {
        let fault = FieldError::invalid_text(&metadata.field(field), given, detail);
        Status::invalid(&Subject::new(GROUP, KIND), account.name, &[fault])
    };
    let differs = |given: &str, is: &str| !given.is_empty() && given != is;
    if differs(request.name(), account.name) {
        return Err(wrong("name", request.name(), "must match the service account name if specified"));
    }
    if differs(request.namespace(), account.namespace) {
        let detail = "must match the service account namespace if specified";
        return Err(wrong("namespace", request.namespace(), detail));
    }
    if differs(request.uid(), account.uid) {
        let why = format!(
            "the UID in the token request ({}) does not match the UID of the service account ({})",
            request.uid(),
            account.uid
        );
        return Err(Status::conflict(&Subject::new(GROUP, KIND), account.name, why));
    }
    Ok(())
}

fn check_lifetime(seconds: i64) -> Result<(), Status> {
    let detail = match seconds {
        ..TEN_MINUTES => "may not specify a duration less than 10 minutes",
        TEN_MINUTES..=0x1_0000_0000 => return Ok(()),
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    let spec = Path::of("spec");
    let fault = FieldError::invalid(&spec.field("expirationSeconds"), &seconds.into(), detail);
    Err(Status::invalid(&Subject::new(GROUP, KIND), "", &[fault]))
}

/// The secret that a token shall end with; nothing else can be bound here.
fn bound_secret(bound: &BoundObject, secret_uid: Bound<'_>) -> Result<(String, String), Status> {
    if bound.kind != "Secret" || bound.api_version != "v1" {
        let (group, version) = bound.api_version.split_once('/').unwrap_or(("", &bound.api_version));
        let message = format!("cannot bind token to object of type {group}/{version}, Kind={}", bound.kind);
        return Err(Status::bad_request(message));
    }
    let secrets = Subject::new("", "secrets");
    let uid = secret_uid(&bound.name).ok_or_else(|| Status::not_found(&secrets, &bound.name))?;
    if !bound.uid.is_empty() && bound.uid != uid {
        let why = format!(
            "the UID in the bound object reference ({}) does not match the UID in record. \
             The object might have been deleted and then recreated",
            bound.uid
        );
        return Err(Status::conflict(&Subject::new("", "Secret"), &bound.name, why));
    }
    Ok((bound.name.clone(), uid))
}

fn moment(time: SystemTime) -> Moment {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment::of_seconds(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}
