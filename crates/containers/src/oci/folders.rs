//! The folders of a runtime, and what is kept of instances in them.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::FlockOperation;
use rustix::mount::MountFlags;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::settings::Settings;
use crate::error::{Error, Result};
use crate::id::InstanceId;
use crate::processes::write_whole;
use crate::spec::InstanceSpec;

/// The file system type of a tmpfs.
const TMPFS: i64 = 0x0102_1994;
const SPEC: &str = "spec";
const NEXT: &str = "next";
const STOPPED: &str = "stopped";

/// An instance as it was found.
pub(super) struct Kept {
    pub(super) spec: InstanceSpec,
    pub(super) accepted_at: SystemTime,
    pub(super) replaced_by: Option<InstanceSpec>,
}

#[derive(Serialize, Deserialize)]
struct Accepted {
    spec: InstanceSpec,
    accepted_at: SystemTime,
}

/// Makes the folders, and keeps other programs from using them at the same time.
pub(super) fn prepare(settings: &Settings) -> Result<File> {
    for folder in [&settings.data, &settings.run] {
        if !Settings::is_mountable(folder) || !folder.is_absolute() {
            let reason = "it has to be absolute, without spaces, ':', ',' and '\\'";
            return Err(Error::machine(format!("using the folder {}", folder.display()), reason));
        }
    }
    let failed =
        |what: &Path, error: io::Error| Error::machine(format!("preparing {}", what.display()), error);
    make(&settings.data).map_err(|error| failed(&settings.data, error))?;
    make(&settings.run).map_err(|error| failed(&settings.run, error))?;
    let kind = rustix::fs::statfs(&settings.run).map_err(|error| failed(&settings.run, error.into()))?;
    if kind.f_type as i64 != TMPFS {
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        let mounted = rustix::mount::mount("groundplane", &settings.run, "tmpfs", flags, Some(c"mode=0711"));
        mounted.map_err(|error| failed(&settings.run, error.into()))?;
    }
    for folder in [settings.run.join("instances"), settings.data.join("instances"), settings.runc_folder()] {
        make(&folder).map_err(|error| failed(&folder, error))?;
    }
    // Layers and logs are no business of other users of the machine.
    make(&settings.image_folder()).map_err(|error| failed(&settings.data, error))?;
    let lock = settings.run.join("lock");
    let file = File::create(&lock).map_err(|error| failed(&lock, error))?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(_) => Err(Error::machine(
            format!("using {}", settings.run.display()),
            "another program runs containers there; stop it, or use another folder",
        )),
    }
}

/// Keeps the spec of a new instance. Returns when.
pub(super) fn keep(settings: &Settings, spec: &InstanceSpec) -> Result<SystemTime> {
    let accepted_at = SystemTime::now();
    let folder = settings.run_folder(&spec.id);
    let accepted = Accepted { spec: spec.clone(), accepted_at };
    make(&folder).map_err(|error| Error::machine(format!("keeping instance {}", spec.id), error))?;
    write(&folder.join(SPEC), &accepted)?;
    Ok(accepted_at)
}

/// Keeps the spec that replaces an instance.
pub(super) fn keep_next(settings: &Settings, spec: &InstanceSpec) -> Result<()> {
    write(&settings.run_folder(&spec.id).join(NEXT), spec)
}

/// Notes that the instance is stopped and stays so.
pub(super) fn keep_stopped(settings: &Settings, id: &InstanceId) -> Result<()> {
    write(&settings.run_folder(id).join(STOPPED), &())
}

pub(super) fn is_stopped(settings: &Settings, id: &InstanceId) -> bool {
    settings.run_folder(id).join(STOPPED).exists()
}

/// The instances that are there, ordered by id.
pub(super) fn kept(settings: &Settings) -> Result<Vec<Kept>> {
    let mut kept = Vec::new();
    for id in ids(&settings.run.join("instances")) {
        let folder = settings.run_folder(&id);
        // A folder without a whole spec is that of an instance that nobody was told is accepted.
        let Some(Accepted { spec, accepted_at }) = read(&folder.join(SPEC)) else { continue };
        kept.push(Kept { spec, accepted_at, replaced_by: read(&folder.join(NEXT)) });
    }
    Ok(kept)
}

/// Removes what a machine that was switched off has left on disk: nothing of it runs.
pub(super) fn remove_orphans(settings: &Settings) -> Result<()> {
    for id in ids(&settings.data.join("instances")) {
        if !settings.run_folder(&id).join(SPEC).exists() {
            remove(&settings.data_folder(&id))?;
        }
    }
    Ok(())
}

/// Removes a folder and all that is in it. One that is not there is removed already.
pub(super) fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::machine(format!("removing {}", folder.display()), error))
        }
        _ => Ok(()),
    }
}

/// Makes a folder that others may pass through and not look into: the root of a user namespace is another user.
pub(super) fn make(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o711).create(folder)?;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o711))
}

pub(super) fn write(path: &Path, value: &impl Serialize) -> Result<()> {
    let failed = |reason: String| Error::machine(format!("writing {}", path.display()), reason);
    let bytes = postcard::to_stdvec(value).map_err(|error| failed(error.to_string()))?;
    match write_whole(path, &bytes) {
        Err(error) if error.kind() == io::ErrorKind::StorageFull => {
            Err(Error::NoSpace { path: path.display().to_string() })
        }
        written => written.map_err(|error| failed(error.to_string())),
    }
}

pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    postcard::from_bytes(&fs::read(path).ok()?).ok()
}

fn ids(folder: &Path) -> Vec<InstanceId> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut ids: Vec<_> =
        names.filter_map(|entry| InstanceId::new(entry.file_name().into_string().ok()?).ok()).collect();
    ids.sort();
    ids
}
