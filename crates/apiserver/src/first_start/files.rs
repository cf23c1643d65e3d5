//! Atomic file writes: written to a temporary file, synced, then renamed.

use std::fs::{DirBuilder, File, OpenOptions, hard_link, remove_file, rename};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

use super::CredentialsError;

/// For the owner alone.
pub(super) const PRIVATE: u32 = 0o600;
/// For everybody to read.
pub(super) const PUBLIC: u32 = 0o644;
/// Larger than any file of ours.
const MAX_BYTES: u64 = 1 << 20;

const NOT_TEXT: &str = "it is not a text file of at most 1 MiB";
const RESTORE: &str = "restore it from a backup, or remove it and a new one is generated";

pub(super) fn make_folder(folder: &Path) -> Result<(), CredentialsError> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed("create", folder))
}

/// The text of a private file; a missing one is first created with what `initial` makes. Of two servers that start
/// at once the second reads what the first has made.
pub(super) fn read_or_create_private(
    path: &Path,
    initial: impl FnOnce() -> Result<Zeroizing<String>, CredentialsError>,
) -> Result<Zeroizing<String>, CredentialsError> {
    if let Some(text) = read_private(path)? {
        return Ok(text);
    }
    let temporary = Temporary::write(path, &initial()?, PRIVATE)?;
    match hard_link(&temporary.path, path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(failed("create", path)(error)),
        _ => {}
    }
    read_private(path)?.ok_or_else(|| failed("read", path)(ErrorKind::NotFound.into()))
}

/// The text of a private file, refused when others than its owner may read or change it.
pub(super) fn read_private(path: &Path) -> Result<Option<Zeroizing<String>>, CredentialsError> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed("open", path)(error)),
    };
    // Asked of the open file: what is checked is what is read.
    let metadata = file.metadata().map_err(failed("inspect", path))?;
    let mode = metadata.mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(CredentialsError::Exposed { path: path.to_owned(), mode });
    }
    let damaged = || CredentialsError::Damaged { path: path.to_owned(), what: NOT_TEXT, remedy: RESTORE };
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err(damaged());
    }
    // One buffer of the full length: growing would leave copies of keys in freed memory.
    let mut text = Zeroizing::new(String::with_capacity(metadata.len() as usize + 1));
    match file.read_to_string(&mut text) {
        Ok(_) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::InvalidData => Err(damaged()),
        Err(error) => Err(failed("read", path)(error)),
    }
}

/// Puts `text` in the place of what `path` holds, unless it holds that already. The folder is not synced: what is put
/// there can be made again.
pub(super) fn replace_if_different(path: &Path, text: &str, mode: u32) -> Result<(), CredentialsError> {
    let same_mode = std::fs::metadata(path).is_ok_and(|found| found.mode() & 0o777 == mode);
    if same_mode && std::fs::read(path).is_ok_and(|found| found == text.as_bytes()) {
        return Ok(());
    }
    let temporary = Temporary::write(path, text, mode)?;
    rename(&temporary.path, path).map_err(failed("replace", path))
}

/// Makes new names in `folder` survive a loss of power.
pub(super) fn sync_folder(folder: &Path) -> Result<(), CredentialsError> {
    File::open(folder).and_then(|open| open.sync_all()).map_err(failed("sync", folder))
}

/// A complete, synced file next to the one it shall become; removed when dropped.
struct Temporary {
    path: PathBuf,
}

impl Temporary {
    fn write(target: &Path, text: &str, mode: u32) -> Result<Temporary, CredentialsError> {
        let mut random = [0; 8];
        let no_random = |_| {
            failed("create", target)(std::io::Error::other("the operating system returned no random bytes"))
        };
        SystemRandom::new().fill(&mut random).map_err(no_random)?;
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{:016x}.new", u64::from_be_bytes(random)));
        let path = target.with_file_name(name);

        let mut open = OpenOptions::new();
        let mut file =
            open.write(true).create_new(true).mode(mode).open(&path).map_err(failed("create", target))?;
        let temporary = Temporary { path };
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed("write", target))?;
        Ok(temporary)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename there is nothing left to remove; otherwise the file is of no use to anybody.
        let _ = remove_file(&self.path);
    }
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> CredentialsError {
    move |source| CredentialsError::Io { action, path: path.to_owned(), source }
}
