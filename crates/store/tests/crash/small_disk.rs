//! A real file system that is quickly full: a tmpfs of our own.

use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A mounted tmpfs, unmounted when dropped.
pub struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// Mounts one of so many bytes; `None`, with a line that says so, where mounting is not possible.
    pub fn mount(bytes: usize) -> Option<SmallDisk> {
        let folder = tempfile::tempdir().expect("a folder to mount on");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "groundplane-test"]).arg(folder.path());
        match mount.stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() => return Some(SmallDisk { folder }),
            Ok(output) => skip(String::from_utf8_lossy(&output.stderr).trim()),
            Err(error) => skip(&error.to_string()),
        }
        None
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a failed test may still have the store open.
        let _ = Command::new("umount").arg("--lazy").arg(self.folder.path()).status();
    }
}

fn skip(why: &str) {
    assert!(!(require::everything() && is_root()), "a tmpfs can't be mounted: {why}");
    require::skip(&format!("a tmpfs can't be mounted: {why}"));
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|id| String::from_utf8_lossy(&id.stdout).trim() == "0")
}
