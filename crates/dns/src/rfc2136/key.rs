//! TSIG keys: a name, an algorithm and a shared secret.

use std::fmt;
use std::str::FromStr;

use data_encoding::BASE64;
use hickory_proto::rr::TSigner;
use hickory_proto::rr::rdata::tsig::TsigAlgorithm;
use zeroize::Zeroizing;

use crate::name::DnsName;

/// Seconds by which the clocks of server and client may differ (RFC 8945 recommends 300).
const FUDGE: u16 = 300;

/// How messages are signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// `hmac-sha256`, what `tsig-keygen` makes.
    #[default]
    HmacSha256,
    /// `hmac-sha384`.
    HmacSha384,
    /// `hmac-sha512`.
    HmacSha512,
}

impl Algorithm {
    const ALL: [(&'static str, Algorithm); 3] = [
        ("hmac-sha256", Algorithm::HmacSha256),
        ("hmac-sha384", Algorithm::HmacSha384),
        ("hmac-sha512", Algorithm::HmacSha512),
    ];

    fn on_wire(self) -> TsigAlgorithm {
        match self {
            Algorithm::HmacSha256 => TsigAlgorithm::HmacSha256,
            Algorithm::HmacSha384 => TsigAlgorithm::HmacSha384,
            Algorithm::HmacSha512 => TsigAlgorithm::HmacSha512,
        }
    }
}

impl FromStr for Algorithm {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Algorithm, InvalidKey> {
        let known = Algorithm::ALL.iter().find(|(name, _)| *name == text.trim().to_ascii_lowercase());
        known.map(|(_, algorithm)| *algorithm).ok_or_else(|| InvalidKey::Algorithm(text.to_owned()))
    }
}

/// A key that can't be used. Never shows the secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    /// An algorithm that is unknown or too weak.
    #[error("TSIG algorithm `{0}` is not supported; use hmac-sha256, hmac-sha384 or hmac-sha512")]
    Algorithm(String),
    /// Not base64.
    #[error("the secret of TSIG key {0} is not base64, as `tsig-keygen` prints it")]
    NotBase64(DnsName),
    /// Too short to protect anything.
    #[error("the secret of TSIG key {name} has {length} bytes; at least 16 are needed")]
    TooShort {
        /// Name of the key.
        name: DnsName,
        /// Length of the secret in bytes.
        length: usize,
    },
}

/// A key shared with a name server. Printing it shows its name only.
#[derive(Clone)]
pub struct TsigKey {
    name: DnsName,
    algorithm: Algorithm,
    secret: Zeroizing<Vec<u8>>,
}

impl TsigKey {
    /// A key from its configuration. White space around the secret, as files have it, is ignored.
    pub fn from_base64(name: DnsName, algorithm: Algorithm, secret: &str) -> Result<TsigKey, InvalidKey> {
        let secret =
            BASE64.decode(secret.trim().as_bytes()).map_err(|_| InvalidKey::NotBase64(name.clone()))?;
        let secret = Zeroizing::new(secret);
        if secret.len() < 16 {
            return Err(InvalidKey::TooShort { name, length: secret.len() });
        }
        Ok(TsigKey { name, algorithm, secret })
    }

    /// Its name, which the server must know.
    pub fn name(&self) -> &DnsName {
        &self.name
    }

    pub(crate) fn signer(&self) -> Result<TSigner, crate::Error> {
        let name = self.name.as_wire().clone();
        TSigner::new(self.secret.to_vec(), self.algorithm.on_wire(), name, FUDGE)
            .map_err(|error| crate::Error::Message(error.to_string()))
    }
}

impl fmt::Debug for TsigKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TsigKey({}, {:?})", self.name, self.algorithm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name() -> DnsName {
        "ours".parse().unwrap()
    }

    #[test]
    fn a_key_is_printed_by_name_only() {
        let secret = BASE64.encode(&[0xab; 32]);
        let key = TsigKey::from_base64(name(), Algorithm::default(), &format!(" {secret}\n")).unwrap();
        assert_eq!(format!("{key:?}"), "TsigKey(ours, HmacSha256)");
    }

    #[test]
    fn a_bad_key_is_refused_without_its_secret() {
        let error = TsigKey::from_base64(name(), Algorithm::default(), "not base64!").unwrap_err();
        assert_eq!(error, InvalidKey::NotBase64(name()));
        assert!(!error.to_string().contains("not base64!"));
        let error = TsigKey::from_base64(name(), Algorithm::default(), "YWJj").unwrap_err();
        assert_eq!(error, InvalidKey::TooShort { name: name(), length: 3 });
        assert!("hmac-md5".parse::<Algorithm>().is_err());
        assert_eq!("HMAC-SHA512".parse::<Algorithm>(), Ok(Algorithm::HmacSha512));
    }
}
