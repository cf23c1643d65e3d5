//! A data folder that a server has started on once, to be copied: most tests need a server, not its first start.
//!
//! There is one for each binary, beside it. Test binaries that run at the same time make it once, under a lock, and
//! see it only when it is whole.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::Server;

/// Templates of binaries that were replaced are removed after this time.
const KEPT: Duration = Duration::from_secs(24 * 3600);

/// Copies the template of `binary` to `data`, which must not exist. Gives whether it did: without a template the server
/// makes its first start there.
pub(super) fn copy_to(binary: &str, data: &Path) -> bool {
    let Some(template) = find_or_make(Path::new(binary)) else { return false };
    if copy(&template, data).is_ok() {
        return true;
    }
    // A half of a folder is none.
    let _ = fs::remove_dir_all(data);
    false
}

fn find_or_make(binary: &Path) -> Option<PathBuf> {
    let templates = binary.parent()?.join("testbed");
    let template = templates.join(identity(binary).ok()?);
    if template.is_dir() {
        return Some(template);
    }
    fs::create_dir_all(&templates).ok()?;
    let lock = File::create(templates.join("lock")).ok()?;
    lock.lock().ok()?;
    // Somebody else may have made it while we waited.
    if template.is_dir() {
        return Some(template);
    }
    remove_old(&templates);
    let folder = tempfile::Builder::new().prefix("making-").tempdir_in(&templates).ok()?;
    let data = folder.path().join("data");
    let server = Server::start(binary.to_str()?, &data, &[]).ok()?;
    server.stop().filter(std::process::ExitStatus::success)?;
    fs::rename(&data, &template).ok()?;
    Some(template)
}

/// What tells one build of a binary from another: when it was written, its size and its inode.
fn identity(binary: &Path) -> io::Result<String> {
    let found = fs::metadata(binary)?;
    Ok(format!("{}.{:09}-{}-{}", found.mtime(), found.mtime_nsec(), found.len(), found.ino()))
}

fn remove_old(templates: &Path) {
    let entries = fs::read_dir(templates).into_iter().flatten().flatten();
    for entry in entries {
        let made = entry.metadata().and_then(|found| found.modified()).unwrap_or(SystemTime::now());
        if entry.path().is_dir() && made.elapsed().is_ok_and(|age| age > KEPT) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Copies a folder with the modes of what is in it.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(fs::metadata(from)?.mode() & 0o777).create(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => fs::copy(entry.path(), target).map(drop)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_copy_has_the_files_and_modes_of_the_template() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("inner")).unwrap();
        fs::write(from.join("inner/secret"), "x").unwrap();
        fs::set_permissions(from.join("inner/secret"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(&from, fs::Permissions::from_mode(0o700)).unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(fs::read(to.join("inner/secret")).unwrap(), b"x");
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&to), mode(&to.join("inner/secret"))), (0o700, 0o600));
        assert!(copy(&from, &to).is_err(), "a folder that is there is left alone");
    }

    #[test]
    fn another_build_has_another_identity() {
        let folder = tempfile::tempdir().unwrap();
        let binary = folder.path().join("binary");
        fs::write(&binary, "one").unwrap();
        let first = identity(&binary).unwrap();
        assert_eq!(identity(&binary).unwrap(), first);
        fs::write(&binary, "another").unwrap();
        assert_ne!(identity(&binary).unwrap(), first);
    }
}
