//! Service account tokens: issued and signed by this server, valid while the account exists.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use krm::field::quote;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Map, Value, json};

use super::jwk::Key;
use super::jwt::{self, Claims, Unproved, Untimely};
use super::proved::{self, Proved};
use super::service_account::{service_account_groups, service_account_user};
use super::{CREDENTIAL_ID, Proven, Verdict};
use crate::identity::Identity;
use krm::base64;

/// How far clocks may differ.
const LEEWAY: Duration = Duration::from_secs(60);
/// The claim that says of which project's plane an account is. Tokens of the root have none.
const PLANE_CLAIM: &str = "groundplane.dev/plane";
/// What stands before a P-256 point in its SubjectPublicKeyInfo.
const P256_SPKI_HEAD: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
    0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// What is asked about accounts before a token is believed. Answers come from memory.
pub trait ServiceAccounts: Send + Sync {
    /// The uid of a service account that is there.
    fn account_uid(&self, plane: &str, namespace: &str, name: &str) -> Option<String>;

    /// The uid of a secret that is there, for tokens that are bound to one.
    fn secret_uid(&self, plane: &str, namespace: &str, name: &str) -> Option<String>;
}

/// Whose token to issue.
#[derive(Debug, Clone, Copy, Default)]
pub struct Account<'a> {
    /// The plane; empty for the root.
    pub plane: &'a str,
    /// The account's namespace.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its uid: another account of the same name has other tokens.
    pub uid: &'a str,
    /// The secret whose deletion ends the token, if there is one.
    pub secret: Option<BoundSecret<'a>>,
}

/// A secret that a token is bound to.
#[derive(Debug, Clone, Copy)]
pub struct BoundSecret<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its uid.
    pub uid: &'a str,
}

/// A token that was issued.
pub struct IssuedToken {
    /// The token itself.
    pub token: String,
    /// When it ends.
    pub expires: SystemTime,
    /// By which the audit log can tell what was done with it.
    pub credential_id: String,
}

impl std::fmt::Debug for IssuedToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IssuedToken").field("credential_id", &self.credential_id).finish_non_exhaustive()
    }
}

/// Why there are no service account tokens.
#[derive(Debug, thiserror::Error)]
pub enum TokenKeyError {
    /// The key cannot be used.
    #[error(
        "the signing key of service account tokens is not a P-256 key in PKCS#8 format: restore \
         `pki/service-accounts.pem` from a backup, or remove it and a new one is generated"
    )]
    NotAKey,
    /// The operating system gave no random bytes.
    #[error("cannot issue a token: the operating system gave no random bytes; try again")]
    NoRandomness,
}

/// Issues and judges service account tokens.
pub struct ServiceAccountTokens {
    pair: EcdsaKeyPair,
    key: Key,
    kid: String,
    issuer: String,
    audiences: Vec<String>,
    random: SystemRandom,
    proved: Proved,
}

