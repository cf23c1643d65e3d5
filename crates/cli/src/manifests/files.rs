//! The texts that `-f` and `-k` name.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::{FileFlags, kustomize};
use crate::console::Console;
use crate::failure::Failure;

/// Every text with its name, in order: files of a folder by their names.
pub fn read(flags: &FileFlags, console: &mut Console) -> Result<Vec<(String, String)>, Failure> {
    let mut texts = Vec::new();
    if let Some(folder) = &flags.kustomize {
        texts.push((format!("kustomization {folder}"), kustomize::render(folder)?));
    }
    for name in &flags.filenames {
        if name == "-" {
            let mut bytes = Vec::new();
            console
                .input
                .read_to_end(&mut bytes)
                .map_err(|error| Failure::other(format!("reading stdin: {error}")))?;
            texts.push(("STDIN".to_owned(), utf8("STDIN", bytes)?));
            continue;
        }
        if name.starts_with("http://") || name.starts_with("https://") {
            return Err(Failure::usage(format!("-f {name}: URLs are not downloaded"))
                .hint(format!("curl --fail --silent {name} | groundplane apply -f -")));
        }
        let path = Path::new(name);
        let files = match std::fs::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Failure::other(format!("the path {} does not exist", krm::field::quote(name))));
            }
            Err(error) => {
                return Err(Failure::other(format!("the path \"{name}\" cannot be accessed: {error}")));
            }
            Ok(found) if found.is_dir() => {
                let mut files = Vec::new();
                walk(path, flags.recursive, &mut files)?;
                if files.is_empty() {
                    return Err(Failure::other(format!(
                        "error reading [{name}]: recognized file extensions are [.json .yaml .yml]"
                    )));
                }
                files
            }
            Ok(_) => vec![path.to_owned()],
        };
        for file in files {
            let shown = file.display().to_string();
            let bytes =
                std::fs::read(&file).map_err(|error| Failure::other(format!("reading {shown}: {error}")))?;
            let text = utf8(&shown, bytes)?;
            texts.push((shown, text));
        }
    }
    Ok(texts)
}

fn utf8(name: &str, bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        Failure::other(format!(
            "error parsing {name}: invalid UTF-8 at byte {}",
            error.utf8_error().valid_up_to()
        ))
    })
}

fn walk(folder: &Path, recursive: bool, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::other(format!("reading the directory {}: {error}", folder.display()))
    };
    let entries: Result<Vec<_>, _> = std::fs::read_dir(folder).map_err(failed)?.collect();
    let mut paths: Vec<PathBuf> = entries.map_err(failed)?.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            if recursive {
                walk(&path, true, files)?;
            }
        } else if path.extension().is_some_and(|end| matches!(end.to_str(), Some("json" | "yaml" | "yml"))) {
            files.push(path);
        }
    }
    Ok(())
}
