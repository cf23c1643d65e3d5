//! Root file systems of runs: overlayfs over shared layers, or a copy of them.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::XattrFlags;
use rustix::mount::{MountFlags, UnmountFlags};

use super::settings::RootfsMode;
use crate::error::{Error, Result};

/// The options of a mount fit one page.
const LONGEST_OPTIONS: usize = 4000;

/// What a root file system is made of.
pub(super) struct Rootfs<'a> {
    pub(super) mode: RootfsMode,
    /// The layers, the lowest first.
    pub(super) layers: Vec<PathBuf>,
    /// The folder for what the run writes.
    pub(super) writable: &'a Path,
    /// Where it is to be seen.
    pub(super) target: &'a Path,
    /// Who root in the container is.
    pub(super) root_id: u32,
}

impl Rootfs<'_> {
    pub(super) fn make(&self) -> Result<()> {
        self.try_make().map_err(|error| match error.kind() {
            io::ErrorKind::StorageFull => Error::NoSpace { path: self.writable.display().to_string() },
            _ => Error::machine(format!("making the root file system {}", self.target.display()), error),
        })
    }

    fn try_make(&self) -> io::Result<()> {
        let (upper, work) = (self.writable.join("upper"), self.writable.join("work"));
        for folder in [&upper, &work, &self.target.to_owned()] {
            fs::create_dir_all(folder)?;
            fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
        }
        std::os::unix::fs::chown(&upper, Some(self.root_id), Some(self.root_id))?;
        match self.overlay_options(&upper, &work) {
            Some(options) if self.mode == RootfsMode::Overlay => {
                let flags = MountFlags::NODEV;
                Ok(rustix::mount::mount("overlay", self.target, "overlay", flags, options.as_c_str())?)
            }
            _ => {
                for layer in &self.layers {
                    add_layer(layer, &upper)?;
                }
                Ok(rustix::mount::mount_bind(&upper, self.target)?)
            }
        }
    }

    /// None: they do not fit.
    fn overlay_options(&self, upper: &Path, work: &Path) -> Option<CString> {
        // The topmost is named first. A layer that is there twice counts where it is on top.
        let mut lower: Vec<String> = Vec::new();
        for layer in self.layers.iter().rev().map(|layer| layer.display().to_string()) {
            if !lower.contains(&layer) {
                lower.push(layer);
            }
        }
        if lower.is_empty() {
            return None;
        }
        let options =
            format!("lowerdir={},upperdir={},workdir={}", lower.join(":"), upper.display(), work.display());
        (options.len() <= LONGEST_OPTIONS).then(|| CString::new(options).ok()).flatten()
    }
}

/// Takes away whatever is mounted at a folder. Nothing mounted there is fine.
pub(super) fn unmount(target: &Path) -> Result<()> {
    loop {
        match rustix::mount::unmount(target, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW) {
            // There may be more than one on top of each other.
            Ok(()) => {}
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOENT) => return Ok(()),
            Err(error) => return Err(Error::machine(format!("unmounting {}", target.display()), error)),
        }
    }
}

/// Puts a layer on top of what is in a folder: adds, replaces, and deletes what its marks hide.
fn add_layer(layer: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(layer)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let metadata = fs::symlink_metadata(&from)?;
        let kind = metadata.file_type();
        let existing = fs::symlink_metadata(&to).ok();
        let is_mark = kind.is_char_device() && metadata.rdev() == 0;
        let hides = is_mark || !kind.is_dir() || !existing.as_ref().is_some_and(|existing| existing.is_dir());
        if existing.is_some() && (hides || is_opaque(&from)) {
            remove_any(&to)?;
        }
        if is_mark {
            continue;
        }
        if kind.is_dir() {
            if fs::symlink_metadata(&to).is_err() {
                fs::create_dir(&to)?;
            }
            add_layer(&from, &to)?;
            fs::set_permissions(&to, metadata.permissions())?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&from)?, &to)?;
        } else {
            fs::copy(&from, &to)?;
        }
        std::os::unix::fs::lchown(&to, Some(metadata.uid()), Some(metadata.gid()))?;
    }
    Ok(())
}

fn is_opaque(folder: &Path) -> bool {
    let mut value = [0; 1];
    rustix::fs::lgetxattr(folder, "trusted.overlay.opaque", &mut value[..]).is_ok_and(|_| value == *b"y")
}

fn remove_any(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path)?.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    }
}

/// Whether overlayfs can be mounted over a folder: it needs attributes that some file systems lack.
pub(super) fn can_overlay(folder: &Path) -> bool {
    let probe = folder.join(".attribute");
    let can = fs::write(&probe, b"").is_ok()
        && rustix::fs::lsetxattr(&probe, "trusted.overlay.probe", b"y", XattrFlags::empty()).is_ok();
    let _ = fs::remove_file(&probe);
    can
}
