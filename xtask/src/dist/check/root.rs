//! An empty root to install into.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Subject, create};
use crate::step::Failure;

/// A name of this machine that only /etc/hosts of the root knows.
pub const HOST: &str = "groundplane.test";

/// A folder that is `/` to what is started in it.
pub struct Root {
    pub path: PathBuf,
}

impl Root {
    /// An empty one.
    pub fn new(path: &Path) -> Result<Self, Failure> {
        create(path)?;
        Ok(Self { path: path.to_owned() })
    }

    /// What every system and container runtime provides: names of hosts, a folder for temporary files, and for a
    /// binary that is not static its libraries.
    pub fn complete(&self, subject: &Subject) -> Result<(), Failure> {
        self.write("etc/hosts", &format!("127.0.0.1 localhost {HOST}\n"))?;
        let folder = self.path.join("tmp");
        if !folder.exists() {
            let failed = |error: std::io::Error| Failure(format!("{}: {error}", folder.display()));
            fs::DirBuilder::new().mode(0o1777).create(&folder).map_err(failed)?;
        }
        for library in &subject.libraries {
            let target = self.path.join(library.strip_prefix("/").unwrap_or(library));
            let failed = |error: std::io::Error| Failure(format!("{}: {error}", target.display()));
            if let Some(folder) = target.parent() {
                create(folder)?;
            }
            fs::copy(library, &target).map_err(failed)?;
        }
        Ok(())
    }

    /// Writes a file, and the folders that lead to it.
    pub fn write(&self, path: &str, text: &str) -> Result<(), Failure> {
        let path = self.path.join(path);
        if let Some(folder) = path.parent() {
            create(folder)?;
        }
        fs::write(&path, text).map_err(|error| Failure(format!("writing {}: {error}", path.display())))
    }

    /// Reads a file.
    pub fn read(&self, path: &str) -> Result<String, Failure> {
        let path = self.path.join(path.trim_start_matches('/'));
        fs::read_to_string(&path).map_err(|error| Failure(format!("reading {}: {error}", path.display())))
    }

    /// Whether something is there.
    pub fn has(&self, path: &str) -> bool {
        self.path.join(path.trim_start_matches('/')).symlink_metadata().is_ok()
    }

    /// Fails unless mode and owner are as they should be.
    pub fn expect(&self, path: &str, mode: u32, owner: (u32, u32)) -> Result<(), Failure> {
        let full = self.path.join(path);
        let data = full
            .symlink_metadata()
            .map_err(|error| Failure(format!("/{path} was not installed: {error}")))?;
        let found = (data.permissions().mode() & 0o7777, data.uid(), data.gid());
        super::ensure(found == (mode, owner.0, owner.1), || {
            format!(
                "/{path} has mode {:04o} and owner {}:{}, it should have {mode:04o} and {}:{}",
                found.0, found.1, found.2, owner.0, owner.1
            )
        })
    }

    /// Number of a user and of its group.
    pub fn user(&self, name: &str) -> Result<(u32, u32), Failure> {
        let users = self.read("etc/passwd")?;
        let line = users.lines().find(|line| line.split(':').next() == Some(name));
        let field = |at: usize| line?.split(':').nth(at)?.parse().ok();
        field(2).zip(field(3)).ok_or_else(|| Failure(format!("there is no user {name} in\n{users}")))
    }

    /// A command inside, with nothing in its environment.
    pub fn command(&self, user: (u32, u32), program: &str) -> Command {
        // Found here, not by the PATH that the command gets.
        let places = ["/usr/sbin/chroot", "/usr/bin/chroot", "/sbin/chroot"];
        let chroot = places.into_iter().find(|path| Path::new(path).exists());
        let mut command = Command::new(chroot.unwrap_or("chroot"));
        command
            .arg(format!("--userspec={}:{}", user.0, user.1))
            .arg("--groups=")
            .arg(&self.path)
            .arg(program);
        command.env_clear().env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
        command
    }
}
