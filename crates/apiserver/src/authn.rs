//! Authentication: client certificates, bearer tokens, anonymous requests.

mod bearer;
pub(crate) mod fetch;
mod impersonation;
mod jwk;
mod jwt;
mod oidc;
mod proved;
mod public_key;
mod service_account;
mod service_account_token;
mod sessions;
mod signed_by_account;
mod token_file;

use std::sync::Arc;
use std::time::SystemTime;

use http::HeaderMap;

pub use bearer::strip_credentials;
pub use fetch::{Fetch, FetchError, HttpFetch};
pub use impersonation::{Impersonated, Impersonation};
pub use oidc::{Anonymous, AuthenticationConfig, ConfigError, Issuer};
pub use public_key::PublicKey;
pub use service_account::{
    service_account, service_account_groups, service_account_of, service_account_user,
};
pub use service_account_token::{
    Account, BoundSecret, IssuedToken, ServiceAccountTokens, ServiceAccounts, TokenKeyError,
};
pub use sessions::Sessions;
pub use signed_by_account::{Signer, Signers};
pub use token_file::{TokenFile, TokenFileError};

use crate::identity::{AUTHENTICATED, Identity, UNAUTHENTICATED};
use crate::tls::Peer;

/// The key under which an identity says which certificate or token proved it.
pub const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// What a request presents.
#[derive(Debug, Clone, Copy)]
pub struct Presented<'a> {
    /// Its headers.
    pub headers: &'a HeaderMap,
    /// The other end of its connection.
    pub peer: &'a Peer,
    /// Its path, below the plane's.
    pub path: &'a str,
    /// The plane it is for; empty for the root.
    pub plane: &'a str,
}

/// A 401. The reason is for our log: whoever failed is told nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Unauthorized {
    /// Why; no part of a token is in it.
    pub reason: String,
}

/// Somebody whose token was believed.
#[derive(Debug, Clone, PartialEq)]
pub struct Proven {
    /// Who.
    pub identity: Identity,
    /// For whom the token is good, of those who were asked for.
    pub audiences: Vec<String>,
}

/// What one kind of token check says.
pub(crate) enum Verdict {
    /// It is no token of this kind.
    NotMine,
    /// It is one, and good.
    Good(Proven),
    /// It is one, and not good.
    Bad(String),
}

/// Finds out who makes a request.
#[derive(Default)]
pub struct Authenticator {
    tokens: Option<TokenFile>,
    service_accounts: Option<(Arc<ServiceAccountTokens>, Arc<dyn ServiceAccounts>)>,
    self_signed: Option<signed_by_account::SelfSigned>,
    issuers: Vec<Issuer>,
    anonymous: Anonymous,
    audiences: Vec<String>,
}

impl Authenticator {
    /// One that believes client certificates, and takes everybody else for anonymous. `audiences` are the names
    /// that tokens for this server carry.
    pub fn new(audiences: Vec<String>) -> Authenticator {
        Authenticator { audiences, ..Authenticator::default() }
    }

    /// Believes the tokens in a file too.
    pub fn with_token_file(mut self, tokens: TokenFile) -> Authenticator {
        self.tokens = Some(tokens);
        self
    }

    /// Believes service account tokens too.
    pub fn with_service_accounts(
        mut self,
        tokens: Arc<ServiceAccountTokens>,
        accounts: Arc<dyn ServiceAccounts>,
    ) -> Authenticator {
        self.service_accounts = Some((tokens, accounts));
        self
    }

    /// Believes the tokens of those who sign for themselves too.
    pub fn with_signers(mut self, signers: Arc<dyn Signers>) -> Authenticator {
        self.self_signed = Some(signed_by_account::SelfSigned::new(signers));
        self
    }

    /// Believes the tokens of other issuers too.
    pub fn with_issuers(mut self, issuers: Vec<Issuer>) -> Authenticator {
        self.issuers = issuers;
        self
    }

    /// Says which requests may come without a proof.
    pub fn with_anonymous(mut self, anonymous: Anonymous) -> Authenticator {
        self.anonymous = anonymous;
        self
    }

    /// Who makes the request. A proof that is wrong is refused, not taken for none.
    pub async fn authenticate(&self, presented: &Presented<'_>) -> Result<Identity, Unauthorized> {
        self.authenticate_at(presented, SystemTime::now()).await
    }

