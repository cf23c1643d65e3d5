//! What a backup says about itself: the key files that a restore needs, by identity and by where they were.

use std::collections::BTreeSet;
use std::io::Read;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::Reader;
use super::frame::Frame;
use crate::error::{Error, Result};
use crate::history::checkpoint::Kept;
use crate::keys::DATA_KEYS;
use crate::seal::{KeyFile, Keyring, WrappedKey};
use crate::sign::PublicKey;
use crate::version::Revision;

/// The entry of a backup that names key files. Not part of the store that is restored.
const NAME: &str = "backup/keys";
/// What the names of entries begin with that are about the backup itself.
const OWN: &str = "backup/";
const CHECKPOINTS: &str = "checkpoint/";

/// The file with the keys that seal secrets, as a manifest names it.
pub const SEALING_KEYS: &str = "sealing.keys";
/// The file with the key that signs checkpoints of history.
pub const SIGNING_KEY: &str = "signing.key";

/// A key file of the server that made a backup. Identities and paths only: a backup holds no key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyNote {
    /// The name of the file, relative to the folder of keys.
    pub file: String,
    /// Where it was on the server that made the backup.
    pub path: String,
    /// Which keys are in it: names of sealing keys, the public key, or a SHA-256 fingerprint.
    pub ids: Vec<String>,
}

/// What a whole backup holds, read without restoring it.
#[derive(Debug, Clone)]
pub struct Contents {
    /// The revision it shows.
    pub revision: Revision,
    /// Objects.
    pub objects: u64,
    /// Records of history.
    pub records: u64,
    /// The key files of the server that made it; empty in backups of versions that did not name them.
    pub keys: Vec<KeyNote>,
    wrapped: Vec<WrappedKey>,
    newest_checkpoint: Option<Kept>,
}

impl Contents {
    /// Reads a backup to its end, and fails when it is cut off or changed. Nothing is written.
    pub fn read(input: &mut (dyn Read + Send)) -> Result<Contents> {
        let mut reader = Reader::new(input)?;
        let Some(Frame::Start { revision, .. }) = reader.next()? else {
            return Err(Error::Damaged("the backup does not start with its revision".into()));
        };
        let mut contents = Contents {
            revision,
            objects: 0,
            records: 0,
            keys: Vec::new(),
            wrapped: Vec::new(),
            newest_checkpoint: None,
        };
        while let Some(frame) = reader.next()? {
            match frame {
                Frame::Object { .. } => contents.objects += 1,
                Frame::Record { .. } => contents.records += 1,
                Frame::Meta { name, value } => contents.take_entry(&name, &value)?,
                _ => {}
            }
        }
        Ok(contents)
    }

    fn take_entry(&mut self, name: &str, value: &[u8]) -> Result<()> {
        if name == NAME {
            self.keys = postcard::from_bytes(value)?;
        } else if name.starts_with(DATA_KEYS) {
            self.wrapped.push(postcard::from_bytes(value)?);
        } else if name.starts_with(CHECKPOINTS) {
            let kept: Kept = postcard::from_bytes(value)?;
            let is_newer = |last: &Kept| kept.said.index > last.said.index;
            if self.newest_checkpoint.as_ref().is_none_or(is_newer) {
                self.newest_checkpoint = Some(kept);
            }
        }
        Ok(())
    }

    /// What is known of a key file of the server that made the backup.
    pub fn note(&self, file: &str) -> Option<&KeyNote> {
        self.keys.iter().find(|note| note.file == file)
    }

    /// The names of the sealing keys without which the backup's secrets can't be opened.
    pub fn sealing_keys(&self) -> BTreeSet<&str> {
        self.wrapped.iter().map(|wrapped| wrapped.kid.as_str()).collect()
    }

    /// Whether every secret of the backup can be opened with these keys.
    pub fn opens_with(&self, file: KeyFile) -> Result<()> {
        let keyring = Keyring::new(file);
        for wrapped in &self.wrapped {
            keyring.load(wrapped)?;
        }
        Ok(())
    }

    /// Whether history is signed at all, so that verifying it takes the key of the server that made the backup.
    pub fn needs_signing_key(&self) -> bool {
        self.note(SIGNING_KEY).is_some() || self.newest_checkpoint.is_some()
    }

    /// Whether history that was signed by the server that made the backup verifies with this key.
    pub fn is_signed_by(&self, key: PublicKey) -> bool {
        match (self.note(SIGNING_KEY), &self.newest_checkpoint) {
            (Some(note), _) => note.ids.iter().any(|id| *id == key.to_string()),
            (None, Some(kept)) => kept.said.is_signed_by(&[key]),
            (None, None) => true,
        }
    }
}

/// The frame that names key files.
pub(super) fn frame(keys: &[KeyNote]) -> Result<Frame> {
    Ok(Frame::Meta { name: NAME.to_owned(), value: Bytes::from(postcard::to_stdvec(keys)?) })
}

/// Whether an entry is about the backup, and not part of the store.
pub(super) fn is_own(name: &str) -> bool {
    name.starts_with(OWN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backup::frame::Writer;

    fn backup(frames: &[Frame]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes).unwrap();
        writer.frame(&Frame::Start { revision: Revision::new(7), time: 1 }).unwrap();
        for frame in frames {
            writer.frame(frame).unwrap();
        }
        writer.finish(0, 0).unwrap();
        bytes
    }

    #[test]
    fn a_backup_of_a_version_that_named_no_keys_still_says_which_it_needs() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| KeyFile::open_or_create(folder.path().join(name)).unwrap();
        let (_, wrapped) = Keyring::new(file("own")).new_data_key().unwrap();
        let value = Bytes::from(postcard::to_stdvec(&wrapped).unwrap());
        let bytes = backup(&[Frame::Meta { name: format!("{DATA_KEYS}1"), value }]);
        let contents = Contents::read(&mut &bytes[..]).unwrap();
        assert_eq!(contents.revision, Revision::new(7));
        assert_eq!(contents.keys, []);
        assert_eq!(contents.sealing_keys(), BTreeSet::from([file("own").active_kid()]));
        assert!(contents.opens_with(file("own")).is_ok());
        assert!(contents.opens_with(file("other")).is_err());
        assert!(!contents.needs_signing_key());
    }

    #[test]
    fn key_files_are_named_and_one_that_is_cut_off_is_refused() {
        let note =
            KeyNote { file: SIGNING_KEY.into(), path: "/a/signing.key".into(), ids: vec!["00".into()] };
        let bytes = backup(&[frame(std::slice::from_ref(&note)).unwrap()]);
        let contents = Contents::read(&mut &bytes[..]).unwrap();
        assert_eq!(contents.note(SIGNING_KEY), Some(&note));
        assert!(contents.needs_signing_key() && !contents.is_signed_by(PublicKey([1; 32])));
        for cut in [0, 10, bytes.len() / 2, bytes.len() - 1] {
            assert!(Contents::read(&mut &bytes[..cut]).is_err(), "cut after {cut}");
        }
    }
}
