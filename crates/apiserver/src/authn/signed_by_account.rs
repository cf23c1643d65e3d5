//! Tokens that programs sign themselves, with a key that is registered at the server.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::jwt::{Claims, Unproved, Untimely};
use super::proved::{self, Proved};
use super::{CREDENTIAL_ID, Proven, PublicKey, Verdict};
use crate::identity::Identity;

/// How far clocks may differ.
const LEEWAY: Duration = Duration::from_secs(60);
/// For how long a token may be good: whoever can sign makes another.
const LONGEST: f64 = 3600.0;

/// Who signs tokens, and with which keys. Answers come from memory.
pub trait Signers: Send + Sync {
    /// Whether a user of this name can only be one of them, there or not.
    fn are_called(&self, user: &str) -> bool;

    /// Whoever signs under a name with a key of theirs, as of now; an error says why nobody does.
    fn signer(&self, user: &str, key_id: &str, now: SystemTime) -> Result<Signer, String>;
}

/// Somebody with a key.
#[derive(Debug, Clone)]
pub struct Signer {
    /// Who.
    pub identity: Identity,
    /// The one plane where they are somebody; everywhere unless said.
    pub plane: Option<Arc<str>>,
    /// The key.
    pub key: PublicKey,
}

/// Judges the tokens of those who sign for themselves.
pub(super) struct SelfSigned {
    signers: Arc<dyn Signers>,
    proved: Proved,
}

impl SelfSigned {
    pub fn new(signers: Arc<dyn Signers>) -> SelfSigned {
        SelfSigned { signers, proved: Proved::default() }
    }

    /// Whether a name belongs to those who sign for themselves, and so to nobody whom another vouches for.
    pub fn are_called(&self, user: &str) -> bool {
        self.signers.are_called(user)
    }

    /// Whether a token is of one of them, for one of `wanted`, and good in this plane.
    pub fn judge(&self, token: &str, plane: &str, wanted: &[String], now: SystemTime) -> Verdict {
        let Some(unproved) = Unproved::parse(token) else { return Verdict::NotMine };
        let user = unproved.issuer().to_owned();
        if !self.signers.are_called(&user) {
            return Verdict::NotMine;
        }
        match self.believe(token, unproved, &user, plane, wanted, now) {
            Ok(proven) => Verdict::Good(proven),
            Err(reason) => Verdict::Bad(reason),
        }
    }

    fn believe(
        &self,
        token: &str,
        unproved: Unproved<'_>,
        user: &str,
        plane: &str,
        wanted: &[String],
        now: SystemTime,
    ) -> Result<Proven, String> {
        let kid = unproved.kid.clone().ok_or("the token has no kid in its header")?;
        // The key is asked for every time: one that has gone or run out proves nothing, whatever it proved before.
        let signer = self.signers.signer(user, &kid, now)?;
        let hash = proved::hash(token);
        let claims = match self.proved.recall(&hash) {
            Some(claims) => claims,
            None => {
                let claims =
                    unproved.proved_by([signer.key.key()]).ok_or("the token has an invalid signature")?;
                self.proved.remember(hash, claims)
            }
        };
        let claims = Claims(&claims);
        if claims.text("sub") != Some(user) {
            return Err("the token's sub differs from its iss".to_owned());
        }
        claims.timely(now, LEEWAY).map_err(|untimely| match untimely {
            Untimely::Expired => "the token has expired",
            Untimely::NotYet => "the token is not valid yet",
            Untimely::FromTheFuture => "the token is issued in the future",
        })?;
        let seconds = |claim: &str| claims.get(claim).and_then(serde_json::Value::as_f64);
        if !seconds("exp").zip(seconds("iat")).is_some_and(|(end, start)| end - start <= LONGEST) {
            return Err("the token must have iat, and exp must be at most one hour after it".to_owned());
        }
        let held = claims.audiences();
        let audiences: Vec<String> =
            wanted.iter().filter(|name| held.contains(&name.as_str())).cloned().collect();
        if audiences.is_empty() {
            return Err(format!("the token's aud is {held:?}; expected {wanted:?}"));
        }
        if signer.plane.as_ref().is_some_and(|own| **own != *plane) {
            return Err("the token is for another control plane".to_owned());
        }
        let mut identity = Identity { expires: claims.end(LEEWAY), ..signer.identity };
        let mut proofs = vec![format!("KID={kid}")];
        proofs.extend(claims.text("jti").map(|id| format!("JTI={id}")));
        identity.extra.insert(CREDENTIAL_ID.to_owned(), proofs);
        Ok(Proven { identity, audiences })
    }
}
