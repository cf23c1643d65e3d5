//! Envelope encryption of secret values: values are sealed under data keys, data keys under a key file's keys.
//!
//! Replacing a key of the key file re-wraps a few data keys and leaves every sealed value as it is.

mod data_key;
mod error;
mod key_file;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use zeroize::Zeroizing;

pub use data_key::{DataKeyId, WrappedKey};
use data_key::{Key, NONCE, TAG, random};
pub use error::SealError;
pub use key_file::KeyFile;

use crate::environment::{Randomness, SystemRandomness};

/// The first byte of every sealed value.
const VERSION: u8 = 1;
const HEADER: usize = 1 + 8 + NONCE;
const DOMAIN: &[u8] = b"groundplane sealed value 1";

/// The keys that seal and open values. Shared freely: reading takes no lock.
pub struct Keyring {
    keys: ArcSwap<Keys>,
    randomness: Arc<dyn Randomness>,
}

#[derive(Clone)]
struct Keys {
    file: Arc<KeyFile>,
    data: HashMap<DataKeyId, Arc<Key>>,
    sealing: Option<DataKeyId>,
}

impl Keyring {
    /// A ring that can unwrap data keys, and holds none yet.
    pub fn new(file: KeyFile) -> Keyring {
        Keyring::with_randomness(file, Arc::new(SystemRandomness))
    }

    /// The same with nonces and data keys from another source, for a simulation.
    pub(crate) fn with_randomness(file: KeyFile, randomness: Arc<dyn Randomness>) -> Keyring {
        let keys = Keys { file: Arc::new(file), data: HashMap::new(), sealing: None };
        Keyring { keys: ArcSwap::from_pointee(keys), randomness }
    }

    /// The names of the key file's keys as they were read, where they are kept in no file.
    pub(crate) fn kept_nowhere(&self) -> Option<Vec<String>> {
        let file = &self.keys.load().file;
        file.path().as_os_str().is_empty().then(|| file.kids().map(str::to_owned).collect())
    }

    /// Where the keys are kept.
    pub fn key_file(&self) -> std::path::PathBuf {
        self.keys.load().file.path().to_owned()
    }

    /// Takes the place of the key file, after a key was added to it. Data keys stay loaded.
    pub fn use_key_file(&self, file: KeyFile) {
        let file = Arc::new(file);
        self.change(|keys| keys.file = file.clone());
    }

    /// Unwraps a stored data key, so that values sealed with it open.
    pub fn load(&self, wrapped: &WrappedKey) -> Result<DataKeyId, SealError> {
        let key = Arc::new(wrapped.unwrap_with(&self.keys.load().file)?);
        self.change(|keys| {
            keys.data.insert(wrapped.id, key.clone());
        });
        Ok(wrapped.id)
    }

    /// A new data key, loaded but not yet used: store it first, then call [`Keyring::use_for_sealing`].
    ///
    /// A value sealed with a key that was never stored would be lost with this process.
    pub fn new_data_key(&self) -> Result<(DataKeyId, WrappedKey), SealError> {
        let id = DataKeyId(u64::from_be_bytes(random(&*self.randomness)?));
        let key = Arc::new(Key::random(&*self.randomness)?);
        let wrapped = WrappedKey::wrap(id, &key, &self.keys.load().file, &*self.randomness)?;
        self.change(|keys| {
            keys.data.insert(id, key.clone());
        });
        Ok((id, wrapped))
    }

    /// From now on values are sealed with this data key, which must be loaded.
    pub fn use_for_sealing(&self, id: DataKeyId) -> Result<(), SealError> {
        if !self.keys.load().data.contains_key(&id) {
            return Err(SealError::UnknownDataKey { id });
        }
        self.change(|keys| keys.sealing = Some(id));
        Ok(())
    }

    /// The same data key under the key file's active key.
    pub fn rewrap(&self, wrapped: &WrappedKey) -> Result<WrappedKey, SealError> {
        let file = &self.keys.load().file;
        WrappedKey::wrap(wrapped.id, &wrapped.unwrap_with(file)?, file, &*self.randomness)
    }

    /// `plain` as `[version][data key id][nonce][ciphertext and tag]`, bound to `aad`: the value's name, so
    /// that a sealed value moved to another name no longer opens.
    pub fn seal(&self, aad: &[u8], plain: &[u8]) -> Result<Vec<u8>, SealError> {
        let keys = self.keys.load();
        let id = keys.sealing.ok_or(SealError::NoSealingKey)?;
        let key = keys.data.get(&id).ok_or(SealError::UnknownDataKey { id })?;
        let nonce = random(&*self.randomness)?;

        let mut sealed = Vec::with_capacity(HEADER + plain.len() + TAG);
        sealed.push(VERSION);
        sealed.extend_from_slice(&id.0.to_be_bytes());
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(plain);
        let tag = key.encrypt(&nonce, &bound_to(id, aad), &mut sealed[HEADER..])?;
        sealed.extend_from_slice(&tag);
        Ok(sealed)
    }

    /// The plain value, in memory that is wiped after use.
    pub fn open(&self, aad: &[u8], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let ([VERSION], rest) = sealed.split_first_chunk().ok_or(SealError::NotSealed)? else {
            return Err(SealError::NotSealed);
        };
        let (id, rest) = rest.split_first_chunk().ok_or(SealError::NotSealed)?;
        let (nonce, rest) = rest.split_first_chunk().ok_or(SealError::NotSealed)?;
        let (ciphertext, tag) = rest.split_last_chunk().ok_or(SealError::NotSealed)?;
        let id = DataKeyId(u64::from_be_bytes(*id));

        let keys = self.keys.load();
        let key = keys.data.get(&id).ok_or(SealError::UnknownDataKey { id })?;
        let mut plain = Zeroizing::new(ciphertext.to_vec());
        if !key.decrypt(nonce, &bound_to(id, aad), &mut plain, tag) {
            return Err(SealError::TamperedValue);
        }
        Ok(plain)
    }

    fn change(&self, change: impl Fn(&mut Keys)) {
        self.keys.rcu(|keys| {
            let mut keys = Keys::clone(keys);
            change(&mut keys);
            keys
        });
    }
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let keys = self.keys.load();
        out.debug_struct("Keyring")
            .field("file", &keys.file)
            .field("data", &keys.data.keys())
            .field("sealing", &keys.sealing)
            .finish()
    }
}

/// The caller's name comes last: what stands before it has a fixed length, so no two pairs look alike.
fn bound_to(id: DataKeyId, aad: &[u8]) -> Vec<u8> {
    [DOMAIN, &id.0.to_be_bytes(), aad].concat()
}
