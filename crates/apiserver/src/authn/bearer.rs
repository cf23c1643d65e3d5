//! Where a request carries its bearer token.

use http::HeaderMap;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use zeroize::Zeroizing;

use super::jwt;

/// How browsers, which cannot set headers on a WebSocket, send a token.
const WEBSOCKET_PREFIX: &str = "base64url.bearer.authorization.k8s.io.";

/// The token of a request, from its `Authorization` header or from a WebSocket's protocols.
pub(super) fn token(headers: &HeaderMap) -> Result<Option<Zeroizing<String>>, &'static str> {
    match authorization(headers)? {
        Some(token) => Ok(Some(Zeroizing::new(token.to_owned()))),
        None => websocket(headers),
    }
}

/// Takes every credential out of the headers, so that nothing behind authentication can use or log one.
pub fn strip_credentials(headers: &mut HeaderMap) {
    headers.remove(AUTHORIZATION);
    let others: Vec<String> = protocols(headers)
        .filter(|protocol| !protocol.starts_with(WEBSOCKET_PREFIX))
        .map(str::to_owned)
        .collect();
    if headers.contains_key(SEC_WEBSOCKET_PROTOCOL) {
        headers.remove(SEC_WEBSOCKET_PROTOCOL);
        if let Some(value) = HeaderValue::from_str(&others.join(",")).ok().filter(|value| !value.is_empty()) {
            headers.insert(SEC_WEBSOCKET_PROTOCOL, value);
        }
    }
    // What a proxy in front would say about the user is not asked for, and must not look as if it were.
    let remote: Vec<HeaderName> =
        headers.keys().filter(|name| name.as_str().starts_with("x-remote-")).cloned().collect();
    for name in remote {
        headers.remove(name);
    }
}

fn authorization(headers: &HeaderMap) -> Result<Option<&str>, &'static str> {
    let Some(value) = headers.get(AUTHORIZATION) else { return Ok(None) };
    let text = value.to_str().map_err(|_| "the Authorization header is not text")?.trim();
    let mut parts = text.splitn(3, ' ');
    let is_bearer = parts.next().is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer"));
    Ok(parts.next().filter(|token| is_bearer && !token.is_empty()))
}

fn websocket(headers: &HeaderMap) -> Result<Option<Zeroizing<String>>, &'static str> {
    let is_websocket = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"websocket");
    if !headers.get_all(UPGRADE).iter().any(is_websocket) {
        return Ok(None);
    }
    let mut found = None;
    let mut others = 0;
    for protocol in protocols(headers) {
        let Some(encoded) = protocol.strip_prefix(WEBSOCKET_PREFIX) else {
            others += 1;
            continue;
        };
        if found.is_some() {
            return Err("multiple base64.bearer.authorization tokens specified");
        }
        let decoded = jwt::unpadded(encoded);
        let decoded = decoded.ok_or("invalid base64.bearer.authorization token encoding")?;
        let text = String::from_utf8(decoded).map_err(|_| "invalid base64.bearer.authorization token")?;
        found = Some(Zeroizing::new(text));
    }
    let found = found.filter(|token| !token.is_empty());
    // One protocol has to be left that can be answered with.
    if found.is_some() && others == 0 {
        return Err("missing additional subprotocol");
    }
    Ok(found)
}

fn protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim).filter(|protocol| !protocol.is_empty())
}