impl ServiceAccountTokens {
    /// Tokens of `issuer`, signed with a P-256 key in PKCS#8; `audiences` are this server's own names.
    pub fn new(
        pkcs8: &[u8],
        issuer: impl Into<String>,
        audiences: Vec<String>,
    ) -> Result<ServiceAccountTokens, TokenKeyError> {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &random)
            .map_err(|_| TokenKeyError::NotAKey)?;
        let point = pair.public_key().as_ref();
        let spki = [&P256_SPKI_HEAD[..], point].concat();
        let kid = base64::url(digest(&SHA256, &spki).as_ref());
        let key = Key::p256(&kid, point);
        Ok(ServiceAccountTokens {
            pair,
            key,
            kid,
            issuer: issuer.into(),
            audiences,
            random,
            proved: Proved::default(),
        })
    }

    /// Who issues the tokens.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// This server's own names, for which a token is when nobody else is named.
    pub fn audiences(&self) -> &[String] {
        &self.audiences
    }

    /// A token for an account, good for `lifetime` from `now`.
    pub fn issue(
        &self,
        account: &Account<'_>,
        audiences: &[String],
        lifetime: Duration,
        now: SystemTime,
    ) -> Result<IssuedToken, TokenKeyError> {
        let mut random = [0; 16];
        self.random.fill(&mut random).map_err(|_| TokenKeyError::NoRandomness)?;
        let id = uuid(random);
        let start = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let end = start.saturating_add(lifetime.as_secs());
        let audiences = if audiences.is_empty() { &self.audiences } else { audiences };

        let mut about = json!({
            "namespace": account.namespace,
            "serviceaccount": {"name": account.name, "uid": account.uid},
        });
        if let Some(secret) = account.secret {
            about["secret"] = json!({"name": secret.name, "uid": secret.uid});
        }
        let mut claims = json!({
            "iss": self.issuer,
            "sub": service_account_user(account.namespace, account.name),
            "aud": audiences,
            "iat": start,
            "nbf": start,
            "exp": end,
            "jti": id,
            "kubernetes.io": about,
        });
        if !account.plane.is_empty() {
            claims[PLANE_CLAIM] = account.plane.into();
        }
        let to_sign = jwt::to_sign(&json!({"alg": "ES256", "kid": self.kid}), &claims);
        let signature = self.pair.sign(&self.random, to_sign.as_bytes());
        let signature = signature.map_err(|_| TokenKeyError::NoRandomness)?;
        Ok(IssuedToken {
            token: jwt::signed(&to_sign, signature.as_ref()),
            expires: UNIX_EPOCH + Duration::from_secs(end),
            credential_id: format!("JTI={id}"),
        })
    }

    /// The public key, for `/openid/v1/jwks`.
    pub fn key_set(&self) -> Value {
        let point = self.pair.public_key().as_ref();
        let (x, y) = point.get(1..).unwrap_or_default().split_at(32.min(point.len().saturating_sub(1)));
        json!({"keys": [{
            "use": "sig", "kty": "EC", "kid": self.kid, "crv": "P-256", "alg": "ES256", "x": base64::url(x), "y": base64::url(y),
        }]})
    }

    /// The document at `/.well-known/openid-configuration`.
    pub fn discovery(&self, jwks_url: &str) -> Value {
        json!({
            "issuer": self.issuer,
            "jwks_uri": jwks_url,
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"],
        })
    }

    /// Whether a token is ours, of this plane, for one of `wanted`, and still good.
    pub(super) fn judge(
        &self,
        token: &str,
        plane: &str,
        wanted: &[String],
        accounts: &dyn ServiceAccounts,
        now: SystemTime,
    ) -> Verdict {
        let claims = match self.prove(token) {
            None => return Verdict::NotMine,
            Some(Err(reason)) => return Verdict::Bad(reason.to_owned()),
            Some(Ok(claims)) => claims,
        };
        match self.believe(Claims(&claims), plane, wanted, accounts, now) {
            Ok(proven) => Verdict::Good(proven),
            Err(reason) => Verdict::Bad(reason),
        }
    }

    /// What the token claims, if we have signed it; `None` if it does not say so.
    fn prove(&self, token: &str) -> Option<Result<Arc<Map<String, Value>>, &'static str>> {
        let hash = proved::hash(token);
        if let Some(claims) = self.proved.recall(&hash) {
            return Some(Ok(claims));
        }
        let token = Unproved::parse(token).filter(|token| token.issuer() == self.issuer)?;
        if token.kid.as_ref().is_some_and(|kid| *kid != self.kid) {
            return Some(Err("invalid signature, no keys found"));
        }
        match token.proved_by([&self.key]) {
            Some(claims) => Some(Ok(self.proved.remember(hash, claims))),
            None => Some(Err("service account token has an invalid signature")),
        }
    }

    fn believe(
        &self,
        claims: Claims<'_>,
        plane: &str,
        wanted: &[String],
        accounts: &dyn ServiceAccounts,
        now: SystemTime,
    ) -> Result<Proven, String> {
        let held = claims.audiences();
        let audiences: Vec<String> =
            wanted.iter().filter(|name| held.contains(&name.as_str())).cloned().collect();
        if audiences.is_empty() {
            let list = |names: &mut dyn Iterator<Item = &str>| names.map(quote).collect::<Vec<_>>().join(" ");
            let (held, wanted) =
                (list(&mut held.iter().copied()), list(&mut wanted.iter().map(String::as_str)));
            return Err(format!("token audiences [{held}] is invalid for the target audiences [{wanted}]"));
        }
        claims.timely(now, LEEWAY).map_err(|untimely| match untimely {
            Untimely::Expired => "service account token has expired",
            Untimely::NotYet => "service account token is not valid yet",
            Untimely::FromTheFuture => "service account token is issued in the future",
        })?;
        if claims.text(PLANE_CLAIM).unwrap_or("") != plane {
            return Err("service account token is for another control plane".to_owned());
        }
        let about = claims.get("kubernetes.io").unwrap_or(&Value::Null);
        let text = |at: &str| about.pointer(at).and_then(Value::as_str).unwrap_or("");
        let (namespace, name, uid) =
            (text("/namespace"), text("/serviceaccount/name"), text("/serviceaccount/uid"));
        match accounts.account_uid(plane, namespace, name) {
            None => return Err(format!("serviceaccounts {} not found", quote(name))),
            Some(found) if found != uid => {
                return Err(format!("service account UID ({found}) does not match claim ({uid})"));
            }
            Some(_) => {}
        }
        if about.get("secret").is_some()
            && accounts.secret_uid(plane, namespace, text("/secret/name")).as_deref()
                != Some(text("/secret/uid"))
        {
            return Err("service account token has been invalidated".to_owned());
        }
        // Objects that we never bind a token to.
        if about.get("pod").is_some() || about.get("node").is_some() {
            return Err("service account token has been invalidated".to_owned());
        }
        let mut identity = Identity {
            user: service_account_user(namespace, name).into(),
            uid: uid.into(),
            groups: service_account_groups(namespace).into_iter().map(Into::into).collect(),
            expires: claims.end(LEEWAY),
            ..Identity::default()
        };
        if let Some(id) = claims.text("jti") {
            identity.extra.insert(CREDENTIAL_ID.to_owned(), vec![format!("JTI={id}")]);
        }
        Ok(Proven { identity, audiences })
    }
}

impl std::fmt::Debug for ServiceAccountTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServiceAccountTokens").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

/// A random identifier of version 4.
fn uuid(mut bytes: [u8; 16]) -> String {
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let number = u128::from_be_bytes(bytes);
    let hex = format!("{number:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}
