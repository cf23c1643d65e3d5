//! The keys of an issuer: fetched on demand, and refreshed when a token names an unknown key.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use super::ConfigError;
use crate::authn::Fetch;
use crate::authn::jwk::{Key, keys_from_json};
use crate::authn::jwt::Unproved;
use crate::authn::proved::{self, Proved};

/// Tokens with made-up key names do not make us ask more often than this.
const ASK_AT_MOST_EVERY: Duration = Duration::from_secs(10);
/// Keys that the issuer has withdrawn are believed no longer than this.
const KEEP_FOR: Duration = Duration::from_secs(3600);

/// The keys of an issuer.
pub(super) struct IssuerKeys {
    known: ArcSwap<KeySet>,
    source: Option<Source>,
}

#[derive(Default)]
struct KeySet {
    keys: Vec<Key>,
    since: Option<Instant>,
    /// What these keys have verified; it goes when they go.
    proved: Proved,
}

struct Source {
    issuer: String,
    discovery_url: String,
    fetch: Arc<dyn Fetch>,
    asked: Mutex<Option<Instant>>,
}

impl IssuerKeys {
    /// Keys in a file, which stay.
    pub fn from_file(path: &Path) -> Result<IssuerKeys, ConfigError> {
        let wrong = |why: String| ConfigError { field: "jwt[].issuer.jwksFile".to_owned(), why };
        let text = std::fs::read(path).map_err(|error| wrong(format!("{}: {error}", path.display())))?;
        let keys = keys_from_json(&text).filter(|keys| !keys.is_empty());
        let keys = keys.ok_or_else(|| wrong(format!("{} contains no usable keys", path.display())))?;
        Ok(IssuerKeys { known: ArcSwap::from_pointee(KeySet { keys, ..KeySet::default() }), source: None })
    }

    /// Keys that the issuer publishes.
    pub fn published(issuer: String, discovery_url: String, fetch: Arc<dyn Fetch>) -> IssuerKeys {
        let source = Source { issuer, discovery_url, fetch, asked: Mutex::new(None) };
        IssuerKeys { known: ArcSwap::from_pointee(KeySet::default()), source: Some(source) }
    }

    /// What a token of the issuer claims, if a key of the issuer signed it.
    pub async fn prove(&self, issuer: &str, token: &str) -> Option<Result<Arc<Map<String, Value>>, String>> {
        let known = self.known.load_full();
        let old = known.since.is_some_and(|since| since.elapsed() > KEEP_FOR);
        let hash = proved::hash(token);
        if !old && let Some(claims) = known.proved.recall(&hash) {
            return Some(Ok(claims));
        }
        let token = Unproved::parse(token).filter(|token| token.issuer() == issuer)?;
        Some(self.verify(token, hash, known, old).await)
    }

    async fn verify(
        &self,
        token: Unproved<'_>,
        hash: [u8; 32],
        known: Arc<KeySet>,
        old: bool,
    ) -> Result<Arc<Map<String, Value>>, String> {
        let may_be_known = names_one_of(&token, &known.keys) || self.source.is_none();
        if !old && may_be_known {
            return known.proved_by_one(token, hash);
        }
        // A token that names no key may be of any, also of a new one.
        if !old
            && token.kid.is_none()
            && let Ok(claims) = known.proved_by_one(token.clone(), hash)
        {
            return Ok(claims);
        }
        let known = match self.ask(&known).await {
            Ok(fresh) => fresh,
            // An issuer that is down for a while does not lock out everybody at once.
            Err(error) if old => {
                tracing::warn!(%error, "failed to refresh the keys of an OIDC issuer");
                known
            }
            Err(error) => return Err(error),
        };
        known.proved_by_one(token, hash)
    }

    #[cfg(test)]
    pub async fn forget_when_asked(&self) {
        if let Some(source) = &self.source {
            *source.asked.lock().await = None;
        }
    }

    /// Asks the issuer, unless somebody else has done so since `seen` or a moment ago.
    async fn ask(&self, seen: &Arc<KeySet>) -> Result<Arc<KeySet>, String> {
        let Some(source) = &self.source else { return Ok(seen.clone()) };
        let mut asked = source.asked.lock().await;
        let now_known = self.known.load_full();
        let too_soon = asked.is_some_and(|at| at.elapsed() < ASK_AT_MOST_EVERY);
        if too_soon || !Arc::ptr_eq(&now_known, seen) {
            return match now_known.since {
                Some(_) => Ok(now_known),
                None => Err("the keys of the issuer could not be fetched".to_owned()),
            };
        }
        *asked = Some(Instant::now());
        let keys = source.keys().await?;
        let fresh = Arc::new(KeySet { keys, since: Some(Instant::now()), ..KeySet::default() });
        self.known.store(fresh.clone());
        Ok(fresh)
    }
}

impl Source {
    async fn keys(&self) -> Result<Vec<Key>, String> {
        let document = self.fetch.get(&self.discovery_url).await.map_err(|error| error.to_string())?;
        let document: Value = serde_json::from_slice(&document)
            .map_err(|_| format!("{} is not valid JSON", self.discovery_url))?;
        let text = |field: &str| document.get(field).and_then(Value::as_str).unwrap_or("");
        if text("issuer") != self.issuer {
            return Err(format!("{} has an issuer other than {}", self.discovery_url, self.issuer));
        }
        let url = text("jwks_uri");
        let set = self.fetch.get(url).await.map_err(|error| error.to_string())?;
        keys_from_json(&set).ok_or_else(|| format!("{url} is not a JSON Web Key Set"))
    }
}

impl KeySet {
    /// Tries the key that the token names, or every key when it names none.
    fn proved_by_one(&self, token: Unproved<'_>, hash: [u8; 32]) -> Result<Arc<Map<String, Value>>, String> {
        let kid = token.kid.clone();
        let fits = |key: &&Key| kid.is_none() || key.kid.is_none() || key.kid == kid;
        let claims = token.proved_by(self.keys.iter().filter(fits));
        let claims = claims.ok_or_else(|| "failed to verify id token signature".to_owned())?;
        Ok(self.proved.remember(hash, claims))
    }
}

fn names_one_of(token: &Unproved<'_>, keys: &[Key]) -> bool {
    token.kid.is_some() && keys.iter().any(|key| key.kid == token.kid)
}
