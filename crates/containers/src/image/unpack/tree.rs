//! The folder that a layer is unpacked into. Paths are walked name by name; links are never followed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Timespec, Timestamps, Uid, XattrFlags};
use rustix::io::Errno;

use super::entry::{Entry, Kind};
use super::path::shown;
use super::{IdShift, UnpackError};

const WHITEOUT: &[u8] = b".wh.";
const OPAQUE: &[u8] = b".wh..wh..opq";
/// The most bytes of an extended attribute's name and value.
const LARGEST_ATTRIBUTE: usize = 4096;

pub(super) struct Tree {
    root: OwnedFd,
    ids: Option<IdShift>,
    bytes: u64,
}

/// Whose and how an entry is.
struct Owner {
    uid: Uid,
    gid: Gid,
    times: Timestamps,
}

impl Tree {
    pub(super) fn open(folder: &Path, ids: Option<IdShift>) -> Result<Self, UnpackError> {
        let root = rustix::fs::open(folder, folder_flags(), Mode::empty())?;
        let owner = ids.map_or(0, |ids| ids.base);
        rustix::fs::fchown(&root, Some(Uid::from_raw(owner)), Some(Gid::from_raw(owner)))?;
        rustix::fs::fchmod(&root, Mode::from_raw_mode(0o755))?;
        Ok(Self { root, ids, bytes: 0 })
    }

    /// Bytes of all files.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn add(&mut self, entry: &Entry, content: &mut dyn Read) -> Result<(), UnpackError> {
        let owner = self.owner(entry)?;
        let Some((name, parents)) = entry.names.split_last() else {
            return match entry.kind {
                Kind::Folder => finish_folder(&self.root, entry, &owner),
                _ => Err(UnpackError::Refused(format!("entry {:?} replaces the root folder", entry.shown))),
            };
        };
        if matches!(entry.kind, Kind::Skipped) {
            return Ok(());
        }
        let parent = self.folder(parents, true)?;
        if name.as_bytes().starts_with(WHITEOUT) {
            return delete(&parent, name.as_bytes());
        }
        match &entry.kind {
            Kind::Folder => {
                let folder = match self.child_folder(&parent, name, true) {
                    Err(Errno::NOTDIR | Errno::LOOP) => {
                        rustix::fs::unlinkat(&parent, name, AtFlags::empty())?;
                        self.child_folder(&parent, name, true)?
                    }
                    folder => folder?,
                };
                finish_folder(&folder, entry, &owner)
            }
            Kind::File { size } => {
                make_room(&parent, name, entry)?;
                let flags =
                    OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let mut file =
                    File::from(rustix::fs::openat(&parent, name, flags, Mode::from_raw_mode(0o600))?);
                let copied = io::copy(&mut content.take(*size), &mut file);
                let copied = copied.map_err(super::reader::stopped_by)?;
                if copied != *size {
                    return Err(UnpackError::Refused(format!("entry {:?} ends too early", entry.shown)));
                }
                self.bytes += copied;
                finish_file(&file, entry, &owner)
            }
            Kind::Symlink { target } => {
                make_room(&parent, name, entry)?;
                rustix::fs::symlinkat(OsStr::from_bytes(target), &parent, name)?;
                let flags = AtFlags::SYMLINK_NOFOLLOW;
                rustix::fs::chownat(&parent, name, Some(owner.uid), Some(owner.gid), flags)?;
                Ok(rustix::fs::utimensat(&parent, name, &owner.times, flags)?)
            }
            Kind::HardLink { target } => self.hard_link(entry, target, &parent, name),
            Kind::Skipped => Ok(()),
        }
    }

    fn hard_link(
        &self,
        entry: &Entry,
        target: &[OsString],
        parent: &OwnedFd,
        name: &OsStr,
    ) -> Result<(), UnpackError> {
        let refuse = |why: &str| UnpackError::Refused(format!("entry {:?} {why}", entry.shown));
        let Some((target_name, target_parents)) = target.split_last() else {
            return Err(refuse("is a hard link to the root folder"));
        };
        let target_parent = match self.folder(target_parents, false) {
            Err(UnpackError::Machine(error)) if error.kind() == io::ErrorKind::NotFound => {
                return Err(refuse("is a hard link to a file that is not in its layer"));
            }
            folder => folder?,
        };
        match rustix::fs::statat(&target_parent, target_name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {}
            Ok(_) => return Err(refuse("is a hard link to something that is not a file")),
            Err(_) => return Err(refuse("is a hard link to a file that is not in its layer")),
        }
        if target_parents.last() == entry.names.iter().rev().nth(1) && target == entry.names {
            return Err(refuse("is a hard link to itself"));
        }
        make_room(parent, name, entry)?;
        Ok(rustix::fs::linkat(&target_parent, target_name, parent, name, AtFlags::empty())?)
    }

    /// Opens a folder name by name, and makes what is missing if told to.
    fn folder(&self, names: &[OsString], make: bool) -> Result<OwnedFd, UnpackError> {
        let mut folder = self.root.try_clone()?;
        for (depth, name) in names.iter().enumerate() {
            folder = match self.child_folder(&folder, name, make) {
                Err(Errno::NOTDIR | Errno::LOOP) => {
                    let path: Vec<_> = names[..=depth].iter().map(|name| name.as_bytes()).collect();
                    let path = shown(&path.join(&b'/'));
                    return Err(UnpackError::Refused(format!(
                        "an entry goes through {path:?}, which is a link or a file of the same layer"
                    )));
                }
                folder => folder?,
            };
        }
        Ok(folder)
    }

    fn child_folder(&self, parent: &OwnedFd, name: &OsStr, make: bool) -> rustix::io::Result<OwnedFd> {
        match rustix::fs::openat(parent, name, folder_flags(), Mode::empty()) {
            Err(Errno::NOENT) if make => {}
            opened => return opened,
        }
        rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o755))?;
        let folder = rustix::fs::openat(parent, name, folder_flags(), Mode::empty())?;
        if let Some(ids) = self.ids {
            rustix::fs::fchown(&folder, Some(Uid::from_raw(ids.base)), Some(Gid::from_raw(ids.base)))?;
        }
        Ok(folder)
    }

    fn owner(&self, entry: &Entry) -> Result<Owner, UnpackError> {
        let (base, size) = self.ids.map_or((0, u32::MAX), |ids| (ids.base, ids.size));
        let shift = |id: u64| match u32::try_from(id) {
            Ok(id) if id < size => Ok(base + id),
            _ => {
                Err(UnpackError::Refused(format!("entry {:?} is owned by {id}, beyond {size}", entry.shown)))
            }
        };
        let time = Timespec { tv_sec: entry.mtime, tv_nsec: 0 };
        Ok(Owner {
            uid: Uid::from_raw(shift(entry.uid)?),
            gid: Gid::from_raw(shift(entry.gid)?),
            times: Timestamps { last_access: time, last_modification: time },
        })
    }
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// Removes an earlier entry of the same name.
fn make_room(parent: &OwnedFd, name: &OsStr, entry: &Entry) -> Result<(), UnpackError> {
    match rustix::fs::unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(Errno::ISDIR | Errno::PERM) => {
            Err(UnpackError::Refused(format!("entry {:?} replaces a folder of the same layer", entry.shown)))
        }
        Err(error) => Err(error.into()),
    }
}

