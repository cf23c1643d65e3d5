//! The private keys of a store: those that seal secrets, and the one that signs for history.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use crate::backup::manifest::{KeyNote, SEALING_KEYS, SIGNING_KEY};
use crate::environment::Randomness;
use crate::error::{Error, Result};
use crate::history::archive::{Archive, Edit};
use crate::seal::{KeyFile, Keyring, WrappedKey};
use crate::sign::SigningKey;
use crate::store::{Parts, Store};

/// The keys of one store. Several servers of one store share them: copy the two files.
#[derive(Clone)]
pub struct Keys {
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) signing: Arc<SigningKey>,
}

/// Where the store keeps its data keys.
pub(crate) const DATA_KEYS: &str = "datakey/";

impl Keys {
    /// Opens `sealing.keys` and `signing.key` in `folder`, and makes those that are not there. Both must be
    /// readable by their owner alone.
    pub fn open(folder: &Path) -> Result<Keys> {
        let sealing = KeyFile::open_or_create(folder.join(SEALING_KEYS))?;
        let signing = SigningKey::open_or_create(folder.join(SIGNING_KEY));
        let signing = signing.map_err(|error| Error::Unavailable(error.to_string()))?;
        Ok(Keys { keyring: Arc::new(Keyring::new(sealing)), signing: Arc::new(signing) })
    }

    /// Keys that follow from `randomness` and are kept in no file, for a simulation. Whoever opens the same data again
    /// needs these again.
    pub fn in_memory(randomness: Arc<dyn Randomness>) -> Result<Keys> {
        let failed = |error: &dyn std::fmt::Display| Error::Unavailable(error.to_string());
        let mut seed = [0; 32];
        randomness.fill(&mut seed).map_err(|error| failed(&error))?;
        let signing = SigningKey::from_seed(&seed).map_err(|error| failed(&error))?;
        let sealing = KeyFile::in_memory(&*randomness)?;
        let keyring = Keyring::with_randomness(sealing, randomness);
        Ok(Keys { keyring: Arc::new(keyring), signing: Arc::new(signing) })
    }
}

/// Loads the store's data keys, so that what is sealed with them can be opened.
pub(crate) async fn load(archive: &dyn Archive, keyring: &Keyring) -> Result<()> {
    adopt(&archive.metas(DATA_KEYS).await?, keyring)
}

/// The same with data keys that were read before.
pub(crate) fn adopt(found: &[(String, Bytes)], keyring: &Keyring) -> Result<()> {
    for (_, bytes) in found {
        let id = keyring.load(&postcard::from_bytes(bytes)?)?;
        keyring.use_for_sealing(id)?;
    }
    Ok(())
}

/// Makes a data key if there is none yet.
pub(crate) async fn ensure(archive: &dyn Archive, keyring: &Keyring) -> Result<()> {
    if wrapped(archive).await?.is_empty() {
        let (id, wrapped) = keyring.new_data_key()?;
        archive.edit(vec![put(&wrapped)?], None).await?;
        keyring.use_for_sealing(id)?;
    }
    Ok(())
}

/// The two key files of a store, for the manifest of a backup.
pub(crate) fn notes(parts: &Parts) -> Result<Vec<KeyNote>> {
    let keyring = parts.memory.indexer.keyring();
    if let Some(ids) = keyring.kept_nowhere() {
        let note = |file: &str, ids| KeyNote { file: file.to_owned(), path: file.to_owned(), ids };
        let signing = vec![parts.signing.public().to_string()];
        return Ok(vec![note(SEALING_KEYS, ids), note(SIGNING_KEY, signing)]);
    }
    let path = keyring.key_file();
    let path = std::path::absolute(&path).unwrap_or(path);
    let file = KeyFile::open_or_create(path.clone())?;
    let note = |file: &str, ids: Vec<String>| KeyNote {
        file: file.to_owned(),
        path: path.with_file_name(file).display().to_string(),
        ids,
    };
    Ok(vec![
        note(SEALING_KEYS, file.kids().map(str::to_owned).collect()),
        note(SIGNING_KEY, vec![parts.signing.public().to_string()]),
    ])
}

/// What came of a new sealing key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotated {
    /// The name of the new key.
    pub key: String,
    /// How many data keys are under it now.
    pub data_keys: usize,
}

impl dyn Store {
    /// Adds a new sealing key to the file that the store was opened with, and puts the data keys under it. Requests
    /// go on meanwhile.
    pub async fn rotate_sealing_key_in_place(&self) -> Result<Rotated> {
        let _alone = self.parts().maintenance.lock().await;
        let file = KeyFile::open_or_create(self.parts().memory.indexer.keyring().key_file())?;
        let key = self.rotate_sealing_key(file).await?;
        Ok(Rotated { key, data_keys: wrapped(&*self.parts().archive).await?.len() })
    }

    /// Makes a new sealing key and puts the data keys under it. Sealed values stay as they are, and open as
    /// before; the old key is no longer needed once every server has the new file. Gives the new key's name.
    pub async fn rotate_sealing_key(&self, mut file: KeyFile) -> Result<String> {
        let parts = self.parts();
        let keyring = parts.memory.indexer.keyring();
        let kid = file.add_new_active()?;
        keyring.use_key_file(file);
        let old = wrapped(&*parts.archive).await?;
        let edits = old.iter().map(|wrapped| put(&keyring.rewrap(wrapped)?)).collect::<Result<_>>()?;
        parts.archive.edit(edits, None).await?;
        Ok(kid)
    }
}

async fn wrapped(archive: &dyn Archive) -> Result<Vec<WrappedKey>> {
    let found = archive.metas(DATA_KEYS).await?;
    Ok(found.iter().map(|(_, bytes)| postcard::from_bytes(bytes)).collect::<Result<_, _>>()?)
}

fn put(wrapped: &WrappedKey) -> Result<Edit> {
    let name = format!("{DATA_KEYS}{:016x}", wrapped.id.0);
    Ok(Edit::PutMeta(name, Bytes::from(postcard::to_stdvec(wrapped)?)))
}
