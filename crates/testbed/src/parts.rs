//! Programs and libraries that `cargo xtask test` has fetched into the target folder for the tests.

use std::path::PathBuf;

/// Where such a part is; `None` when it was not fetched. `GROUNDPLANE_PARTS` names another folder than the target
/// folder's own.
pub fn find(part: &str) -> Option<PathBuf> {
    let path = folder()?.join(part);
    path.exists().then_some(path)
}

fn folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("GROUNDPLANE_PARTS") {
        return Some(folder.into());
    }
    // Tests run from target/<profile>/deps.
    let test = std::env::current_exe().ok()?;
    Some(test.ancestors().nth(3)?.join("parts"))
}
