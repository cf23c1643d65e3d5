//! URIs as they stand in requests: absolute, or a path from the root.

use std::net::Ipv6Addr;

/// A URI with a scheme, or a path that begins with a slash.
pub fn is_request_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
        return false;
    }
    if text == "*" {
        return true;
    }
    let Some((scheme, rest)) = split_scheme(text) else { return false };
    let rest = rest.split('?').next().unwrap_or_default();
    if !rest.starts_with('/') {
        // What has a scheme and no slash is opaque: `mailto:a@b`.
        return !scheme.is_empty();
    }
    let path = match rest.strip_prefix("//") {
        Some(rest) if !scheme.is_empty() => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            if !is_authority(scheme, authority) {
                return false;
            }
            path
        }
        _ => rest,
    };
    is_escaped(path, |_| true, |_, _| true)
}

/// The scheme, which may be missing, and the rest; nothing when a colon comes first.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    match text.bytes().position(|byte| !is_sign(byte)) {
        Some(0) if text.starts_with(':') => None,
        Some(end) if text[end..].starts_with(':') && text.as_bytes()[0].is_ascii_alphabetic() => {
            Some((&text[..end], &text[end + 1..]))
        }
        _ => Some(("", text)),
    }
}

fn is_authority(scheme: &str, authority: &str) -> bool {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    is_host(scheme, host) && user.is_none_or(is_user)
}

fn is_user(user: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=@".contains(&byte);
    user.split(':').all(|part| is_escaped(part, is_sign, |_, _| true))
}

fn is_host(scheme: &str, host: &str) -> bool {
    if let Some(open) = host.rfind('[') {
        let Some(close) = host.rfind(']') else { return false };
        return open < close && is_optional_port(&host[close + 1..]) && is_ip_literal(&host[open + 1..close]);
    }
    let has_many_hosts = matches!(scheme.to_ascii_lowercase().as_str(), "postgres" | "postgresql");
    let colon = if has_many_hosts { host.rfind(':') } else { host.find(':') };
    colon.is_none_or(|colon| is_optional_port(&host[colon..])) && is_escaped_host(host)
}

fn is_optional_port(text: &str) -> bool {
    text.is_empty()
        || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// An IPv6 address, with a zone after an escaped percent sign if wanted.
fn is_ip_literal(text: &str) -> bool {
    let (address, zone) = match text.find("%25") {
        Some(at) => (&text[..at], Some(&text[at..])),
        None => (text, None),
    };
    let named_zone = zone.is_none_or(|zone| zone.len() > 3 && is_escaped_zone(zone));
    named_zone && address.parse::<Ipv6Addr>().is_ok()
}

/// Escapes in hosts are for what is not ASCII.
fn is_escaped_host(text: &str) -> bool {
    is_escaped(
        text,
        |byte| !byte.is_ascii() || is_host_sign(byte),
        |high, low| high >= 8 || (high, low) == (2, 5),
    )
}

/// Zones may escape what they could as well write, and spaces.
fn is_escaped_zone(text: &str) -> bool {
    is_escaped(
        text,
        |byte| !byte.is_ascii() || is_host_sign(byte),
        |high, low| (high, low) == (2, 5) || (high, low) == (2, 0) || is_host_sign(high << 4 | low),
    )
}

fn is_host_sign(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!$&'()*+,;=:[]<>\"-_.~".contains(&byte)
}

/// Whether every escape is `%` and two hexadecimal digits that `may_escape`, and everything else `is_sign`.
fn is_escaped(text: &str, is_sign: impl Fn(u8) -> bool, may_escape: impl Fn(u8, u8) -> bool) -> bool {
    let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16)).map(|d| d as u8);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let fine = match byte {
            b'%' => match (digit(bytes.next()), digit(bytes.next())) {
                (Some(high), Some(low)) => may_escape(high, low),
                _ => false,
            },
            byte => is_sign(byte),
        };
        if !fine {
            return false;
        }
    }
    true
}