/// Hides what the layers below have.
fn delete(parent: &OwnedFd, name: &[u8]) -> Result<(), UnpackError> {
    if name == OPAQUE {
        return Ok(rustix::fs::fsetxattr(parent, "trusted.overlay.opaque", b"y", XattrFlags::empty())?);
    }
    let hidden = &name[WHITEOUT.len()..];
    // Other names with the double prefix are notes of an older file system.
    if hidden.is_empty() || hidden.starts_with(WHITEOUT) || hidden == b"." || hidden == b".." {
        return Ok(());
    }
    let hidden = OsStr::from_bytes(hidden);
    match rustix::fs::mknodat(parent, hidden, FileType::CharacterDevice, Mode::empty(), 0) {
        // What the layer itself adds stays.
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn finish_file(file: &File, entry: &Entry, owner: &Owner) -> Result<(), UnpackError> {
    // No privileges by file: neither set-user-id nor set-group-id.
    finish(file, entry, owner, entry.mode & 0o777)
}

fn finish_folder(folder: &OwnedFd, entry: &Entry, owner: &Owner) -> Result<(), UnpackError> {
    finish(folder, entry, owner, entry.mode & 0o1777)
}

fn finish(fd: impl AsFd, entry: &Entry, owner: &Owner, mode: u32) -> Result<(), UnpackError> {
    let fd = fd.as_fd();
    rustix::fs::fchown(fd, Some(owner.uid), Some(owner.gid))?;
    rustix::fs::fchmod(fd, Mode::from_raw_mode(mode))?;
    for (name, value) in &entry.attributes {
        // Others grant privileges or steer the file system.
        let is_kept = name.starts_with(b"user.") && name.len() + value.len() <= LARGEST_ATTRIBUTE;
        if is_kept && !name.contains(&0) {
            rustix::fs::fsetxattr(fd, OsStr::from_bytes(name), value, XattrFlags::empty())?;
        }
    }
    Ok(rustix::fs::futimens(fd, &owner.times)?)
}
