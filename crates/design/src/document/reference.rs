//! The URL of a design, like Drydock's `design_ref`.

use std::{fmt, path::PathBuf, str::FromStr};

use thiserror::Error;

/// A reference to a design.
#[derive(Clone, PartialEq, Eq)]
pub enum DesignReference {
    /// `file:///path`: a file of this machine.
    File(PathBuf),
    /// `http://…` or `https://…`, with user and password if the URI has them.
    Http(Fetch),
    /// `deckhand+http://…` or `deckhand+https://…`: asked of Deckhand, with a token.
    Deckhand(Fetch),
    /// `promenade+http://…` or `promenade+https://…`: asked of Promenade, with a token.
    Promenade(Fetch),
}

/// What is fetched over HTTP.
#[derive(Clone, PartialEq, Eq)]
pub struct Fetch {
    /// The address, without user and password.
    pub url: String,
    /// The user, where the URI named one.
    pub user: Option<String>,
    password: Option<String>,
}

impl Fetch {
    /// The password, where the URI had one.
    pub fn password(&self) -> Option<&str> {
        self.password.as_deref()
    }
}

/// A text that is no reference to a design; its author has to change it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{shown}` is not a design URL: {why}; use file:///path, http(s)://…, deckhand+http(s)://… or promenade+http(s)://…"
)]
pub struct InvalidDesignReference {
    shown: String,
    why: &'static str,
}

impl FromStr for DesignReference {
    type Err = InvalidDesignReference;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = |why| InvalidDesignReference { shown: without_userinfo(text), why };
        let (scheme, rest) = text.split_once("://").ok_or_else(|| refuse("it has no scheme"))?;
        let scheme = scheme.to_ascii_lowercase();
        let (service, protocol) = match scheme.split_once('+') {
            Some((service, protocol)) => (Some(service), protocol),
            None => (None, scheme.as_str()),
        };
        match (service, protocol) {
            (None, "file") => match rest.strip_prefix("localhost").unwrap_or(rest) {
                path if path.starts_with('/') => Ok(Self::File(PathBuf::from(path))),
                _ => Err(refuse("the path of a file begins with a slash")),
            },
            (None, "http" | "https") => {
                Fetch::of(protocol, rest).map(Self::Http).ok_or_else(|| refuse("it has no host"))
            }
            (Some("deckhand"), "http" | "https") => {
                Fetch::of(protocol, rest).map(Self::Deckhand).ok_or_else(|| refuse("it has no host"))
            }
            (Some("promenade"), "http" | "https") => {
                Fetch::of(protocol, rest).map(Self::Promenade).ok_or_else(|| refuse("it has no host"))
            }
            _ => Err(refuse("unknown scheme")),
        }
    }
}

impl Fetch {
    fn of(protocol: &str, rest: &str) -> Option<Self> {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (userinfo, host) = match authority.rsplit_once('@') {
            Some((userinfo, host)) => (Some(userinfo), host),
            None => (None, authority),
        };
        if host.is_empty() {
            return None;
        }
        let (user, password) =
            match userinfo.map(|userinfo| userinfo.split_once(':').unwrap_or((userinfo, ""))) {
                Some((user, password)) => (Some(user.to_owned()), Some(password.to_owned())),
                None => (None, None),
            };
        Some(Self { url: format!("{protocol}://{host}{path}"), user, password })
    }
}

/// Who may read a message may not therefore log in.
fn without_userinfo(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://{host}{}", &rest[end..]),
        None => text.to_owned(),
    }
}

/// Without user and password.
impl fmt::Display for DesignReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "file://{}", path.display()),
            Self::Http(fetch) => f.write_str(&fetch.url),
            Self::Deckhand(fetch) => write!(f, "deckhand+{}", fetch.url),
            Self::Promenade(fetch) => write!(f, "promenade+{}", fetch.url),
        }
    }
}

impl fmt::Debug for DesignReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DesignReference({self})")
    }
}

impl fmt::Debug for Fetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fetch({})", self.url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<DesignReference, String> {
        text.parse().map_err(|error: InvalidDesignReference| error.to_string())
    }

    #[test]
    fn every_scheme_of_drydock_is_understood() {
        assert_eq!(read("file:///tmp/site.yaml"), Ok(DesignReference::File("/tmp/site.yaml".into())));
        assert_eq!(
            read("deckhand+http://dh/api/v1.0/x?a=b").unwrap().to_string(),
            "deckhand+http://dh/api/v1.0/x?a=b"
        );
        assert!(matches!(read("deckhand+https://dh/x"), Ok(DesignReference::Deckhand(_))));
        assert!(matches!(read("promenade+http://p/x"), Ok(DesignReference::Promenade(_))));
    }

    #[test]
    fn user_and_password_are_taken_out_and_never_shown() {
        let Ok(DesignReference::Http(fetch)) = read("https://ann:pw@host:8080/x") else {
            panic!("it is HTTP")
        };
        assert_eq!(
            (fetch.url.as_str(), fetch.user.as_deref(), fetch.password()),
            ("https://host:8080/x", Some("ann"), Some("pw"))
        );
        assert!(!format!("{fetch:?}").contains("pw"));
        assert!(!read("ftp://ann:pw@host/x").unwrap_err().contains("pw"));
    }

    #[test]
    fn what_leads_nowhere_is_refused_with_the_reason() {
        for (text, why) in [
            ("/tmp/site.yaml", "no scheme"),
            ("ftp://host/x", "unknown scheme"),
            ("other+http://host/x", "unknown scheme"),
            ("file://relative", "begins with a slash"),
            ("http:///x", "no host"),
        ] {
            assert!(read(text).unwrap_err().contains(why), "{text}");
        }
    }
}
