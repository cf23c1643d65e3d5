//! Digests of content: SHA-256, as OCI writes them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A SHA-256 digest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(String);

impl Digest {
    /// Parses `sha256:` and 64 hexadecimal digits. Other algorithms are refused by name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some((algorithm, hex)) = text.split_once(':') else {
            return Err(format!("{:?} is not a digest", shortened(text)));
        };
        if algorithm != "sha256" {
            return Err(format!("digests by {:?} are not supported, only sha256 is", shortened(algorithm)));
        }
        let is_hex = hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        match is_hex {
            true => Ok(Self(hex.to_owned())),
            false => Err(format!("{:?} is not a SHA-256 digest", shortened(text))),
        }
    }

    /// The digest of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = Hasher::new();
        hasher.update(bytes);
        hasher.finish()
    }

    /// The hexadecimal digits.
    pub fn hex(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.0)
    }
}

impl TryFrom<String> for Digest {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        digest.to_string()
    }
}

/// Makes a digest of bytes that come in pieces.
pub(crate) struct Hasher(ring::digest::Context);

impl Hasher {
    pub(crate) fn new() -> Self {
        Self(ring::digest::Context::new(&ring::digest::SHA256))
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn finish(self) -> Digest {
        let hex = self.0.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        Digest(hex)
    }
}

/// What a stranger wrote, cut to a length that fits a message.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 200;
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
