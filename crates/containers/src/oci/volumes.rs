//! Volumes: files whose bytes are given, and empty directories.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use rustix::mount::MountFlags;

use super::folders;
use super::rootfs::unmount;
use super::settings::Settings;
use crate::error::{Error, Result};
use crate::spec::{Files, InstanceSpec, Volume, VolumeSource};

/// Where a volume is on the machine.
pub(super) fn path(settings: &Settings, spec: &InstanceSpec, volume: &Volume) -> PathBuf {
    let folder = match &volume.source {
        VolumeSource::EmptyDir(empty) if empty.memory_bytes.is_none() => settings.data_folder(&spec.id),
        _ => settings.run_folder(&spec.id),
    };
    folder.join("volumes").join(&volume.name)
}

/// Makes the volumes of an instance that are not there yet.
pub(super) fn make(settings: &Settings, spec: &InstanceSpec) -> Result<()> {
    let root = settings.user_namespace.map_or(0, |ids| ids.base);
    for volume in &spec.volumes {
        let path = path(settings, spec, volume);
        if path.exists() {
            continue;
        }
        let made = match &volume.source {
            VolumeSource::Files(files) => make_files(&path, files, root),
            VolumeSource::EmptyDir(empty) => make_empty(&path, empty.memory_bytes, root),
        };
        made.map_err(|error| Error::machine(format!("making volume {} of {}", volume.name, spec.id), error))?;
    }
    Ok(())
}

/// Takes away what is mounted for volumes. Their folders go with those of the instance.
pub(super) fn unmount_all(settings: &Settings, spec: &InstanceSpec) -> Result<()> {
    for volume in &spec.volumes {
        if let VolumeSource::EmptyDir(empty) = &volume.source
            && empty.memory_bytes.is_some()
        {
            unmount(&path(settings, spec, volume))?;
        }
    }
    Ok(())
}

fn make_files(folder: &Path, files: &Files, root: u32) -> io::Result<()> {
    // Made beside and moved: a volume is whole or not there.
    let new = folder.with_extension("new");
    let _ = fs::remove_dir_all(&new);
    make_folder(&new, root)?;
    for (name, file) in &files.0 {
        let path = new.join(name);
        if let Some(parent) = path.parent()
            && parent != new
        {
            make_folder(parent, root)?;
        }
        fs::write(&path, file.content.reveal())?;
        fs::set_permissions(&path, fs::Permissions::from_mode(file.mode & 0o777))?;
        chown(&path, Some(root), Some(root))?;
    }
    fs::rename(&new, folder)
}

fn make_empty(folder: &Path, memory_bytes: Option<u64>, root: u32) -> io::Result<()> {
    make_folder(folder, root)?;
    if let Some(bytes) = memory_bytes {
        let options = CString::new(format!("size={bytes},mode=0777,uid={root},gid={root}"))?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        rustix::mount::mount("groundplane", folder, "tmpfs", flags, options.as_c_str())?;
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777))
}

fn make_folder(folder: &Path, root: u32) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        folders::make(parent)?;
    }
    if !folder.is_dir() {
        fs::create_dir(folder)?;
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
    chown(folder, Some(root), Some(root))
}
