//! An issuer as its discovery document describes it, and requests to it.

use std::path::Path;

use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::Value;
use zeroize::Zeroizing;

use crate::connect::{Connector, Protocols};
use crate::error::{Error, Result};
use crate::kubeconfig::Access;

/// Answers are no longer than this.
const LONGEST: usize = 1 << 20;

/// An issuer, and what this program is called there.
pub struct Issuer {
    /// Its URL, without a slash at the end.
    pub url: String,
    /// The OAuth client that this program is there.
    pub client: String,
    secret: Option<Zeroizing<String>>,
    authority: Option<Vec<u8>>,
    document: Value,
}

/// What an issuer gave. Never shown.
#[derive(Clone)]
pub struct Tokens {
    /// The ID token.
    pub id: Zeroizing<String>,
    /// The refresh token, if there is one.
    pub refresh: Option<Zeroizing<String>>,
}

impl Tokens {
    /// What a claim of the token says. Nobody is believed by this: the server checks the token itself.
    pub fn claim(&self, name: &str) -> Value {
        let part = self.id.split('.').nth(1).unwrap_or_default();
        let claims = krm::base64::from_url(part).and_then(|json| serde_json::from_slice::<Value>(&json).ok());
        claims.map(|claims| claims[name].clone()).unwrap_or_default()
    }

    /// Whose it is, for people.
    pub fn name(&self) -> String {
        let named = ["email", "preferred_username", "sub"].map(|claim| self.claim(claim));
        named.iter().find_map(|name| name.as_str()).unwrap_or("somebody").to_owned()
    }
}

impl Issuer {
    /// Reads what an issuer says about itself.
    pub async fn discover(
        url: &str,
        client: &str,
        secret: Option<String>,
        authority: Option<&Path>,
    ) -> Result<Issuer> {
        let authority = match authority {
            None => None,
            Some(file) => Some(
                std::fs::read(file)
                    .map_err(|error| Error::Config(format!("reading {}: {error}", file.display())))?,
            ),
        };
        let url = url.trim_end_matches('/').to_owned();
        let secret = secret.map(Zeroizing::new);
        let mut issuer =
            Issuer { url: url.clone(), client: client.to_owned(), secret, authority, document: Value::Null };
        let (code, document) = issuer.ask(&format!("{url}/.well-known/openid-configuration"), None).await?;
        let named = document["issuer"].as_str().unwrap_or_default();
        if code != 200 || named.trim_end_matches('/') != url {
            let why = match code {
                200 => format!("its discovery document is of {named:?}"),
                code => format!("its discovery document answers {code}"),
            };
            return Err(Error::Config(format!("{url} is not an OpenID Connect issuer: {why}")));
        }
        issuer.document = document;
        Ok(issuer)
    }

    /// The address of something the issuer does.
    pub fn endpoint(&self, name: &str) -> Result<&str> {
        let found = self.document[name].as_str();
        found.ok_or_else(|| Error::Config(format!("{} has no {name}", self.url)))
    }

    /// Asks for tokens.
    pub async fn tokens(&self, form: &[(&str, &str)]) -> Result<std::result::Result<Tokens, String>> {
        let (code, answer) = self.post("token_endpoint", form).await?;
        if code != 200 {
            return Ok(Err(answer["error"].as_str().unwrap_or("it said no more").to_owned()));
        }
        let text = |field: &str| answer[field].as_str().map(|text| Zeroizing::new(text.to_owned()));
        let id = text("id_token")
            .ok_or_else(|| Error::Config(format!("{}: the response has no id_token", self.url)))?;
        Ok(Ok(Tokens { id, refresh: text("refresh_token") }))
    }

    /// Sends a form to an endpoint.
    pub async fn post(&self, endpoint: &str, form: &[(&str, &str)]) -> Result<(u16, Value)> {
        let mut fields = vec![format!("client_id={}", encoded(&self.client))];
        fields.extend(self.secret.iter().map(|secret| format!("client_secret={}", encoded(secret))));
        fields.extend(form.iter().map(|(name, value)| format!("{name}={}", encoded(value))));
        self.ask(self.endpoint(endpoint)?, Some(fields.join("&"))).await
    }

    async fn ask(&self, url: &str, form: Option<String>) -> Result<(u16, Value)> {
        let failed = |why: &dyn std::fmt::Display| Error::Config(format!("asking {url}: {why}"));
        let uri: http::Uri = url.parse().map_err(|_| failed(&"it is no address"))?;
        let host = uri.host().unwrap_or_default();
        let is_here = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        if uri.scheme_str() != Some("https") && !is_here {
            return Err(failed(&"tokens are sent over https alone"));
        }
        let origin = format!(
            "{}://{}",
            uri.scheme_str().unwrap_or("https"),
            uri.authority().map_or("", |at| at.as_str())
        );
        let access = Access { authority: self.authority.clone(), ..Access::anonymous(&origin) };
        let (connector, _) = Connector::new(&access, Protocols::Http1)?;
        let mut sender = connector.connect().await?;
        let request = http::Request::builder()
            .method(if form.is_some() { "POST" } else { "GET" })
            .uri(sender.target(connector.authority(), uri.path_and_query().map_or("/", |path| path.as_str())))
            .header("accept", "application/json")
            .header("content-type", "application/x-www-form-urlencoded");
        let request = request
            .body(crate::body::whole(Bytes::from(form.unwrap_or_default())))
            .map_err(|error| failed(&error))?;
        let response = sender.send(request, connector.authority()).await.map_err(|error| failed(&error))?;
        let code = response.status().as_u16();
        let body = http_body_util::Limited::new(response.into_body(), LONGEST).collect().await;
        let body = body.map_err(|error| failed(&error))?.to_bytes();
        Ok((code, serde_json::from_slice(&body).unwrap_or_default()))
    }
}

/// A value as forms and queries have it.
pub fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut made, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                made.push(char::from(byte))
            }
            other => made.push_str(&format!("%{other:02X}")),
        }
        made
    })
}
