//! A request before it is sent.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::kubeconfig::Access;

/// A request before it is sent.
#[derive(Debug, Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The path, without parameters.
    pub path: String,
    /// Parameters.
    pub query: Vec<(&'static str, String)>,
    /// The forms in which the answer is welcome.
    pub accept: String,
    /// The form of the body.
    pub media: &'static str,
    /// The body; empty for none.
    pub body: Bytes,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
    /// Whether it may be sent again although the server may have handled it: the outcome is the same.
    pub is_repeatable: bool,
}

impl Request {
    /// A request for what is at a path.
    pub fn get(path: impl Into<String>) -> Request {
        Request::new(Method::GET, path)
    }

    /// A request.
    pub fn new(method: Method, path: impl Into<String>) -> Request {
        Request {
            method,
            path: path.into(),
            query: Vec::new(),
            accept: "application/json".to_owned(),
            media: "application/json",
            body: Bytes::new(),
            headers: Vec::new(),
            is_repeatable: false,
        }
    }

    /// With a parameter.
    pub fn query(mut self, name: &'static str, value: impl Into<String>) -> Request {
        self.query.push((name, value.into()));
        self
    }

    /// With a parameter, if there is one.
    pub fn query_if(self, name: &'static str, value: Option<impl Into<String>>) -> Request {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    /// With the forms in which the answer is welcome.
    pub fn accept(mut self, accept: &str) -> Request {
        self.accept = accept.to_owned();
        self
    }

    /// With JSON.
    pub fn json(self, body: &Value) -> Request {
        self.body("application/json", body.to_string())
    }

    /// With a body.
    pub fn body(mut self, media: &'static str, body: impl Into<Bytes>) -> Request {
        self.media = media;
        self.body = body.into();
        self
    }

    /// With why it is done, if somebody says.
    pub fn message(mut self, message: Option<&str>) -> Request {
        self.headers.extend(message.map(|text| ("groundplane-change-message", in_header(text))));
        self
    }

    /// Whether nothing is changed by it, however often it is sent.
    pub fn changes_nothing(&self) -> bool {
        let reads = matches!(self.method, Method::GET | Method::HEAD | Method::OPTIONS);
        reads || self.query.iter().any(|(name, _)| *name == "dryRun")
    }

    /// Marks a change whose repetition has the same outcome: a server-side apply, or a write with a precondition that
    /// holds only once.
    pub fn repeatable(mut self) -> Request {
        self.is_repeatable = true;
        self
    }

    /// With a further header.
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Request {
        self.headers.push((name, value.into()));
        self
    }

    /// Path and parameters as they are sent.
    pub fn path_and_query(&self) -> String {
        let mut text = self.path.clone();
        let mut sign = if text.contains('?') { '&' } else { '?' };
        for (name, value) in &self.query {
            text.push(sign);
            text.push_str(name);
            text.push('=');
            text.push_str(&escaped(value, |byte| matches!(byte, b'-' | b'_' | b'.' | b'~')));
            sign = '&';
        }
        text
    }
}

/// A name as one segment of a path.
pub fn segment(name: &str) -> String {
    escaped(name, |byte| {
        matches!(
            byte,
            b'-' | b'_'
                | b'.'
                | b'~'
                | b':'
                | b'@'
                | b'!'
                | b'$'
                | b'\''
                | b'('
                | b')'
                | b'*'
                | b'+'
                | b','
                | b';'
                | b'='
        )
    })
}

/// Text in a header: what is not ASCII is percent-encoded.
pub(crate) fn in_header(text: &str) -> String {
    escaped(text, |byte| (b' '..=b'~').contains(&byte) && byte != b'%')
}

fn escaped(text: &str, stays: impl Fn(u8) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || stays(byte) {
            true => escaped.push(char::from(byte)),
            false => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

/// Who asks, as whom, and with which program.
pub(crate) fn identity_headers(access: &Access, user_agent: &str) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    let mut put = |name: &'static str, value: &str, is_secret: bool| {
        let mut value = HeaderValue::from_str(value).map_err(|_| {
            Error::Config(format!("the value for {name} can't be sent: it has control characters"))
        })?;
        value.set_sensitive(is_secret);
        headers.append(HeaderName::from_static(name), value);
        Ok::<(), Error>(())
    };
    put("user-agent", user_agent, false)?;
    if let Some(authorization) = &access.proof.authorization {
        put("authorization", authorization, true)?;
    }
    let (user, uid, groups) = &access.acts_as;
    if let Some(user) = user {
        put("impersonate-user", user, false)?;
    }
    if let Some(uid) = uid {
        put("impersonate-uid", uid, false)?;
    }
    for group in groups {
        put("impersonate-group", group, false)?;
    }
    Ok(headers)
}

/// The text of a header such as `299 - "unknown field \"a\""`.
pub(crate) fn warning_text(header: &str) -> Option<String> {
    let quoted = header.strip_prefix("299 ")?.split_once(' ')?.1.trim();
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        text.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_names_are_escaped() {
        let request = Request::get("/a")
            .query("labelSelector", "a in (b, c)")
            .query_if("x", None::<String>)
            .query("w", "é");
        assert_eq!(request.path_and_query(), "/a?labelSelector=a%20in%20%28b%2C%20c%29&w=%C3%A9");
        assert_eq!(segment("system:admin"), "system:admin");
        assert_eq!(segment("a/b?"), "a%2Fb%3F");
    }

    #[test]
    fn warnings_are_read_from_their_header() {
        let header = r#"299 - "unknown field \"spec.colour\"""#;
        assert_eq!(warning_text(header).as_deref(), Some("unknown field \"spec.colour\""));
        assert_eq!(warning_text("199 - \"x\""), None);
    }
}
