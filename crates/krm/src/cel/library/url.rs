//! URLs as Go reads them: absolute, or a path from the root.

use std::collections::BTreeMap;

use crate::field::quote;

/// A URL, taken apart.
#[derive(Debug, Clone)]
pub(in crate::cel) struct Url {
    pub text: String,
    pub scheme: String,
    /// Host and port.
    pub host: String,
    /// The path as it was written, or as it has to be.
    pub path: String,
    query: String,
}

impl Url {
    /// Reads a URL; the error is Go's.
    pub fn parse(text: &str) -> Result<Url, String> {
        let refused = |why: &str| format!("parse {}: {why}", quote(text));
        // The fragment is looked for only once the URL is known to be one without.
        request(text).map_err(|why| refused(&why))?;
        let (rest, _fragment) = text.split_once('#').unwrap_or((text, ""));
        read(rest, text).map_err(|why| refused(&why))
    }

    /// The host without its port and without brackets.
    pub fn hostname(&self) -> &str {
        let (host, _) = self.parts();
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
    }

    pub fn port(&self) -> &str {
        self.parts().1
    }

    fn parts(&self) -> (&str, &str) {
        match self.host.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !host.ends_with(':') => {
                let in_brackets = self.host.ends_with(']');
                if in_brackets { (&self.host, "") } else { (host, port) }
            }
            _ => (&self.host, ""),
        }
    }

    /// Names in the query and all values that each is given.
    pub fn query(&self) -> BTreeMap<String, Vec<String>> {
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for pair in self.query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if let (Some(name), Some(value)) = (unescaped(name), unescaped(value)) {
                found.entry(name).or_default().push(value);
            }
        }
        found
    }
}

/// Whether a text is a URL that a request could be for.
fn request(text: &str) -> Result<(), String> {
    read(text, text).map(|_| ())
}

fn read(rest: &str, whole: &str) -> Result<Url, String> {
    if rest.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    if whole.is_empty() {
        return Err("empty url".to_owned());
    }
    let mut url = Url {
        text: whole.to_owned(),
        scheme: String::new(),
        host: String::new(),
        path: String::new(),
        query: String::new(),
    };
    if rest == "*" {
        url.path = "*".to_owned();
        return Ok(url);
    }
    let (scheme, rest) = scheme(rest)?;
    url.scheme = scheme.to_ascii_lowercase();
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    url.query = query.to_owned();
    if !rest.starts_with('/') {
        // What has a scheme and no slash is opaque, and has no path.
        return if url.scheme.is_empty() { Err("invalid URI for request".to_owned()) } else { Ok(url) };
    }
    let mut path = rest;
    if let Some(after) = rest.strip_prefix("//")
        && !(url.scheme.is_empty() && rest.starts_with("///"))
        && !url.scheme.is_empty()
    {
        let (authority, after) = after.split_at(after.find('/').unwrap_or(after.len()));
        url.host = host_of(authority)?;
        path = after;
    }
    escapes(path)?;
    url.path = if is_well_escaped(path) { path.to_owned() } else { escaped(path) };
    Ok(url)
}

/// The scheme, if there is one, and the rest.
fn scheme(text: &str) -> Result<(&str, &str), String> {
    for (at, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if at > 0 => {}
            ':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            ':' => return Ok((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

fn host_of(authority: &str) -> Result<String, String> {
    let host = match authority.rsplit_once('@') {
        Some((user, host)) => {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
            if !user.bytes().all(fits) {
                return Err("net/url: invalid userinfo".to_owned());
            }
            escapes(user)?;
            host
        }
        None => authority,
    };
    let port = match host.strip_prefix('[') {
        Some(inner) => {
            let close = inner.rfind(']').ok_or("missing ']' in host")?;
            &inner[close + 1..]
        }
        None => host.find(':').map_or("", |colon| &host[colon..]),
    };
    let digits = port.strip_prefix(':').unwrap_or(port);
    if !(port.is_empty() || (port.starts_with(':') && digits.bytes().all(|byte| byte.is_ascii_digit()))) {
        return Err(format!("invalid port {} after host", quote(port)));
    }
    for c in host.chars() {
        let fits = !c.is_ascii() || c.is_ascii_alphanumeric() || "!$&'()*+,;=:[]<>\"-_.~%".contains(c);
        if !fits {
            return Err(format!("invalid character {} in host name", quote(&c.to_string())));
        }
    }
    escapes(host)?;
    Ok(host.to_owned())
}

/// Whether every percent sign is followed by two hexadecimal digits.
fn escapes(text: &str) -> Result<(), String> {
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let digits: String = rest[at..].chars().take(3).collect();
        let good = digits.len() == 3 && digits[1..].bytes().all(|byte| byte.is_ascii_hexdigit());
        if !good {
            return Err(format!("invalid URL escape {}", quote(&digits)));
        }
        rest = &rest[at + 3..];
    }
    Ok(())
}

/// Whether a path is written as it could be sent.
fn is_well_escaped(path: &str) -> bool {
    path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:@[]/%".contains(&byte))
}

fn escaped(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@%".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// A name or a value of a query; `None` when its escapes are none.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                let digits = std::str::from_utf8(&digits).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
            }
            byte => bytes.push(byte),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart_as_go_takes_them() {
        let url = Url::parse("https://user@example.com:8443/a%20b/c?x=1&x=2&y=a+b#f").unwrap();
        assert_eq!((&*url.scheme, &*url.host), ("https", "example.com:8443"));
        assert_eq!((url.hostname(), url.port()), ("example.com", "8443"));
        assert_eq!(url.path, "/a%20b/c");
        assert_eq!(url.query()["x"], ["1", "2"]);
        assert_eq!(url.query()["y"], ["a b"]);
        let v6 = Url::parse("http://[::1]:80/").unwrap();
        assert_eq!((v6.hostname(), v6.port()), ("::1", "80"));
        assert_eq!(Url::parse("/path with space").unwrap().path, "/path%20with%20space");
    }

    #[test]
    fn what_is_no_url_is_told_in_gos_words() {
        let cases = [
            ("", "parse \"\": empty url"),
            ("::", "parse \"::\": missing protocol scheme"),
            ("example.com", "parse \"example.com\": invalid URI for request"),
            ("http://a b/", "parse \"http://a b/\": invalid character \" \" in host name"),
            ("http://a:x/", "parse \"http://a:x/\": invalid port \":x\" after host"),
            ("/%zz", "parse \"/%zz\": invalid URL escape \"%zz\""),
        ];
        for (text, why) in cases {
            assert_eq!(Url::parse(text).unwrap_err(), why);
        }
    }
}
