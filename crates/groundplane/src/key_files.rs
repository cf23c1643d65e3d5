//! The four private files that make a server the same server again, wherever they are kept.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use store::{SEALING_KEYS, SIGNING_KEY};

use crate::failure::Failure;

/// The CA that clients trust.
pub const AUTHORITY: &str = "pki/ca.pem";
/// The key that signs tokens of service accounts.
pub const ACCOUNTS: &str = "pki/service-accounts.pem";
/// All of them, as they are named in the data folder of a server on etcd and in a folder of copied keys.
pub const ALL: [&str; 4] = [SEALING_KEYS, SIGNING_KEY, AUTHORITY, ACCOUNTS];

/// A key file below `folder`: a data folder with or without `--etcd`, or a folder of copied keys.
pub fn find(folder: &Path, file: &str) -> Option<PathBuf> {
    let bare = Path::new(file).file_name().unwrap_or_default();
    let places = [folder.join(file), folder.join("store").join(bare), folder.join(bare)];
    places.into_iter().find(|path| path.is_file())
}

/// Where a server looks for a key file.
pub fn place(data: &Path, file: &str, is_etcd: bool) -> PathBuf {
    match file {
        SEALING_KEYS | SIGNING_KEY if !is_etcd => data.join("store").join(file),
        _ => data.join(file),
    }
}

/// Copies a key file, for its owner alone. What is at `to` must not exist.
pub fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(format_args!("copying {} to {}", from.display(), to.display()), error)
    };
    let bytes = std::fs::read(from).map_err(failed)?;
    let written = (|| {
        if let Some(folder) = to.parent() {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
        file.write_all(&bytes)?;
        file.sync_all()
    })();
    written.map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_where_servers_and_copies_keep_them() {
        let folder = tempfile::tempdir().unwrap();
        let at = |file: &str| {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "x").unwrap();
            path
        };
        assert_eq!(find(folder.path(), SEALING_KEYS), None);
        let embedded = at("store/sealing.keys");
        assert_eq!(find(folder.path(), SEALING_KEYS), Some(embedded));
        let etcd = at("sealing.keys");
        assert_eq!(find(folder.path(), SEALING_KEYS), Some(etcd));
        let flat = at("ca.pem");
        assert_eq!(find(folder.path(), AUTHORITY), Some(flat));
    }
}
