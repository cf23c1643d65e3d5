//! Compiles the .proto files under `docs/api/proto` into one set of descriptors.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use prost::Message;

/// Messages that values of template parameters are made of; none of our files imports them.
const WRAPPERS: &str = "google/protobuf/wrappers.proto";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../docs/api/proto");
    println!("cargo:rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    find(&root, &mut files)?;
    files.sort();
    let mut names: Vec<PathBuf> = Vec::new();
    for file in &files {
        names.push(file.strip_prefix(&root)?.to_owned());
    }
    names.push(PathBuf::from(WRAPPERS));
    let set = protox::compile(names, [&root])?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("descriptors.bin"), set.encode_to_vec())?;
    Ok(())
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => find(&path, files)?,
            false if path.extension().is_some_and(|extension| extension == "proto") => files.push(path),
            false => {}
        }
    }
    Ok(())
}
