//! JSON Web Tokens (RFC 7519) in compact form. Nothing in a token is trusted before its signature is
//! verified.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

use super::jwk::{Algorithm, Key};
use krm::base64;

/// Longer than any token that fits into a header.
const MAX_BYTES: usize = 64 << 10;

/// A token taken apart. What it claims is not proved.
#[derive(Clone)]
pub(super) struct Unproved<'a> {
    /// How it says it was signed.
    algorithm: Option<Algorithm>,
    /// Which key it says it was signed with.
    pub kid: Option<String>,
    claims: Map<String, Value>,
    signed: &'a str,
    signature: Vec<u8>,
}

impl<'a> Unproved<'a> {
    /// Takes a token apart; `None` if it is none.
    pub fn parse(token: &'a str) -> Option<Unproved<'a>> {
        if token.len() > MAX_BYTES {
            return None;
        }
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        if claims.contains('.') {
            return None;
        }
        let header = decode(header)?;
        // What a header calls critical has to be understood, and nothing is.
        if header.contains_key("crit") {
            return None;
        }
        let text = |field: &str| header.get(field).and_then(Value::as_str);
        Some(Unproved {
            algorithm: text("alg").and_then(Algorithm::named),
            kid: text("kid").filter(|kid| !kid.is_empty()).map(str::to_owned),
            claims: decode(claims)?,
            signed,
            signature: unpadded(signature)?,
        })
    }

    /// Who it says issued it.
    pub fn issuer(&self) -> &str {
        self.claims.get("iss").and_then(Value::as_str).unwrap_or("")
    }

    /// What it claims, if one of these keys signed it. The key decides how, not the token.
    pub fn proved_by<'k>(self, keys: impl IntoIterator<Item = &'k Key>) -> Option<Map<String, Value>> {
        let algorithm = self.algorithm?;
        let message = self.signed.as_bytes();
        let proved = keys.into_iter().any(|key| key.verifies(algorithm, message, &self.signature));
        proved.then_some(self.claims)
    }
}

/// The bytes of a part; padding does not belong there.
pub(super) fn unpadded(part: &str) -> Option<Vec<u8>> {
    if part.ends_with('=') { None } else { base64::from_url(part) }
}

fn decode(part: &str) -> Option<Map<String, Value>> {
    serde_json::from_slice(&unpadded(part)?).ok()
}

/// What a token claims that was signed by somebody who is believed.
#[derive(Clone, Copy)]
pub(super) struct Claims<'a>(pub &'a Map<String, Value>);

/// Why a token is not good at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Untimely {
    Expired,
    NotYet,
    FromTheFuture,
}

impl<'a> Claims<'a> {
    pub fn get(&self, claim: &str) -> Option<&'a Value> {
        self.0.get(claim)
    }

    pub fn text(&self, claim: &str) -> Option<&'a str> {
        self.get(claim).and_then(Value::as_str)
    }

    /// For whom it is: one, or several.
    pub fn audiences(&self) -> Vec<&'a str> {
        match self.get("aud") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// When it is no longer good.
    pub fn end(&self, leeway: Duration) -> Option<SystemTime> {
        let end = Duration::try_from_secs_f64(self.get("exp")?.as_f64()?).ok()?;
        UNIX_EPOCH.checked_add(end)?.checked_add(leeway)
    }

    /// Whether it is good now. A token that never ends is not.
    pub fn timely(&self, now: SystemTime, leeway: Duration) -> Result<(), Untimely> {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let leeway = leeway.as_secs_f64();
        let time = |claim: &str| self.get(claim).and_then(Value::as_f64);
        let expired = time("exp").is_none_or(|end| now - leeway > end);
        if expired {
            return Err(Untimely::Expired);
        }
        match (self.get("nbf"), time("nbf")) {
            (None, _) => {}
            (Some(_), Some(start)) if now + leeway >= start => {}
            _ => return Err(Untimely::NotYet),
        }
        match (self.get("iat"), time("iat")) {
            (None, _) => Ok(()),
            (Some(_), Some(issued)) if now + leeway >= issued => Ok(()),
            _ => Err(Untimely::FromTheFuture),
        }
    }
}

/// The signed part of a token, to which a dot and the signature are appended.
pub(super) fn to_sign(header: &Value, claims: &Value) -> String {
    let encode = |value: &Value| base64::url(value.to_string().as_bytes());
    format!("{}.{}", encode(header), encode(claims))
}

/// The whole token.
pub(super) fn signed(to_sign: &str, signature: &[u8]) -> String {
    format!("{to_sign}.{}", base64::url(signature))
}
