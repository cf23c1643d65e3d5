//! The DNS names and IP addresses of the serving certificate.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::CredentialsError;

/// The names and addresses that the serving certificate is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerNames(BTreeSet<String>);

impl ServerNames {
    /// This host: `localhost`, the loopback addresses and the host's own name, and what else is given.
    pub fn of_this_host<'a>(
        more: impl IntoIterator<Item = &'a str>,
    ) -> Result<ServerNames, CredentialsError> {
        let mut names: BTreeSet<String> =
            ["localhost", "127.0.0.1", "::1"].into_iter().map(str::to_owned).collect();
        // A host may have any name; one that no client could ask for is left out.
        names.extend(host_name().filter(|name| is_dns_name(name)));
        for name in more {
            names.insert(canonical(name)?);
        }
        Ok(ServerNames(names))
    }

    pub(super) fn to_vec(&self) -> Vec<String> {
        self.0.iter().cloned().collect()
    }

    pub(super) fn as_set(&self) -> &BTreeSet<String> {
        &self.0
    }
}

fn canonical(name: &str) -> Result<String, CredentialsError> {
    let bare = name.trim().trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Ok(address.to_string());
    }
    let lower = bare.to_ascii_lowercase();
    if is_dns_name(&lower) { Ok(lower) } else { Err(CredentialsError::BadName { name: name.to_owned() }) }
}

fn host_name() -> Option<String> {
    let read = |path| std::fs::read_to_string(path).ok();
    let name = read("/proc/sys/kernel/hostname").or_else(|| read("/etc/hostname"))?;
    Some(name.trim().to_ascii_lowercase())
}

/// A DNS name, with a wildcard as its first label at most.
fn is_dns_name(name: &str) -> bool {
    let labels = name.strip_prefix("*.").unwrap_or(name);
    !labels.is_empty()
        && name.len() <= 253
        && labels.split('.').all(|label| {
            !label.is_empty()
                && label.len() <= 63
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        })
}
