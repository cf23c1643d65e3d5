//! Small text files that hold keys: readable by their owner alone, and never seen half-written.

use std::fs::{File, OpenOptions, hard_link, remove_file, rename};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

/// More keys than anyone keeps; a larger file is not ours.
const MAX_BYTES: u64 = 1 << 20;

/// Why a key file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum PrivateFileError {
    /// Others may read or change the file, so its keys can no longer be trusted.
    #[error(
        "key file {path} has mode {mode:04o}, so others than its owner may read or change it: \
         run `chmod 600 {path}`, and replace its keys if others may have read them",
        path = path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The file is not text of a sensible size.
    #[error("key file {} is not a text file of at most 1 MiB: restore it from a backup", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("cannot {action} key file {}: check that its directory exists and is writable by this user", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The operating system gave no random bytes.
    #[error("cannot create key file {}: the operating system gave no random bytes; try again", path.display())]
    NoRandomness {
        /// The file.
        path: PathBuf,
    },
}

/// The text of `path`; a missing file is first created with what `initial` makes.
pub(crate) fn read_or_create<E: From<PrivateFileError>>(
    path: &Path,
    initial: impl FnOnce() -> Result<Zeroizing<String>, E>,
) -> Result<Zeroizing<String>, E> {
    if let Some(text) = read_if_present(path)? {
        return Ok(text);
    }
    create_unless_present(path, &initial()?)?;
    Ok(read(path)?)
}

/// The text of `path`, refused when others than its owner may read or change it.
pub(crate) fn read(path: &Path) -> Result<Zeroizing<String>, PrivateFileError> {
    read_if_present(path)?.ok_or_else(|| failed("read", path)(ErrorKind::NotFound.into()))
}

/// Puts `text` in the place of what `path` holds, all at once.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), PrivateFileError> {
    let temporary = Temporary::write(path, text)?;
    rename(&temporary.path, path).map_err(failed("replace", path))?;
    sync_directory(path)
}

fn read_if_present(path: &Path) -> Result<Option<Zeroizing<String>>, PrivateFileError> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed("open", path)(error)),
    };
    // Asked of the open file: what is checked is what is read.
    let metadata = file.metadata().map_err(failed("inspect", path))?;
    let mode = metadata.mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(PrivateFileError::Exposed { path: path.to_owned(), mode });
    }
    let not_text = || PrivateFileError::NotText { path: path.to_owned() };
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err(not_text());
    }
    // One buffer of the full length: growing would leave copies of keys in freed memory.
    let mut bytes = Zeroizing::new(vec![0; metadata.len() as usize]);
    file.read_exact(&mut bytes).map_err(failed("read", path))?;
    match String::from_utf8(std::mem::take(&mut *bytes)) {
        Ok(text) => Ok(Some(Zeroizing::new(text))),
        Err(error) => {
            drop(Zeroizing::new(error.into_bytes()));
            Err(not_text())
        }
    }
}

/// A link instead of a rename: of two processes that start at once, the second must not overwrite the key the
/// first already uses.
fn create_unless_present(path: &Path, text: &str) -> Result<(), PrivateFileError> {
    let temporary = Temporary::write(path, text)?;
    match hard_link(&temporary.path, path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(failed("create", path)(error)),
        _ => sync_directory(path),
    }
}

/// A complete, synced file next to the one it shall become; removed when dropped.
struct Temporary {
    path: PathBuf,
}

impl Temporary {
    fn write(target: &Path, text: &str) -> Result<Temporary, PrivateFileError> {
        let mut random = [0; 8];
        SystemRandom::new()
            .fill(&mut random)
            .map_err(|_| PrivateFileError::NoRandomness { path: target.to_owned() })?;
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{:016x}.new", u64::from_be_bytes(random)));
        let path = target.with_file_name(name);

        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(failed("create", target))?;
        let temporary = Temporary { path };
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed("write", target))?;
        Ok(temporary)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename there is nothing left to remove; otherwise the file is useless and private.
        let _ = remove_file(&self.path);
    }
}

/// Makes the new name of `path` survive a loss of power.
fn sync_directory(path: &Path) -> Result<(), PrivateFileError> {
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    File::open(directory).and_then(|directory| directory.sync_all()).map_err(failed("sync", path))
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> PrivateFileError {
    move |source| PrivateFileError::Io { action, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, metadata, read_dir, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_missing_file_is_created_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        assert_eq!(*read_or_create(&path, || text("first")).unwrap(), "first");
        assert_eq!(*read_or_create(&path, || text("second")).unwrap(), "first");
        assert_eq!(metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(read_dir(dir.path()).unwrap().count(), 1, "the temporary file is gone");
    }

    #[test]
    fn of_two_that_create_at_once_the_first_wins() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        let found = read_or_create(&path, || {
            create_unless_present(&path, "first")?;
            text("second")
        });
        assert_eq!(*found.unwrap(), "first");
    }

    #[test]
    fn replacing_keeps_the_file_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        replace(&path, "one").unwrap();
        replace(&path, "two").unwrap();
        assert_eq!(*read(&path).unwrap(), "two");
        assert_eq!(metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_others_may_read_or_change_is_refused_with_the_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        write(&path, "secret").unwrap();
        for mode in [0o640, 0o604, 0o620, 0o601] {
            set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let said = read(&path).unwrap_err().to_string();
            assert!(said.contains(&format!("mode {mode:04o}")), "{said}");
            assert!(said.contains(&format!("chmod 600 {}", path.display())), "{said}");
        }
        set_permissions(&path, Permissions::from_mode(0o400)).unwrap();
        assert_eq!(*read(&path).unwrap(), "secret");
    }

    #[test]
    fn what_cannot_be_written_or_read_names_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("missing").join("key");
        let said = read_or_create(&path, || text("x")).unwrap_err().to_string();
        assert!(said.contains(&path.display().to_string()), "{said}");

        let binary = dir.path().join("binary");
        write(&binary, [0xff, 0xfe]).unwrap();
        set_permissions(&binary, Permissions::from_mode(0o600)).unwrap();
        assert!(matches!(read(&binary), Err(PrivateFileError::NotText { .. })));
    }

    fn text(text: &str) -> Result<Zeroizing<String>, PrivateFileError> {
        Ok(Zeroizing::new(text.to_owned()))
    }
}
