//! Source addresses and user agent of a request.

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use http::header::{AUTHORIZATION, USER_AGENT};

use crate::tls::Peer;

const MOST_ADDRESSES: usize = 32;
const LONGEST_AGENT: usize = 1024;

/// The addresses a request came through; all but the last are what somebody claims.
pub fn source_ips(headers: &HeaderMap, remote: SocketAddr) -> Vec<String> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("");
    let forwarded = text("x-forwarded-for").split(',').filter_map(|part| part.trim().parse::<IpAddr>().ok());
    let mut addresses: Vec<IpAddr> = forwarded.take(MOST_ADDRESSES).collect();
    if let Ok(real) = text("x-real-ip").trim().parse::<IpAddr>()
        && !addresses.contains(&real)
    {
        addresses.push(real);
    }
    let remote = remote.ip().to_canonical();
    if addresses.last() != Some(&remote) {
        addresses.push(remote);
    }
    addresses.iter().map(IpAddr::to_string).collect()
}

/// What made a request, cut where it becomes absurd.
pub(super) fn user_agent(headers: &HeaderMap) -> String {
    let bytes = headers.get(USER_AGENT).map_or(&b""[..], |value| value.as_bytes());
    let text = String::from_utf8_lossy(bytes);
    match text.char_indices().nth(LONGEST_AGENT) {
        Some((end, _)) => format!("{}...TRUNCATED", &text[..end]),
        None => text.into_owned(),
    }
}

/// What somebody tried who is not believed, for the event of his 401.
pub fn attempted(headers: &HeaderMap, peer: &Peer) -> String {
    let mut methods = Vec::new();
    let scheme = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or("").trim();
    match scheme.split_once(' ').map(|(scheme, _)| scheme.to_ascii_lowercase()).as_deref() {
        Some("basic") => methods.push("basic"),
        Some("bearer") => methods.push("bearer"),
        _ => {}
    }
    if *peer != Peer::Unknown {
        methods.push("x509");
    }
    match methods.as_slice() {
        [] => "Authentication failed, no credentials provided".to_owned(),
        methods => format!("Authentication failed, attempted: {}", methods.join(", ")),
    }
}
