//! Kubeconfig files, read and merged.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};

/// What all files say together; of two entries with one name the first counts.
#[derive(Debug, Default)]
pub struct Kubeconfig {
    /// The files, in the order in which they count.
    pub files: Vec<PathBuf>,
    /// The context that is used unless another one is asked for.
    pub current_context: String,
    /// The clusters: how servers are reached.
    pub clusters: Vec<Entry>,
    /// The contexts: a cluster, a user and a namespace.
    pub contexts: Vec<Entry>,
    /// The users: credentials.
    pub users: Vec<Entry>,
}

/// A named entry, and the folder from which paths in it count.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// What is under that name.
    pub value: Value,
    /// The folder of the file it is in.
    pub folder: PathBuf,
}

impl Kubeconfig {
    /// Reads `file`, or those that the environment names, or that of the default data folder.
    pub fn load(file: Option<&Path>) -> Result<Kubeconfig> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let (files, must_exist) = match (file, set("GROUNDPLANE_KUBECONFIG"), set("KUBECONFIG")) {
            (Some(file), ..) => (vec![file.to_owned()], true),
            (None, Some(list), _) | (None, None, Some(list)) => {
                (std::env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()).collect(), false)
            }
            (None, None, None) => (
                default_data_folder().map(|folder| folder.join("admin.kubeconfig")).into_iter().collect(),
                false,
            ),
        };
        let mut all = Kubeconfig { files, ..Kubeconfig::default() };
        for file in all.files.clone() {
            match std::fs::read(&file) {
                Ok(bytes) => all.merge(&file, &bytes)?,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => {}
                Err(error) => {
                    return Err(Error::Config(format!("reading the kubeconfig {}: {error}", file.display())));
                }
            }
        }
        Ok(all)
    }

    fn merge(&mut self, file: &Path, bytes: &[u8]) -> Result<()> {
        let wrong = |why: &dyn std::fmt::Display| {
            Error::Config(format!("error loading config file \"{}\": {why}", file.display()))
        };
        let yaml = krm::decode::read_yaml(bytes).map_err(|error| wrong(&error))?.value;
        if !yaml.is_object() && !yaml.is_null() {
            return Err(wrong(&"it is no map of fields"));
        }
        let folder = file.parent().map(Path::to_owned).unwrap_or_default();
        if self.current_context.is_empty() {
            self.current_context = yaml["current-context"].as_str().unwrap_or("").to_owned();
        }
        let entries = |list: &str, inner: &str, into: &mut Vec<Entry>| {
            for entry in yaml[list].as_array().into_iter().flatten() {
                let name = entry["name"].as_str().unwrap_or("").to_owned();
                if !into.iter().any(|known| known.name == name) {
                    into.push(Entry { name, value: entry[inner].clone(), folder: folder.clone() });
                }
            }
        };
        entries("clusters", "cluster", &mut self.clusters);
        entries("contexts", "context", &mut self.contexts);
        entries("users", "user", &mut self.users);
        Ok(())
    }

    /// The context of this name, or the current one; `None` when there is none at all.
    pub fn context(&self, name: Option<&str>) -> Result<Option<&Entry>> {
        let wanted = name.unwrap_or(&self.current_context);
        match self.contexts.iter().find(|context| context.name == wanted) {
            Some(context) => Ok(Some(context)),
            None if name.is_some() => Err(Error::UnknownContext(wanted.to_owned())),
            None => Ok(None),
        }
    }
}

/// Where `groundplane serve` keeps its data unless told otherwise.
pub fn default_data_folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_DATA_HOME").or_else(|| Some(set("HOME")?.join(".local/share")))?;
    Some(base.join("groundplane"))
}
