//! The trusted issuers, from Kubernetes' `AuthenticationConfiguration`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

/// What a server believes besides its own tokens.
///
/// The part of Kubernetes' `AuthenticationConfiguration` that needs no CEL, and `issuer.jwksFile` for an issuer whose
/// keys are in a file. What is not understood is refused: a rule that is overlooked lets somebody in.
#[derive(Debug, Clone, Default)]
pub struct AuthenticationConfig {
    pub(super) issuers: Vec<IssuerConfig>,
    /// Who may come without a proof.
    pub anonymous: Anonymous,
}

/// Who may come without a proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anonymous {
    /// Whether anybody may.
    pub enabled: bool,
    /// For which paths; none for all.
    pub paths: BTreeSet<String>,
}

impl Default for Anonymous {
    fn default() -> Anonymous {
        Anonymous { enabled: true, paths: BTreeSet::new() }
    }
}

impl Anonymous {
    pub(crate) fn may_ask_for(&self, path: &str) -> bool {
        self.enabled && (self.paths.is_empty() || self.paths.contains(path))
    }
}

/// What is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("authentication configuration: {field}: {why}")]
pub struct ConfigError {
    /// Where.
    pub field: String,
    /// What.
    pub why: String,
}

/// One issuer.
#[derive(Debug, Clone)]
pub(super) struct IssuerConfig {
    pub url: String,
    discovery: Option<String>,
    pub ca_pem: Option<String>,
    pub jwks_file: Option<PathBuf>,
    pub audiences: Vec<String>,
    pub username: Claim,
    pub groups: Option<Claim>,
    pub uid: Option<String>,
    /// Claims and the values they must have.
    pub required: Vec<(String, String)>,
}

/// A claim, and what is put before it so that it cannot be mistaken for somebody of ours.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Claim {
    pub claim: String,
    pub prefix: Option<String>,
}

impl Claim {
    pub fn prefixed(&self, value: &str) -> String {
        format!("{}{value}", self.prefix.as_deref().unwrap_or(""))
    }
}

impl IssuerConfig {
    pub fn discovery_url(&self) -> String {
        let default = || format!("{}/.well-known/openid-configuration", self.url.trim_end_matches('/'));
        self.discovery.clone().unwrap_or_else(default)
    }
}

impl AuthenticationConfig {
    /// Reads a configuration of version `v1`, `v1beta1` or `v1alpha1`.
    pub fn from_json(value: &Value) -> Result<AuthenticationConfig, ConfigError> {
        let written: Written = serde_json::from_value(value.clone()).map_err(|why| wrong("", why))?;
        if written.kind != "AuthenticationConfiguration" {
            return Err(wrong("kind", "must be AuthenticationConfiguration"));
        }
        let versions =
            ["v1", "v1beta1", "v1alpha1"].map(|version| format!("apiserver.config.k8s.io/{version}"));
        if !versions.contains(&written.api_version) {
            return Err(wrong("apiVersion", format!("must be one of {}", versions.join(", "))));
        }
        let mut issuers: Vec<IssuerConfig> = Vec::new();
        for (index, jwt) in written.jwt.into_iter().enumerate() {
            let issuer =
                jwt.checked().map_err(|error| wrong(&format!("jwt[{index}].{}", error.field), error.why))?;
            if issuers.iter().any(|other| other.url == issuer.url) {
                return Err(wrong(&format!("jwt[{index}].issuer.url"), "another issuer has this URL"));
            }
            issuers.push(issuer);
        }
        let anonymous = written.anonymous.map(|anonymous| Anonymous {
            enabled: anonymous.enabled,
            paths: anonymous.conditions.into_iter().map(|condition| condition.path).collect(),
        });
        Ok(AuthenticationConfig { issuers, anonymous: anonymous.unwrap_or_default() })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    api_version: String,
    kind: String,
    #[serde(default)]
    jwt: Vec<WrittenJwt>,
    anonymous: Option<WrittenAnonymous>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAnonymous {
    enabled: bool,
    #[serde(default)]
    conditions: Vec<WrittenCondition>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCondition {
    path: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenJwt {
    issuer: WrittenIssuer,
    #[serde(default)]
    claim_validation_rules: Vec<WrittenRule>,
    claim_mappings: WrittenMappings,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenIssuer {
    url: String,
    #[serde(rename = "discoveryURL")]
    discovery_url: Option<String>,
    certificate_authority: Option<String>,
    jwks_file: Option<PathBuf>,
    audiences: Vec<String>,
    audience_match_policy: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenRule {
    claim: String,
    required_value: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenMappings {
    username: Claim,
    groups: Option<Claim>,
    uid: Option<WrittenUid>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenUid {
    claim: String,
}

impl WrittenJwt {
    fn checked(self) -> Result<IssuerConfig, ConfigError> {
        let issuer = self.issuer;
        check_url("issuer.url", &issuer.url, issuer.jwks_file.is_some())?;
        if let Some(url) = &issuer.discovery_url {
            check_url("issuer.discoveryURL", url, false)?;
        }
        if issuer.audiences.is_empty() || issuer.audiences.iter().any(String::is_empty) {
            return Err(wrong(
                "issuer.audiences",
                "at least one audience is required, and none may be empty",
            ));
        }
        if issuer.audience_match_policy.is_some_and(|policy| policy != "MatchAny") {
            return Err(wrong("issuer.audienceMatchPolicy", "must be MatchAny"));
        }
        let mappings = self.claim_mappings;
        for (field, claim) in [("username", Some(&mappings.username)), ("groups", mappings.groups.as_ref())] {
            let Some(claim) = claim else { continue };
            if claim.claim.is_empty() {
                return Err(wrong(&format!("claimMappings.{field}.claim"), "must not be empty"));
            }
            if claim.prefix.is_none() {
                let why = "is required if claim is set; use \"\" for no prefix";
                return Err(wrong(&format!("claimMappings.{field}.prefix"), why));
            }
        }
        Ok(IssuerConfig {
            url: issuer.url,
            discovery: issuer.discovery_url,
            ca_pem: issuer.certificate_authority,
            jwks_file: issuer.jwks_file,
            audiences: issuer.audiences,
            username: mappings.username,
            groups: mappings.groups,
            uid: mappings.uid.map(|uid| uid.claim),
            required: self
                .claim_validation_rules
                .into_iter()
                .map(|rule| (rule.claim, rule.required_value))
                .collect(),
        })
    }
}

/// An issuer that is asked for its keys must be the one it says it is.
fn check_url(field: &str, url: &str, never_asked: bool) -> Result<(), ConfigError> {
    let uri: http::Uri = url.parse().map_err(|error| wrong(field, error))?;
    let loopback = ["127.0.0.1", "localhost", "[::1]"].contains(&uri.host().unwrap_or(""));
    match uri.scheme_str() {
        _ if uri.host().is_none() || uri.query().is_some() => {
            Err(wrong(field, "must be a URL without a query"))
        }
        Some("https") => Ok(()),
        Some("http") if loopback || never_asked => Ok(()),
        _ => Err(wrong(field, "must be an https URL")),
    }
}

fn wrong(field: &str, why: impl std::fmt::Display) -> ConfigError {
    let field = if field.is_empty() { "file" } else { field };
    ConfigError { field: field.to_owned(), why: why.to_string() }
}
