//! What a test requires of the machine. A test without it is skipped and counted, or fails where it was promised.
//!
//! | variable | meaning |
//! | --- | --- |
//! | `GROUNDPLANE_REQUIRE=1` | every program that tests start is installed: a missing one fails the test |
//! | `GROUNDPLANE_CASES=DIR` | other people's cases are in that folder: a missing one fails the test |
//! | `GROUNDPLANE_SKIPPED=FILE` | every skipped test adds a line with its name and the reason |

use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Skips the calling test because a program is missing.
///
/// # Panics
///
/// With `GROUNDPLANE_REQUIRE=1`, which promises that nothing is missing.
pub fn missing(what: &str) {
    assert!(!everything(), "{what}, and GROUNDPLANE_REQUIRE=1 says that nothing is missing");
    skip(what);
}

/// Whether every program that tests start is promised to be installed.
pub fn everything() -> bool {
    env::var("GROUNDPLANE_REQUIRE").is_ok_and(|required| required == "1")
}

/// A folder of other people's cases, which are not in the repository. Without them the calling test is skipped.
///
/// # Panics
///
/// When `GROUNDPLANE_CASES` names a folder that does not hold them.
pub fn cases(name: &str) -> Option<PathBuf> {
    let promised = env::var_os("GROUNDPLANE_CASES").map(PathBuf::from);
    let folder = promised.clone().unwrap_or_else(beside_the_workspace).join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(promised.is_none(), "GROUNDPLANE_CASES is set, and {} is not a folder", folder.display());
    skip(&format!(
        "the cases `{name}` are other people's and not part of the repository; GROUNDPLANE_CASES names their folder"
    ));
    None
}

fn beside_the_workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases")
}

/// Says that the calling test is skipped, and why, and counts it.
pub fn skip(reason: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    eprintln!("skipped: {reason}");
    let Some(file) = env::var_os("GROUNDPLANE_SKIPPED") else { return };
    let opened = OpenOptions::new().create(true).append(true).open(&file);
    // One write, so that tests in several processes do not mix their lines.
    let written = opened.and_then(|mut file| file.write_all(format!("{test}: {reason}\n").as_bytes()));
    if let Err(error) = written {
        eprintln!("the skip was not counted: {}: {error}", Path::new(&file).display());
    }
}
