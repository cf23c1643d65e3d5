//! Loads documents from bytes, files and directories.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use thiserror::Error;

use super::{Document, DocumentError};
use crate::yaml::{self, Warning, YamlError};

/// Documents and what was noticed while they were read.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The documents, in the order of the files and within them.
    pub documents: Vec<Document>,
    /// What was read all the same but is probably not meant.
    pub warnings: Vec<Warning>,
    /// What has no usable envelope and was passed over, as the original passes it over.
    pub passed_over: Vec<DocumentError>,
}

/// Why documents can't be read.
#[derive(Debug, Error)]
pub enum LoadError {
    /// A file or folder can't be opened: check the path and its permissions.
    #[error("cannot read {}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder holds no `*.yaml` or `*.yml` at any depth: probably the wrong one.
    #[error("no *.yaml or *.yml file under {}", .0.display())]
    NoFiles(PathBuf),
    /// A repository of Airship sites, and it is not clear which site is meant.
    #[error("{}", no_site(root, asked.as_deref(), sites))]
    NoSite {
        /// The repository.
        root: PathBuf,
        /// The name asked for.
        asked: Option<String>,
        /// The sites there are.
        sites: Vec<String>,
    },
    /// Another repository of a site is not checked out.
    #[error(
        "the site definition in {} names the repository {name} ({url}), which is not checked out beside it; clone it, and \
         pass --repository {name}=DIR",
        site.display()
    )]
    NoRepository {
        /// The repository of the site.
        site: PathBuf,
        /// The name of the other.
        name: String,
        /// Where it comes from.
        url: String,
    },
    /// A file is not YAML.
    #[error(transparent)]
    Yaml(#[from] YamlError),
}

/// Reads the documents of a stream; `file` is what messages call it. Empty documents are passed over in silence, those
/// without an envelope are passed over and told.
pub fn parse(file: &str, bytes: &[u8]) -> Result<Loaded, LoadError> {
    let stream = yaml::read(file, bytes)?;
    let nodes = stream.documents.into_iter().filter(|node| !node.value.is_null());
    let mut loaded = Loaded { warnings: stream.warnings, ..Loaded::default() };
    for node in nodes {
        match Document::from_node(node) {
            Ok(document) => loaded.documents.push(document),
            Err(error) => loaded.passed_over.push(error),
        }
    }
    Ok(loaded)
}

/// Reads files and folders, in the order given; of a folder every `*.yaml` and `*.yml` at any depth, sorted
/// by path.
pub fn load<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Loaded, LoadError> {
    let mut loaded = Loaded::default();
    for path in paths {
        for file in files_of(path.as_ref())? {
            let bytes = fs::read(&file).map_err(|source| LoadError::Io { path: file.clone(), source })?;
            let more = parse(&file.to_string_lossy(), &bytes)?;
            loaded.documents.extend(more.documents);
            loaded.warnings.extend(more.warnings);
            loaded.passed_over.extend(more.passed_over);
        }
    }
    Ok(loaded)
}

/// A file is taken whatever its name is; in folders the name decides.
fn files_of(path: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let unreadable = |source| LoadError::Io { path: path.to_owned(), source };
    if !fs::metadata(path).map_err(unreadable)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    collect(path, &mut files)?;
    if files.is_empty() {
        return Err(LoadError::NoFiles(path.to_owned()));
    }
    files.sort();
    Ok(files)
}

/// Hidden files and directories, such as `.git`, belong to tools.
fn is_hidden(entry: &fs::DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with('.')
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), LoadError> {
    let unreadable = |source| LoadError::Io { path: folder.to_owned(), source };
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        if is_hidden(&entry) {
            continue;
        }
        // A link to a folder is not followed: it may lead back up.
        if entry.file_type().map_err(unreadable)?.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
            files.push(path);
        }
    }
    Ok(())
}

fn no_site(root: &Path, asked: Option<&str>, sites: &[String]) -> String {
    let there = sites.join(", ");
    match asked {
        Some(asked) => format!("{} has no site {asked}; its sites are {there}", root.display()),
        None => format!("{} has several sites; select one with --site: {there}", root.display()),
    }
}