    pub(crate) async fn authenticate_at(
        &self,
        presented: &Presented<'_>,
        now: SystemTime,
    ) -> Result<Identity, Unauthorized> {
        let mut reasons = Vec::new();
        match presented.peer {
            Peer::Known { identity, until } if *until > now => {
                let identity = Identity { expires: Some(*until), ..Identity::clone(identity) };
                return Ok(with_authenticated(identity));
            }
            Peer::Known { .. } => reasons.push("the client certificate has expired".to_owned()),
            Peer::Refused { reason } => reasons.push(reason.to_string()),
            Peer::Unknown => {}
        }
        match bearer::token(presented.headers) {
            Ok(None) => {}
            Ok(Some(token)) => match self.token_at(&token, presented.plane, &self.audiences, now).await {
                Ok(proven) => return Ok(proven.identity),
                Err(reason) => reasons.push(reason),
            },
            Err(reason) => reasons.push(reason.to_owned()),
        }
        if !reasons.is_empty() {
            return Err(Unauthorized { reason: reasons.join("; ") });
        }
        match self.anonymous.may_ask_for(presented.path) {
            true => Ok(Identity::anonymous()),
            false => Err(Unauthorized { reason: "no credentials were presented".to_owned() }),
        }
    }

    /// Whose token this is, for whoever reviews it. `audiences` may be empty: then it is for this server.
    pub async fn review(&self, token: &str, plane: &str, audiences: &[String]) -> Result<Proven, String> {
        let wanted = if audiences.is_empty() { &self.audiences } else { audiences };
        self.token_at(token, plane, wanted, SystemTime::now()).await
    }

    pub(crate) async fn token_at(
        &self,
        token: &str,
        plane: &str,
        audiences: &[String],
        now: SystemTime,
    ) -> Result<Proven, String> {
        let mut reasons = Vec::new();
        match self.local_token(token, plane, audiences, now) {
            Verdict::Good(proven) => return Ok(proven),
            Verdict::Bad(reason) => reasons.push(reason),
            Verdict::NotMine => {}
        }
        // Tokens of others are good for this server, whatever else they are good for.
        let ours: Vec<String> =
            audiences.iter().filter(|name| self.audiences.contains(name)).cloned().collect();
        if !ours.is_empty() || self.audiences.is_empty() {
            for issuer in &self.issuers {
                match issuer.judge(token, now).await {
                    Verdict::Good(proven) if self.is_somebody_elses(&proven.identity) => {
                        reasons.push("oidc: the user name is reserved for machine accounts".to_owned());
                    }
                    Verdict::Good(proven) => return Ok(Proven { audiences: ours, ..authenticated(proven) }),
                    Verdict::Bad(reason) => reasons.push(reason),
                    Verdict::NotMine => {}
                }
            }
        }
        Err(match reasons.as_slice() {
            [] => "invalid bearer token".to_owned(),
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        })
    }

    fn local_token(&self, token: &str, plane: &str, audiences: &[String], now: SystemTime) -> Verdict {
        let ours: Vec<String> =
            audiences.iter().filter(|name| self.audiences.contains(name)).cloned().collect();
        if let Some(file) = &self.tokens
            && (!ours.is_empty() || self.audiences.is_empty())
            && let Some(identity) = file.find(token)
        {
            return Verdict::Good(authenticated(Proven { identity, audiences: ours }));
        }
        let of_account = match &self.service_accounts {
            Some((tokens, accounts)) => tokens.judge(token, plane, audiences, accounts.as_ref(), now),
            None => Verdict::NotMine,
        };
        let verdict = match (of_account, &self.self_signed) {
            (Verdict::NotMine, Some(self_signed)) => self_signed.judge(token, plane, audiences, now),
            (verdict, _) => verdict,
        };
        match verdict {
            Verdict::Good(proven) => Verdict::Good(authenticated(proven)),
            other => other,
        }
    }

    /// Whether an issuer gives somebody a name that only those have who sign for themselves.
    fn is_somebody_elses(&self, identity: &Identity) -> bool {
        self.self_signed.as_ref().is_some_and(|signed| signed.are_called(&identity.user))
    }
}

impl std::fmt::Debug for Authenticator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authenticator").field("audiences", &self.audiences).finish_non_exhaustive()
    }
}

fn authenticated(proven: Proven) -> Proven {
    Proven { identity: with_authenticated(proven.identity), ..proven }
}

/// Adds the group of the authenticated, unless the proof itself says who is in which.
fn with_authenticated(mut identity: Identity) -> Identity {
    if !identity.is_anonymous() && !identity.is_in(AUTHENTICATED) && !identity.is_in(UNAUTHENTICATED) {
        identity.groups.push(AUTHENTICATED.into());
    }
    identity
}

#[cfg(test)]
mod tests;
