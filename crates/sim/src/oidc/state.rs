//! What an issuer remembers: codes, devices that wait, and what can be refreshed.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use krm::base64;
use ring::digest;
use serde_json::{Value, json};

use super::Person;
use super::form::{Form, encoded};
use super::keys::{SigningKey, random};

/// The grant of the device flow.
pub const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// What an issuer remembers.
pub struct State {
    url: String,
    key: SigningKey,
    person: Person,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    codes: HashMap<String, Code>,
    devices: HashMap<String, Device>,
    refresh: HashMap<String, Grant>,
    lifetime: Option<u64>,
    given_out: usize,
}

#[derive(Clone)]
struct Grant {
    client: String,
    nonce: String,
}

struct Code {
    grant: Grant,
    redirect: String,
    challenge: String,
}

struct Device {
    grant: Grant,
    user_code: String,
    decided: Option<bool>,
}

impl State {
    /// The state of a new issuer.
    pub fn new(url: String, person: Person) -> std::io::Result<State> {
        Ok(State { url, key: SigningKey::new()?, person, kept: Mutex::default() })
    }

    /// The issuer's name.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The key that tokens are checked with.
    pub fn public_key(&self) -> Value {
        self.key.public()
    }

    /// See [`super::Issuer::tokens_last`].
    pub fn set_lifetime(&self, seconds: u64) {
        self.kept().lifetime = Some(seconds);
    }

    /// See [`super::Issuer::forget_all`].
    pub fn forget_all(&self) {
        let mut kept = self.kept();
        kept.codes.clear();
        kept.devices.clear();
        kept.refresh.clear();
    }

    /// How many tokens were given out.
    pub fn given_out(&self) -> usize {
        self.kept().given_out
    }

    /// Begins the code flow: whoever asks is logged in already, and is sent back with a code.
    pub fn authorize(&self, query: &Form) -> Result<String, &'static str> {
        let redirect = query.get("redirect_uri");
        if !redirect.starts_with("http://127.0.0.1:") && !redirect.starts_with("http://localhost:") {
            return Err("invalid_request");
        }
        let back = |fields: &[(&str, &str)]| {
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
            Ok(format!("{redirect}?{}", fields.join("&")))
        };
        let state = query.get("state");
        if query.get("response_type") != "code" {
            return back(&[("error", "unsupported_response_type"), ("state", state)]);
        }
        if query.get("code_challenge_method") != "S256" || query.get("code_challenge").is_empty() {
            return back(&[("error", "invalid_request"), ("state", state)]);
        }
        let code = random();
        let grant = Grant { client: query.get("client_id").to_owned(), nonce: query.get("nonce").to_owned() };
        let kept =
            Code { grant, redirect: redirect.to_owned(), challenge: query.get("code_challenge").to_owned() };
        self.kept().codes.insert(code.clone(), kept);
        back(&[("code", &code), ("state", state)])
    }

    /// Begins the device flow.
    pub fn begin_device(&self, form: &Form) -> Value {
        let (device_code, user_code) = (random(), user_code());
        let grant = Grant { client: form.get("client_id").to_owned(), nonce: String::new() };
        let device = Device { grant, user_code: user_code.clone(), decided: None };
        self.kept().devices.insert(device_code.clone(), device);
        json!({
            "device_code": device_code, "user_code": user_code, "expires_in": 600, "interval": 1,
            "verification_uri": format!("{}/device", self.url),
            "verification_uri_complete": format!("{}/device?user_code={}", self.url, encoded(&user_code)),
        })
    }

    /// Somebody confirms a device, or turns it down.
    pub fn decide(&self, user_code: &str, yes: bool) -> bool {
        let mut kept = self.kept();
        let device =
            kept.devices.values_mut().find(|device| device.user_code == user_code && !user_code.is_empty());
        device.is_some_and(|device| {
            device.decided = Some(yes);
            true
        })
    }

    /// Gives tokens for a code, a device or a refresh token.
    pub fn token(&self, form: &Form) -> Result<Value, &'static str> {
        let grant = match form.get("grant_type") {
            "authorization_code" => self.of_code(form)?,
            "refresh_token" => {
                let found = self.kept().refresh.remove(form.get("refresh_token"));
                found.filter(|grant| grant.client == form.get("client_id")).ok_or("invalid_grant")?
            }
            DEVICE_GRANT => self.of_device(form)?,
            _ => return Err("unsupported_grant_type"),
        };
        Ok(self.tokens(grant))
    }

    fn of_code(&self, form: &Form) -> Result<Grant, &'static str> {
        let code = self.kept().codes.remove(form.get("code")).ok_or("invalid_grant")?;
        let digest = digest::digest(&digest::SHA256, form.get("code_verifier").as_bytes());
        let is_same = base64::url(digest.as_ref()) == code.challenge
            && code.redirect == form.get("redirect_uri")
            && code.grant.client == form.get("client_id");
        if is_same { Ok(code.grant) } else { Err("invalid_grant") }
    }

    fn of_device(&self, form: &Form) -> Result<Grant, &'static str> {
        let mut kept = self.kept();
        let device = kept.devices.get(form.get("device_code")).ok_or("expired_token")?;
        match device.decided {
            None => Err("authorization_pending"),
            Some(false) => Err("access_denied"),
            Some(true) => {
                let device = kept.devices.remove(form.get("device_code")).ok_or("expired_token")?;
                Ok(device.grant)
            }
        }
    }

    fn tokens(&self, grant: Grant) -> Value {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut kept = self.kept();
        let lifetime = kept.lifetime.unwrap_or(3600);
        kept.given_out += 1;
        let mut claims = json!({
            "iss": self.url, "aud": grant.client, "iat": now, "exp": now + lifetime,
            "sub": self.person.subject, "email": self.person.email, "email_verified": true, "groups": self.person.groups,
        });
        if !grant.nonce.is_empty() {
            claims["nonce"] = grant.nonce.as_str().into();
        }
        let refresh = random();
        kept.refresh.insert(refresh.clone(), grant);
        json!({
            "id_token": self.key.token(&claims), "access_token": random(), "refresh_token": refresh,
            "token_type": "Bearer", "expires_in": lifetime,
        })
    }

    /// Takes a refresh token back.
    pub fn revoke(&self, token: &str) {
        self.kept().refresh.remove(token);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A code that people type: eight letters that can't be mistaken for others.
fn user_code() -> String {
    const LETTERS: &[u8] = b"BCDFGHJKLMNPQRSTVWXZ";
    let text = random();
    let letters: String =
        text.bytes().take(8).map(|byte| char::from(LETTERS[usize::from(byte) % LETTERS.len()])).collect();
    format!("{}-{}", &letters[..4], &letters[4..])
}
