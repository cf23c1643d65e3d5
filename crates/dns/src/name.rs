//! Names in the DNS: absolute, lower-case, compared label by label.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use hickory_proto::rr::Name;
use serde::{Deserialize, Serialize};

/// An absolute domain name. Written without the final dot, in lower case; `*` may be its first label.
///
/// Names are compared by label, so that `ba.example.org` is not under `a.example.org`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DnsName(Arc<Name>);

/// A text that is not a domain name.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
#[error("`{text}` is not a domain name: {reason}")]
pub struct InvalidName {
    text: String,
    reason: String,
}

impl DnsName {
    /// The name with one more label in front.
    pub fn prepend(&self, label: &str) -> Result<DnsName, InvalidName> {
        format!("{label}.{self}").parse()
    }

    /// Whether this name is `zone` or below it.
    pub fn is_in(&self, zone: &DnsName) -> bool {
        zone.0.zone_of(&self.0)
    }

    /// Whether the name stands for all names at its place.
    pub fn is_wildcard(&self) -> bool {
        self.0.is_wildcard()
    }

    /// The name that a wildcard stands for when its first label is `label`; any other name as it is.
    pub fn instance_of_wildcard(&self, label: &str) -> Result<DnsName, InvalidName> {
        if !self.is_wildcard() {
            return Ok(self.clone());
        }
        DnsName(Arc::new(self.0.base_name())).prepend(label)
    }

    pub(crate) fn as_wire(&self) -> &Name {
        &self.0
    }
}

impl FromStr for DnsName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<DnsName, InvalidName> {
        let invalid = |reason: &str| InvalidName { text: text.to_owned(), reason: reason.to_owned() };
        let bare = text.strip_suffix('.').unwrap_or(text);
        if bare.is_empty() {
            return Err(invalid("it is empty"));
        }
        for (number, label) in bare.split('.').enumerate() {
            if label == "*" && number == 0 {
                continue;
            }
            if label.is_empty() || label.len() > 63 {
                return Err(invalid("every label has 1 to 63 characters"));
            }
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
            if !label.bytes().all(allowed) {
                return Err(invalid("labels consist of letters, digits, `-` and `_`"));
            }
        }
        let mut name = Name::from_ascii(bare).map_err(|error| invalid(&error.to_string()))?.to_lowercase();
        name.set_fqdn(true);
        Ok(DnsName(Arc::new(name)))
    }
}

impl fmt::Display for DnsName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_ascii();
        f.write_str(text.strip_suffix('.').unwrap_or(&text))
    }
}

impl TryFrom<String> for DnsName {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<DnsName, InvalidName> {
        text.parse()
    }
}

impl From<DnsName> for String {
    fn from(name: DnsName) -> String {
        name.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> DnsName {
        text.parse().unwrap()
    }

    #[test]
    fn a_name_is_absolute_and_lower_case() {
        assert_eq!(name("API.Example.Org."), name("api.example.org"));
        assert_eq!(name("*.Apps.example.org").to_string(), "*.apps.example.org");
    }

    #[test]
    fn a_neighbour_with_the_same_ending_is_not_below() {
        assert!(name("api.a.example.org").is_in(&name("a.example.org")));
        assert!(!name("api.ba.example.org").is_in(&name("a.example.org")));
        assert!(name("a.example.org").is_in(&name("a.example.org")));
    }

    #[test]
    fn a_wildcard_is_asked_by_one_of_its_names() {
        let wildcard = name("*.apps.example.org");
        assert_eq!(wildcard.instance_of_wildcard("probe").unwrap(), name("probe.apps.example.org"));
        assert_eq!(name("api.example.org").instance_of_wildcard("probe").unwrap(), name("api.example.org"));
    }

    #[test]
    fn what_is_no_name_is_refused_with_the_reason() {
        let long = "a".repeat(64) + ".org";
        let whole = ["abcdefgh"; 32].join(".");
        for text in ["", ".", "a..b", "a b.org", "a.*.org", "a/b.org", "ä.org", &long, &whole, "a\n.org"] {
            let error = text.parse::<DnsName>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{text}` is not a domain name: ")), "{error}");
        }
    }
}
