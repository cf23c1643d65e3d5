//! Tokens of Keystone (Identity API v3), by password or application credential.

use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use crate::adapter::{Fault, FaultKind};
use crate::adapters::{timeout, verify};
use crate::http::{Credentials, Http, Verify};
use crate::kinds::source::SourceSpec;

/// How long a token is used; Keystone's own default is an hour.
const LASTS: Duration = Duration::from_secs(20 * 60);

/// A Keystone, and who logs in there.
pub struct Keystone {
    http: Http,
    request: Zeroizing<String>,
    token: Mutex<Option<(Instant, Zeroizing<String>)>>,
}

impl Keystone {
    /// The Keystone at a URL.
    pub fn new(url: &str, spec: &SourceSpec, credentials: &Credentials) -> Result<Keystone, Fault> {
        let url = url.trim_end_matches('/').trim_end_matches("/v3");
        let http = Http::new(url, credentials, verify(spec, Verify::Name), timeout(spec))?;
        let get = |key: &str| credentials.get(key);
        let option = |name: &str, usual: &str| spec.option(name).unwrap_or(usual).to_owned();
        let auth = match (get("application-credential-id"), get("application-credential-secret")) {
            (Some(id), Some(secret)) => json!({"identity": {"methods": ["application_credential"],
                "application_credential": {"id": id, "secret": secret}}}),
            _ => {
                let (Some(user), Some(password)) = (get("username"), get("password")) else {
                    let why = "Keystone needs username and password, or application-credential-id and \
                               application-credential-secret, in the credentials";
                    return Err(Fault::new(FaultKind::Config, why));
                };
                let domain = option("userDomain", "Default");
                json!({
                    "identity": {"methods": ["password"], "password": {"user": {
                        "name": user, "password": password, "domain": {"name": domain}}}},
                    "scope": {"project": {"name": option("project", "admin"),
                        "domain": {"name": option("projectDomain", "Default")}}},
                })
            }
        };
        let request = Zeroizing::new(json!({ "auth": auth }).to_string());
        Ok(Keystone { http, request, token: Mutex::default() })
    }

    /// A token; a new one if it must be.
    pub async fn token(&self, must_be_new: bool) -> Result<Zeroizing<String>, Fault> {
        let mut kept = self.token.lock().await;
        if let Some((made, token)) = kept.as_ref()
            && !must_be_new
            && made.elapsed() < LASTS
        {
            return Ok(token.clone());
        }
        let request: Value = serde_json::from_str(&self.request).unwrap_or_default();
        let answer = self.http.send(Method::POST, "/v3/auth/tokens", Some(&request)).await?;
        self.http.read(&Method::POST, "/v3/auth/tokens", &answer)?;
        let token = answer.headers.get("x-subject-token").and_then(|token| token.to_str().ok());
        let token = token.ok_or_else(|| Fault::shape("Keystone gave no X-Subject-Token"))?;
        let token = Zeroizing::new(token.to_owned());
        *kept = Some((Instant::now(), token.clone()));
        Ok(token)
    }
}
