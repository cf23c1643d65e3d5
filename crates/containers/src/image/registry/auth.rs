//! Logging in to a registry: Basic, or a token from the server that the registry names.

use http::{HeaderMap, HeaderValue, Uri};
use http_body_util::{BodyExt, Limited};
use serde::Deserialize;

use super::transport::{Failed, Transport};
use crate::image::digest::shortened;
use crate::spec::Login;

/// The largest answer of a token server, in bytes.
const LARGEST_TOKEN: usize = 64 << 10;

/// What a registry is shown.
pub(super) struct Authorization {
    login: Option<Login>,
    header: Option<HeaderValue>,
    is_answered: bool,
}

impl Authorization {
    pub(super) fn new(login: Option<Login>) -> Self {
        let header = match &login {
            Some(Login::Bearer { token }) => sensitive(&[b"Bearer ", token.reveal()].concat()),
            _ => None,
        };
        Self { login, header, is_answered: false }
    }

    pub(super) fn header(&self) -> Option<HeaderValue> {
        self.header.clone()
    }

    /// Answers a challenge. Returns whether the request is worth another try.
    pub(super) async fn answer(
        &mut self,
        transport: &Transport,
        registry: &Uri,
        challenges: &[HeaderValue],
    ) -> Result<bool, String> {
        if std::mem::replace(&mut self.is_answered, true) {
            return Ok(false);
        }
        let challenges: Vec<_> = challenges.iter().filter_map(|challenge| challenge.to_str().ok()).collect();
        let scheme = |name: &str| {
            challenges.iter().find_map(|challenge| {
                let (scheme, parameters) = challenge.split_once(' ').unwrap_or((challenge, ""));
                scheme.eq_ignore_ascii_case(name).then_some(parameters)
            })
        };
        if let Some(parameters) = scheme("bearer") {
            self.header = Some(self.fetch_token(transport, registry, parameters).await?);
            return Ok(true);
        }
        if scheme("basic").is_some() {
            self.header = self.basic();
            return Ok(self.header.is_some());
        }
        Ok(false)
    }

    fn basic(&self) -> Option<HeaderValue> {
        let Some(Login::Basic { username, password }) = &self.login else { return None };
        let pair = [username.as_bytes(), b":", password.reveal()].concat();
        sensitive(format!("Basic {}", base64(&pair)).as_bytes())
    }

    async fn fetch_token(
        &self,
        transport: &Transport,
        registry: &Uri,
        parameters: &str,
    ) -> Result<HeaderValue, String> {
        #[derive(Deserialize)]
        struct Answer {
            token: Option<String>,
            access_token: Option<String>,
        }
        let parameters = parse_parameters(parameters);
        let parameter =
            |name: &str| parameters.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let realm = parameter("realm").ok_or("the registry names no token server")?;
        let mut url = realm.to_owned();
        let mut separator = if realm.contains('?') { '&' } else { '?' };
        for name in ["service", "scope"] {
            let Some(value) = parameter(name) else { continue };
            url.push(separator);
            url.push_str(&format!("{name}={}", percent_encoded(value)));
            separator = '&';
        }
        let shown = shortened(&url);
        let url: Uri = url.parse().map_err(|_| format!("the registry names the token server {shown:?}"))?;
        let host = url.authority().map_or("", |authority| authority.as_str());
        // A password goes to no server without TLS, unless the registry itself is talked to without.
        let is_fit = match url.scheme_str() {
            Some("https") => true,
            Some("http") => registry.scheme_str() == Some("http") && transport.is_plain(host),
            _ => false,
        };
        if !is_fit {
            return Err(format!("the registry names the token server {shown:?}, which is not HTTPS"));
        }
        let response = transport.get(&url, &HeaderMap::new(), self.basic().as_ref()).await;
        let response = response.map_err(|failed| match failed {
            Failed::Refused(reason) | Failed::Unavailable(reason) => format!("token server {host}: {reason}"),
        })?;
        let status = response.status();
        if !status.is_success() {
            return Err(format!("token server {host} answers {status}"));
        }
        let body = Limited::new(response.into_body(), LARGEST_TOKEN).collect().await;
        let bytes = body.map_err(|error| format!("token server {host}: {error}"))?.to_bytes();
        let answer: Answer = serde_json::from_slice(&bytes)
            .map_err(|_| format!("token server {host} answers without a token"))?;
        let token = answer.token.or(answer.access_token);
        let token = token.ok_or_else(|| format!("token server {host} answers without a token"))?;
        sensitive(format!("Bearer {token}").as_bytes())
            .ok_or_else(|| format!("token server {host}: unfit token"))
    }
}

fn sensitive(bytes: &[u8]) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_bytes(bytes).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// `key="value",key=value` as challenges have them.
fn parse_parameters(text: &str) -> Vec<(String, String)> {
    let mut parameters = Vec::new();
    let mut rest = text.trim();
    while let Some((key, after)) = rest.split_once('=') {
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_at(after.find(',').unwrap_or(after.len())),
        };
        parameters.push((key.trim().to_ascii_lowercase(), value.to_owned()));
        rest = after.trim_start_matches([',', ' ']);
    }
    parameters
}

fn percent_encoded(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/,".contains(&byte);
    let encode = |byte: u8| if is_plain(byte) { (byte as char).to_string() } else { format!("%{byte:02X}") };
    value.bytes().map(encode).collect()
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let group =
            chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for position in 0..4 {
            let index = (group >> (18 - 6 * position)) as usize & 63;
            text.push(if position > chunk.len() { '=' } else { ALPHABET[index] as char });
        }
    }
    text
}
