//! The user that a container runs as: numbers, or names from the image's own files.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// The largest `/etc/passwd` that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// Parses `user[:group]`. An empty text is root. `layers` are those of the image, the lowest first.
pub(super) fn resolve(user: &str, layers: &[PathBuf]) -> Result<(u32, u32), String> {
    let (user, group) = match user.split_once(':') {
        None => (user, None),
        Some((user, group)) => (user, Some(group)),
    };
    let (uid, own_gid) = match user {
        "" => (0, 0),
        user => match (user.parse(), lookup(layers, "passwd", user)) {
            (_, Some(fields)) => (field(&fields, 2)?, field(&fields, 3)?),
            (Ok(uid), None) => (uid, 0),
            (Err(_), None) => return Err(format!("user {user:?} is not in the image's /etc/passwd")),
        },
    };
    let gid = match group {
        None => own_gid,
        Some(group) => match (group.parse(), lookup(layers, "group", group)) {
            (_, Some(fields)) => field(&fields, 2)?,
            (Ok(gid), None) => gid,
            (Err(_), None) => return Err(format!("group {group:?} is not in the image's /etc/group")),
        },
    };
    Ok((uid, gid))
}

/// The line of a name or a number.
fn lookup(layers: &[PathBuf], file: &str, wanted: &str) -> Option<Vec<String>> {
    let text = layers.iter().rev().find_map(|layer| read_etc(layer, file))?;
    let mut lines = text.lines().map(|line| line.split(':').map(str::to_owned).collect::<Vec<_>>());
    lines.find(|fields| {
        fields.first().is_some_and(|name| name == wanted) || fields.get(2).is_some_and(|id| id == wanted)
    })
}

fn field(fields: &[String], index: usize) -> Result<u32, String> {
    let field = fields.get(index).and_then(|field| field.parse().ok());
    field.ok_or_else(|| format!("the image's line of user {:?} has no number", fields.first()))
}

/// Reads a file of `/etc` of a layer, where neither is a link: a link would lead to the machine's own files.
fn read_etc(layer: &Path, file: &str) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let root = rustix::fs::open(layer, flags | OFlags::DIRECTORY, Mode::empty()).ok()?;
    let etc = rustix::fs::openat(&root, OsStr::new("etc"), flags | OFlags::DIRECTORY, Mode::empty()).ok()?;
    let file = File::from(rustix::fs::openat(&etc, OsStr::new(file), flags, Mode::empty()).ok()?);
    file.metadata().ok().filter(|metadata| metadata.is_file())?;
    let mut text = String::new();
    file.take(LARGEST).read_to_string(&mut text).ok()?;
    Some(text)
}
