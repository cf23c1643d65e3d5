//! Maps the claims of a verified token to a user.

use std::sync::Arc;

use serde_json::Value;

use super::config::IssuerConfig;
use crate::authn::CREDENTIAL_ID;
use crate::authn::jwt::Claims;
use crate::identity::Identity;

/// The identity that an issuer's claims give.
pub(super) fn identity(config: &IssuerConfig, claims: Claims<'_>) -> Result<Identity, String> {
    let user = user(config, claims)?;
    let mut identity = Identity {
        user: config.username.prefixed(user).into(),
        uid: uid(config, claims)?.into(),
        groups: groups(config, claims)?,
        ..Identity::default()
    };
    if let Some(id) = claims.text("jti").filter(|id| !id.is_empty()) {
        identity.extra.insert(CREDENTIAL_ID.to_owned(), vec![format!("JTI={id}")]);
    }
    for (claim, required) in &config.required {
        match claims.get(claim) {
            None => return Err(format!("required claim {claim} not present in ID token")),
            Some(Value::String(found)) if found == required => {}
            Some(_) => return Err(format!("required claim {claim} value does not match")),
        }
    }
    Ok(identity)
}

fn user<'a>(config: &IssuerConfig, claims: Claims<'a>) -> Result<&'a str, String> {
    let claim = &config.username.claim;
    let user = claims.text(claim).filter(|user| !user.is_empty());
    let user = user.ok_or_else(|| format!("parse username claims {claim:?}: claim not present"))?;
    if claim == "email" {
        match claims.get("email_verified") {
            None | Some(Value::Bool(true)) => {}
            Some(Value::Bool(false)) => return Err("email not verified".to_owned()),
            Some(_) => return Err("parse 'email_verified' claim: it is not a boolean".to_owned()),
        }
    }
    Ok(user)
}

fn uid<'a>(config: &IssuerConfig, claims: Claims<'a>) -> Result<&'a str, String> {
    let Some(claim) = &config.uid else { return Ok("") };
    claims.text(claim).ok_or_else(|| format!("error parsing uid claim {claim:?}: claim not present"))
}

/// One group or several; nobody is in none because a claim is missing.
fn groups(config: &IssuerConfig, claims: Claims<'_>) -> Result<Vec<Arc<str>>, String> {
    let Some(mapping) = &config.groups else { return Ok(Vec::new()) };
    let malformed =
        || format!("parse groups claim {:?}: it is neither a string nor a list of strings", mapping.claim);
    let texts: Vec<&str> = match claims.get(&mapping.claim) {
        None => Vec::new(),
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(many)) => {
            many.iter().map(Value::as_str).collect::<Option<_>>().ok_or_else(malformed)?
        }
        Some(_) => return Err(malformed()),
    };
    Ok(texts.into_iter().map(|group| mapping.prefixed(group).into()).collect())
}
