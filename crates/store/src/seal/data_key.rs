//! Data keys: what values are sealed with, and how they are themselves kept wrapped.

use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::{KeyFile, SealError};
use crate::environment::Randomness;

pub(super) const NONCE: usize = 24;
pub(super) const TAG: usize = 16;
const DOMAIN: &[u8] = b"groundplane wrapped data key 1";

/// Which data key a value is sealed with. Random, so that two stores never mean different keys by one id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DataKeyId(pub u64);

impl std::fmt::Display for DataKeyId {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:016x}", self.0)
    }
}

/// A data key as it is stored: encrypted with a key of the key file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrappedKey {
    /// The data key's id.
    pub id: DataKeyId,
    /// The name of the key file's key it is wrapped with.
    pub kid: String,
    /// Drawn anew at every wrapping.
    pub nonce: [u8; NONCE],
    /// The encrypted key and its tag.
    pub sealed: Vec<u8>,
}

impl WrappedKey {
    /// Wraps `key` with the active key of `file`.
    pub(super) fn wrap(
        id: DataKeyId,
        key: &Key,
        file: &KeyFile,
        randomness: &dyn Randomness,
    ) -> Result<WrappedKey, SealError> {
        let (kid, kek) = file.active();
        let nonce = random(randomness)?;
        let mut sealed = Vec::with_capacity(Key::LEN + TAG);
        sealed.extend_from_slice(&*key.0);
        let tag = kek.encrypt(&nonce, &bound_to(id, kid), &mut sealed)?;
        sealed.extend_from_slice(&tag);
        Ok(WrappedKey { id, kid: kid.to_owned(), nonce, sealed })
    }

    pub(super) fn unwrap_with(&self, file: &KeyFile) -> Result<Key, SealError> {
        let (id, kid, path) = (self.id, self.kid.clone(), file.path().to_owned());
        let Some(kek) = file.named(&kid) else {
            return Err(SealError::MissingKek { id, kid, path });
        };
        let tampered = || SealError::TamperedDataKey { id, kid: kid.clone(), path: path.clone() };
        let (ciphertext, tag) = self.sealed.split_last_chunk().ok_or_else(tampered)?;
        let mut key = Zeroizing::new(<[u8; Key::LEN]>::try_from(ciphertext).map_err(|_| tampered())?);
        if !kek.decrypt(&self.nonce, &bound_to(id, &kid), &mut *key, tag) {
            return Err(tampered());
        }
        Ok(Key(key))
    }
}

/// A key of either kind, wiped when dropped and never printed.
pub(super) struct Key(pub(super) Zeroizing<[u8; Key::LEN]>);

impl Key {
    pub(super) const LEN: usize = 32;

    pub(super) fn random(randomness: &dyn Randomness) -> Result<Key, SealError> {
        Ok(Key(Zeroizing::new(random(randomness)?)))
    }

    pub(super) fn encrypt(
        &self,
        nonce: &[u8; NONCE],
        aad: &[u8],
        buffer: &mut [u8],
    ) -> Result<[u8; TAG], SealError> {
        let tag = self.cipher().encrypt_inout_detached(nonce.into(), aad, buffer.into());
        tag.map(Into::into).map_err(|_| SealError::TooLong)
    }

    /// Whether `buffer` was what this key had encrypted; if so it is now plain.
    pub(super) fn decrypt(
        &self,
        nonce: &[u8; NONCE],
        aad: &[u8],
        buffer: &mut [u8],
        tag: &[u8; TAG],
    ) -> bool {
        self.cipher().decrypt_inout_detached(nonce.into(), aad, buffer.into(), tag.into()).is_ok()
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new((&*self.0).into())
    }
}

pub(super) fn random<const N: usize>(randomness: &dyn Randomness) -> Result<[u8; N], SealError> {
    let mut bytes = [0; N];
    randomness.fill(&mut bytes).map_err(|_| SealError::NoRandomness)?;
    Ok(bytes)
}

/// The id has a fixed length and the name comes last, so no two pairs look alike.
fn bound_to(id: DataKeyId, kid: &str) -> Vec<u8> {
    [DOMAIN, &id.0.to_be_bytes(), kid.as_bytes()].concat()
}
