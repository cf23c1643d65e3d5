//! Ed25519 signatures of anchors and checkpoints.

use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use zeroize::Zeroizing;

use crate::hex;
use crate::private_file::{self, PrivateFileError};

/// A signature as it is stored and sent.
pub type Signature = [u8; 64];

/// The key this node signs with.
pub struct SigningKey {
    pair: Ed25519KeyPair,
    public: PublicKey,
}

impl SigningKey {
    /// Reads the key at `path`, or creates it when there is no such file.
    ///
    /// The file is PKCS#8 in hexadecimal, for its owner alone; lines starting with `#` are comments.
    pub fn open_or_create(path: impl AsRef<Path>) -> Result<SigningKey, SignError> {
        let path = path.as_ref();
        let text = private_file::read_or_create(path, || {
            let mut text = new_pkcs8_hex()?;
            text.push('\n');
            Ok::<_, SignError>(text)
        })?;
        let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
        line.and_then(SigningKey::from_pkcs8_hex).ok_or_else(|| SignError::NotAKey { path: path.to_owned() })
    }

    /// A new key that is kept nowhere.
    pub fn ephemeral() -> Result<SigningKey, SignError> {
        SigningKey::from_pkcs8_hex(&new_pkcs8_hex()?).ok_or(SignError::NoRandomness)
    }

    /// The key that follows from a seed, for a simulation.
    pub(crate) fn from_seed(seed: &[u8; 32]) -> Result<SigningKey, SignError> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| SignError::NoRandomness)?;
        let public = pair.public_key().as_ref().try_into().map_err(|_| SignError::NoRandomness)?;
        Ok(SigningKey { pair, public: PublicKey(public) })
    }

    /// Signs `message` for one purpose: the signature says nothing in any other `domain`.
    pub fn sign(&self, domain: &str, message: &[u8]) -> Signature {
        let signature = self.pair.sign(&framed(domain, message));
        signature.as_ref().try_into().expect("an Ed25519 signature has 64 bytes")
    }

    /// The key others verify with.
    pub fn public(&self) -> PublicKey {
        self.public
    }

    fn from_pkcs8_hex(text: &str) -> Option<SigningKey> {
        let pair = Ed25519KeyPair::from_pkcs8(&hex::decode(text)?).ok()?;
        let public = PublicKey(pair.public_key().as_ref().try_into().ok()?);
        Some(SigningKey { pair, public })
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("SigningKey").field("public", &self.public).finish_non_exhaustive()
    }
}

/// The public half of a [`SigningKey`]; as text, 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey(pub [u8; 32]);

impl PublicKey {
    /// Whether `signature` was made of `message` in `domain` with this key.
    pub fn verify(&self, domain: &str, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.0).verify(&framed(domain, message), signature).is_ok()
    }

    /// The short name of this key.
    pub fn id(&self) -> KeyId {
        let hash = digest(&SHA256, &self.0);
        KeyId(*hash.as_ref().first_chunk().expect("SHA-256 has 32 bytes"))
    }
}

impl std::fmt::Display for PublicKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&hex::encode(&self.0))
    }
}

impl std::fmt::Debug for PublicKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "PublicKey({self})")
    }
}

impl std::str::FromStr for PublicKey {
    type Err = NotAPublicKey;

    fn from_str(text: &str) -> Result<PublicKey, NotAPublicKey> {
        let bytes = hex::decode_array(text).ok_or_else(|| NotAPublicKey(text.to_owned()))?;
        Ok(PublicKey(*bytes))
    }
}

/// A name for a public key, short enough to stand beside every signature: the first 8 bytes of its SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub [u8; 8]);

impl std::fmt::Display for KeyId {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&hex::encode(&self.0))
    }
}

impl std::fmt::Debug for KeyId {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "KeyId({self})")
    }
}

/// Why there is no signing key.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    /// The key's file could not be read or written.
    #[error(transparent)]
    File(#[from] PrivateFileError),
    /// The file holds something else.
    #[error(
        "{} is not an Ed25519 signing key in hexadecimal PKCS#8: restore it from a backup, or remove it to \
         start with a new key",
        path.display()
    )]
    NotAKey {
        /// The file.
        path: PathBuf,
    },
    /// The operating system gave no random bytes.
    #[error("cannot make a signing key: the operating system gave no random bytes; try again")]
    NoRandomness,
}

/// A text that should have been a public key.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a public key: it should be 64 hexadecimal digits")]
pub struct NotAPublicKey(String);

fn new_pkcs8_hex() -> Result<Zeroizing<String>, SignError> {
    let document =
        Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| SignError::NoRandomness)?;
    Ok(hex::encode(document.as_ref()))
}

/// Both parts behind their lengths, so that no other domain and message make the same bytes.
fn framed(domain: &str, message: &[u8]) -> Vec<u8> {
    let length = |part: &[u8]| (part.len() as u64).to_be_bytes();
    [&length(domain.as_bytes())[..], domain.as_bytes(), &length(message), message].concat()
}

#[cfg(test)]
mod tests;
