//! What a source says of its hosts: plain records, without anything of the API.
//!
//! In every record, `None` means that the source does not know: what is stored stays. An empty text is known to be empty: what
//! is stored is cleared.

use std::fmt;

use fulfillment::kinds::hardware::Hardware;
use zeroize::Zeroizing;

/// A host, as a source describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostRecord {
    /// Identifier at the source. Stable and unique there. Becomes the identifier of the Host.
    pub id: String,
    /// Name, such as the host name. Need not be a DNS label.
    pub name: String,
    /// Identifier of its class at the source.
    pub class: Option<String>,
    /// Its BMC.
    pub bmc: BmcRecord,
    /// Name of its rack.
    pub rack: Option<String>,
    /// MAC address of the interface that it boots from.
    pub boot_mac: Option<String>,
    /// IP address of the interface that it boots from.
    pub boot_ip: Option<String>,
    /// Title for people.
    pub title: Option<String>,
    /// Description in Markdown.
    pub description: Option<String>,
    /// URL of the host in the user interface of the source.
    pub link: Option<String>,
    /// Hardware.
    pub hardware: Option<Hardware>,
    /// Why the host must not be chosen for clusters at present, such as maintenance.
    pub held_back: Option<String>,
}

/// A BMC, as a source describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BmcRecord {
    /// URL with a scheme that names the protocol.
    pub url: Option<String>,
    /// User name.
    pub user: Option<String>,
    /// Password.
    pub password: Option<Secret>,
    /// Whether its certificate is not verified.
    pub insecure: Option<bool>,
}

/// A class of hosts, as a source describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassRecord {
    /// Identifier at the source.
    pub id: String,
    /// Name.
    pub name: String,
    /// Title for people.
    pub title: Option<String>,
    /// Description in Markdown.
    pub description: Option<String>,
}

/// A value that is never shown, and erased when it is dropped.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Keeps a value. A value that consists of asterisks only is a mask, which stands for an unknown one.
    pub fn unmasked(value: &str) -> Option<Secret> {
        let is_mask = value.bytes().all(|byte| byte == b'*');
        (!is_mask).then(|| Secret(Zeroizing::new(value.to_owned())))
    }

    /// The value.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A name as a DNS label: lower case, other characters as hyphens, at most 63 characters.
pub fn label(name: &str) -> String {
    let plain = name.chars().map(|letter| match letter.to_ascii_lowercase() {
        letter @ ('a'..='z' | '0'..='9') => letter,
        _ => '-',
    });
    let plain: String = plain.collect();
    let plain = plain.trim_matches('-');
    plain[..plain.len().min(63)].trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_unknown_and_passwords_are_not_shown() {
        assert_eq!(Secret::unmasked("******"), None);
        assert_eq!(Secret::unmasked(""), None, "an empty password is not known");
        let secret = Secret::unmasked("hunter2").unwrap();
        assert_eq!((secret.reveal(), format!("{secret:?}")), ("hunter2", "***".to_owned()));
    }

    #[test]
    fn names_become_dns_labels() {
        assert_eq!(label("Node_001.example"), "node-001-example");
        assert_eq!(label(&"x".repeat(80)).len(), 63);
        assert_eq!(label("--"), "");
    }
}
