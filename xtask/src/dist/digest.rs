//! SHA-256 digests, and the file that lists them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ring::digest::{SHA256, digest};

use super::{read, write};
use crate::step::Failure;

/// The file that lists the digests of all others, as `sha256sum --check` reads it.
pub const SUMS: &str = "SHA256SUMS";

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes the list of all files in a folder and below it.
pub fn write_sums(folder: &Path) -> Result<(), Failure> {
    let mut list = String::new();
    for path in sizes(folder)?.keys() {
        list += &format!("{}  {path}\n", sha256(&read(&folder.join(path))?));
    }
    write(&folder.join(SUMS), list.as_bytes(), 0o644)
}

/// The files in a folder and below it, with their sizes, sorted by relative path.
pub fn sizes(folder: &Path) -> Result<BTreeMap<String, u64>, Failure> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        let failed = |error: std::io::Error| Failure(format!("listing {}: {error}", next.display()));
        for entry in fs::read_dir(&next).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            let data = entry.metadata().map_err(failed)?;
            if data.is_dir() {
                open.push(path);
            } else if let Ok(relative) = path.strip_prefix(folder) {
                found.insert(relative.display().to_string(), data.len());
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_everybody_else() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
