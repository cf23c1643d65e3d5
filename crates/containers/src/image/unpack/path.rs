//! Paths in a layer, as lists of names.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use super::UnpackError;

/// The longest path, in bytes.
const LONGEST: usize = 4096;
/// The longest name, in bytes.
const LONGEST_NAME: usize = 255;
/// The most folders in a path.
const DEEPEST: usize = 128;

/// The names of a path. Empty for the root itself. `what` is the path of an entry or the target of a link.
pub(super) fn names(path: &[u8], what: &str) -> Result<Vec<OsString>, UnpackError> {
    let refuse = |why: &str| Err(UnpackError::Refused(format!("{what} {:?} {why}", shown(path))));
    if path.len() > LONGEST {
        return refuse("is longer than 4096 bytes");
    }
    if path.starts_with(b"/") {
        return refuse("is absolute");
    }
    let mut names = Vec::new();
    for name in path.split(|byte| *byte == b'/') {
        match name {
            b"" | b"." => continue,
            b".." => return refuse("leaves its folder by '..'"),
            name if name.len() > LONGEST_NAME => return refuse("has a name longer than 255 bytes"),
            name if name.contains(&0) => return refuse("has a zero byte"),
            name => names.push(OsString::from_vec(name.to_vec())),
        }
    }
    match names.len() {
        ..=DEEPEST => Ok(names),
        _ => refuse("has more than 128 folders"),
    }
}

/// A path as messages show it.
pub(super) fn shown(path: &[u8]) -> String {
    crate::image::digest::shortened(&String::from_utf8_lossy(path))
}
