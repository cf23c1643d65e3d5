//! Why sealing failed. None of these carries a key or a value.

use std::path::PathBuf;

use super::DataKeyId;
use crate::private_file::PrivateFileError;

/// Why a key file, a data key or a sealed value could not be used.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// The key file could not be read or written.
    #[error(transparent)]
    File(#[from] PrivateFileError),
    /// A line of the key file is not a key.
    #[error("line {line} of key file {}: {reason}; a line is `name` and 64 hexadecimal digits", path.display())]
    BadLine {
        /// The key file.
        path: PathBuf,
        /// The line, counted from one.
        line: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The key file is there, but empty of keys. It is not filled: the values sealed before would be lost.
    #[error("key file {} holds no key: restore it from a backup, or remove it to start with a new key", path.display())]
    NoKeys {
        /// The key file.
        path: PathBuf,
    },
    /// The key a data key is wrapped with is gone from the key file.
    #[error("data key {id} is wrapped with key `{kid}`, which {} does not hold: restore that line of it", path.display())]
    MissingKek {
        /// The wrapped data key.
        id: DataKeyId,
        /// The missing key's name.
        kid: String,
        /// The file to restore.
        path: PathBuf,
    },
    /// A wrapped data key does not open with the key it names.
    #[error(
        "data key {id} does not open with key `{kid}`: the stored data key or the key's line in {} was changed; \
         restore them from the same backup",
        path.display()
    )]
    TamperedDataKey {
        /// The wrapped data key.
        id: DataKeyId,
        /// The key it names.
        kid: String,
        /// The key file.
        path: PathBuf,
    },
    /// A value is sealed with a data key that was not loaded.
    #[error(
        "data key {id} is not loaded: load the wrapped data keys that were stored with the sealed values"
    )]
    UnknownDataKey {
        /// The data key.
        id: DataKeyId,
    },
    /// No data key was chosen to seal with.
    #[error("no data key is chosen for sealing: create or load one and choose it first")]
    NoSealingKey,
    /// The bytes are not a sealed value of a version we know.
    #[error("not a sealed value of a known version: it was damaged, or written by a newer release")]
    NotSealed,
    /// The value or the name it is bound to is not what was sealed.
    #[error(
        "sealed value does not open: the value or its name was changed after sealing; restore it from a backup"
    )]
    TamperedValue,
    /// More than the cipher can take at once.
    #[error("value is too long to seal: split it")]
    TooLong,
    /// The operating system gave no random bytes.
    #[error("the operating system gave no random bytes: try again")]
    NoRandomness,
}
