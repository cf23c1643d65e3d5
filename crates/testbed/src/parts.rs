//! Programs and libraries for the tests: what `cargo xtask test` has fetched into the target folder, and what cargo
//! has built there.

use std::path::PathBuf;

/// Where a fetched part is; `None` when it was not fetched. `GROUNDPLANE_PARTS` names another folder than the target
/// folder's own.
pub fn find(part: &str) -> Option<PathBuf> {
    let folder = match std::env::var_os("GROUNDPLANE_PARTS") {
        Some(folder) => PathBuf::from(folder),
        None => target()?.join("parts"),
    };
    Some(folder.join(part)).filter(|path| path.exists())
}

/// The server's binary, for tests outside its own package; `None` when it was not built. `GROUNDPLANE_BINARY` names
/// another one.
pub fn groundplane() -> Option<PathBuf> {
    let path = match std::env::var_os("GROUNDPLANE_BINARY") {
        Some(path) => PathBuf::from(path),
        None => std::env::current_exe().ok()?.ancestors().nth(2)?.join("groundplane"),
    };
    Some(path).filter(|path| path.is_file())
}

/// Tests run from target/<profile>/deps.
fn target() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.ancestors().nth(3)?.to_owned())
}
