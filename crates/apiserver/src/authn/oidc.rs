//! Tokens of external issuers: OpenID Connect, or any issuer that publishes its keys.

mod config;
mod keys;
mod mapping;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

pub use config::{Anonymous, AuthenticationConfig, ConfigError};

use super::jwt::{Claims, Untimely};
use super::{Fetch, HttpFetch, Proven, Verdict};
use crate::identity::Identity;
use config::IssuerConfig;
use keys::IssuerKeys;

/// How far the issuer's clock may be ahead of ours.
const LEEWAY: Duration = Duration::from_secs(60);

/// An issuer whose tokens are believed.
pub struct Issuer {
    config: IssuerConfig,
    keys: IssuerKeys,
}

impl Issuer {
    /// The issuers of a configuration, whose keys are fetched over HTTPS or read from files.
    pub fn all(config: &AuthenticationConfig) -> Result<Vec<Issuer>, ConfigError> {
        let issuers = config.issuers.iter().map(|issuer| {
            let fetch = HttpFetch::new(issuer.ca_pem.as_deref()).map_err(|error| ConfigError {
                field: "jwt[].issuer.certificateAuthority".into(),
                why: error.why,
            })?;
            Issuer::new(issuer.clone(), Arc::new(fetch))
        });
        issuers.collect()
    }

    /// The same, with every document taken from `fetch`.
    pub fn all_from(
        config: &AuthenticationConfig,
        fetch: &Arc<dyn Fetch>,
    ) -> Result<Vec<Issuer>, ConfigError> {
        config.issuers.iter().map(|issuer| Issuer::new(issuer.clone(), fetch.clone())).collect()
    }

    /// The URL by which its tokens name it.
    pub fn url(&self) -> &str {
        &self.config.url
    }

    fn new(config: IssuerConfig, fetch: Arc<dyn Fetch>) -> Result<Issuer, ConfigError> {
        let keys = match &config.jwks_file {
            Some(path) => IssuerKeys::from_file(path)?,
            None => IssuerKeys::published(config.url.clone(), config.discovery_url(), fetch),
        };
        Ok(Issuer { config, keys })
    }

    /// Whether a token is this issuer's, and good.
    pub(super) async fn judge(&self, token: &str, now: SystemTime) -> Verdict {
        let claims = match self.keys.prove(&self.config.url, token).await {
            None => return Verdict::NotMine,
            Some(Ok(claims)) => claims,
            Some(Err(why)) => return Verdict::Bad(format!("oidc: verify token: {why}")),
        };
        match self.believe(Claims(&claims), now) {
            Ok(proven) => Verdict::Good(proven),
            Err(why) => Verdict::Bad(format!("oidc: {why}")),
        }
    }

    fn believe(&self, claims: Claims<'_>, now: SystemTime) -> Result<Proven, String> {
        let held = claims.audiences();
        if !self.config.audiences.iter().any(|name| held.contains(&name.as_str())) {
            return Err(format!(
                "verify token: expected audience in {:?} got {held:?}",
                self.config.audiences
            ));
        }
        claims.timely(now, LEEWAY).map_err(|untimely| match untimely {
            Untimely::Expired => "verify token: token is expired",
            Untimely::NotYet => "verify token: current time before the nbf (not before) time",
            Untimely::FromTheFuture => "verify token: token is issued in the future",
        })?;
        let identity = mapping::identity(&self.config, claims)?;
        let identity = Identity { expires: claims.end(LEEWAY), ..identity };
        Ok(Proven { identity, audiences: Vec::new() })
    }
}

impl std::fmt::Debug for Issuer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Issuer").field("url", &self.config.url).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
